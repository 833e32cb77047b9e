import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { collectAnswer, collectBody, collectQuery, collectV2Body } from "../contract/collect.ts";
import { EMPTY_SUCCESS, success } from "../contract/envelope.ts";
import { type Admission, admitEvents } from "../domain/admission.ts";
import { isObject, type JsonValue, parseJsonWithIds } from "../domain/json.ts";
import type { EntryHead } from "../journal/entry.ts";
import { bodyOf, type HttpContext, headOf, readClientId, requireRegistered } from "./context.ts";

const BASE = "/event_center/api/v1";
/** More findings than this are not worth sending back; all of them are in the journal and the ledger. */
const ERRORS_LISTED_MAX = 1_000;

export function collectRoutes(server: FastifyInstance, context: HttpContext): void {
  const handler = (request: FastifyRequest, reply: FastifyReply) => collect(context, request, reply);
  server.post(`${BASE}/event/collect`, {
    schema: {
      summary: "Event collect",
      description: "Takes in tracking and profile events of one client. `code` 0 means that they are on the disk.",
      tags: ["collection"],
      querystring: collectQuery,
      body: collectBody,
      response: { 200: collectAnswer },
    },
    config: { collection: true, endpoint: "event/collect" },
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
    config: { collection: true, endpoint: "eventv2/collect" },
    handler,
  });
}

async function collect(context: HttpContext, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { app } = request;
  const body = bodyOf(request);
  const nowMs = context.clock();
  const clientId = readClientId(exactId(request, body.client_id));
  const registered = await requireRegistered(context, app, clientId);
  const eventList = body.event_list as JsonValue[];
  const admission = admitEvents(eventList, body.type, { nowMs, metadata: app.metadata });
  const head = headOf(request, { kind: "collect", clientId, registered, nowMs });
  addVerdicts(head, admission);
  await context.intake.accept(head, request.plainBody);
  if (request.headers["turbo-debug-mode"] === "1") {
    context.live.publish({
      appId: app.appId,
      clientId,
      receivedAtMs: nowMs,
      events: eventList,
      errors: admission.errors,
    });
  }
  reply.type("application/json; charset=utf-8");
  if (admission.errors.length === 0) return reply.send(EMPTY_SUCCESS);
  return reply.send(success({}, { errors: admission.errors.slice(0, ERRORS_LISTED_MAX) }));
}

/** A number too long for a double has lost digits by now: they are read again from the text. */
function exactId(request: FastifyRequest, value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const body = parseJsonWithIds(request.plainBody);
  return isObject(body) ? body.client_id : value;
}

function addVerdicts(head: EntryHead, admission: Admission): void {
  if (admission.rejected.length > 0) head.rejected = admission.rejected;
  if (admission.omitted.length > 0) head.omitted = admission.omitted;
  if (admission.cut.length > 0) head.cut = admission.cut;
}
