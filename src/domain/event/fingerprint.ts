import { hash } from "node:crypto";
import { LIMITS } from "../../limits.ts";
import type { JsonObject, JsonValue } from "../json.ts";

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
 * The order is that of jsonb, shorter keys first: PostgreSQL then finds the keys sorted already, which saves it a tenth
 * of its work on an event.
 */
export function canonicalText(properties: JsonObject): string {
  return objectText(properties, 0);
}

/** The same, and beside it the text with `added` put in, keys that the properties do not have. */
export function canonicalTexts(
  properties: JsonObject,
  added: readonly { key: string; text: string }[],
): { canonical: string; withAdded: string } {
  const members: string[] = [];
  const places: number[] = [];
  for (const { key, keyText } of sortedKeysOf(properties)) {
    while (places.length < added.length && jsonbOrder(added[places.length]!.key, key) < 0) places.push(members.length);
    const value = properties[key]!;
    members.push(keyText + (typeof value === "string" ? stringText(value) : valueText(value, 1)));
  }
  const canonical = `{${members.join(",")}}`;
  for (let index = added.length - 1; index >= 0; index -= 1) {
    members.splice(places[index] ?? members.length, 0, added[index]!.text);
  }
  return { canonical, withAdded: `{${members.join(",")}}` };
}

function objectText(object: JsonObject, depth: number): string {
  let text = "";
  for (const { key, keyText } of sortedKeysOf(object)) {
    const value = object[key]!;
    text += `${text === "" ? "{" : ","}${keyText}${typeof value === "string" ? stringText(value) : valueText(value, depth + 1)}`;
  }
  return text === "" ? "{}" : `${text}}`;
}

/** Fewer characters first, then by their codes. Of ASCII names this is the order of jsonb; of others, an order. */
function jsonbOrder(left: string, right: string): number {
  return left.length - right.length || (left < right ? -1 : left > right ? 1 : 0);
}

function valueText(value: JsonValue, depth: number): string {
  switch (typeof value) {
    case "string":
      return stringText(value);
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

/** A list of keys as some SDK writes it, and the same in canonical order. */
type Shape = { keys: readonly string[]; sorted: readonly { key: string; keyText: string }[] };

/**
 * An app has few shapes of properties, and most events have one of them: comparing the keys with those seen before is
 * five times as fast as sorting them. By number of keys, so that few have to be compared.
 */
const shapes = new Map<number, Shape[]>();

function sortedKeysOf(object: JsonObject): Shape["sorted"] {
  const keys = Object.keys(object);
  const known = shapes.get(keys.length) ?? [];
  for (const shape of known) if (isSameList(shape.keys, keys)) return shape.sorted;
  const sorted = keys
    // As a property name this one never passes admission; nested, it is of no use to anybody.
    .filter((key) => key !== "__proto__")
    .sort(jsonbOrder)
    .map((key) => ({ key, keyText: `${JSON.stringify(key)}:` }));
  if (keys.length <= LIMITS.rememberedShapeKeys && known.length < LIMITS.rememberedShapes) {
    shapes.set(keys.length, [...known, { keys, sorted }]);
  }
  return sorted;
}

function isSameList(left: readonly string[], right: readonly string[]): boolean {
  for (let index = 0; index < left.length; index += 1) if (left[index] !== right[index]) return false;
  return true;
}

/** The same few short texts (system, brand, scene …) come with every event. */
const texts = new Map<string, string>();

function stringText(value: string): string {
  if (value.length > LIMITS.rememberedTextLength) return JSON.stringify(value);
  let text = texts.get(value);
  if (text === undefined) {
    text = JSON.stringify(value);
    if (texts.size < LIMITS.rememberedTexts) texts.set(value, text);
  }
  return text;
}
