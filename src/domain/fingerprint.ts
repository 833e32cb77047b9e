import { createHash } from "node:crypto";
import { isObject, type JsonObject, type JsonValue } from "./json.ts";

/**
 * Two events of a client at the same instant are the same event when type, name and properties are equal. Properties
 * are compared by their canonical text, keys sorted at every depth, so the order in which an SDK writes them does not
 * matter. 128 bits of SHA-1: among the events of one client at one millisecond a collision cannot happen by chance.
 */
export function fingerprintOf(event: { type: string; event: string; canonical: string }): string {
  return createHash("sha1").update(`${event.type}\n${event.event}\n${event.canonical}`).digest("hex").slice(0, 32);
}

export function canonicalText(properties: JsonObject): string {
  return JSON.stringify(sorted(properties));
}

function sorted(object: JsonObject): JsonObject {
  const keys = Object.keys(object).sort();
  const result: JsonObject = {};
  for (const key of keys) {
    const value = object[key]!;
    // Assigning to this one key would set the prototype; as a property name it never passes admission.
    if (key !== "__proto__") result[key] = typeof value === "object" && value !== null ? sortedValue(value) : value;
  }
  return result;
}

function sortedValue(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sortedValue);
  return isObject(value) ? sorted(value) : value;
}
