import { createHash } from "node:crypto";
import { LIMITS } from "../config.ts";
import type { JsonObject, JsonValue } from "./json.ts";

/**
 * Two events of a client at the same instant are the same event when type, name and properties are equal. Properties
 * are compared by their canonical text, keys sorted at every depth, so the order in which an SDK writes them does not
 * matter. 128 bits of SHA-1: among the events of one client at one millisecond a collision cannot happen by chance.
 */
export function fingerprintOf(event: { type: string; event: string; canonical: string }): string {
  return createHash("sha1").update(`${event.type}\n${event.event}\n${event.canonical}`).digest("hex").slice(0, 32);
}

/** Deeper than anything that is ever stored; below it a body of a million brackets would overflow the stack. */
const DEPTH_MAX = LIMITS.nestingDepth * 4;

export function canonicalText(properties: JsonObject): string {
  return JSON.stringify(sorted(properties, 0));
}

function sorted(object: JsonObject, depth: number): JsonObject {
  const keys = Object.keys(object).sort();
  const result: JsonObject = {};
  for (const key of keys) {
    const value = object[key]!;
    // Assigning to this one key would set the prototype; as a property name it never passes admission.
    if (key !== "__proto__")
      result[key] = typeof value === "object" && value !== null ? sortedValue(value, depth + 1) : value;
  }
  return result;
}

function sortedValue(value: JsonValue, depth: number): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (depth > DEPTH_MAX) return "…";
  if (Array.isArray(value)) return value.map((item) => sortedValue(item, depth + 1));
  return sorted(value, depth);
}
