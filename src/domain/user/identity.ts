import { hash } from "node:crypto";
import { ApiError } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import type { JsonValue } from "../json.ts";

/** NUL and lone surrogates became U+FFFD while parsing; in an id this would make two different ids equal. */
const UNSTORABLE = /[\u0000-\u001f\ufffd]/;

/** Whether an id has 1 to 128 characters, as people count them, all of which the tables can hold. */
export function isClientId(id: string): boolean {
  return id !== "" && !isTooLongForId(id) && !UNSTORABLE.test(id);
}

export function isTooLongForId(id: string): boolean {
  return id.length > LIMITS.clientIdLength && [...id].length > LIMITS.clientIdLength;
}

/** An id as text; a number becomes its digits. `name` is the field's name in the error. */
export function readClientId(value: JsonValue | undefined, name = "client_id"): string {
  const id = typeof value === "number" ? String(value) : value;
  if (typeof id !== "string" || id === "") throw new ApiError("badParameter", `${name} is missing.`);
  if (isTooLongForId(id)) {
    throw new ApiError("badParameter", `${name} is longer than ${LIMITS.clientIdLength} characters.`);
  }
  if (!isClientId(id)) throw new ApiError("badParameter", `${name} holds characters that are not allowed in an id.`);
  return id;
}

/**
 * The spellings that clients and ad platforms use for a missing id. All of them become the empty text, so that nobody
 * is ever matched by "unknown".
 */
const EMPTY_SPELLINGS: ReadonlySet<string> = new Set([
  ...["null", "undefined", "none", "nil", "unknown", "empty", "(null)", "nan"],
  ...["d41d8cd98f00b204e9800998ecf8427e", "9f89c84a559f573636a47ff8daed0d33"],
  ...["02:00:00:00:00:00", "02-00-00-00-00-00", "020000000000"],
  "9774d56d682e549c",
]);

/** A macro that the ad platform did not fill in: `__CLICK_ID__`, `{click_id}`, `$click_id$`. */
const MACRO = /^(?:__[A-Za-z0-9_]+__|\{\{?[A-Za-z0-9_]+\}?\}|\$[A-Za-z0-9_]+\$|%%[A-Za-z0-9_]+%%)$/;

export function isMacro(text: string): boolean {
  return MACRO.test(text);
}

export function cleanId(value: unknown): string {
  const text =
    typeof value === "number" && Number.isFinite(value) ? String(value) : typeof value === "string" ? value.trim() : "";
  if (text === "" || isMacro(text) || EMPTY_SPELLINGS.has(text.toLowerCase())) return "";
  return /^[0\-:]+$/.test(text) ? "" : text;
}

/** Like cleanId for values that are not device ids, where "0" is a value. */
export function cleanValue(value: unknown): string {
  if (typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value))) return String(value);
  if (typeof value !== "string") return "";
  const text = value.trim();
  return isMacro(text) ? "" : text;
}

export function md5(text: string): string {
  return hash("md5", text);
}
