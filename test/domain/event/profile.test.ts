import fc from "fast-check";
import { expect, test } from "vitest";
import { changeProfile, PROFILE_OPERATIONS, type ProfileOperation } from "../../../src/domain/event/profile.ts";
import type { JsonObject, JsonValue } from "../../../src/domain/json.ts";
import { LIMITS } from "../../../src/limits.ts";

const changed = (...args: Parameters<typeof changeProfile>) => changeProfile(...args).profile;

test.each<[ProfileOperation, JsonObject, JsonObject, JsonObject]>([
  ["profile_set", { a: 1 }, { a: 2, b: "x" }, { a: 2, b: "x" }],
  ["profile_set", { a: 1 }, { a: null }, { a: 1 }],
  ["profile_set", {}, { a: null }, {}],
  ["profile_set", { a: 1 }, { a: { b: [1] } }, { a: { b: [1] } }],
  ["profile_set_once", { a: 1 }, { a: 2, b: 3 }, { a: 1, b: 3 }],
  ["profile_set_once", { a: false, b: 0, c: "" }, { a: true, b: 1, c: "x" }, { a: false, b: 0, c: "" }],
  ["profile_set_once", {}, { a: null }, {}],
  ["profile_increment", { n: 1 }, { n: 2, m: -3 }, { n: 3, m: -3 }],
  ["profile_increment", { n: 0.1 }, { n: 0.2 }, { n: 0.3 }],
  ["profile_increment", { n: 1 }, { n: "2", $lib: "MG" }, { n: 1 }],
  ["profile_increment", { n: "text" }, { n: 2 }, { n: 2 }],
  ["profile_number_max", { n: 5 }, { n: 3, m: -1 }, { n: 5, m: -1 }],
  ["profile_number_max", { n: 5 }, { n: 8 }, { n: 8 }],
  ["profile_number_max", { n: 5 }, { n: "9" }, { n: 5 }],
  ["profile_number_min", { n: 5 }, { n: 3, m: 7 }, { n: 3, m: 7 }],
  ["profile_number_min", { n: 5 }, { n: true }, { n: 5 }],
  ["profile_append", { l: ["a"] }, { l: ["a", "b"], m: ["c"] }, { l: ["a", "a", "b"], m: ["c"] }],
  ["profile_append", { l: ["a"] }, { l: "b" }, { l: ["a", "b"] }],
  ["profile_append", { l: "a" }, { l: ["b"] }, { l: ["a", "b"] }],
  ["profile_append", { l: ["a"] }, { l: { b: 1 } }, { l: ["a"] }],
  ["profile_uniq_append", { l: ["a"] }, { l: ["a", "b", "b"] }, { l: ["a", "b"] }],
  ["profile_uniq_append", { l: ["a"] }, { l: "a" }, { l: ["a"] }],
  ["profile_unset", { a: 1, b: 2 }, { a: "whatever", c: null }, { b: 2 }],
  ["profile_delete", { a: 1, b: 2 }, { a: 1 }, {}],
  ["profile_delete", {}, {}, {}],
])("%s on %j with %j gives %j", (operation, profile, properties, expected) => {
  expect(changed(profile, operation, properties)).toEqual(expected);
});

test.each(["constructor", "toString", "valueOf", "hasOwnProperty"])(
  "a property that happens to be called %s is a property like any other",
  (name) => {
    expect(changed({}, "profile_set_once", { [name]: "mine" })).toEqual({ [name]: "mine" });
    expect(changed({}, "profile_append", { [name]: ["mine"] })).toEqual({ [name]: ["mine"] });
    expect(changed({}, "profile_set", { [name]: null })).toEqual({});
  },
);

test("a list stops growing at its maximum and keeps its first values", () => {
  const full = Array.from({ length: LIMITS.propertyListLength }, (_, index) => `t${index}`);
  expect(changed({ l: full }, "profile_append", { l: ["late"] })).toEqual({ l: full });
  expect(changed({ l: full.slice(1) }, "profile_uniq_append", { l: ["x", "y"] }).l).toEqual([...full.slice(1), "x"]);
});

test("a value over 16 KiB is left out, and a list is cut to fit; both are counted", () => {
  const item = "x".repeat(1_000);
  const fitting = Array(16).fill(item);
  const object = { t: "x".repeat(LIMITS.propertyBytes) };
  expect(changeProfile({ o: 1 }, "profile_set", { o: object })).toEqual({ profile: { o: 1 }, leftOut: 1 });
  expect(changeProfile({}, "profile_set", { l: Array(17).fill(item) })).toEqual({
    profile: { l: fitting },
    leftOut: 1,
  });
  expect(changeProfile({ l: fitting }, "profile_append", { l: [item] })).toEqual({
    profile: { l: fitting },
    leftOut: 1,
  });
  expect(changeProfile({}, "profile_append", { l: fitting })).toEqual({ profile: { l: fitting }, leftOut: 0 });
});

test("a profile with 1,000 properties accepts no new one, but its own can change", () => {
  const full = Object.fromEntries(Array.from({ length: LIMITS.profileProperties }, (_, index) => [`p${index}`, 1]));
  const { profile, leftOut } = changeProfile(full, "profile_set", { more: 1, p0: 2 });
  expect([Object.keys(profile).length, profile.more, profile.p0, leftOut]).toEqual([1_000, undefined, 2, 1]);
  expect(changed(changed(full, "profile_unset", { p0: null }), "profile_set", { more: 1 }).more).toBe(1);
});

test("a profile of 256 KiB accepts no change that makes it larger, and every change that makes it smaller", () => {
  const large = { t: "x".repeat(LIMITS.propertyTextBytes) };
  const names = Array.from({ length: LIMITS.profileProperties }, (_, index) => `p${index}`);
  let full: JsonObject = {};
  for (const name of names) full = changed(full, "profile_set", { [name]: large });
  const bytes = Buffer.byteLength(JSON.stringify(full));
  expect(bytes).toBeLessThanOrEqual(LIMITS.profileBytes);
  expect(bytes).toBeGreaterThan(LIMITS.profileBytes - 3_000);
  const more = { t: "x".repeat(LIMITS.propertyTextBytes * 2) };
  expect(changeProfile(full, "profile_set", { p0: more })).toEqual({ profile: full, leftOut: 1 });
  expect(changed(full, "profile_set", { p0: "small" }).p0).toBe("small");
  // Also if the profile was read from a table and never measured before.
  expect(changeProfile(JSON.parse(JSON.stringify(full)), "profile_set", { p0: more }).leftOut).toBe(1);
});

test("a sum never leaves the range of a property", () => {
  const max = LIMITS.propertyNumber;
  expect(changed({ n: max }, "profile_increment", { n: max })).toEqual({ n: max });
  expect(changed({ n: -max }, "profile_increment", { n: -1 })).toEqual({ n: -max });
});

test("a sum that rounds to nothing is 0 before it is stored, too", () => {
  expect(changed({ n: -5e-324 }, "profile_increment", { n: -5e-324 })).toEqual({ n: 0 });
});

const anything = fc.json({ maxDepth: 3 }).map((text): JsonValue => JSON.parse(text));
const names = fc.oneof(fc.constantFrom("a", "b", "c"), fc.string({ maxLength: 12 }));
const object: fc.Arbitrary<JsonObject> = fc.dictionary(names, anything, { noNullPrototype: true });
const operations = fc.constantFrom(...PROFILE_OPERATIONS);

test("no operation throws on any JSON or changes its arguments, and the result is JSON", () => {
  fc.assert(
    fc.property(object, operations, object, (profile, operation, properties) => {
      const before = JSON.stringify([profile, properties]);
      const after = changed(profile, operation, properties);
      expect(JSON.stringify([profile, properties])).toBe(before);
      expect(changeProfile({ ...profile }, operation, properties, "own").profile).toEqual(after);
      expect(JSON.parse(JSON.stringify(after))).toEqual(after);
      expect(Object.getPrototypeOf(after)).toBe(Object.prototype);
    }),
    { numRuns: 500 },
  );
});

test("only the named properties change, unless the profile is deleted", () => {
  fc.assert(
    fc.property(object, operations, object, (profile, operation, properties) => {
      fc.pre(operation !== "profile_delete");
      const after = changed(profile, operation, properties);
      for (const name of Object.keys(profile))
        if (!Object.hasOwn(properties, name)) expect(after[name]).toEqual(profile[name]);
    }),
  );
});

/** At most three decimals, as in the interface; from 2^42 on a double cannot distinguish three decimals. */
const thousandths = fc.integer({ min: -2_000_000_000_000_000, max: 2_000_000_000_000_000 });

test("increments commute, and the sum is exact to three decimals", () => {
  fc.assert(
    fc.property(thousandths, thousandths, (first, second) => {
      const increment = (profile: JsonObject, by: number) => changed(profile, "profile_increment", { n: by / 1000 });
      const sum = increment(increment({}, first), second);
      expect(increment(increment({}, second), first)).toEqual(sum);
      expect(sum.n).toBe((first + second) / 1000);
    }),
  );
});

test("many small increments leave no binary rounding errors", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -999_999, max: 999_999 }), { maxLength: 50 }), (steps) => {
      const profile = steps.reduce<JsonObject>((sum, step) => changed(sum, "profile_increment", { n: step / 1000 }), {
        n: 0,
      });
      expect(profile.n).toBe(steps.reduce((sum, step) => sum + step, 0) / 1000);
    }),
  );
});

test.each(["profile_number_max", "profile_number_min"] as const)(
  "%s is idempotent and independent of order",
  (operation) => {
    const number = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(number, fc.array(number, { minLength: 1, maxLength: 6 }), (old, values) => {
        const run = (list: readonly number[]) =>
          list.reduce<JsonObject>((profile, n) => changed(profile, operation, { n }), { n: old });
        expect(run([...values, ...values])).toEqual(run(values));
        expect(run(values.toReversed())).toEqual(run(values));
      }),
    );
  },
);

test("uniq_append is idempotent, and keeps the order of first appearance", () => {
  const texts = fc.array(fc.string({ maxLength: 3 }), { maxLength: 20 });
  fc.assert(
    fc.property(texts, texts, (old, added) => {
      const once = changed({ l: old }, "profile_uniq_append", { l: added });
      expect(changed(once, "profile_uniq_append", { l: added })).toEqual(once);
      expect(once.l).toEqual([...new Set([...old, ...added])]);
    }),
  );
});

test("whatever came before, the order of set and delete decides what is left", () => {
  fc.assert(
    fc.property(object, (profile) => {
      const set = (p: JsonObject) => changed(p, "profile_set", { a: "last" });
      const drop = (p: JsonObject) => changed(p, "profile_delete", {});
      expect(drop(set(profile))).toEqual({});
      expect(set(drop(profile))).toEqual({ a: "last" });
    }),
  );
});
