import type { IncomingHttpHeaders } from "node:http";
import { parseJsonWithIds } from "../../src/domain/json.ts";

/** A call as it came in. */
export type Call = {
  method: string;
  /** Path and query as received: signatures cover exactly this. */
  target: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: string;
  nowMs: number;
};

export type Answer = { status: number; body: string; headers?: Readonly<Record<string, string>> };

export function answer(value: unknown, status = 200, headers?: Readonly<Record<string, string>>): Answer {
  return { status, body: JSON.stringify(value), ...(headers === undefined ? {} : { headers }) };
}

/** A refusal by the platform. `code` is the platform's own, if its documentation names one. */
export class Refusal extends Error {
  readonly code: number | undefined;

  constructor(reason: string, code?: number) {
    super(reason);
    this.code = code;
  }
}

export type Fields = Readonly<Record<string, unknown>>;

/** Whole numbers beyond a double's precision become texts: platforms count in 64 bits. */
export function jsonBody(call: Call): Fields {
  if (!/^application\/json\b/i.test(call.headers["content-type"] ?? ""))
    throw new Refusal("content-type is not application/json");
  try {
    const value: unknown = parseJsonWithIds(Buffer.from(call.body));
    if (isFields(value)) return value;
  } catch {
    throw new Refusal("the body is not JSON");
  }
  throw new Refusal("the body is not an object");
}

/** A query parameter that holds JSON, as in GET reports. */
export function jsonParameter(query: URLSearchParams, name: string): unknown {
  try {
    return parseJsonWithIds(Buffer.from(query.get(name) ?? ""));
  } catch {
    throw new Refusal(`${name} is missing or not JSON`);
  }
}

/** A query parameter with a JSON list of some of the known names. */
export function namesParameter(
  query: URLSearchParams,
  { parameter: name, known }: { parameter: string; known: ReadonlySet<string> },
): string[] {
  const list = jsonParameter(query, name);
  if (!Array.isArray(list) || list.length === 0) throw new Refusal(`${name} is not a list`);
  return list.map((value) => memberOf(known, { name, value: String(value) }));
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function objectAt(fields: Fields, name: string): Fields {
  const value = fields[name];
  if (!isFields(value)) throw new Refusal(`${name} is not an object`);
  return value;
}

export function optionalObject(fields: Fields, name: string): Fields {
  return fields[name] === undefined ? {} : objectAt(fields, name);
}

export function listAt(fields: Fields, name: string, { max }: { max: number }): readonly unknown[] {
  const value = fields[name];
  if (!Array.isArray(value)) throw new Refusal(`${name} is not a list`);
  if (value.length === 0) throw new Refusal(`${name} is empty`);
  if (value.length > max) throw new Refusal(`${name} has more than ${max} items`);
  return value;
}

export function textAt(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value !== "string" || value === "") throw new Refusal(`${name} is missing or not a text`);
  return value;
}

/** The text of a field, or an empty text if it is missing. */
export function optionalText(fields: Fields, name: string, pattern?: RegExp): string {
  const value = fields[name] ?? "";
  if (typeof value !== "string") throw new Refusal(`${name} is not a text`);
  if (value !== "" && pattern !== undefined && !pattern.test(value)) throw new Refusal(`${name} is malformed`);
  return value;
}

export type Range = { min?: number; max?: number };

export function wholeAt(fields: Fields, name: string, { min = 0, max = Number.MAX_SAFE_INTEGER }: Range = {}): number {
  const value = fields[name];
  if (typeof value !== "number" || !Number.isSafeInteger(value)) throw new Refusal(`${name} is not a whole number`);
  if (value < min || value > max) throw new Refusal(`${name} is not between ${min} and ${max}`);
  return value;
}

export function optionalWhole(fields: Fields, name: string, range: Range = {}): number | null {
  return fields[name] === undefined ? null : wholeAt(fields, name, range);
}

/** An id that some callers send as a number and some as digits. */
export function idAt(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) return String(value);
  if (typeof value === "string" && /^[1-9]\d*$/.test(value)) return value;
  throw new Refusal(`${name} is not an id`);
}

/** The ids in a list, or undefined if there is no list and nothing is filtered. */
export function idsOf(value: unknown, { name, max }: { name: string; max: number }): ReadonlySet<string> | undefined {
  if (value === undefined) return undefined;
  const ids = listAt({ [name]: value }, name, { max });
  return new Set(ids.map((id) => idAt({ [name]: id }, name)));
}

export const MD5_HEX = /^[0-9a-f]{32}$/;

/** Ten digits: platforms tell seconds from milliseconds by them, and refuse the wrong unit. */
const SECONDS: Required<Range> = { min: 1_000_000_000, max: 2_147_483_647 };
const MILLIS: Required<Range> = { min: 1_000_000_000_000, max: 9_999_999_999_999 };

export const secondsAt = (fields: Fields, name: string) => wholeAt(fields, name, SECONDS);
export const millisAt = (fields: Fields, name: string) => wholeAt(fields, name, MILLIS);

export function parameter(query: URLSearchParams, name: string): string {
  const value = query.get(name);
  if (value === null || value === "") throw new Refusal(`${name} is missing`);
  return value;
}

export function wholeParameter(query: URLSearchParams, name: string, range: Range = {}): number {
  const text = parameter(query, name);
  if (!/^(?:0|[1-9]\d*)$/.test(text)) throw new Refusal(`${name} is not a whole number`);
  return wholeAt({ [name]: Number(text) }, name, range);
}

export function optionalWholeParameter(query: URLSearchParams, name: string, range: Range = {}): number | null {
  return query.has(name) ? wholeParameter(query, name, range) : null;
}

export const secondsParameter = (query: URLSearchParams, name: string) => wholeParameter(query, name, SECONDS);
export const millisParameter = (query: URLSearchParams, name: string) => wholeParameter(query, name, MILLIS);

export function memberOf(known: ReadonlySet<string>, { name, value }: { name: string; value: string }): string {
  if (!known.has(value)) throw new Refusal(`${name} ${value} is unknown`);
  return value;
}
