import type { FastifyInstance } from "fastify";
import { adminAnswer } from "../contract/admin.ts";
import { success } from "../contract/envelope.ts";
import { postbackListQuery, postbackStatusQuery, resendBody } from "../contract/postback.ts";
import { type GivenTexts, readList, readResend } from "../domain/postback-request.ts";
import { ApiError } from "../errors.ts";
import { platformOfLink } from "../platform/registry.ts";
import { showPostbacks, showState } from "../postback/outbox-view.ts";
import { resendPostbacks } from "../postback/resend.ts";
import { type HttpContext, readClientId } from "./context.ts";

const BASE = "/admin/api/v1";

type ResendBody = { app_id: number; client_id?: string | number; trace_id?: string | number; status?: number } & Record<
  string,
  string | number | undefined
>;

/** What was told, what waits, and what is to be told once more. */
export function postbackRoutes(routes: FastifyInstance, context: HttpContext): void {
  const { pool, vault, apps, clock } = context;

  routes.get(`${BASE}/postbacks`, {
    schema: {
      summary: "Postbacks of an app, the newest first",
      ...{ tags: ["admin"], querystring: postbackListQuery, response: { 200: adminAnswer } },
    },
    handler: async (request) => {
      const query = request.query as GivenTexts;
      const app = await apps.findById(Number(query.app_id));
      return success({ postbacks: await showPostbacks(pool, app, readList(withPlatform(query))) });
    },
  });

  routes.get(`${BASE}/postback/status`, {
    schema: {
      summary: "What waits to be sent, and what accounts complain of",
      description: "Of one app, or without `app_id` of all.",
      ...{ tags: ["admin"], querystring: postbackStatusQuery, response: { 200: adminAnswer } },
    },
    handler: async (request) => {
      const { app_id } = request.query as { app_id?: string };
      const app = app_id === undefined ? undefined : await apps.findById(Number(app_id));
      return success(await showState(pool, vault, app?.appId));
    },
  });

  routes.post(`${BASE}/postback/resend`, {
    config: { numbersAreIds: true },
    schema: {
      summary: "Send postbacks again that were given up or skipped",
      description:
        "Those of a client, or all that ended with a status. What was accepted or still waits is refused and counted. " +
        "`has_more`: call again for the rest.",
      ...{ tags: ["admin"], body: resendBody, response: { 200: adminAnswer } },
    },
    handler: async (request) => {
      const body = request.body as ResendBody;
      const app = await apps.findById(body.app_id);
      const textOf = (name: string) => (body[name] === undefined ? undefined : String(body[name]));
      const texts = ["event_type", "trace_id", "status", "reason", "ad_platform", "from", "to"];
      const wish = readResend({
        ...withPlatform(Object.fromEntries(texts.map((name) => [name, textOf(name)]))),
        client_id: body.client_id === undefined ? undefined : readClientId(body.client_id),
      });
      return success(await resendPostbacks(pool, app, wish, clock()));
    },
  });
}

/** By the name that reports use. */
function withPlatform(texts: GivenTexts): GivenTexts {
  if (texts.ad_platform === undefined) return texts;
  const platform = platformOfLink(texts.ad_platform);
  if (!platform) throw new ApiError("badParameter", "ad_platform is not the name of a platform.");
  return { ...texts, ad_platform: platform.name };
}
