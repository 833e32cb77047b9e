import { gzipSync } from "node:zlib";
import { collectBody, collectV2Body } from "../../contract/collect/collect.ts";
import { EMPTY_SUCCESS, success } from "../../contract/envelope.ts";
import { validatorOf } from "../../contract/validation.ts";
import { type Admission, admitEvents, type EventError } from "../../domain/event/admission.ts";
import type { AppMetadata } from "../../domain/event/metadata.ts";
import { isObject, type JsonObject, type JsonValue, parseJson, parseJsonWithIds } from "../../domain/json.ts";
import { assertWithin } from "../../domain/json-bounds.ts";
import { readClientId } from "../../domain/user/identity.ts";
import { ApiError } from "../../errors.ts";
import { LIMITS, MIB } from "../../limits.ts";
import { type BodyHeaders, isGzip, isPacked, unpackBody } from "./sent-body.ts";

/** Admission's verdicts on the events of one call. */
const VERDICT_BYTES_MAX = 1 * MIB;

/** The two shapes of event collect. */
export const COLLECT_FORMS = { collect: collectBody, collect_v2: collectV2Body } as const;
export type CollectForm = keyof typeof COLLECT_FORMS;

const validators = { collect: validatorOf(collectBody), collect_v2: validatorOf(collectV2Body) };

/** The body of a collect call, whose events are still to be judged. */
export function readCollectBody(form: CollectForm, plain: Buffer): JsonObject {
  const body = parseJson(plain) as JsonObject;
  validators[form](body);
  return body;
}

/** The sender of the events. A number too long for a double has lost digits, so it is read again from the text. */
export function clientIdOf(body: JsonObject, plain: Buffer): string {
  const { client_id } = body;
  if (typeof client_id !== "number" || Number.isSafeInteger(client_id)) return readClientId(client_id);
  const exact = parseJsonWithIds(plain);
  return readClientId(isObject(exact) ? exact.client_id : client_id);
}

export function judgeEvents(body: JsonObject, context: { nowMs: number; metadata: AppMetadata }): Admission {
  return admitEvents(body.event_list as JsonValue[], body.type, context);
}

export function answerWith(errors: readonly EventError[]): string {
  if (errors.length === 0) return EMPTY_SUCCESS;
  return JSON.stringify(success({}, { errors: errors.slice(0, LIMITS.errorsListed) }));
}

/** A large body as it was sent, and how to judge it. */
export type SentLarge = {
  form: CollectForm;
  bytes: Buffer;
  headers: BodyHeaders;
  unpackedBytesMax: number;
  nowMs: number;
};

/**
 * The result of judging a large body. It is small, because it goes to another thread, which must not spend as long on
 * it as on the body itself.
 */
export type JudgedLarge = {
  clientId: string;
  /** Admission's verdicts, as text for the entry's head. */
  verdicts: string;
  answer: string;
  /** At most as many errors as an answer lists. */
  errors: EventError[];
  /** The body for the journal; `gzip` as in the entry's head. */
  body: Buffer;
  gzip: number | undefined;
  plainBytes: number;
};

/** Unpacks, measures, parses and judges a body. Everything is bounded before it is built. */
export function judgeLarge(sent: SentLarge, metadata: AppMetadata): JudgedLarge {
  const { form, bytes, headers, unpackedBytesMax, nowMs } = sent;
  const plain = unpackBody(bytes, headers, unpackedBytesMax);
  assertWithin(plain, { values: LIMITS.bodyValues, depth: LIMITS.bodyDepth });
  const body = readCollectBody(form, plain);
  const clientId = clientIdOf(body, plain);
  const { errors, ...found } = judgeEvents(body, { nowMs, metadata });
  return {
    clientId,
    verdicts: verdictsText(found),
    answer: answerWith(errors),
    errors: errors.slice(0, LIMITS.errorsListed),
    ...keptBody(sent, plain),
    plainBytes: plain.length,
  };
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

/** Members of a JSON object, each preceded by a comma. */
function verdictsText(found: Omit<Admission, "errors">): string {
  const text = Object.entries(found)
    .filter(([, list]) => list.length > 0)
    .map(([name, list]) => `,${JSON.stringify(name)}:${JSON.stringify(list)}`)
    .join("");
  if (Buffer.byteLength(text) > VERDICT_BYTES_MAX) {
    throw new ApiError("badParameter", "Too many properties of the events cannot be stored.");
  }
  return text;
}
