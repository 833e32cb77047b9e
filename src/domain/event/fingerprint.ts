import { hash } from "node:crypto";
import { LIMITS } from "../../limits.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { isKeptApart, isOfOrigin, type StoredProperties, wholeProperties } from "./origin.ts";

const SHAPES_REMEMBERED_MAX = 16;
const SHAPE_KEYS_MAX = 100;
const TEXTS_REMEMBERED_MAX = 10_000;
const TEXT_LENGTH_MAX = 40;

/** Deeper than admission allows, so what is cut here is left out of the stored event anyway. */
const DEPTH_MAX = LIMITS.nestingDepth * 2;

/**
 * The fingerprint of an event. Two events of one client are the same when type, name, time and properties are equal.
 * Properties are compared by their canonical text, keys sorted at every depth, so the order in which an SDK writes them
 * does not matter. The client is not included, so that a renamed client keeps its fingerprints. With 128 bits, two
 * different events never share one by chance.
 */
export function fingerprintOf(event: { atMs: number; type: string; event: string; canonical: string }): string {
  return hash("md5", `${event.atMs}\n${event.type}\n${event.event}\n${event.canonical}`);
}

/**
 * JSON with sorted keys, written value by value without making a sorted copy of the object. The order is that of jsonb,
 * shorter keys first, so that PostgreSQL finds the keys already sorted, which saves it a tenth of its work on an event.
 */
export function canonicalText(properties: JsonObject): string {
  return objectText(properties, 0);
}

/**
 * The canonical text, what is stored of the properties together with `added`, whose keys they do not have, and `keysOf`. Stored
 * properties have those of the origin first, if these are worth a place of their own.
 */
export function canonicalTexts(
  properties: JsonObject,
  added: readonly { key: string; text: string }[] = [],
): { canonical: string; stored: StoredProperties; keys: readonly string[] } {
  const { keys, sorted } = shapeOf(properties);
  let [canonical, origin, rest, whole, next] = ["", "", "", "", 0];
  const addUpTo = (key: string | undefined) => {
    while (next < added.length && (key === undefined || jsonbOrder(added[next]!.key, key) < 0)) {
      const member = `,${added[next++]!.text}`;
      whole += member;
      origin += member;
    }
  };
  for (const { key, keyText, isOrigin } of sorted) {
    addUpTo(key);
    const value = properties[key]!;
    const member = `,${keyText}${typeof value === "string" ? stringText(value) : valueText(value, 1)}`;
    canonical += member;
    whole += member;
    if (isOrigin) origin += member;
    else rest += member;
  }
  addUpTo(undefined);
  const originUntil = Buffer.byteLength(origin);
  const stored = isKeptApart(originUntil)
    ? { ...wholeProperties(enclosed(origin + rest)), originUntil }
    : wholeProperties(enclosed(whole));
  return { canonical: enclosed(canonical), stored, keys };
}

/** An object of members of which each has a comma before it. */
function enclosed(members: string): string {
  return `{${members.slice(1)}}`;
}

/** The keys as they were sent; mostly the same list for each object that has the same ones. */
export function keysOf(properties: JsonObject): readonly string[] {
  return shapeOf(properties).keys;
}

function objectText(object: JsonObject, depth: number): string {
  let text = "";
  for (const { key, keyText } of shapeOf(object).sorted) {
    const value = object[key]!;
    text += `${text === "" ? "{" : ","}${keyText}${typeof value === "string" ? stringText(value) : valueText(value, depth + 1)}`;
  }
  return text === "" ? "{}" : `${text}}`;
}

/** Shorter names first, then by code units. For ASCII names this is jsonb's order; for others it is at least fixed. */
export function jsonbOrder(left: string, right: string): number {
  return left.length - right.length || (left < right ? -1 : left > right ? 1 : 0);
}

function valueText(value: JsonValue, depth: number): string {
  switch (typeof value) {
    case "string":
      return stringText(value);
    case "number":
      // Numbers too large for a double have become infinite, which JSON writes as null.
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

/** A list of keys in an SDK's order, and in canonical order. */
type Shape = { keys: readonly string[]; sorted: readonly { key: string; keyText: string; isOrigin: boolean }[] };

/** Known key lists by length. An app has few of them, and comparing is five times as fast as sorting. */
const shapes = new Map<number, Shape[]>();

function shapeOf(object: JsonObject): Shape {
  const keys = Object.keys(object);
  const known = shapes.get(keys.length) ?? [];
  for (const shape of known) if (isSameList(shape.keys, keys)) return shape;
  const sorted = keys
    // This name never passes admission as a property; nested, it is of no use.
    .filter((key) => key !== "__proto__")
    .sort(jsonbOrder)
    .map((key) => ({ key, keyText: `${JSON.stringify(key)}:`, isOrigin: isOfOrigin(key) }));
  const shape = { keys, sorted };
  if (keys.length <= SHAPE_KEYS_MAX && known.length < SHAPES_REMEMBERED_MAX) {
    shapes.set(keys.length, [...known, shape]);
  }
  return shape;
}

function isSameList(left: readonly string[], right: readonly string[]): boolean {
  for (let index = 0; index < left.length; index += 1) if (left[index] !== right[index]) return false;
  return true;
}

/** JSON of short texts, cached because the same few (system, brand, scene …) come with every event. */
const texts = new Map<string, string>();

function stringText(value: string): string {
  if (value.length > TEXT_LENGTH_MAX) return JSON.stringify(value);
  let text = texts.get(value);
  if (text === undefined) {
    text = JSON.stringify(value);
    if (texts.size < TEXTS_REMEMBERED_MAX) texts.set(value, text);
  }
  return text;
}
