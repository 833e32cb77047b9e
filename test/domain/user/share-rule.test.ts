import { expect, test } from "vitest";
import { type GivenShareRule, readShareRules, shownShareRule } from "../../../src/domain/user/share-rule.ts";
import { LIMITS } from "../../../src/limits.ts";

const ANY: GivenShareRule = {
  os_platform: "",
  channel: "",
  pay_method: "",
  is_virtual: null,
  start_date: "",
  end_date: "",
  share: 0.7,
};
const read = (...changes: Partial<GivenShareRule>[]) => readShareRules(changes.map((one) => ({ ...ANY, ...one })));

test("a rule is read and shown as it was given, its last day included", () => {
  const given = { os_platform: "ios", channel: "c", pay_method: "midas", is_virtual: false, share: 0.3333 };
  const period = { start_date: "2026-11-01", end_date: "2026-11-30" };
  const [rule] = read({ ...given, ...period });
  expect(rule).toMatchObject({ fromDay: "2026-11-01", untilDay: "2026-12-01", shareBp: 3_333 });
  expect(shownShareRule(rule!)).toEqual({ ...given, ...period });
  expect(read({}).map(shownShareRule)).toEqual([ANY]);
});

test.each<[string, Partial<GivenShareRule>[]]>([
  ["none at all", []],
  ["nothing left, and everything", [{ os_platform: "ios", share: 0 }, { share: 1 }]],
  ["special before general", [{ os_platform: "ios", channel: "c" }, { os_platform: "ios" }, {}]],
  ["conditions that cross", [{ os_platform: "ios" }, { channel: "c" }]],
  ["a general rule for some days only", [{ end_date: "2026-11-30" }, { os_platform: "ios" }]],
  ["periods that touch", [{ end_date: "2026-11-30" }, { start_date: "2026-12-01" }]],
  ["both kinds of payment", [{ is_virtual: true }, { is_virtual: false }]],
])("taken: %s", (_, rules) => {
  expect(read(...rules)).toHaveLength(rules.length);
});

test.each<[string, Partial<GivenShareRule>[], string]>([
  ["more than everything", [{}, { share: 1.2 }], "rule 2: share must be between 0 and 1, with at most 4 decimals"],
  ["less than nothing", [{ share: -0.1 }], "rule 1: share must be between 0 and 1, with at most 4 decimals"],
  ["a share that is too fine", [{ share: 0.12345 }], "rule 1: share must be between 0 and 1, with at most 4 decimals"],
  ["no number", [{ share: Number.NaN }], "rule 1: share must be between 0 and 1, with at most 4 decimals"],
  [
    "an unknown system",
    [{ os_platform: "iOS" }],
    "rule 1: os_platform must be ios, android, harmony, unknown or empty",
  ],
  ["an impossible day", [{ start_date: "2026-11-31" }], "rule 1: start_date must look like 2026-11-15 or be empty"],
  [
    "days in reverse",
    [{ start_date: "2026-11-02", end_date: "2026-11-01" }],
    "rule 1: end_date lies before start_date",
  ],
  [
    "two shares for the same payments of a day",
    [{ channel: "c", start_date: "2026-11-01" }, {}, { channel: "c", end_date: "2026-11-01" }],
    "rules 1 and 3 overlap: from 2026-11-01 on and until 2026-11-01, under the same conditions",
  ],
  ["the same rule twice", [{}, {}], "rules 1 and 2 overlap: always and always, under the same conditions"],
  [
    "a rule behind a more general one",
    [{ start_date: "2026-01-01" }, { os_platform: "ios", start_date: "2026-02-01", end_date: "2026-02-03" }],
    "rule 2 never counts: rule 1, before it, fits the same payments",
  ],
])("refused: %s", (_, rules, sentence) => {
  expect(() => read(...rules)).toThrow(new Error(sentence));
});

test("an app has a limited number of rules", () => {
  const rules = (count: number) => Array.from({ length: count }, (_, at) => ({ channel: `c${at}` }));
  expect(read(...rules(LIMITS.shareRulesPerApp))).toHaveLength(100);
  expect(() => read(...rules(LIMITS.shareRulesPerApp + 1))).toThrow("an app can have at most 100 share rules");
});
