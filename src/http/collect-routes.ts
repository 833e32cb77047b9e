import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { collectAnswer, collectBody, collectQuery, collectV2Body } from "../contract/collect.ts";
import { JSON_TYPE } from "./answer.ts";
import { collect } from "./collect.ts";
import { bodyOf, callerOf, type HttpContext, userAgentOf } from "./context.ts";

const BASE = "/event_center/api/v1";

/** The description of event collect, and its way through the framework for what the short way leaves over. */
export function collectRoutes(server: FastifyInstance, context: HttpContext): void {
  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    request.collected = await collect(context, {
      app: request.app,
      body: bodyOf(request),
      plainBody: request.plainBody,
      packed: request.packedBody,
      ip: callerOf(context, request),
      ua: userAgentOf(request),
      isDebug: request.headers["turbo-debug-mode"] === "1",
    });
    return reply.type(JSON_TYPE).send(request.collected.answer);
  };
  const { bodyBytesMax: bodyLimit, bodyUnpackedBytesMax: unpackedBytesMax } = context.config;
  server.post(`${BASE}/event/collect`, {
    schema: {
      summary: "Event collect",
      description: "Takes in tracking and profile events of one client. `code` 0 means that they are on the disk.",
      tags: ["collection"],
      querystring: collectQuery,
      body: collectBody,
      response: { 200: collectAnswer },
    },
    bodyLimit,
    config: { collection: true, endpoint: "event/collect", unpackedBytesMax },
    handler,
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
    bodyLimit,
    config: { collection: true, endpoint: "eventv2/collect", unpackedBytesMax },
    handler,
  });
}
