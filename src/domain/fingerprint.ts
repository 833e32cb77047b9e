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

/**
 * JSON with its keys sorted, written value by value: no sorted copy of the object is made only to be thrown away.
 */
export function canonicalText(properties: JsonObject): string {
  return objectText(properties, 0);
}

function objectText(object: JsonObject, depth: number): string {
  const keys = Object.keys(object);
  if (keys.length === 0) return "{}";
  keys.sort();
  let text = "";
  for (const key of keys) {
    // As a property name this one never passes admission; nested, it is of no use to anybody.
    if (key === "__proto__") continue;
    text += `${text === "" ? "{" : ","}${keyText(key)}:${valueText(object[key]!, depth + 1)}`;
  }
  return text === "" ? "{}" : `${text}}`;
}

function valueText(value: JsonValue, depth: number): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "number":
      // Numbers too large for a double are infinite by now, which JSON writes as null.
      return Number.isFinite(value) ? String(value) : "null";
    case "boolean":
      return value ? "true" : "false";
    default:
      if (value === null) return "null";
      if (depth > DEPTH_MAX) return '"…"';
      return Array.isArray(value)
        ? `[${value.map((item) => valueText(item, depth + 1)).join(",")}]`
        : objectText(value, depth);
  }
}

/** The same few names come with every event. */
const keyTexts = new Map<string, string>();
const KEY_TEXTS_MAX = 10_000;

function keyText(key: string): string {
  let text = keyTexts.get(key);
  if (text === undefined) {
    text = JSON.stringify(key);
    if (keyTexts.size < KEY_TEXTS_MAX) keyTexts.set(key, text);
  }
  return text;
}
