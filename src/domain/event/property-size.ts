import { LIMITS } from "../../limits.ts";
import type { JsonValue } from "../json.ts";

/** The size of a value as JSON, by which values and profiles are bounded. */
export function jsonBytes(value: JsonValue): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Whether one value is larger than a property may be. */
export function isTooLarge(value: JsonValue): boolean {
  return boundOf(value) > LIMITS.propertyBytes && jsonBytes(value) > LIMITS.propertyBytes;
}

/** An upper bound of a value's size. Most values are so small that they need not be serialised to be measured. */
function boundOf(value: JsonValue): number {
  // One UTF-16 unit takes at most six bytes: \u0000.
  if (typeof value === "string") return 6 * value.length + 2;
  if (!Array.isArray(value)) return typeof value === "object" && value !== null ? Number.POSITIVE_INFINITY : 32;
  let bytes = 2;
  for (const item of value) bytes += boundOf(item) + 1;
  return bytes;
}

/** The first elements of a list, as many as a property may hold. */
export function cutList(list: readonly JsonValue[]): JsonValue[] {
  const few = list.slice(0, LIMITS.propertyListLength);
  if (!isTooLarge(few)) return few;
  let bytes = 1;
  const end = few.findIndex((item) => {
    bytes += jsonBytes(item) + 1;
    return bytes > LIMITS.propertyBytes;
  });
  return few.slice(0, end);
}
