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

/** What was told, what waits, and what is to be told once more. */
export function postbackRoutes(routes: FastifyInstance, context: OperationContext): void {
  const { pool, vault, apps, clock } = context;

  adminRoute(routes, {
    path: "postbacks",
    summary: "Postbacks of an app, the newest first",
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
    summary: "What became of the postbacks of the last day, and why",
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
    summary: "What waits to be sent, and what accounts complain of",
    description: "Of one app, or without `app_id` of all.",
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
    summary: "Send postbacks again that were given up or skipped",
    description:
      "Those of a client, all that ended with a status, or just those named. What was accepted or still waits is refused " +
      "and counted. `has_more`: call again for the rest.",
    access: "change",
    // The client ids of a list would outlive the users in the audit log.
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

/** By the name that reports use. */
function withPlatform(texts: GivenTexts): GivenTexts {
  if (texts.ad_platform === undefined) return texts;
  const platform = platformOfLink(texts.ad_platform);
  if (!platform) throw new ApiError("badParameter", "ad_platform is not the name of a platform.");
  return { ...texts, ad_platform: platform.name };
}
