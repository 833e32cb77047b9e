import { CODES } from "../../errors.ts";
import { type AppMetadata, OWN_NAME } from "../event/metadata.ts";
import { isObject } from "../json.ts";
import { Evidence, type Finding } from "./finding.ts";
import { bodyOf, eventsOf, isAccepted, isCollect, isRegistration, type SeenCall } from "./seen-call.ts";

/** Rules about calls as such, and about single events in them. */

const NOT_REGISTERED = CODES.notRegistered.code;
const UNDECIPHERABLE = CODES.undecipherable.code;
/** Codes of the server's own failures, which are not the caller's mistake. */
const OWN_FAULTS: readonly number[] = [CODES.internal.code, CODES.overloaded.code];

/** Calls that were refused as a whole, except for reasons that have their own rule. */
export function refusedCalls(calls: readonly SeenCall[]): Finding | undefined {
  const evidence = new Evidence();
  for (const { at_ms, endpoint, code, msg, client_id } of calls) {
    if (code === CODES.ok.code || code === NOT_REGISTERED || code === UNDECIPHERABLE || OWN_FAULTS.includes(code))
      continue;
    evidence.add(at_ms, { endpoint, code, msg, client_id }, `${endpoint} ${code}`);
  }
  return evidence.finding("refused_calls", "error");
}

export function deviceNotDecrypted(calls: readonly SeenCall[]): Finding | undefined {
  const evidence = new Evidence();
  for (const { at_ms, code, msg, client_id } of calls) {
    if (code === UNDECIPHERABLE) evidence.add(at_ms, { client_id, msg }, client_id);
  }
  return evidence.finding("device_not_decrypted", "error");
}

/** SDKs normally send the first events before they register, and try again a second later. */
const STILL_UNREGISTERED_MS = 10_000;

/** Clients that keep sending without ever registering, so that all their data is lost. */
export function unregisteredClients(calls: readonly SeenCall[]): Finding | undefined {
  const refused = new Map<string, { firstAtMs: number; last: SeenCall }>();
  for (const call of calls) {
    if (isAccepted(call) && (isCollect(call) || isRegistration(call))) refused.delete(call.client_id);
    if (call.code !== NOT_REGISTERED) continue;
    const firstAtMs = refused.get(call.client_id)?.firstAtMs ?? call.at_ms;
    refused.set(call.client_id, { firstAtMs, last: call });
  }
  const evidence = new Evidence();
  for (const [client_id, { firstAtMs, last }] of refused) {
    if (last.at_ms - firstAtMs < STILL_UNREGISTERED_MS) continue;
    evidence.add(last.at_ms, { client_id, endpoint: last.endpoint, refused_since_ms: firstAtMs }, client_id);
  }
  return evidence.finding("unregistered_client", "error");
}

const DEBUG_CLIENTS_MIN = 20;

/** Debug mode left on in a release. It is meant for a few testers and sends one event per call. */
export function debugInProduction(calls: readonly SeenCall[]): Finding | undefined {
  const clients = new Set<string>();
  const evidence = new Evidence();
  for (const { at_ms, debug, client_id, endpoint, ua } of calls) {
    if (!debug) continue;
    clients.add(client_id);
    evidence.add(at_ms, { client_id, endpoint, ua });
  }
  return clients.size < DEBUG_CLIENTS_MIN
    ? undefined
    : evidence.finding("debug_in_production", "warning", clients.size);
}

/** Reasons that have their own rule. */
const OTHER_REASONS: readonly string[] = ["undeclared", "bad_property"];

export function rejectedEvents(calls: readonly SeenCall[]): Finding | undefined {
  const evidence = new Evidence();
  for (const call of calls) {
    const events = eventsOf(call);
    for (const { index, event, reason, message } of call.errors) {
      if (OTHER_REASONS.includes(reason) || isEncrypted(events[index]) || hasOtherUnit(events[index])) continue;
      evidence.add(call.at_ms, { client_id: call.client_id, event, reason, message }, `${reason} ${event}`.trim());
    }
  }
  return evidence.finding("rejected_events", "error");
}

export function badProperties(calls: readonly SeenCall[]): Finding | undefined {
  const evidence = new Evidence();
  for (const { at_ms, client_id, errors } of calls) {
    for (const { event, reason, message } of errors) {
      if (reason === "bad_property") evidence.add(at_ms, { client_id, event, message }, event);
    }
  }
  return evidence.finding("bad_properties", "warning");
}

/** Events that the SDK encrypted with a key that only the original service has. */
export function encryptedEvents(calls: readonly SeenCall[]): Finding | undefined {
  const evidence = new Evidence();
  for (const call of calls) {
    if (eventsOf(call).some(isEncrypted))
      evidence.add(call.at_ms, { client_id: call.client_id, endpoint: call.endpoint });
  }
  return evidence.finding("encrypted_events", "error");
}

function isEncrypted(event: unknown): boolean {
  return isObject(event) && "ekey" in event && "payload" in event;
}

/** Event times in seconds, microseconds or nanoseconds instead of milliseconds. */
export function timeUnit(calls: readonly SeenCall[]): Finding | undefined {
  const evidence = new Evidence();
  for (const call of calls) {
    const found = eventsOf(call).find(hasOtherUnit);
    if (found) evidence.add(call.at_ms, { client_id: call.client_id, event: String(found.event), time: found.time! });
  }
  return evidence.finding("time_unit", "error");
}

const FROM_MS = Date.UTC(2015, 0);
const UNTIL_MS = Date.UTC(2060, 0);

function hasOtherUnit(event: unknown): boolean {
  const time = isObject(event) ? event.time : undefined;
  if (typeof time !== "number") return false;
  return [1e3, 1e-3, 1e-6].some((factor) => time * factor >= FROM_MS && time * factor < UNTIL_MS);
}

/** Events that nobody has declared. Strict mode drops them; open mode stores them unchecked. */
export function undeclaredEvents(
  calls: readonly SeenCall[],
  { mode, events }: Pick<AppMetadata, "mode" | "events">,
  nowMs: number,
): Finding | undefined {
  const evidence = new Evidence();
  if (mode === "open") {
    for (const [name, state] of events) if (state === "observed") evidence.add(nowMs, { event: name }, name);
    return evidence.finding("undeclared_event", "hint");
  }
  for (const { at_ms, client_id, errors } of calls) {
    for (const { event, reason, message } of errors) {
      if (reason !== "undeclared" || !OWN_NAME.test(event) || events.get(event) === "declared") continue;
      evidence.add(at_ms, { client_id, event, message }, event);
    }
  }
  return evidence.finding("undeclared_event", "error");
}

/** When a call was sent by the client's clock: as the SDK says, else the time of its newest event. */
export function sentAtMs(call: SeenCall): { ms: number; isExact: boolean } | undefined {
  const body = bodyOf(call);
  const flush = body.$flush_time ?? body["#flush_time"] ?? body.flush_time;
  if (typeof flush === "number" && isBelievable(flush)) return { ms: flush, isExact: true };
  const times = eventsOf(call).flatMap(({ time, time_free }) =>
    typeof time === "number" && time_free !== true && isBelievable(time) ? [time] : [],
  );
  return times.length === 0 ? undefined : { ms: Math.max(...times), isExact: false };
}

function isBelievable(ms: number): boolean {
  return ms >= FROM_MS && ms < UNTIL_MS;
}
