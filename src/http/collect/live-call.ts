import type { FastifyRequest } from "fastify";
import type { Clock } from "../../clock.ts";
import type { JsonValue } from "../../domain/json.ts";
import { CODES } from "../../errors.ts";
import type { ServedApp } from "../../intake/app-directory.ts";
import { KIB, LIMITS } from "../../limits.ts";
import type { LinkQuery } from "../../platform/link-query.ts";
import { type CallerAddress, callerOf, userAgentOf } from "../caller-address.ts";
import type { Live } from "../live/live.ts";
import { type CollectCall, type Collected, shownPlain } from "./collect.ts";
import type { ReadCall } from "./touch-call.ts";

/** Bytes shown of a body that is not JSON. */
const TEXT_BYTES_MAX = 4 * KIB;

/** Everything needed to show a call on the live stream. */
export type ShowContext = { clock: Clock; live: Live };

/** How a call was answered. The message is empty when the call was accepted. */
export type CallResult = { code: number; message: string };

const TAKEN_IN: CallResult = { code: CODES.ok.code, message: "" };

/** Shows an accepted collect call. This runs for every call, and nearly always returns at its first check. */
export function showCollected(context: Pick<ShowContext, "live">, call: CollectCall, collected: Collected): void {
  const { clientId, receivedAtMs, errors, bytes } = collected;
  if (!call.isDebug && errors.length === 0 && context.live.isQuiet(call.app.appId, receivedAtMs)) return;
  context.live.publish({
    appId: call.app.appId,
    endpoint: call.endpoint,
    at_ms: receivedAtMs,
    client_id: clientId,
    debug: call.isDebug,
    ip: call.ip,
    ua: call.ua,
    errors: errors.slice(0, LIMITS.errorsListed),
    code: TAKEN_IN.code,
    msg: TAKEN_IN.message,
    body: () => shownText(call),
    bytes,
  });
}

/** The body for a watcher: parsed again, because few calls are watched. Null when it was judged as a large body. */
export function shownText(call: CollectCall): JsonValue {
  const plain = shownPlain(call);
  return plain ? bodyOfText(plain) : null;
}

/** Shows a collect call that was refused as a whole, although its app is known. */
export function showRefused(context: ShowContext, call: CollectCall, outcome: CallResult): void {
  const { length: bytes } = call.plain ?? call.bytes;
  context.live.publish({
    appId: call.app.appId,
    endpoint: call.endpoint,
    at_ms: context.clock(),
    client_id: "",
    debug: call.isDebug,
    ip: call.ip,
    ua: call.ua,
    errors: [],
    code: outcome.code,
    msg: outcome.message,
    body: () => (bytes === 0 ? null : bodyOfText(shownPlain(call) ?? call.bytes)),
    bytes,
  });
}

export function showTouch(context: ShowContext, app: ServedApp, call: ReadCall, outcome: CallResult = TAKEN_IN): void {
  const atMs = context.clock();
  if (outcome.code === CODES.ok.code && context.live.isQuiet(app.appId, atMs)) return;
  context.live.publish({
    appId: app.appId,
    endpoint: `event/${call.kind}`,
    at_ms: atMs,
    client_id: "",
    debug: false,
    ip: call.ip,
    ua: call.ua,
    errors: [],
    code: outcome.code,
    msg: outcome.message,
    body: () => parametersOf(call.link),
    bytes: call.bytes.length,
  });
}

/** Shows any other collection call, from the framework's request. */
export function showCall(context: ShowContext & { caller: CallerAddress }, request: FastifyRequest): void {
  const { app, answerCode, routeOptions, collected } = request;
  const isDebug = request.headers["turbo-debug-mode"] === "1";
  const isOrdinary = answerCode === 0 && !isDebug && (collected?.errors.length ?? 0) === 0;
  const atMs = context.clock();
  if (!app || (isOrdinary && context.live.isQuiet(app.appId, atMs))) return;
  const { endpoint = "", hidesBody } = routeOptions.config;
  const query = request.query as Record<string, unknown>;
  context.live.publish({
    appId: app.appId,
    endpoint,
    at_ms: atMs,
    client_id: String(query.client_id ?? ""),
    debug: isDebug,
    ip: callerOf(context, request),
    ua: userAgentOf(request),
    errors: collected?.errors.slice(0, LIMITS.errorsListed) ?? [],
    code: answerCode,
    msg: request.answerMessage,
    body: () => (hidesBody ? null : shownBody(request)),
    bytes: request.plainBody?.length ?? 0,
  });
}

function shownBody(request: FastifyRequest): unknown {
  if (request.opened !== undefined) return request.opened;
  if (request.plainBody === undefined) return withoutTokens(request.query as Record<string, unknown>);
  return request.body ?? bodyOfText(request.plainBody);
}

function withoutTokens({ access_token: _app, token: _user, ...rest }: Record<string, unknown>): unknown {
  return rest;
}

/** The parsed body, or the beginning of its text when it is not JSON. */
function bodyOfText(bytes: Buffer): JsonValue {
  try {
    return JSON.parse(bytes.toString("utf8")) as JsonValue;
  } catch {
    return bytes.toString("utf8", 0, TEXT_BYTES_MAX);
  }
}

function parametersOf(link: LinkQuery): Record<string, string> {
  const { access_token: _, ...parameters } = link.shown();
  return parameters;
}
