import { gzipSync } from "node:zlib";
import { collectBody, collectV2Body } from "../../contract/collect/collect.ts";
import { EMPTY_SUCCESS, success } from "../../contract/envelope.ts";
import { validatorOf } from "../../contract/validation.ts";
import {
  type Admission,
  type AdmissionContext,
  admitEvent,
  admitEvents,
  type EventError,
  noVerdicts,
} from "../../domain/event/admission.ts";
import type { AppMetadata } from "../../domain/event/metadata.ts";
import { isStoredAsSent } from "../../domain/event/plain/plain-admission.ts";
import { PlainBody } from "../../domain/event/plain/plain-body.ts";
import { isObject, type JsonObject, type JsonValue, parseJson, parseJsonWithIds } from "../../domain/json.ts";
import { assertWithin } from "../../domain/json-bounds.ts";
import { readClientId } from "../../domain/user/identity.ts";
import { ApiError } from "../../errors.ts";
import { LIMITS, MIB } from "../../limits.ts";
import { type BodyHeaders, isGzip, isPacked, undoGzip, unpackBody } from "./sent-body.ts";

/** Admission's verdicts on the events of one call. */
const VERDICT_BYTES_MAX = 1 * MIB;

/** Values and levels of a body that another thread parses. */
const BOUNDS = { values: LIMITS.bodyValues, depth: LIMITS.bodyDepth };

/** The two shapes of event collect. */
export const COLLECT_FORMS = { collect: collectBody, collect_v2: collectV2Body } as const;
export type CollectForm = keyof typeof COLLECT_FORMS;

const validators = { collect: validatorOf(collectBody), collect_v2: validatorOf(collectV2Body) };

/**
 * The result of judging a body. It is small, because it may go to another thread, which must not spend as long on it as on
 * the body itself.
 */
export type Judged = {
  clientId: string;
  /** Admission's verdicts, as text for the entry's head. */
  verdicts: string;
  answer: string;
  /** At most as many errors as an answer lists. */
  errors: EventError[];
  plainBytes: number;
};

/** Reads a JSON text and judges its events. */
export function judgePlain(
  plain: Buffer,
  { form, nowMs, metadata }: { form: CollectForm; nowMs: number; metadata: AppMetadata },
): Judged {
  const context = { nowMs, metadata };
  return judgeBytes(plain, form, context) ?? judgeObjects(plain, form, context);
}

const read = new PlainBody();

/** Smaller bodies are parsed as a whole. Measured: a body of one event took 4.7 µs so, and 6.2 from its bytes; one of eight 25 and 20. */
const READ_BYTES_MIN = 1_536;

/** Undefined for a body that has to be parsed as a whole. */
function judgeBytes(plain: Buffer, form: CollectForm, context: AdmissionContext): Judged | undefined {
  try {
    if (plain.length < READ_BYTES_MIN || !read.read(plain)) return undefined;
    const { members, count } = read;
    validators[form]({ ...members, event_list: new Array(count) });
    const admission = noVerdicts();
    for (let index = 0; index < count; index += 1) {
      const event = read.events[index]!;
      if (event.sent || !isStoredAsSent(read, event, members.type, context))
        admitEvent(read.objectOf(event), index, members.type, context, admission);
    }
    return judgedOf(admission, members, plain);
  } finally {
    read.forget();
  }
}

function judgeObjects(plain: Buffer, form: CollectForm, context: AdmissionContext): Judged {
  const body = readCollectBody(form, plain);
  return judgedOf(admitEvents(body.event_list as JsonValue[], body.type, context), body, plain);
}

function judgedOf(admission: Admission, body: JsonObject, plain: Buffer): Judged {
  const { errors } = admission;
  return {
    clientId: clientIdOf(body, plain),
    verdicts: verdictsText(admission),
    answer: answerWith(errors),
    errors: errors.slice(0, LIMITS.errorsListed),
    plainBytes: plain.length,
  };
}

function readCollectBody(form: CollectForm, plain: Buffer): JsonObject {
  const body = parseJson(plain) as JsonObject;
  validators[form](body);
  return body;
}

/** The sender of the events. A number too long for a double has lost digits, so it is read again from the text. */
function clientIdOf(body: JsonObject, plain: Buffer): string {
  const { client_id } = body;
  if (typeof client_id !== "number" || Number.isSafeInteger(client_id)) return readClientId(client_id);
  const exact = parseJsonWithIds(plain);
  return readClientId(isObject(exact) ? exact.client_id : client_id);
}

function answerWith(errors: readonly EventError[]): string {
  if (errors.length === 0) return EMPTY_SUCCESS;
  return JSON.stringify(success({}, { errors: errors.slice(0, LIMITS.errorsListed) }));
}

/** Members of a JSON object, each preceded by a comma. */
function verdictsText({ rejected, omitted, cut }: Admission): string {
  if (rejected.length === 0 && omitted.length === 0 && cut.length === 0) return "";
  const text = Object.entries({ rejected, omitted, cut })
    .filter(([, list]) => list.length > 0)
    .map(([name, list]) => `,${JSON.stringify(name)}:${JSON.stringify(list)}`)
    .join("");
  if (Buffer.byteLength(text) > VERDICT_BYTES_MAX) {
    throw new ApiError("badParameter", "Too many properties of the events cannot be stored.");
  }
  return text;
}

/** A large body as it was sent, and how to judge it. */
export type SentLarge = {
  form: CollectForm;
  bytes: Buffer;
  headers: BodyHeaders;
  unpackedBytesMax: number;
  nowMs: number;
};

/** A judged large body, with its bytes for the journal; `gzip` as in the entry's head. */
export type JudgedLarge = Judged & { body: Buffer; gzip: number | undefined };

/** Unpacks, measures, parses and judges a body. Everything is bounded before it is built. */
export function judgeLarge(sent: SentLarge, metadata: AppMetadata): JudgedLarge {
  const { form, bytes, headers, unpackedBytesMax, nowMs } = sent;
  const plain = unpackBody(bytes, headers, unpackedBytesMax);
  assertWithin(plain, BOUNDS);
  return { ...judgePlain(plain, { form, nowMs, metadata }), ...keptBody(sent, plain) };
}

/** A body of ordinary size, for a judge thread. `isPacked`: it is gzip and nothing else; else it is plain. */
export type SentOrdinary = { form: CollectForm; bytes: Buffer; isPacked: boolean; nowMs: number };

/** Unpacks, parses and judges a body. One that the main thread would parse needs no other bound than its size. */
export function judgeOrdinary(
  { form, bytes, isPacked: isGzipped, nowMs }: SentOrdinary,
  { metadata, unpackedBytesMax }: { metadata: AppMetadata; unpackedBytesMax: number },
): Judged {
  const plain = isGzipped ? undoGzip(bytes, unpackedBytesMax) : bytes;
  if (plain.length > LIMITS.bodyBytesAtOnce) assertWithin(plain, BOUNDS);
  return judgePlain(plain, { form, nowMs, metadata });
}

/**
 * The body to keep, packed as it was sent. A form's field is packed again; otherwise a few packed bytes would write
 * megabytes of journal.
 */
function keptBody({ bytes, headers }: SentLarge, plain: Buffer): Pick<JudgedLarge, "body" | "gzip"> {
  if (!isGzip(headers)) return { body: plain, gzip: undefined };
  const packed = isPacked(headers) ? bytes : gzipSync(plain);
  return packed.length < plain.length ? { body: packed, gzip: plain.length } : { body: plain, gzip: undefined };
}
