import type { FastifyInstance } from "fastify";
import { success } from "../../../contract/envelope.ts";
import {
  type PostbackList,
  type PostbackState,
  postbackListAnswer,
  postbackListQuery,
  postbackStateAnswer,
  postbackStatusQuery,
  type RecentPostbacks,
  type Resent,
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
import type { OperationContext } from "./operation-context.ts";

const BASE = "/admin/api/v1";

type ResendBody = { app_id: number; client_id?: string | number; postbacks?: readonly SelectedPostback[] } & Partial<
  Record<(typeof RESEND_TEXTS)[number], string | number>
>;
type SelectedPostback = { client_id: string | number; event_type: string; subject: string };

const RESEND_TEXTS = ["event_type", "trace_id", "status", "reason", "ad_platform", "from", "to"] as const;

/** What was told, what waits, and what is to be told once more. */
export function postbackRoutes(routes: FastifyInstance, context: OperationContext): void {
  const { pool, vault, apps, clock } = context;

  routes.get(`${BASE}/postbacks`, {
    schema: {
      summary: "Postbacks of an app, the newest first",
      ...{ tags: ["admin"], querystring: postbackListQuery, response: { 200: postbackListAnswer } },
    },
    handler: async (request) => {
      const query = request.query as GivenTexts;
      const app = await apps.findById(Number(query.app_id));
      return success((await showPostbacks(pool, app, readList(withPlatform(query)))) satisfies PostbackList);
    },
  });

  routes.get(`${BASE}/postback/recent`, {
    schema: {
      summary: "What became of the postbacks of the last day, and why",
      ...{ tags: ["admin"], querystring: recentPostbacksQuery, response: { 200: recentPostbacksAnswer } },
    },
    handler: async (request) => {
      const { appId } = await apps.findById(Number((request.query as GivenTexts).app_id));
      return success((await showRecent(context.reportPool(), appId, clock())) satisfies RecentPostbacks);
    },
  });

  routes.get(`${BASE}/postback/status`, {
    schema: {
      summary: "What waits to be sent, and what accounts complain of",
      description: "Of one app, or without `app_id` of all.",
      ...{ tags: ["admin"], querystring: postbackStatusQuery, response: { 200: postbackStateAnswer } },
    },
    handler: async (request) => {
      const { app_id } = request.query as { app_id?: string };
      const app = app_id === undefined ? undefined : await apps.findById(Number(app_id));
      const state = await showState(pool, vault, { appId: app?.appId, nowMs: clock() });
      return success(state satisfies PostbackState);
    },
  });

  routes.post(`${BASE}/postback/resend`, {
    bodyLimit: LIMITS.reportBodyBytes,
    // The client ids of a list would outlive the users in the audit log.
    config: { numbersAreIds: true, auditHides: ["postbacks"] },
    schema: {
      summary: "Send postbacks again that were given up or skipped",
      description:
        "Those of a client, all that ended with a status, or just those named. What was accepted or still waits is refused " +
        "and counted. `has_more`: call again for the rest.",
      ...{ tags: ["admin"], body: resendBody, response: { 200: resentAnswer } },
    },
    handler: async (request) => {
      const body = request.body as ResendBody;
      const app = await apps.findById(body.app_id);
      return success((await resendPostbacks(pool, app, resendWishOf(body), clock())) satisfies Resent);
    },
  });
}

function resendWishOf(body: ResendBody): ResendWish {
  const texts = RESEND_TEXTS.map((name) => [name, body[name] === undefined ? undefined : String(body[name])]);
  const given = {
    ...withPlatform(Object.fromEntries(texts)),
    client_id: body.client_id === undefined ? undefined : readClientId(body.client_id),
  };
  const postbacks = body.postbacks?.map(({ client_id, event_type, subject }) => ({
    ...{ clientId: readClientId(client_id), eventType: event_type, subject },
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
