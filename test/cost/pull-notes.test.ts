import { expect, test } from "vitest";
import { notesOf } from "../../src/cost/pull-notes.ts";
import { beyondReach, statusRecord } from "../../src/cost/pull-record.ts";
import type { CostAccount } from "../../src/db/cost-pull.ts";
import { addDays } from "../../src/domain/calendar.ts";
import { NOON_MS, TODAY } from "./stage.ts";

const ago = (days: number) => addDays(TODAY, -days);
const DAY_MS = 86_400_000;

/** An account of which some days were pulled at noon, a number of days ago. */
function account(
  adPlatform: string,
  pulls: readonly { day: string; pulledDaysAgo: number }[],
  change: Partial<CostAccount> & { failures?: number } = {},
): CostAccount {
  const { failures = 0, ...rest } = change;
  const days = pulls.map(({ day, pulledDaysAgo }) => {
    const atMs = NOON_MS - pulledDaysAgo * DAY_MS;
    return [day, { atMs, sameSinceMs: atMs }] as const;
  });
  return {
    appId: 1,
    adPlatform,
    advertiserId: "77",
    timeZone: "Asia/Shanghai",
    error: "",
    exceeding: [],
    state: { changedAtMs: NOON_MS, attemptedAtMs: NOON_MS, failures, pulls: new Map(days) },
    ...rest,
  };
}

const settledDays = (from: number, to: number) =>
  Array.from({ length: from - to + 1 }, (_, at) => ({ day: ago(from - at), pulledDaysAgo: 0 }));

test("an account whose days settle has no notes", () => {
  expect(notesOf(account("kuaishou", settledDays(100, 0)), NOON_MS)).toEqual([]);
  expect(notesOf(account("kuaishou", []), NOON_MS)).toEqual([]);
});

test("days that are beyond the platform's reach before they settled are told as lost", () => {
  const lost = [{ day: ago(91), pulledDaysAgo: 90 }];
  expect(notesOf(account("asa", [...lost, ...settledDays(90, 0)]), NOON_MS)).toEqual([
    `${ago(91)} can never be settled: reports of Apple reach back 90 days, to ${ago(89)}.`,
  ]);
  const two = [
    { day: ago(200), pulledDaysAgo: 195 },
    { day: ago(199), pulledDaysAgo: 195 },
  ];
  expect(notesOf(account("kuaishou", [...two, ...settledDays(198, 0)]), NOON_MS)).toEqual([
    `2 days from ${ago(200)} to ${ago(199)} can never be settled: reports of Kuaishou reach back 180 days, to ${ago(179)}.`,
  ]);
});

test("days that the schedule has left behind are told, because they can still be pulled by hand", () => {
  const left = [{ day: ago(120), pulledDaysAgo: 119 }];
  expect(notesOf(account("bytedance", [...left, ...settledDays(118, 0)]), NOON_MS)).toEqual([
    `2 days from ${ago(120)} to ${ago(119)} will not be settled by schedule, which goes back 90 days: pull them by hand.`,
  ]);
});

test("an account that keeps failing is told that no day settles, and when the first one is lost", () => {
  const failing = account("asa", [...settledDays(50, 10)], { failures: 3, error: "down" });
  expect(notesOf(failing, NOON_MS)).toEqual([
    `No day settles as long as pulls fail: 3 have failed in a row, and the last pull was ${TODAY} 12:00:00. From ${addDays(ago(9), 90)} on, ${ago(9)} is beyond the reach of Apple.`,
  ]);
  expect(notesOf({ ...failing, state: { ...failing.state, failures: 2 } }, NOON_MS)).toEqual([]);
  expect(notesOf(account("vivo", [], { failures: 9 }), NOON_MS)).toEqual([
    "No day settles as long as pulls fail: 9 have failed in a row, and nothing was ever pulled.",
  ]);
});

test("days that add up to more than the account's total are told, once they have ended", () => {
  const exceeding = [
    ...[5, 4, 3, 2].map((back) => ({ day: ago(back), costE4: 20_000, totalE4: 10_000 })),
    { day: ago(1), costE4: 1_234_501, totalE4: 1_234_500 },
    { day: TODAY, costE4: 2, totalE4: 1 },
  ];
  const [newest, second, , more, ...none] = notesOf(account("tencent", [], { exceeding }), NOON_MS);
  expect(newest).toBe(
    `The ads of ${ago(1)} add up to 123.4501, which is 0.0001 more than the account's total of 123.45; the rows are kept as the platform sent them.`,
  );
  expect(second).toMatch(new RegExp(`^The ads of ${ago(2)} add up to 2.00, which is 1.00 more`));
  expect([more, none]).toEqual(["The same holds for 2 earlier days.", []]);
});

test.each([
  ["tencent", 365],
  ["kuaishou", 180],
  ["baidu", 730],
  ["asa", 90],
])("the state of an account at %s shows that reports reach back %d days", (platform, days) => {
  const own = account(platform, []);
  expect(statusRecord(own, NOON_MS)).toMatchObject({ reach_days: days, first_day: ago(days - 1) });
  expect(beyondReach([own], ago(days - 1), NOON_MS)).toBeUndefined();
  expect(beyondReach([own], ago(days), NOON_MS)).toMatch(
    new RegExp(`^Reports of \\w+ reach back ${days} days: the first day .* account 77 is ${ago(days - 1)}\\.$`),
  );
});

test("where no limit is known, none is shown and any day can be asked for", () => {
  const own = account("bytedance", []);
  expect(statusRecord(own, NOON_MS)).toMatchObject({ reach_days: null, first_day: "" });
  expect(beyondReach([own], "2020-01-01", NOON_MS)).toBeUndefined();
});
