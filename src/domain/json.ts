import { isUtf8 } from "node:buffer";
import { ApiError } from "../errors.ts";
import { LIMITS } from "../limits.ts";

export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
export type JsonObject = { [key: string]: JsonValue };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A text, or a number as text; empty for anything else. */
export function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}

/** A number; 0 for anything else. */
export function numberOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

/**
 * Parses a body. The HTTP side and apply both use this function, so they see the same values: text that PostgreSQL
 * cannot hold (NUL, lone surrogates) becomes U+FFFD in both. A long number as an order id becomes the text of its
 * digits.
 */
export function parseJson(bytes: Buffer): JsonValue {
  if (!isUtf8(bytes)) throw new ApiError("badJson", "The body is not valid UTF-8.");
  return parse(withTextIds(bytes.toString("utf8")));
}

/**
 * The same for a part of a body. Undefined when it is not valid JSON, and when it holds text that the tables cannot: how deep such
 * a body may be nested counts from its beginning.
 */
export function readJson(text: string): JsonValue | undefined {
  if (hasUnstorable(text)) return undefined;
  try {
    return JSON.parse(withTextIds(text)) as JsonValue;
  } catch {
    return undefined;
  }
}

function withTextIds(text: string): string {
  const hasOrderId = text.includes('"$order_id"') || text.includes('"$trace_id"');
  return hasOrderId ? text.replace(LONG_ORDER_ID, '$1"$2"') : text;
}

/** The only numbers in a collect body that are ids. Inside a text the quotes would be escaped. */
const LONG_ORDER_ID = /("\$(?:order|trace)_id"\s*:\s*)(-?[1-9]\d{15,})(?=\s*[,}])/g;

/**
 * The same, for bodies whose numbers can be ids: a whole number too long for a double becomes the text of its digits
 * instead of losing the last ones.
 */
export function parseJsonWithIds(bytes: Buffer): JsonValue {
  if (!isUtf8(bytes)) throw new ApiError("badJson", "The body is not valid UTF-8.");
  const text = bytes.toString("utf8");
  return parse(LONG_DIGITS.test(text) ? quoteLongIntegers(text) : text);
}

const LONG_DIGITS = /[:[,\s]-?\d{16,}/;
const NUMBER = /(-?[1-9]\d{15,})(?![\d.eE]|\s*:)|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/**
 * Quotes long integers, skipping the texts between them. Invalid JSON (leading zeros, a number as a key) is left alone,
 * so that it is still refused. A single regular expression would overflow its stack on a text of some MiB.
 */
function quoteLongIntegers(text: string): string {
  let quoted = "";
  for (let at = 0; at < text.length; ) {
    const opening = text.indexOf('"', at);
    const from = opening < 0 ? text.length : opening;
    const until = endOfString(text, from);
    quoted += text.slice(at, from).replace(NUMBER, quoteIfUnsafe) + text.slice(from, until);
    at = until;
  }
  return quoted;
}

function quoteIfUnsafe(token: string, long: string | undefined): string {
  return long === undefined || Number.isSafeInteger(Number(long)) ? token : `"${long}"`;
}

/** The offset after the quote that closes the string that opens at `from`. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text[at - 1 - backslashes] === "\\") backslashes += 1;
    if (backslashes % 2 === 0) return at + 1;
  }
  return text.length;
}

function parse(text: string): JsonValue {
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch (error) {
    throw new ApiError("badJson", `The body is not valid JSON: ${(error as Error).message.slice(0, 200)}.`);
  }
  return hasUnstorable(text) ? storable(value) : value;
}

/** Most bodies hold no escape at all, which `includes` finds faster than the expression. */
function hasUnstorable(text: string): boolean {
  return text.includes("\\u") && UNSTORABLE_ESCAPE.test(text);
}

/** Unstorable text can only have come from an escape: raw NUL is not JSON, and raw surrogates are not UTF-8. */
const UNSTORABLE_ESCAPE = /\\u(?:0000|[dD][89a-fA-F])/;

/** The same value with every text in a form that the tables can hold. */
export function storable(value: JsonValue, depth = 0): JsonValue {
  if (typeof value === "string") return storableText(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth > LIMITS.nestingDepth * 4) throw tooDeep();
  if (Array.isArray(value)) return value.map((item) => storable(item, depth + 1));
  const clean: JsonObject = Object.create(null);
  for (const key of Object.keys(value)) clean[storableText(key)] = storable(value[key]!, depth + 1);
  return { ...clean };
}

export function storableText(text: string): string {
  return text.toWellFormed().replaceAll("\u0000", "\uFFFD");
}

/** Refuses a value nested deeper than anything the interface needs; `what` names it in the message. */
export function assertShallow(value: JsonValue, what: string): void {
  if (deeperThan(value, LIMITS.nestingDepth)) throw tooDeep(what);
}

export function deeperThan(value: JsonValue | undefined, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (depth === 0) return true;
  for (const key in value) if (deeperThan((value as JsonObject)[key], depth - 1)) return true;
  return false;
}

function tooDeep(what = "The body"): ApiError {
  return new ApiError("badParameter", `${what} is nested deeper than ${LIMITS.nestingDepth} levels.`);
}

/** The longest beginning of a text with at most `bytesMax` bytes, never splitting a character. */
export function cutToBytes(text: string, bytesMax: number): string {
  // A UTF-16 unit has at most three bytes: nearly every text is short enough without being counted.
  if (text.length * 3 <= bytesMax) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= bytesMax) return text;
  let end = bytesMax;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end -= 1;
  return bytes.toString("utf8", 0, end);
}
