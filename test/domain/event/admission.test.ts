import fc from "fast-check";
import { expect, test } from "vitest";
import { admitEvents, cutValue, fitOf } from "../../../src/domain/event/admission.ts";
import type { AppMetadata, PropertyType } from "../../../src/domain/event/metadata.ts";
import { PROFILE_OPERATIONS } from "../../../src/domain/event/profile.ts";
import type { JsonObject, JsonValue } from "../../../src/domain/json.ts";
import { REJECTIONS } from "../../../src/errors.ts";
import { LIMITS } from "../../../src/limits.ts";

const NOW_MS = Date.UTC(2024, 5, 15, 12);
const DAY_MS = 86_400_000;

const open: AppMetadata = { mode: "open", events: new Map(), properties: { event: new Map(), user: new Map() } };
const declared: AppMetadata = {
  mode: "strict",
  events: new Map([
    ["level_up", "declared"],
    ["old_one", "disabled"],
    ["seen_once", "observed"],
  ]),
  properties: { event: new Map([["level", "number"]]), user: new Map([["vip", "bool"]]) },
};

const event = (change: JsonObject = {}): JsonObject => ({
  type: "track",
  event: "level_up",
  time: NOW_MS,
  properties: {},
  ...change,
});

function admit(events: JsonValue[], options: { metadata?: AppMetadata; sharedType?: JsonValue } = {}) {
  return admitEvents(events, options.sharedType, { nowMs: NOW_MS, metadata: options.metadata ?? open });
}

const NOTHING = { rejected: [], omitted: [], cut: [], errors: [] };

test.each<[string, JsonObject]>([
  ["an ordinary event", event()],
  ["an event exactly 10 days old", event({ time: NOW_MS - 10 * DAY_MS })],
  ["an event exactly 1 hour ahead", event({ time: NOW_MS + 3_600_000 })],
  ["an event of history that says so", event({ time: NOW_MS - 400 * DAY_MS, time_free: true })],
  ["a time with a fraction", event({ time: NOW_MS + 0.5 })],
  ["a preset event", event({ event: "$PayEvent" })],
  ["a name of 50 characters", event({ event: `a${"b".repeat(49)}` })],
  ["an empty object as PHP writes it", event({ properties: [] })],
  ["unset without properties", event({ type: "profile", event: "profile_unset", properties: null })],
  ["delete without properties", event({ type: "profile", event: "profile_delete", properties: null })],
  ["keys that the interface does not know", event({ $$extra: { a: 1 }, uuid: "x" })],
])("admission accepts %s whole", (_, sent) => {
  expect(admit([sent])).toEqual(NOTHING);
});

test.each<[string, string, JsonValue]>([
  ["bad_type", "an event that is a text", "level_up"],
  ["bad_type", "an event that is null", null],
  ["bad_type", "an event that is a list", []],
  ["bad_type", "an unknown type", event({ type: "user" })],
  ["bad_type", "a missing type", { event: "a", time: NOW_MS, properties: {} }],
  ["bad_type", "an unknown profile operation", event({ type: "profile", event: "profile_replace" })],
  ["bad_name", "a name that is a number", event({ event: 7 })],
  ["bad_name", "an empty name", event({ event: "" })],
  ["bad_name", "a name that begins with a digit", event({ event: "1up" })],
  ["bad_name", "a name of 51 characters", event({ event: `a${"b".repeat(50)}` })],
  ["bad_name", "a name with a line break", event({ event: "level_up\n" })],
  ["bad_name", "a $ name that is no preset", event({ event: "$MyEvent" })],
  ["bad_properties", "properties that are a text", event({ properties: "{}" })],
  ["bad_properties", "properties that are a filled list", event({ properties: [1] })],
  ["bad_properties", "missing properties", { type: "track", event: "a", time: NOW_MS }],
  ["bad_properties", "null properties of a track event", event({ properties: null })],
  ["bad_time", "a time that is a text", event({ time: String(NOW_MS) })],
  ["bad_time", "a time in seconds", event({ time: NOW_MS / 1000 })],
  ["bad_time", "a time in microseconds", event({ time: NOW_MS * 1000 })],
  ["bad_time", "a time in seconds that skips the window", event({ time: NOW_MS / 1000, time_free: true })],
  ["bad_time", "a missing time", { type: "track", event: "a", properties: {} }],
  ["too_old", "an event a millisecond older than 10 days", event({ time: NOW_MS - 10 * DAY_MS - 1 })],
  ["too_new", "an event a millisecond more than 1 hour ahead", event({ time: NOW_MS + 3_600_001 })],
  ["too_old", "history that only says so by a text", event({ time: NOW_MS - 11 * DAY_MS, time_free: "true" })],
])("admission rejects as %s: %s", (reason, _, sent) => {
  const admission = admit([sent]);
  expect(admission.rejected).toEqual([[0, reason]]);
  expect(admission.errors).toMatchObject([{ index: 0, reason }]);
  expect(admission.errors[0]!.message).toMatch(/^.+\.$/);
});

test.each<[string | undefined, string]>([
  [undefined, "level_up"],
  [undefined, "$AdShow"],
  ["disabled", "old_one"],
  ["undeclared", "seen_once"],
  ["undeclared", "never_seen"],
])("in strict mode the verdict on a known or unknown event is %s for %s", (reason, name) => {
  const { rejected } = admit([event({ event: name })], { metadata: declared });
  expect(rejected).toEqual(reason ? [[0, reason]] : []);
});

test("a disabled event is rejected in open mode too", () => {
  const { rejected } = admit([event({ event: "old_one" })], { metadata: { ...declared, mode: "open" } });
  expect(rejected).toEqual([[0, "disabled"]]);
});

test("the type beside the list applies to events without one, and an event's own type overrides it", () => {
  const bare = { event: "profile_set", time: NOW_MS, properties: { a: 1 } };
  expect(admit([bare], { sharedType: "profile" })).toEqual(NOTHING);
  expect(admit([{ ...bare, type: "track", event: "a" }], { sharedType: "profile" })).toEqual(NOTHING);
  expect(admit([event({ event: "profile_gone", type: "profile" })], { sharedType: "track" }).rejected).toEqual([
    [0, "bad_type"],
  ]);
});

test.each<[string, JsonObject, "omitted" | "cut", string]>([
  ["a name with a dash", { "a-b": 1 }, "omitted", "a-b"],
  ["a $ name that is no preset", { $mine: 1 }, "omitted", "$mine"],
  ["__proto__", JSON.parse('{"__proto__":{"a":1}}'), "omitted", "__proto__"],
  ["a number out of range", { n: 10_000_000_000_000 }, "omitted", "n"],
  ["a list of numbers", { n: [1, 2] }, "omitted", "n"],
  ["money that is a text", { $pay_amount: "600" }, "omitted", "$pay_amount"],
  ["a text of 2,049 bytes", { t: "x".repeat(2_049) }, "cut", "t"],
  ["683 characters of 3 bytes each", { t: "字".repeat(683) }, "cut", "t"],
  ["a list of 501 texts", { l: Array(501).fill("x") }, "cut", "l"],
  ["a list over 16 KiB", { l: Array(17).fill("x".repeat(1_000)) }, "cut", "l"],
  ["a list with one text too long", { l: ["x", "y".repeat(2_049)] }, "cut", "l"],
  ["an object over 16 KiB", { o: { t: "x".repeat(17_000) } }, "omitted", "o"],
  ["an object nested too deep", { o: nested(LIMITS.nestingDepth + 1) }, "omitted", "o"],
])("a bad property is reported as bad_property and the event is kept: %s", (_, properties, kind, name) => {
  const admission = admit([event({ properties: { ...properties, fine: "yes" } })]);
  expect(admission).toMatchObject({ ...NOTHING, [kind]: [[0, name]], errors: [{ index: 0, reason: "bad_property" }] });
  expect(admission.errors).toHaveLength(1);
});

test("what exceeds the largest profile in one event is reported as bad_property", () => {
  const profile = (properties: JsonObject) => event({ type: "profile", event: "profile_set", properties });
  const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`p${index}`, 1]));
  expect(admit([profile(many)])).toMatchObject({ omitted: [[0, "p1000"]], errors: [{ reason: "bad_property" }] });
  const large = Object.fromEntries(
    Array.from({ length: 17 }, (_, index) => [`l${index}`, Array(16).fill("x".repeat(1_000))]),
  );
  expect(admit([profile(large)])).toMatchObject({ omitted: [[0, "l16"]], errors: [{ reason: "bad_property" }] });
  expect(admit([event({ properties: many })])).toEqual(NOTHING);
});

function nested(depth: number): JsonObject {
  return depth === 1 ? {} : { a: nested(depth - 1) };
}

test("in strict mode only declared properties and presets are kept, and user properties are declared separately", () => {
  const sent = event({ properties: { level: 1, vip: true, $os: "ios" } });
  expect(admit([sent], { metadata: declared }).omitted).toEqual([[0, "vip"]]);
  const profile = event({ type: "profile", event: "profile_set", properties: { level: 1, vip: true, $os: "ios" } });
  expect(admit([profile], { metadata: declared }).omitted).toEqual([[0, "level"]]);
});

test("unset ignores the values beside the names", () => {
  const sent = event({ type: "profile", event: "profile_unset", properties: { vip: "anything" } });
  expect(admit([sent], { metadata: declared })).toEqual(NOTHING);
});

test.each<[PropertyType | "any", JsonValue[], JsonValue[]]>([
  ["string", ["", "字"], [1, true, [], {}]],
  ["number", [0, -1.5, 9_999_999_999_999.998, -9_999_999_999_999.998], ["1", true, ["1"], {}, 1e13, -1e300]],
  ["bool", [true, false], [0, "true", [], {}]],
  [
    "datetime",
    ["2024-06-15", "2024-06-15 12:00:00.123", "2024-06-15T12:00:00Z", "2024-06-15T12:00+08:00"],
    ["15.6.2024", "", 0],
  ],
  ["list", [[], ["a", "b"]], ["a", [1], [["a"]], {}]],
  ["object", [{}, { a: { b: 1 } }, []], ["{}", ["a"], 1]],
  ["any", ["a", 1, true, ["a"], { a: 1 }], [[1], [null]]],
])("a property declared as %s accepts its own values and null, and no others", (type, good, bad) => {
  expect([...good, null].filter((value) => fitOf(value, type) !== "fits")).toEqual([]);
  expect(bad.filter((value) => fitOf(value, type) === "fits")).toEqual([]);
});

test("a cut value fits, is a prefix of what was sent, and has no half character", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", minLength: 600, maxLength: 3_000 }), (text) => {
      const cut = cutValue(text) as string;
      expect(text.startsWith(cut)).toBe(true);
      expect(fitOf(cut, "string")).toBe("fits");
      const next = [...text.slice(cut.length)][0] ?? "";
      expect(next === "" || Buffer.byteLength(cut + next) > LIMITS.propertyTextBytes).toBe(true);
    }),
    { numRuns: 200 },
  );
  expect(cutValue(Array(600).fill("y"))).toEqual(Array(500).fill("y"));
  const cut = cutValue(Array(600).fill("y".repeat(3_000)));
  expect(cut).toEqual(Array(7).fill("y".repeat(2_048)));
  expect(fitOf(cut, "list")).toBe("fits");
});

const anything = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<JsonValue>;
const anyEvent: fc.Arbitrary<JsonValue> = fc.oneof(
  anything,
  fc.record(
    {
      type: fc.oneof(fc.constantFrom("track", "profile"), anything),
      event: fc.oneof(fc.constantFrom("level_up", "$PayEvent", ...PROFILE_OPERATIONS), anything),
      time: fc.oneof(fc.constant(NOW_MS), anything),
      time_free: fc.oneof(fc.boolean(), anything),
      properties: fc.oneof(fc.dictionary(fc.string({ maxLength: 5 }), anything), anything),
    },
    { requiredKeys: [] },
  ) as fc.Arbitrary<JsonValue>,
);

test("each event is judged by itself, with a reason of the closed list, and no input makes admission throw", () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 8 }), fc.constantFrom(open, declared), (events, metadata) => {
      const together = admit(events, { metadata });
      events.forEach((sent, index) => {
        const alone = admit([sent], { metadata });
        const at = <T>(list: [number, T][]) => list.filter(([where]) => where === index).map(([, what]) => what);
        expect(at(together.rejected)).toEqual(alone.rejected.map(([, reason]) => reason));
        expect(at(together.omitted)).toEqual(alone.omitted.map(([, name]) => name));
        expect(at(together.cut)).toEqual(alone.cut.map(([, name]) => name));
      });
      for (const [, reason] of together.rejected) expect(REJECTIONS).toContain(reason);
      expect(together.errors).toHaveLength(together.rejected.length + together.omitted.length + together.cut.length);
    }),
  );
});
