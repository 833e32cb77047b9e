import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Config } from "../../config.ts";
import { collectAnswer, collectBody, collectQuery, collectV2Body } from "../../contract/collect/collect.ts";
import { routeValidatorOf } from "../../contract/validation.ts";
import { JSON_TYPE } from "../answer.ts";
import { bodyHeadersOf } from "../body-reader.ts";
import { type CallerAddress, callerOf, userAgentOf } from "../caller-address.ts";
import { type CollectCall, type CollectContext, collect } from "./collect.ts";
import { shownText } from "./live-call.ts";

/** Skips the body, which is still bytes here: `collect` parses and checks it. */
const validatorCompiler = ({ schema, httpPart }: { schema: object; httpPart?: string }) =>
  httpPart === "body" ? () => true : routeValidatorOf(schema);

const BASE = "/event_center/api/v1";

type CollectRoutesContext = CollectContext & { config: Pick<Config, "bodyBytesMax">; caller: CallerAddress };

/** Describes event collect, and serves the calls that the fast path passes on. */
export function collectRoutes(server: FastifyInstance, context: CollectRoutesContext): void {
  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    request.opened = null;
    const call: CollectCall = {
      endpoint: request.routeOptions.config.endpoint!,
      app: request.app,
      bytes: request.body as Buffer,
      headers: bodyHeadersOf(request),
      ip: callerOf(context, request),
      ua: userAgentOf(request),
      plain: undefined,
      isDebug: request.headers["turbo-debug-mode"] === "1",
    };
    request.collected = await collect(context, call);
    request.opened = shownText(call);
    return reply.type(JSON_TYPE).send(request.collected.answer);
  };
  const route = { bodyLimit: context.config.bodyBytesMax, validatorCompiler, handler };
  server.post(`${BASE}/event/collect`, {
    schema: {
      summary: "Event collect",
      description: "Accepts track and profile events of one client. `code` 0 means that they are on disk.",
      tags: ["collection"],
      querystring: collectQuery,
      body: collectBody,
      response: { 200: collectAnswer },
    },
    config: { collection: true, endpoint: "event/collect", keepsBytes: true },
    ...route,
  });
  server.post(`${BASE}/eventv2/collect`, {
    schema: {
      summary: "Event collect, older form",
      description: "As event/collect, with one `type` beside the list.",
      tags: ["collection of older SDKs"],
      querystring: collectQuery,
      body: collectV2Body,
      response: { 200: collectAnswer },
    },
    config: { collection: true, endpoint: "eventv2/collect", keepsBytes: true },
    ...route,
  });
}
