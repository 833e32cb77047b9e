import type { FastifyInstance } from "fastify";
import type { Static } from "typebox";
import {
  postbackListAnswer,
  postbackListQuery,
  postbackStateAnswer,
  postbackStatusQuery,
  recentPostbacksAnswer,
  recentPostbacksQuery,
  resendBody,
  resentAnswer,
} from "../../../contract/setting/postback.ts";
import { type GivenTexts, type ResendWish, readList, readResend } from "../../../domain/postback/postback-request.ts";
import { readClientId } from "../../../domain/user/identity.ts";
import { ApiError } from "../../../errors.ts";
import { LIMITS } from "../../../limits.ts";
import { platformOfLink } from "../../../platform/registry.ts";
import { showPostbacks, showRecent, showState } from "../../../postback/outbox-view.ts";
import { resendPostbacks } from "../../../postback/resend.ts";
import { adminRoute } from "../admin-route.ts";
import type { OperationContext } from "./operation-context.ts";

const RESEND_TEXTS = ["event_type", "trace_id", "status", "reason", "ad_platform", "from", "to"] as const;

/** Postbacks: the list, the outbox, and sending again. */
export function postbackRoutes(routes: FastifyInstance, context: OperationContext): void {
  const { pool, vault, apps, clock } = context;

  adminRoute(routes, {
    path: "postbacks",
    summary: "Postbacks of an app, newest first",
    access: "read",
    query: postbackListQuery,
    answer: postbackListAnswer,
    run: async ({ query }) => {
      const app = await apps.findById(Number(query.app_id));
      return showPostbacks(pool, app, readList(withPlatform(query)));
    },
  });

  adminRoute(routes, {
    path: "postback/recent",
    summary: "Outcomes of the last day's postbacks, with reasons",
    access: "read",
    query: recentPostbacksQuery,
    answer: recentPostbacksAnswer,
    run: async ({ query }) => {
      const { appId } = await apps.findById(Number(query.app_id));
      return showRecent(context.reportPool(), appId, clock());
    },
  });

  adminRoute(routes, {
    path: "postback/status",
    summary: "The outbox, and the last error of each account",
    description: "For one app, or for all apps when `app_id` is absent.",
    access: "read",
    query: postbackStatusQuery,
    answer: postbackStateAnswer,
    run: async ({ query }) => {
      const app = query.app_id === undefined ? undefined : await apps.findById(Number(query.app_id));
      return showState(pool, vault, { appId: app?.appId, nowMs: clock() });
    },
  });

  adminRoute(routes, {
    path: "postback/resend",
    summary: "Send failed or skipped postbacks again",
    description:
      "Those of a client, all that ended with a status, or only those named. Postbacks that were accepted or still wait " +
      "are refused and counted. When `has_more` is true, call again for the rest.",
    access: "change",
    // Client ids kept in the audit log would outlive the erasure of their users.
    audit: { hides: ["postbacks"] },
    body: resendBody,
    reading: { bytesMax: LIMITS.reportBodyBytes, numbersAreIds: true },
    answer: resentAnswer,
    run: async ({ body }) => {
      const app = await apps.findById(body.app_id);
      return resendPostbacks(pool, app, resendWishOf(body), clock());
    },
  });
}

function resendWishOf(body: Static<typeof resendBody>): ResendWish {
  const texts = RESEND_TEXTS.map((name) => [name, body[name] === undefined ? undefined : String(body[name])]);
  const given = {
    ...withPlatform(Object.fromEntries(texts)),
    client_id: body.client_id === undefined ? undefined : readClientId(body.client_id),
  };
  const postbacks = body.postbacks?.map(({ client_id, event_type, subject }) => ({
    clientId: readClientId(client_id),
    eventType: event_type,
    subject,
  }));
  return readResend(given, postbacks);
}

/** Replaces the platform's name by the one that reports use. */
function withPlatform(texts: GivenTexts): GivenTexts {
  if (texts.ad_platform === undefined) return texts;
  const platform = platformOfLink(texts.ad_platform);
  if (!platform) throw new ApiError("badParameter", "ad_platform is not the name of a platform.");
  return { ...texts, ad_platform: platform.name };
}
