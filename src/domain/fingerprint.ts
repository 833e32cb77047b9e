import { hash } from "node:crypto";
import { LIMITS } from "../config.ts";
import type { JsonObject, JsonValue } from "./json.ts";

/** Deeper than admission lets pass: what is cut here is left out of the stored event anyway. */
const DEPTH_MAX = LIMITS.nestingDepth * 2;

/**
 * Among the events of one client, two are the same when type, name, time and properties are equal. Properties are
 * compared by their canonical text, keys sorted at every depth, so the order in which an SDK writes them does not
 * matter. The client is not in it, so that a client that is given another id keeps its fingerprints. 128 bits: two
 * different events never share one by chance.
 */
export function fingerprintOf(event: { atMs: number; type: string; event: string; canonical: string }): string {
  return hash("md5", `${event.atMs}\n${event.type}\n${event.event}\n${event.canonical}`);
}

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
