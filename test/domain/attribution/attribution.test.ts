import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type Decision,
  decide,
  type FoundTouch,
  type Outcome,
  type Subject,
} from "../../../src/domain/attribution/attribution.ts";
import { RuleBook, type RuleSettings, type Rules } from "../../../src/domain/attribution/attribution-rules.ts";
import { FLAGS, type Flag } from "../../../src/domain/attribution/fraud.ts";
import { METHODS, type TouchMethod } from "../../../src/domain/attribution/method.ts";
import { NO_AD_IDS, TOUCH_KINDS, type TouchKind } from "../../../src/domain/attribution/touch.ts";

const REGISTERED_AT_MS = Date.UTC(2024, 5, 15, 12);
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

const TOUCH_METHODS = METHODS.filter((method): method is TouchMethod => method !== "launch_query");

const subject = (change: Partial<Subject> = {}): Subject => ({
  atMs: REGISTERED_AT_MS,
  launch: undefined,
  reported: undefined,
  ...change,
});

/** A found touch in short form: by default a click an hour before the registration, found by a device id. */
type Sketch = {
  id?: string;
  kind?: TouchKind;
  platform?: string;
  agoMs?: number;
  by?: readonly TouchMethod[];
  flags?: readonly Flag[];
};

function found(sketch: Sketch = {}): FoundTouch {
  const touchedAtMs = REGISTERED_AT_MS - (sketch.agoMs ?? HOUR_MS);
  return {
    touch: {
      ...NO_AD_IDS,
      touchId: sketch.id ?? "a",
      kind: sketch.kind ?? "click",
      platform: sketch.platform ?? "tencent",
      touchedAtMs,
      receivedAtMs: touchedAtMs,
      campaignId: "",
      channel: "",
      ip: "",
      details: {},
    },
    matches: (sketch.by ?? ["device_id"]).map((method) => ({ method, by: [method] })),
    flags: sketch.flags ?? [],
  };
}

const book = (rules: Partial<Rules> = {}) => new RuleBook([{ platform: "", rules }]);

const outcomesOf = ({ candidates }: Decision) =>
  Object.fromEntries(candidates.map(({ touch, outcome }) => [touch.touchId, outcome]));

const outcomeAlone = (sketch: Sketch, rules: Partial<Rules> = {}) =>
  decide(subject(), [found(sketch)], book(rules)).candidates[0]!.outcome;

test("a subject without touches is organic", () => {
  expect(decide(subject(), [], book())).toEqual({ verdict: { kind: "organic", method: undefined }, candidates: [] });
});

test.each(TOUCH_METHODS)("a click found by %s alone wins by it", (method) => {
  const one = found({ by: [method], platform: "kuaishou" });
  const { verdict, candidates } = decide(subject(), [one], book());
  expect(verdict).toEqual({ kind: "attributed", method, platform: "kuaishou", touch: one.touch });
  const windowMs = method === "ip_ua" ? DAY_MS : 7 * DAY_MS;
  expect(candidates).toEqual([{ ...one, method, outcome: "won", windowMs }]);
});

const LADDER = TOUCH_METHODS.flatMap((surer, i) => TOUCH_METHODS.slice(i + 1).map((other) => [surer, other] as const));

test.each(LADDER)("%s beats %s, even as an older touch, as an impression and with the smaller id", (surer, other) => {
  const touches = [
    found({ id: "a", by: [surer], kind: "impression", agoMs: 23 * HOUR_MS }),
    found({ id: "b", by: [other], kind: "click", agoMs: 0 }),
  ];
  const decision = decide(subject(), touches, book({ impressions: true }));
  expect(decision.verdict).toMatchObject({ kind: "attributed", method: surer, touch: { touchId: "a" } });
  expect(outcomesOf(decision)).toEqual({ a: "won", b: "earlier_method_won" });
});

test("the methods are tried from the surest to the least sure", () => {
  expect(METHODS).toEqual(["click_key", "device_id", "open_id", "launch_query", "ip_ua"]);
});

test.each<[string, Sketch, Partial<Rules>, number]>([
  ["a click found by click key", { by: ["click_key"] }, {}, 7 * DAY_MS],
  ["a click found by device id", { by: ["device_id"] }, {}, 7 * DAY_MS],
  ["a click found by open id", { by: ["open_id"] }, {}, 7 * DAY_MS],
  ["a click found by address and agent", { by: ["ip_ua"] }, {}, 24 * HOUR_MS],
  ["a click with a window of its own", { by: ["device_id"] }, { clickWindowMs: 5_000 }, 5_000],
  ["a click by address and agent, own window", { by: ["ip_ua"] }, { ipUaWindowMs: 5_000 }, 5_000],
  ["a click, whatever the impression window", { by: ["open_id"] }, { impressionWindowMs: 5_000 }, 7 * DAY_MS],
  ["an impression found by click key", { by: ["click_key"], kind: "impression" }, {}, 24 * HOUR_MS],
  ["an impression found by device id", { by: ["device_id"], kind: "impression" }, {}, 24 * HOUR_MS],
  ["an impression found by open id", { by: ["open_id"], kind: "impression" }, {}, 24 * HOUR_MS],
  ["an impression by address and agent", { by: ["ip_ua"], kind: "impression" }, {}, 24 * HOUR_MS],
  ["an impression with a short window", { kind: "impression" }, { impressionWindowMs: 5_000 }, 5_000],
  ["an impression with a long window", { kind: "impression" }, { impressionWindowMs: 3 * DAY_MS }, 3 * DAY_MS],
  ["an impression, never longer than a click", { kind: "impression" }, { clickWindowMs: 5_000 }, 5_000],
  [
    "an impression by address and agent, never longer than a click",
    { by: ["ip_ua"], kind: "impression" },
    { ipUaWindowMs: 5_000 },
    5_000,
  ],
])("the window of %s is half-open", (_, sketch, rules, windowMs) => {
  const at = (agoMs: number) => decide(subject(), [found({ ...sketch, agoMs })], book({ impressions: true, ...rules }));
  expect(at(windowMs - 1).candidates[0]).toMatchObject({ outcome: "won", windowMs });
  expect(at(windowMs).candidates[0]).toMatchObject({ outcome: "outside_window", windowMs });
  expect(at(windowMs).verdict).toEqual({ kind: "organic", method: undefined });
});

test.each<[number, Outcome]>([
  [1, "won"],
  [0, "won"],
  [-1, "after_registration"],
])("a click %d ms before the registration: %s", (agoMs, outcome) => {
  for (const method of TOUCH_METHODS) expect(outcomeAlone({ agoMs, by: [method] })).toBe(outcome);
});

test.each<[number, number, Outcome]>([
  [0, 0, "won"],
  [1, 0, "too_fast"],
  [10_000, 0, "too_fast"],
  [10_000, 9_999, "too_fast"],
  [10_000, 10_000, "won"],
  [10_000, -1, "after_registration"],
])("with a minimum gap of %d ms a click %d ms before the registration: %s", (gapMsMin, agoMs, outcome) => {
  expect(outcomeAlone({ agoMs }, { gapMsMin })).toBe(outcome);
});

test.each<[string, Sketch, Sketch, Outcome]>([
  ["a click beats a later impression", { agoMs: 9_000 }, { kind: "impression", agoMs: 1 }, "click_won"],
  ["a click beats an impression of the same ms", {}, { kind: "impression", id: "z" }, "click_won"],
  ["the later click wins by a millisecond", { agoMs: 1_000 }, { agoMs: 1_001, id: "z" }, "later_touch_won"],
  [
    "the later impression wins too",
    { kind: "impression" },
    { kind: "impression", agoMs: DAY_MS - 1 },
    "later_touch_won",
  ],
  ["in the same ms the greater id wins", { id: "0b" }, { id: "0a" }, "greater_id_won"],
  ["ids are compared as texts", { id: "9" }, { id: "10" }, "greater_id_won"],
  ["the platform does not matter", { agoMs: 1 }, { agoMs: 2, platform: "kuaishou" }, "later_touch_won"],
])("within a method %s", (_, better, worse, outcome) => {
  const [winner, loser] = [found({ id: "m", ...better }), found({ id: "b", ...worse })];
  const decision = decide(subject(), [loser, winner], book({ impressions: true }));
  expect(decision.verdict).toMatchObject({ touch: winner.touch });
  expect(decision.candidates.map((candidate) => candidate.outcome)).toEqual(["won", outcome]);
});

test("impressions count only where the rules say so", () => {
  expect(outcomeAlone({ kind: "impression" })).toBe("impressions_off");
  expect(outcomeAlone({ kind: "impression" }, { impressions: false })).toBe("impressions_off");
  expect(outcomeAlone({ kind: "impression" }, { impressions: true })).toBe("won");
});

test.each(FLAGS)("a touch flagged %s may win unless the rules forbid it", (flag) => {
  const touches = [found({ id: "b", flags: [flag], agoMs: 1 }), found({ id: "a", agoMs: 2 })];
  expect(outcomesOf(decide(subject(), touches, book()))).toEqual({ a: "later_touch_won", b: "won" });
  expect(outcomesOf(decide(subject(), touches, book({ flaggedMayWin: false })))).toEqual({ a: "won", b: "flagged" });
});

test.each<[string, Sketch, Partial<Rules>, Outcome]>([
  ["the registration came first", { agoMs: -1, kind: "impression", flags: ["future"] }, {}, "after_registration"],
  ["impressions are off", { agoMs: DAY_MS, kind: "impression", flags: ["future"] }, {}, "impressions_off"],
  ["the window is over", { agoMs: 7 * DAY_MS, flags: ["future"] }, { gapMsMin: 8 * DAY_MS }, "outside_window"],
  ["it was too fast", { agoMs: 1, flags: ["future"] }, { gapMsMin: 2 }, "too_fast"],
])("if several reasons speak against a touch, the first is named: %s", (_, sketch, rules, outcome) => {
  expect(outcomeAlone(sketch, { flaggedMayWin: false, ...rules })).toBe(outcome);
});

test.each<[string, Sketch[], Record<string, Outcome>, string]>([
  ["wins if no touch is stored", [], {}, "launch_query"],
  ["beats address and agent", [{ by: ["ip_ua"], agoMs: 0 }], { a: "earlier_method_won" }, "launch_query"],
  ["loses to an open id", [{ by: ["open_id"], agoMs: 6 * DAY_MS }], { a: "won" }, "open_id"],
  ["loses to a device id", [{ by: ["device_id"], agoMs: 6 * DAY_MS }], { a: "won" }, "device_id"],
  ["loses to a click key", [{ by: ["click_key"], agoMs: 6 * DAY_MS }], { a: "won" }, "click_key"],
  [
    "wins over an open id outside its window",
    [{ by: ["open_id"], agoMs: 7 * DAY_MS }],
    { a: "outside_window" },
    "launch_query",
  ],
])("a launch query that names the platform %s", (_, sketches, outcomes, method) => {
  const decision = decide(subject({ launch: "bytedance" }), sketches.map(found), book());
  const isLaunch = method === "launch_query";
  expect(decision.verdict).toMatchObject({
    kind: "attributed",
    method,
    platform: isLaunch ? "bytedance" : "tencent",
    touch: isLaunch ? undefined : { kind: "click" },
  });
  expect(outcomesOf(decision)).toEqual(outcomes);
});

test.each<[string, Decision["verdict"]]>([
  ["kuaishou", { kind: "attributed", method: "reported", platform: "kuaishou", touch: undefined }],
  ["", { kind: "organic", method: "reported" }],
])("the caller's report %j takes precedence over every touch and the launch query", (reported, verdict) => {
  const touches = [
    ...TOUCH_METHODS.map((method) => found({ id: method, by: [method] })),
    ...[found({ id: "old", agoMs: 9 * DAY_MS }), found({ id: "late", agoMs: -1 })],
  ];
  for (const launch of [undefined, "bytedance"]) {
    const decision = decide(subject({ reported, launch }), touches, book());
    expect(decision.verdict).toEqual(verdict);
    expect(decision.candidates.map(({ outcome }) => outcome)).toEqual(touches.map(() => "reported_stands"));
  }
});

test("a touch found by several methods counts by the surest, whatever their order", () => {
  for (const by of [TOUCH_METHODS, TOUCH_METHODS.toReversed()]) {
    const { verdict, candidates } = decide(subject(), [found({ by })], book());
    expect(verdict).toMatchObject({ method: "click_key" });
    expect(candidates).toEqual([{ ...found({ by }), method: "click_key", outcome: "won", windowMs: 7 * DAY_MS }]);
  }
});

test.each<[string, number, { method: TouchMethod; outcome: Outcome; windowMs: number }]>([
  ["counts by the surest", HOUR_MS - 1, { method: "device_id", outcome: "won", windowMs: HOUR_MS }],
  ["counts by the next one whose window holds it", HOUR_MS, { method: "ip_ua", outcome: "won", windowMs: DAY_MS }],
  [
    "is shown by the surest if none holds it",
    DAY_MS,
    { method: "device_id", outcome: "outside_window", windowMs: HOUR_MS },
  ],
])("a touch found by device id (1 h) and by address and agent (24 h) %s", (_, agoMs, expected) => {
  const touches = [found({ by: ["ip_ua", "device_id"], agoMs })];
  expect(decide(subject(), touches, book({ clickWindowMs: HOUR_MS })).candidates[0]).toMatchObject(expected);
});

test("a touch that counts only by address and agent loses to the launch query, whatever else found it", () => {
  const touches = [found({ by: ["device_id", "ip_ua"], agoMs: HOUR_MS })];
  const decision = decide(subject({ launch: "baidu" }), touches, book({ clickWindowMs: HOUR_MS }));
  expect(decision.verdict).toMatchObject({ method: "launch_query", platform: "baidu" });
  expect(decision.candidates[0]).toMatchObject({ method: "ip_ua", outcome: "earlier_method_won" });
});

type Case = { subject?: Partial<Subject>; rules?: Partial<Rules>; touches: Sketch[] };

/** A decision for each outcome, in which touch "x" has it. The compiler keeps this list complete. */
const CASE_OF: Record<Outcome, Case> = {
  won: { touches: [{ id: "x" }] },
  reported_stands: { subject: { reported: "tencent" }, touches: [{ id: "x" }] },
  earlier_method_won: { touches: [{ id: "x" }, { by: ["click_key"] }] },
  click_won: { rules: { impressions: true }, touches: [{ id: "x", kind: "impression" }, {}] },
  later_touch_won: { touches: [{ id: "x", agoMs: 2 }, { agoMs: 1 }] },
  greater_id_won: { touches: [{ id: "x" }, { id: "y" }] },
  after_registration: { touches: [{ id: "x", agoMs: -1 }] },
  outside_window: { touches: [{ id: "x", agoMs: 7 * DAY_MS }] },
  too_fast: { rules: { gapMsMin: 2 * HOUR_MS }, touches: [{ id: "x" }] },
  impressions_off: { touches: [{ id: "x", kind: "impression" }] },
  flagged: { rules: { flaggedMayWin: false }, touches: [{ id: "x", flags: ["datacentre"] }] },
};

test.each(Object.entries(CASE_OF))("a touch can have the outcome %s", (outcome, one) => {
  const decision = decide(subject(one.subject), one.touches.map(found), book(one.rules));
  expect(outcomesOf(decision)).toMatchObject({ x: outcome });
});

const SETTINGS: RuleSettings[] = [
  { platform: "kuaishou", rules: { clickWindowMs: 3 * DAY_MS, impressions: true } },
  { platform: "", rules: { clickWindowMs: 2 * DAY_MS, gapMsMin: 500 } },
];

test.each<[string, TouchKind, number, Outcome]>([
  ["tencent", "click", 2 * DAY_MS - 1, "won"],
  ["tencent", "click", 2 * DAY_MS, "outside_window"],
  ["kuaishou", "click", 2 * DAY_MS, "won"],
  ["kuaishou", "click", 3 * DAY_MS, "outside_window"],
  ["tencent", "impression", HOUR_MS, "impressions_off"],
  ["kuaishou", "impression", HOUR_MS, "won"],
  ["kuaishou", "click", 499, "too_fast"],
])("a touch is judged by the rules of its own platform: %s, %s, %d ms, %s", (platform, kind, agoMs, outcome) => {
  const decision = decide(subject(), [found({ platform, kind, agoMs })], new RuleBook(SETTINGS));
  expect(decision.candidates[0]!.outcome).toBe(outcome);
});

const EDGES_MS = [0, 1, 2, 1_000, HOUR_MS, DAY_MS, 7 * DAY_MS];
const spanMs = fc.oneof(
  fc.constantFrom(...EDGES_MS.flatMap((edgeMs) => [edgeMs, edgeMs - 1])),
  fc.integer({ min: -DAY_MS, max: 10 * DAY_MS }),
);
const settings = fc.record(
  {
    clickWindowMs: spanMs,
    ipUaWindowMs: spanMs,
    impressionWindowMs: spanMs,
    gapMsMin: spanMs,
    impressions: fc.boolean(),
    flaggedMayWin: fc.boolean(),
  },
  { requiredKeys: [] },
);
const rules = fc.tuple(settings, settings).map(
  ([app, kuaishou]) =>
    new RuleBook([
      { platform: "", rules: app },
      { platform: "kuaishou", rules: kuaishou },
    ]),
);
const touch: fc.Arbitrary<FoundTouch> = fc
  .record({
    id: fc.stringMatching(/^[0-9a-f]{1,3}$/),
    kind: fc.constantFrom(...TOUCH_KINDS),
    platform: fc.constantFrom("tencent", "kuaishou"),
    agoMs: fc.oneof(spanMs, fc.maxSafeInteger()),
    by: fc.uniqueArray(fc.constantFrom(...TOUCH_METHODS), { minLength: 1 }),
    flags: fc.subarray([...FLAGS]),
  })
  .map(found);
const touches = fc.uniqueArray(touch, { maxLength: 8, selector: (one) => one.touch.touchId });
const platform = fc.option(fc.constantFrom("tencent", "bytedance"), { nil: undefined, freq: 3 });
const anyone = fc.record({
  atMs: fc.constant(REGISTERED_AT_MS),
  launch: platform,
  reported: fc.oneof(
    { weight: 4, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom("", "baidu") },
  ),
});

test("the order in which touches are found does not change the decision", () => {
  const shuffled = touches.chain((all) =>
    fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
  );
  fc.assert(
    fc.property(anyone, shuffled, rules, (who, [some, same], ruleBook) => {
      expect(decide(who, same, ruleBook)).toEqual(decide(who, some, ruleBook));
    }),
  );
});

test("a losing touch changes neither the verdict nor the outcomes of the others", () => {
  fc.assert(
    fc.property(anyone, touches, touch, rules, (who, some, added, ruleBook) => {
      fc.pre(some.every((one) => one.touch.touchId !== added.touch.touchId));
      const [before, after] = [decide(who, some, ruleBook), decide(who, [...some, added], ruleBook)];
      if (outcomesOf(after)[added.touch.touchId] === "won") return;
      expect(after.verdict).toEqual(before.verdict);
      expect(after.candidates.filter((one) => one.touch.touchId !== added.touch.touchId)).toEqual(before.candidates);
    }),
  );
});

test("exactly one candidate has won if the verdict has a touch, and none otherwise", () => {
  fc.assert(
    fc.property(anyone, touches, rules, (who, some, ruleBook) => {
      const { verdict, candidates } = decide(who, some, ruleBook);
      const winner = verdict.kind === "attributed" ? verdict.touch : undefined;
      const won = candidates.filter(({ outcome }) => outcome === "won");
      expect(won.map((one) => one.touch)).toEqual(winner ? [winner] : []);
      if (winner) expect(won[0]).toMatchObject({ method: verdict.method, touch: { platform: winner.platform } });
    }),
  );
});

test("the decision is total: every touch gets an outcome of the closed list, and nothing throws", () => {
  fc.assert(
    fc.property(anyone, touches, rules, (who, some, ruleBook) => {
      const { candidates } = decide(who, some, ruleBook);
      expect(candidates.map((one) => one.touch.touchId).sort()).toEqual(some.map((one) => one.touch.touchId).sort());
      for (const { outcome, matches, method } of candidates) {
        expect(CASE_OF).toHaveProperty(outcome);
        expect(matches.map((match) => match.method)).toContain(method);
      }
    }),
  );
});
