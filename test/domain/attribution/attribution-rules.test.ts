import { expect, test } from "vitest";
import {
  DEFAULT_RULES,
  RuleBook,
  type RuleSettings,
  type Rules,
} from "../../../src/domain/attribution/attribution-rules.ts";

const DAY_MS = 86_400_000;

test("an app without settings follows the defaults", () => {
  const rules = new RuleBook();
  expect(rules.app).toEqual(DEFAULT_RULES);
  expect(rules.of("tencent")).toEqual(DEFAULT_RULES);
  expect(rules.longestWindowMs).toBe(7 * DAY_MS);
  expect(DEFAULT_RULES).toMatchObject({
    clickWindowMs: 7 * DAY_MS,
    ipUaWindowMs: DAY_MS,
    impressionWindowMs: DAY_MS,
    impressions: false,
    gapMsMin: 0,
    flaggedMayWin: true,
    reattribution: false,
  });
});

const SETTINGS: RuleSettings[] = [
  { platform: "kuaishou", rules: { clickWindowMs: 3 * DAY_MS, impressions: true } },
  { platform: "", rules: { clickWindowMs: 2 * DAY_MS, gapMsMin: 500 } },
  { platform: "baidu", rules: { impressionWindowMs: 9 * DAY_MS } },
];

test.each<[string, Partial<Rules>]>([
  ["", { clickWindowMs: 2 * DAY_MS, gapMsMin: 500 }],
  ["tencent", { clickWindowMs: 2 * DAY_MS, gapMsMin: 500 }],
  ["kuaishou", { clickWindowMs: 3 * DAY_MS, gapMsMin: 500, impressions: true }],
  ["baidu", { clickWindowMs: 2 * DAY_MS, gapMsMin: 500, impressionWindowMs: 9 * DAY_MS }],
  ["constructor", { clickWindowMs: 2 * DAY_MS, gapMsMin: 500 }],
])("the rules of %j are its own, else the app's, else the defaults, in any order of setting", (platform, own) => {
  for (const settings of [SETTINGS, SETTINGS.toReversed()]) {
    expect(new RuleBook(settings).of(platform)).toEqual({ ...DEFAULT_RULES, ...own });
  }
  const over = { clickWindowMs: 7 };
  expect(new RuleBook(SETTINGS, over).of(platform)).toEqual({ ...DEFAULT_RULES, ...own, ...over });
});

test("the longest window is the longest of any kind on any platform", () => {
  expect(new RuleBook(SETTINGS).longestWindowMs).toBe(9 * DAY_MS);
  const rules = { clickWindowMs: 1, ipUaWindowMs: 3, impressionWindowMs: 2 };
  expect(new RuleBook([{ platform: "", rules }]).longestWindowMs).toBe(3);
});
