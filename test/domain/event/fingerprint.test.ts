import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalText, fingerprintOf } from "../../../src/domain/event/fingerprint.ts";
import { type JsonObject, type JsonValue, parseJson } from "../../../src/domain/json.ts";

const anything: fc.Arbitrary<JsonValue> = fc.json({ maxDepth: 4 }).map((text) => JSON.parse(text));
const object: fc.Arbitrary<JsonObject> = fc.dictionary(fc.string({ maxLength: 6 }), anything, {
  noNullPrototype: true,
});

const EVENT = { atMs: 1_700_000_000_000, type: "track", event: "level_up" };

const fingerprint = (properties: JsonObject, change: Partial<typeof EVENT> = {}) =>
  fingerprintOf({ ...EVENT, canonical: canonicalText(properties), ...change });

test("the order of keys does not matter, at any depth", () => {
  fc.assert(
    fc.property(object, (properties) => {
      expect(canonicalText(reversed(properties) as JsonObject)).toBe(canonicalText(properties));
    }),
  );
});

function reversed(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, reversed(item)]),
  );
}

test("the canonical text is JSON of the same value", () => {
  fc.assert(
    fc.property(object, (properties) => {
      fc.pre(!JSON.stringify(properties).includes("__proto__"));
      expect(JSON.parse(canonicalText(properties))).toEqual(properties);
    }),
  );
});

test("any difference in value changes the fingerprint", () => {
  fc.assert(
    fc.property(object, object, (first, second) => {
      fc.pre(JSON.stringify(first).includes("__proto__") === false);
      const isSame = JSON.stringify(reversedTwice(first)) === JSON.stringify(reversedTwice(second));
      expect(fingerprint(first) === fingerprint(second)).toBe(isSame);
    }),
  );
});

/** A canonical form made by another method: objects as sorted lists of entries. */
function reversedTwice(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return ["list", ...value.map(reversedTwice)];
  if (typeof value !== "object" || value === null) return value;
  return [
    "object",
    ...Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, reversedTwice(item)]),
  ];
}

test.each<[JsonObject, JsonObject]>([
  [{ a: 1 }, { a: "1" }],
  [{ a: 1 }, { a: 2 }],
  [{ a: 1 }, { b: 1 }],
  [{ a: [1, 2] }, { a: [2, 1] }],
  [{ a: null }, {}],
  [{ a: [] }, { a: {} }],
  [{ a: "" }, { a: " " }],
  [{ a: { b: 1 } }, { a: { b: 1, c: null } }],
  [{ a: { b: 1 }, c: 2 }, { a: { b: 1, c: 2 } }],
])("%j and %j are different events", (first, second) => {
  expect(fingerprint(first)).not.toBe(fingerprint(second));
});

test.each<[string, Partial<typeof EVENT>]>([
  ["time", { atMs: EVENT.atMs + 1 }],
  ["type", { type: "profile" }],
  ["name", { event: "level_down" }],
])("events that differ only in %s are different events", (_, change) => {
  expect(fingerprint({}, change)).not.toBe(fingerprint({}));
});

test("a fingerprint fits a uuid", () => {
  expect(fingerprint({ a: 1 })).toMatch(/^[0-9a-f]{32}$/);
});

test("properties nested a hundred thousand deep still have a fingerprint, and a repeat has the same one", () => {
  const deep = parseJson(Buffer.from(`{"a":${"[".repeat(100_000)}${"]".repeat(100_000)},"b":1}`)) as JsonObject;
  expect(fingerprint(deep)).toBe(fingerprint({ b: 1, a: deep.a! }));
  expect(fingerprint(deep)).not.toBe(fingerprint({ ...deep, b: 2 }));
});
