import { type Clock, elapsedMs } from "../../clock.ts";
import type { Config } from "../../config.ts";
import type { Admission, EventError } from "../../domain/event/admission.ts";
import { ApiError } from "../../errors.ts";
import type { ServedApp } from "../../intake/app-directory.ts";
import { answerWith, type CollectForm, clientIdOf, judgeEvents, readCollectBody } from "../../intake/body/judge.ts";
import type { LargeBodies } from "../../intake/body/large-bodies.ts";
import { type BodyHeaders, isGzip, isPacked, isPlain, saidBytes, unpackBody } from "../../intake/body/sent-body.ts";
import type { IntakeBudgets } from "../../intake/budgets.ts";
import type { Intake } from "../../intake/intake.ts";
import type { KnownClients } from "../../intake/known-clients.ts";
import type { EntryHead } from "../../journal/entry.ts";
import { journaledBody } from "../../journal/packed-body.ts";
import { KIB, LIMITS } from "../../limits.ts";
import { requireRegistered } from "./sent-call.ts";

/** Packed bodies up to this size may be unpacked on the main thread. */
const PACKED_BYTES_AT_ONCE = 16 * KIB;

export type CollectContext = {
  config: Pick<Config, "bodyUnpackedBytesMax">;
  clock: Clock;
  known: KnownClients;
  intake: Intake;
  budgets: IntakeBudgets;
  largeBodies: LargeBodies;
};

/** The paths of event collect below the base, with the form of their bodies. */
export const COLLECT_ENDPOINTS: Readonly<Record<string, CollectForm>> = {
  "event/collect": "collect",
  "eventv2/collect": "collect_v2",
};

/** A collect call, as either door hands it over. */
export type CollectCall = {
  endpoint: string;
  app: ServedApp;
  /** The body as sent. It is gone once it has been transferred to the thread of large bodies. */
  bytes: Buffer;
  headers: BodyHeaders;
  ip: string;
  ua: string;
  isDebug: boolean;
  /** The JSON text, or undefined when the body is judged on the thread of large bodies. */
  plain: Buffer | undefined;
};

/** What became of a collect call, once it is durable. */
export type Collected = {
  /** The answer's text. */
  answer: string;
  clientId: string;
  receivedAtMs: number;
  errors: EventError[];
  bytes: number;
};

/**
 * Judges the events and makes them durable. Slow work runs on the thread of large bodies. Not async itself: it awaits
 * nothing, and runs for every request.
 */
export function collect(context: CollectContext, call: CollectCall): Promise<Collected> {
  const { app, bytes, headers } = call;
  const refusal = context.budgets.takeFromApp(app.appId, bytes.length, elapsedMs());
  if (refusal) throw refusal;
  if (!isPlain(headers)) call.plain = unpackedAtOnce(bytes, headers, context.config.bodyUnpackedBytesMax);
  else if (bytes.length <= LIMITS.bodyBytesAtOnce) call.plain = bytes;
  return call.plain ? collectHere(context, call, call.plain) : collectElsewhere(context, call);
}

/** The unpacked body, or undefined when unpacking, or repacking a form's field for the journal, would take too long. */
function unpackedAtOnce(bytes: Buffer, headers: BodyHeaders, unpackedBytesMax: number): Buffer | undefined {
  if (isGzip(headers) && !isPacked(headers)) return undefined;
  const bytesMax = isPacked(headers) ? PACKED_BYTES_AT_ONCE : LIMITS.bodyBytesAtOnce;
  if (bytes.length > bytesMax || saidBytes(bytes, headers) > LIMITS.bodyBytesAtOnce) return undefined;
  try {
    return unpackBody(bytes, headers, Math.min(LIMITS.bodyBytesAtOnce, unpackedBytesMax));
  } catch (error) {
    if (error instanceof ApiError && error.reason === "bodyTooLarge") return undefined;
    throw error;
  }
}

async function collectHere(context: CollectContext, call: CollectCall, plain: Buffer): Promise<Collected> {
  const { app } = call;
  if (plain.length > call.bytes.length) context.budgets.chargeApp(app.appId, plain.length - call.bytes.length);
  const { clientId, nowMs, admission } = judgedHere(context, call, plain);
  const { errors, rejected, omitted, cut } = admission;
  // Nearly always answered from memory, without a turn of the event loop.
  const registered = context.known.isKnown(app.appId, clientId)
    ? "yes"
    : await requireRegistered(context, app, clientId);
  const head = headOf(call, { clientId, registered, nowMs });
  if (rejected.length > 0) head.rejected = rejected;
  if (omitted.length > 0) head.omitted = omitted;
  if (cut.length > 0) head.cut = cut;
  const kept = journaledBody(plain, isPacked(call.headers) ? call.bytes : undefined);
  if (kept.gzip !== undefined) head.gzip = kept.gzip;
  await context.intake.accept(head, kept.body);
  return { answer: answerWith(errors), clientId, receivedAtMs: nowMs, errors, bytes: plain.length };
}

/**
 * Parses and judges a body. A function of its own, because whatever a function holds while it waits for the disk stays in
 * memory: the parsed bodies of 64 waiting calls of 200 events kept four threads of the garbage collector busy.
 */
function judgedHere(
  { clock }: Pick<CollectContext, "clock">,
  { endpoint, app }: CollectCall,
  plain: Buffer,
): { clientId: string; nowMs: number; admission: Admission } {
  const body = readCollectBody(COLLECT_ENDPOINTS[endpoint]!, plain);
  const nowMs = clock();
  const admission = judgeEvents(body, { nowMs, metadata: app.metadata });
  return { clientId: clientIdOf(body, plain), nowMs, admission };
}

async function collectElsewhere(context: CollectContext, call: CollectCall): Promise<Collected> {
  const { app, bytes, headers, endpoint } = call;
  const { bodyUnpackedBytesMax: unpackedBytesMax } = context.config;
  const { length: sentBytes } = bytes;
  const nowMs = context.clock();
  const sent = { form: COLLECT_ENDPOINTS[endpoint]!, bytes, headers, unpackedBytesMax, nowMs };
  const { clientId, errors, answer, ...judged } = await context.largeBodies.judge(sent, app);
  context.budgets.chargeApp(app.appId, Math.max(0, judged.plainBytes - sentBytes));
  const registered = await requireRegistered(context, app, clientId);
  const head = headOf(call, { clientId, registered, nowMs });
  if (judged.gzip !== undefined) head.gzip = judged.gzip;
  await context.intake.accept(head, judged.body, judged.verdicts);
  return { answer, clientId, receivedAtMs: nowMs, errors, bytes: judged.plainBytes };
}

function headOf(
  { app, ip, ua }: CollectCall,
  entry: { clientId: string; registered: EntryHead["registered"]; nowMs: number },
): EntryHead {
  const { clientId, registered, nowMs } = entry;
  return { kind: "collect", app: app.appId, client: clientId, at: nowMs, ip, ua, registered };
}

export function enabledApp(app: ServedApp): ServedApp {
  if (!app.enabled) throw new ApiError("badToken", "This app is disabled.");
  return app;
}
