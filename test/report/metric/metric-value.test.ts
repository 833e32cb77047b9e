import { describe, expect, test } from "vitest";
import { type Measure, USER_MEASURES } from "../../../src/domain/cube.ts";
import { metricNamed } from "../../../src/report/metric/catalogue.ts";
import type { Reading } from "../../../src/report/metric/metric.ts";
import { metricReader, rounded, unitOf } from "../../../src/report/metric/metric-value.ts";

const FULL_BP = 10_000;
const CALENDAR: Reading = { caliber: "user_activated_time", roiVersion: 1 };
const PRECISE: Reading = { caliber: "user_activated_time", roiVersion: 2 };
const OCCURRED: Reading = { caliber: "behavior_occurred_time", roiVersion: 1 };

describe("rounding is half away from zero", () => {
  test.each<[of: bigint, by: bigint, decimals: number, expected: number]>([
    [1n, 8n, 2, 0.13],
    [-1n, 8n, 2, -0.13],
    [1n, -8n, 2, -0.13],
    [-1n, -8n, 2, 0.13],
    [124_999n, 1_000_000n, 2, 0.12],
    [125_000n, 1_000_000n, 2, 0.13],
    [-124_999n, 1_000_000n, 2, -0.12],
    [5n, 1_000n, 2, 0.01],
    [4_999n, 1_000_000n, 2, 0],
    [1_005n, 1_000n, 2, 1.01],
    [2_675n, 1_000n, 2, 2.68],
    [995n, 1_000n, 2, 1],
    [5n, 100_000n, 4, 0.0001],
    [-5n, 100_000n, 4, -0.0001],
    [49_999n, 1_000_000_000n, 4, 0],
    [123_450n, 1_000_000n, 4, 0.1235],
    [123_449n, 1_000_000n, 4, 0.1234],
    [999_950n, 1_000_000n, 4, 1],
    [1n, 3n, 2, 0.33],
    [2n, 3n, 4, 0.6667],
    [7n, 1n, 4, 7],
    [100n, 1n, 2, 100],
    [0n, 5n, 2, 0],
  ])("%s / %s to %s decimals is %s", (of, by, decimals, expected) => {
    expect(rounded({ of, by }, decimals)).toBe(expected);
  });

  test("beyond the digits of a floating-point division", () => {
    const huge = 10n ** 30n;
    expect(rounded({ of: 12_345n * huge + 1n, by: 10_000n * huge }, 2)).toBe(1.23);
    expect(rounded({ of: 12_350n * huge, by: 10_000n * huge }, 2)).toBe(1.24);
    expect(rounded({ of: 12_350n * huge - 1n, by: 10_000n * huge }, 2)).toBe(1.23);
    expect(rounded({ of: 12_345_678_901_234n, by: 100n }, 2)).toBe(123_456_789_012.34);
    expect(rounded({ of: -999_999_999_999_995n, by: 100_000n }, 4)).toBe(-10_000_000_000);
    expect(rounded({ of: huge, by: 1n }, 4)).toBe(1e30);
  });

  test("a value rounded to zero has no sign", () => {
    expect(Object.is(rounded({ of: -1n, by: 1_000_000n }, 4), 0)).toBe(true);
    expect(Object.is(rounded({ of: 0n, by: -1n }, 2), 0)).toBe(true);
  });

  test("a zero denominator gives 0", () => {
    for (const of of [0n, 1n, -1n, 10n ** 20n]) expect(rounded({ of, by: 0n }, 4)).toBe(0);
  });
});

type Case = { metric: string; sums: Partial<Record<Measure, number>>; is: number; reading?: Reading; shareBp?: number };

function shown({ metric, sums, reading = CALENDAR, shareBp = FULL_BP }: Omit<Case, "is">, decimals = 4): number {
  return metricReader(metricNamed(metric)!.formula(reading), { payShareBp: shareBp, decimals })(sums);
}

describe("a metric is shown in its unit", () => {
  test.each<Case>([
    { metric: "AdCost", sums: { cost_e4: 1 }, is: 0.0001 },
    { metric: "AdCost", sums: { cost_e4: 999_999_999_999_999 }, is: 99_999_999_999.9999 },
    { metric: "AdCpm", sums: { cost_e4: 15_000, impressions: 400 }, is: 3.75 },
    { metric: "AdCpc", sums: { cost_e4: 10_000, clicks: 3 }, is: 0.3333 },
    { metric: "AdCtr", sums: { clicks: 1, impressions: 8 }, is: 0.125 },
    { metric: "AppActivateStandard", sums: { users: 12 }, is: 12 },
    { metric: "AppActivateCost", sums: { cost_e4: 100_000, users: 4 }, is: 2.5 },
    { metric: "AppGamePayAmountStandard", sums: { pay_cents: 601 }, is: 6.01 },
    { metric: "AppGamePayAmountStandard", sums: { pay_cents: -601 }, is: -6.01 },
    { metric: "AppAdRevenue", sums: { ad_micros: 150 }, is: 0.0002 },
    { metric: "AppAdRevenue", sums: { ad_micros: 149 }, is: 0.0001 },
    { metric: "AppAdEcpm", sums: { ad_micros: 80_000, ad_count: 1 }, is: 80 },
    { metric: "AppRevenue", sums: { pay_cents: 100, ad_micros: 500_000 }, is: 1.5 },
    { metric: "AppROI", sums: { pay_cents: 100, ad_micros: 500_000, cost_e4: 30_000 }, is: 0.5 },
    { metric: "AppFirstDayROI", sums: { pay_d1: 300, ad_d1: 1, cost_e4: 10_000 }, is: 3 },
    { metric: "App7DayLTV", sums: { pay_d7: 100, ad_d7: 1_000_000, users: 3 }, is: 0.6667 },
    { metric: "AppRetention7d", sums: { kept_7: 1, users: 16 }, is: 0.0625 },
    { metric: "AppPostbackAmount", sums: { postback_cents: 1_234 }, is: 12.34 },
  ])("$metric of $sums is $is", ({ is, ...rest }) => {
    expect(shown(rest)).toBe(is);
  });

  test("every metric is 0 in an empty row", () => {
    for (const metric of ["AdCost", "AdCpm", "AppROI", "AppARPU", "App24hLTV", "AppRetention30d"])
      expect(shown({ metric, sums: {} })).toBe(0);
  });

  test("revenue without a cost has no ROI", () => {
    expect(shown({ metric: "AppROI", sums: { pay_cents: 100, cost_e4: 0 } })).toBe(0);
  });

  test("two decimals are rounded from the exact value, not from four", () => {
    const sums = { pay_cents: 1_000, payers: 1 };
    expect(shown({ metric: "AppARPPU", sums }, 2)).toBe(10);
    expect(shown({ metric: "AppAdRevenue", sums: { ad_micros: 4_999 } }, 2)).toBe(0);
    expect(shown({ metric: "AppAdRevenue", sums: { ad_micros: 4_999 } }, 4)).toBe(0.005);
  });
});

describe("the app's share of payments", () => {
  const sums = { pay_cents: 1_000, ad_micros: 1_000_000, pay_s1: 1_000, ad_s1: 1_000_000, pay_d1: 7, ad_d1: 7 };
  const all = { ...sums, cost_e4: 10_000, users: 1, active_users: 1 };

  test.each<Omit<Case, "sums">>([
    { metric: "AppROI", reading: PRECISE, shareBp: 6_000, is: 7 },
    { metric: "AppROI", reading: PRECISE, shareBp: 3_333, is: 4.333 },
    { metric: "AppROI", reading: PRECISE, shareBp: 1, is: 1.001 },
    { metric: "AppROI", reading: PRECISE, shareBp: 0, is: 1 },
    { metric: "AppROI", reading: CALENDAR, shareBp: 6_000, is: 11 },
    { metric: "App24hPayAmount", reading: PRECISE, shareBp: 6_000, is: 6 },
    { metric: "App24hPayAmount", reading: CALENDAR, shareBp: 6_000, is: 10 },
    { metric: "AppFirstDayPayAmount", reading: PRECISE, shareBp: 6_000, is: 6 },
    { metric: "App24hAdRevenue", reading: PRECISE, shareBp: 6_000, is: 1 },
    { metric: "App24hROI", reading: PRECISE, shareBp: 6_000, is: 7 },
    { metric: "App24hLTV", reading: PRECISE, shareBp: 6_000, is: 7 },
    { metric: "AppGamePayAmountStandard", reading: PRECISE, shareBp: 6_000, is: 10 },
    { metric: "AppRevenue", reading: PRECISE, shareBp: 6_000, is: 11 },
    { metric: "AppARPU", reading: PRECISE, shareBp: 6_000, is: 11 },
  ])("makes $metric $is at $shareBp ten-thousandths, roi_version $reading.roiVersion", ({ is, ...rest }) => {
    expect(shown({ ...rest, sums: all })).toBe(is);
  });
});

describe("payments under share rules", () => {
  const sums = { pay_cents: 1_000, ruled_cents: 400, share_micros: 2_800_000, ad_micros: 1_000_000, cost_e4: 10_000 };
  const span = { pay_s7: 1_000, ruled_s7: 1_000, share_s7: 1, ad_s7: 0, pay_d7: 1_000, users: 1 };

  test.each<Case>([
    { metric: "AppGamePayNetAmount", sums, shareBp: 6_000, is: 6.4 },
    { metric: "AppGamePayNetAmount", sums, reading: PRECISE, shareBp: 0, is: 2.8 },
    { metric: "AppROI", sums, reading: PRECISE, shareBp: 6_000, is: 7.4 },
    { metric: "AppROI", sums, reading: CALENDAR, shareBp: 6_000, is: 11 },
    { metric: "App7DayPayAmount", sums: span, reading: PRECISE, shareBp: 6_000, is: 0 },
    { metric: "App7DayPayAmount", sums: { ...span, share_s7: 50 }, reading: PRECISE, shareBp: 6_000, is: 0.0001 },
    { metric: "App7DayLTV", sums: span, reading: CALENDAR, shareBp: 6_000, is: 10 },
    { metric: "AppGamePayNetAmount", sums: { pay_cents: -100, ruled_cents: -100, share_micros: -700_000 }, is: -0.7 },
  ])("count by their rule, and the others by the app's share: $metric is $is", ({ is, ...rest }) => {
    expect(shown(rest)).toBe(is);
  });

  test("are exact beyond plain numbers, also where the result is small", () => {
    const huge = { pay_cents: 2 ** 50 + 1, ruled_cents: 2 ** 50, share_micros: 1 };
    expect(shown({ metric: "AppGamePayNetAmount", sums: huge, shareBp: 9_999 })).toBe(0.01);
  });
});

test("plain and big numbers give the same result", () => {
  const amounts = [0, 1, 7, 333, 49_999, 50_000, 123_456_789, 2 ** 40 + 1, 2 ** 52 + 3];
  for (const pay_cents of amounts) {
    for (const cost_e4 of amounts) {
      const [of, by] = [BigInt(pay_cents) * 10_000n, BigInt(cost_e4) * 100n];
      expect(shown({ metric: "AppROI", sums: { pay_cents, cost_e4 } })).toBe(rounded({ of, by }, 4));
      expect(shown({ metric: "AppGamePayAmountStandard", sums: { pay_cents } }, 2)).toBe(
        rounded({ of, by: 1_000_000n }, 2),
      );
    }
  }
});

test.each([
  ["AppGamePayRate", { payers: 1, users: 4, active_users: 8 }, 0.25, 0.125],
  ["AppARPU", { pay_cents: 800, users: 4, active_users: 8 }, 2, 1],
  ["AppNewUserRate", { users: 4, active_users: 8 }, 0.5, 0.5],
])("%s is per new user in the first caliber, and per active user in the second", (...row) => {
  const [metric, sums, first, second] = row;
  expect(shown({ metric, sums })).toBe(first);
  expect(shown({ metric, sums, reading: OCCURRED })).toBe(second);
});

test("every measure has the unit in which it is stored", () => {
  const expected = (name: Measure) => {
    if (name === "pay_count" || name === "ad_count") return "count";
    if (name.endsWith("_cents") || /^(?:pay|ruled)_[ds]\d+$/.test(name)) return "cents";
    return /^(?:share_micros|ad_(?:reported_|pulled_|estimated_)?micros|(?:ad|share)_[ds]\d+)$/.test(name)
      ? "micros"
      : "count";
  };
  for (const name of USER_MEASURES) expect([name, unitOf(name)]).toEqual([name, expected(name)]);
  expect([unitOf("cost_e4"), unitOf("impressions"), unitOf("clicks")]).toEqual(["e4", "count", "count"]);
});
