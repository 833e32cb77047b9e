import { type Clock, elapsedMs } from "../../clock.ts";
import type { Config } from "../../config.ts";
import type { EventError } from "../../domain/event/admission.ts";
import { ApiError } from "../../errors.ts";
import type { ServedApp } from "../../intake/app-directory.ts";
import { type CollectForm, type Judged, judgePlain } from "../../intake/body/judge.ts";
import type { JudgeThreads } from "../../intake/body/judge-threads.ts";
import type { LargeBodies } from "../../intake/body/large-bodies.ts";
import { type BodyHeaders, isGzip, isPacked, isPlain, saidBytes, unpackBody } from "../../intake/body/sent-body.ts";
import type { IntakeBudgets } from "../../intake/budgets.ts";
import type { Intake } from "../../intake/intake.ts";
import type { KnownClients } from "../../intake/known-clients.ts";
import type { EntryHead } from "../../journal/entry.ts";
import { journaledBody } from "../../journal/packed-body.ts";
import { KIB, LIMITS } from "../../limits.ts";
import { requireRegistered } from "./sent-call.ts";

/** Packed bodies up to this size may be unpacked on the main thread, or on a judge thread. */
const PACKED_BYTES_AT_ONCE = 16 * KIB;
const PACKED_BYTES_HANDED_OVER = 64 * KIB;
/** Smaller bodies cost more to hand over than to judge. */
const HANDED_OVER_BYTES_MIN = 4 * KIB;

export type CollectContext = {
  config: Pick<Config, "bodyUnpackedBytesMax">;
  clock: Clock;
  known: KnownClients;
  intake: Intake;
  budgets: IntakeBudgets;
  judgeThreads: JudgeThreads;
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
  /** The JSON text, or undefined when another thread unpacks or judges the body; see `shownPlain`. */
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
 * Judges the events and makes them durable. A connection's next call comes only after the answer, so its calls keep their
 * order, whichever thread judges them. Not async itself: it awaits nothing, and runs for every request.
 */
export function collect(context: CollectContext, call: CollectCall): Promise<Collected> {
  const { app, bytes, headers } = call;
  const refusal = context.budgets.takeFromApp(app.appId, bytes.length, elapsedMs());
  if (refusal) throw refusal;
  const nowMs = context.clock();
  const judging = handOver(context, call, nowMs);
  if (judging) return collectHandedOver(context, call, { judging, nowMs });
  if (!isPlain(headers)) call.plain = unpackedAtOnce(bytes, headers, context.config.bodyUnpackedBytesMax);
  else if (bytes.length <= LIMITS.bodyBytesAtOnce) call.plain = bytes;
  return call.plain ? collectHere(context, call, { plain: call.plain, nowMs }) : collectLarge(context, call, nowMs);
}

/**
 * Hands a body to a judge thread, if it is worth that and a thread has room. Forms stay here: they are few, and the
 * journal needs their field.
 */
function handOver(context: CollectContext, call: CollectCall, nowMs: number): Promise<Judged> | undefined {
  const { app, bytes, headers, endpoint } = call;
  const isGzipped = isPacked(headers);
  if (isGzipped ? bytes.length > PACKED_BYTES_HANDED_OVER : !isPlain(headers)) return undefined;
  const plainBytes = saidBytes(bytes, headers);
  if (plainBytes < HANDED_OVER_BYTES_MIN || plainBytes > LIMITS.bodyBytesHandedOver) return undefined;
  const sent = { form: COLLECT_ENDPOINTS[endpoint]!, bytes, isPacked: isGzipped, plainBytes, nowMs };
  const judging = context.judgeThreads.judge(sent, app);
  if (!judging) return undefined;
  if (isGzipped) context.budgets.chargeApp(app.appId, Math.max(0, plainBytes - bytes.length));
  else call.plain = bytes;
  return judging;
}

async function collectHandedOver(
  context: CollectContext,
  call: CollectCall,
  { judging, nowMs }: { judging: Promise<Judged>; nowMs: number },
): Promise<Collected> {
  const judged = await judging.catch(unlessTooLarge);
  // It unpacks to more than it claims, or holds too many values.
  if (!judged) return collectLarge(context, call, nowMs);
  return accept(context, call, { judged, kept: keptOf(call, judged), nowMs });
}

/** The body for the journal, of which a judge thread had a copy. */
function keptOf({ bytes, headers }: CollectCall, { plainBytes }: Judged): Kept {
  if (!isPacked(headers)) return { body: bytes };
  if (bytes.length < plainBytes) return { body: bytes, gzip: plainBytes };
  return { body: unpackBody(bytes, headers, plainBytes) };
}

/** The unpacked body, or undefined when unpacking, or repacking a form's field for the journal, would take too long. */
function unpackedAtOnce(bytes: Buffer, headers: BodyHeaders, unpackedBytesMax: number): Buffer | undefined {
  if (isGzip(headers) && !isPacked(headers)) return undefined;
  const bytesMax = isPacked(headers) ? PACKED_BYTES_AT_ONCE : LIMITS.bodyBytesAtOnce;
  if (bytes.length > bytesMax || saidBytes(bytes, headers) > LIMITS.bodyBytesAtOnce) return undefined;
  try {
    return unpackBody(bytes, headers, Math.min(LIMITS.bodyBytesAtOnce, unpackedBytesMax));
  } catch (error) {
    return unlessTooLarge(error);
  }
}

/** Undefined for a body that is too large for a thread that others wait for; any other error is thrown on. */
function unlessTooLarge(error: unknown): undefined {
  if (error instanceof ApiError && error.reason === "bodyTooLarge") return undefined;
  throw error;
}

/**
 * Parses and judges a body on this thread. What waits for the disk is another function, because whatever a function holds
 * while it waits stays in memory: the parsed bodies of 64 waiting calls of 200 events kept four threads of the garbage
 * collector busy.
 */
function collectHere(
  context: CollectContext,
  call: CollectCall,
  { plain, nowMs }: { plain: Buffer; nowMs: number },
): Promise<Collected> {
  const { app, bytes, headers, endpoint } = call;
  if (plain.length > bytes.length) context.budgets.chargeApp(app.appId, plain.length - bytes.length);
  const judged = judgePlain(plain, { form: COLLECT_ENDPOINTS[endpoint]!, nowMs, metadata: app.metadata });
  return accept(context, call, { judged, kept: journaledBody(plain, isPacked(headers) ? bytes : undefined), nowMs });
}

async function collectLarge(context: CollectContext, call: CollectCall, nowMs: number): Promise<Collected> {
  const { app, bytes, headers, endpoint } = call;
  const { bodyUnpackedBytesMax: unpackedBytesMax } = context.config;
  const { length: sentBytes } = bytes;
  const sent = { form: COLLECT_ENDPOINTS[endpoint]!, bytes, headers, unpackedBytesMax, nowMs };
  const { body, gzip, ...judged } = await context.largeBodies.judge(sent, app);
  context.budgets.chargeApp(app.appId, Math.max(0, judged.plainBytes - sentBytes));
  return accept(context, call, { judged, kept: { body, gzip }, nowMs });
}

/** The body for the journal; `gzip` as in the entry's head. */
type Kept = { body: Buffer; gzip?: number | undefined };

/** Makes a judged call durable. */
async function accept(
  context: CollectContext,
  { app, ip, ua }: CollectCall,
  { judged, kept, nowMs }: { judged: Judged; kept: Kept; nowMs: number },
): Promise<Collected> {
  const { clientId, verdicts, answer, errors, plainBytes } = judged;
  // Nearly always answered from memory, without a turn of the event loop.
  const registered = context.known.isKnown(app.appId, clientId)
    ? "yes"
    : await requireRegistered(context, app, clientId);
  const head: EntryHead = { kind: "collect", app: app.appId, client: clientId, at: nowMs, ip, ua, registered };
  if (kept.gzip !== undefined) head.gzip = kept.gzip;
  await context.intake.accept(head, kept.body, verdicts);
  return { answer, clientId, receivedAtMs: nowMs, errors, bytes: plainBytes };
}

/**
 * The JSON text of a call for its watchers, or undefined when it was judged as a large body. What a judge thread has unpacked
 * is unpacked again: few calls are watched.
 */
export function shownPlain({ plain, bytes, headers }: CollectCall): Buffer | undefined {
  if (plain || !isPacked(headers)) return plain;
  try {
    return unpackedAtOnce(bytes, headers, LIMITS.bodyBytesAtOnce);
  } catch {
    return undefined;
  }
}

export function enabledApp(app: ServedApp): ServedApp {
  if (!app.enabled) throw new ApiError("badToken", "This app is disabled.");
  return app;
}
