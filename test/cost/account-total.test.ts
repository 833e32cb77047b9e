import fc from "fast-check";
import { expect, test } from "vitest";
import { completeDay } from "../../src/cost/account-total.ts";
import type { PulledCost } from "../../src/platform/connector/cost-connector.ts";

const cost = (gid: string, aid: string, costE4: number, counts: Partial<PulledCost> = {}): PulledCost => ({
  day: "2026-11-14",
  gid,
  aid,
  impressions: 0,
  clicks: 0,
  costE4,
  currency: "CNY",
  ...counts,
});
const total = (costE4: number, counts: Partial<PulledCost> = {}) => cost("", "", costE4, counts);
const ADS = [cost("1", "11", 300), cost("1", "12", 200), cost("2", "21", 50)];
const shown = (costs: readonly PulledCost[]) => costs.map(({ gid, aid, costE4 }) => `${gid}/${aid} ${costE4}`).sort();

test("rows that add up to the account's total stay as they are", () => {
  const day = completeDay(ADS, { plans: [], account: [total(550)] });
  expect(shown(day.costs)).toEqual(["1/11 300", "1/12 200", "2/21 50"]);
  expect(day.surplus).toEqual([]);
});

test("what is missing becomes one row without an ad", () => {
  const day = completeDay(ADS, { plans: [], account: [total(1_000, { impressions: 7, clicks: 3 })] });
  expect(day.costs).toContainEqual(cost("", "", 450, { impressions: 7, clicks: 3 }));
  expect([day.costs.length, day.surplus]).toEqual([4, []]);
});

test("what a plan is known to have cost beyond its ads is a row of the plan", () => {
  const plans = [cost("1", "", 510), cost("2", "", 50), cost("3", "", 400)];
  const day = completeDay(ADS, { plans, account: [total(1_000)] });
  expect(shown(day.costs)).toEqual(["/ 40", "1/ 10", "1/11 300", "1/12 200", "2/21 50", "3/ 400"]);
  expect(day.surplus).toEqual([]);
});

test("a row without an ad that the platform sends itself, and the rest, are one row", () => {
  const day = completeDay([...ADS, cost("", "", 5)], { plans: [], account: [total(600)] });
  expect(shown(day.costs)).toEqual(["/ 50", "1/11 300", "1/12 200", "2/21 50"]);
});

test("rows that add up to more than the total are kept, and the difference is told", () => {
  const day = completeDay(ADS, { plans: [], account: [total(549, { impressions: 2 })] });
  expect(shown(day.costs)).toEqual(["/ 0", "1/11 300", "1/12 200", "2/21 50"]);
  expect(day.surplus).toEqual([{ costE4: 1, currency: "CNY" }]);
});

test("a day that is missing among the account's totals cost nothing", () => {
  expect(completeDay([], { plans: [], account: [] })).toEqual({ costs: [], surplus: [] });
  expect(completeDay(ADS, { plans: [], account: [] }).surplus).toEqual([{ costE4: 550, currency: "CNY" }]);
});

test("without the account's total nothing is checked, and plans are completed all the same", () => {
  const day = completeDay(ADS, { plans: [cost("9", "", 70)], account: undefined });
  expect(shown(day.costs)).toEqual(["1/11 300", "1/12 200", "2/21 50", "9/ 70"]);
  expect(day.surplus).toBeUndefined();
});

test("currencies are compared each for itself", () => {
  const dollars = { currency: "USD" };
  const day = completeDay([...ADS, cost("5", "51", 10, dollars)], {
    plans: [],
    account: [total(600), total(4, dollars)],
  });
  expect(day.surplus).toEqual([{ costE4: 6, currency: "USD" }]);
  expect(day.costs.find(({ aid }) => aid === "")).toEqual(cost("", "", 50));
});

test("in exact integers, all figures of a day equal the account's own, unless its rows exceed them", () => {
  const amount = fc.integer({ min: -1_000, max: 9_000_000_000_000 });
  const count = fc.nat(1_000_000_000);
  const id = fc.constantFrom("", "1", "2", "3");
  const figures = { impressions: count, clicks: count, costE4: amount };
  const rows = fc.array(fc.record({ gid: id, aid: id, ...figures }), { maxLength: 12 });
  const plans = fc.array(fc.record({ gid: id, ...figures }), { maxLength: 4 });
  const shared = { day: "2026-11-14", currency: "CNY" };
  fc.assert(
    fc.property(rows, plans, fc.record(figures), (ads, planFigures, account) => {
      const own = ads.map((ad) => ({ ...shared, ...ad }));
      const day = completeDay(own, {
        plans: planFigures.map((plan) => ({ ...shared, aid: "", ...plan })),
        account: [{ ...shared, gid: "", aid: "", ...account }],
      });
      const sum = (costs: readonly PulledCost[], key: keyof typeof figures) =>
        costs.reduce((whole, one) => whole + one[key], 0);
      const surplus = day.surplus![0]?.costE4 ?? 0;
      expect(sum(day.costs, "costE4") - surplus).toBe(account.costE4);
      for (const key of ["impressions", "clicks"] as const) {
        expect(sum(day.costs, key)).toBeGreaterThanOrEqual(account[key]);
      }
      // No ad has changed: only rows without one may have grown.
      const withAd = (costs: readonly PulledCost[]) => costs.filter(({ aid }) => aid !== "");
      const byAd = (costs: readonly PulledCost[]) => {
        const sums = new Map<string, number>();
        for (const { gid, aid, costE4 } of withAd(costs)) {
          sums.set(`${gid}/${aid}`, (sums.get(`${gid}/${aid}`) ?? 0) + costE4);
        }
        return [...sums].sort();
      };
      expect(byAd(day.costs)).toEqual(byAd(own));
    }),
  );
});
