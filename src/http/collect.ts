import { EMPTY_SUCCESS, success } from "../contract/envelope.ts";
import { admitEvents, type EventError } from "../domain/admission.ts";
import { isObject, type JsonObject, type JsonValue, parseJsonWithIds } from "../domain/json.ts";
import { ApiError } from "../errors.ts";
import type { EntryHead } from "../journal/entry.ts";
import { journaledBody } from "../journal/packed-body.ts";
import { LIMITS } from "../limits.ts";
import type { ServedApp } from "./app-directory.ts";
import { type HttpContext, readClientId, requireRegistered } from "./context.ts";

/** A collect call, as either door hands it over. */
export type CollectCall = {
  app: ServedApp;
  body: JsonObject;
  /** The JSON text of the body, and the bytes that it came in where it was packed. */
  plainBody: Buffer;
  packed: Buffer | undefined;
  ip: string;
  ua: string;
  isDebug: boolean;
};

/** What became of a collect call, once it is durable. */
export type Collected = {
  /** The answer's text. */
  answer: string;
  clientId: string;
  receivedAtMs: number;
  errors: EventError[];
};

/** Judges the events and makes them durable. */
export async function collect(context: HttpContext, call: CollectCall): Promise<Collected> {
  const { app, body } = call;
  const nowMs = context.clock();
  const clientId = readClientId(exactId(call));
  // Nearly always from memory, and then without a turn of the event loop.
  const registered = context.known.isKnown(app.appId, clientId)
    ? "yes"
    : await requireRegistered(context, app, clientId);
  const eventList = body.event_list as JsonValue[];
  const admission = admitEvents(eventList, body.type, { nowMs, metadata: app.metadata });
  const head: EntryHead = {
    kind: "collect",
    app: app.appId,
    client: clientId,
    at: nowMs,
    ip: call.ip,
    ua: call.ua,
    registered,
  };
  if (admission.rejected.length > 0) head.rejected = admission.rejected;
  if (admission.omitted.length > 0) head.omitted = admission.omitted;
  if (admission.cut.length > 0) head.cut = admission.cut;
  const { body: kept, gzip } = journaledBody(call.plainBody, call.packed);
  if (gzip !== undefined) head.gzip = gzip;
  await context.intake.accept(head, kept);
  const { errors } = admission;
  return { answer: answerWith(errors), clientId, receivedAtMs: nowMs, errors };
}

function answerWith(errors: readonly EventError[]): string {
  if (errors.length === 0) return EMPTY_SUCCESS;
  return JSON.stringify(success({}, { errors: errors.slice(0, LIMITS.errorsListed) }));
}

/** A number too long for a double has lost digits by now: they are read again from the text. */
function exactId({ body, plainBody }: CollectCall): JsonValue | undefined {
  const { client_id } = body;
  if (typeof client_id !== "number" || Number.isSafeInteger(client_id)) return client_id;
  const exact = parseJsonWithIds(plainBody);
  return isObject(exact) ? exact.client_id : client_id;
}

export function enabledApp(app: ServedApp): ServedApp {
  if (!app.enabled) throw new ApiError("badToken", "This app is disabled.");
  return app;
}
