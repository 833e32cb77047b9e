import fc from "fast-check";
import { expect, test } from "vitest";
import { splitByCreative } from "../../src/cost/creative-split.ts";
import type { CreativeCost, PulledCost } from "../../src/platform/connector/cost-connector.ts";

const cost = (aid: string, costE4: number, counts: Partial<PulledCost> = {}): PulledCost => ({
  day: "2026-11-14",
  gid: "1",
  aid,
  impressions: 0,
  clicks: 0,
  costE4,
  currency: "CNY",
  ...counts,
});
const creative = (aid: string, cid: string, costE4: number, counts: Partial<PulledCost> = {}): CreativeCost => ({
  ...cost(aid, costE4, counts),
  cid,
});
const shown = (costs: readonly CreativeCost[]) => costs.map(({ aid, cid, costE4 }) => `${aid}/${cid} ${costE4}`);

test("what an ad cost beyond its creatives is a row without a creative", () => {
  const costs = splitByCreative(
    [cost("11", 300), cost("12", 200)],
    [creative("11", "k1", 100), creative("11", "k2", 50)],
  );
  expect(shown(costs)).toEqual(["11/k1 100", "11/k2 50", "11/ 150", "12/ 200"]);
});

test("an ad whose creatives add up to it has no other row", () => {
  expect(shown(splitByCreative([cost("11", 150)], [creative("11", "k1", 100), creative("11", "k2", 50)]))).toEqual([
    "11/k1 100",
    "11/k2 50",
  ]);
});

test.each<[string, CreativeCost]>([
  ["cost more", creative("11", "k1", 301)],
  ["were seen more often", creative("11", "k1", 10, { impressions: 8 })],
  ["were clicked more often", creative("11", "k1", 10, { clicks: 3 })],
])("an ad whose creatives %s stays whole", (_, one) => {
  const ad = cost("11", 300, { impressions: 7, clicks: 2 });
  expect(splitByCreative([ad], [one])).toEqual([{ ...ad, cid: "" }]);
});

test("creatives of other plans, ads and currencies, and those without an id, are left out", () => {
  const others = [
    creative("12", "k1", 1),
    { ...creative("11", "k2", 1), gid: "2" },
    { ...creative("11", "k3", 1), currency: "USD" },
    creative("11", "", 1),
  ];
  expect(shown(splitByCreative([cost("11", 300)], others))).toEqual(["11/ 300"]);
});

test("the rows of each ad add up to its own figures", () => {
  const figures = { impressions: fc.nat(9), clicks: fc.nat(9), costE4: fc.nat(9) };
  const ids = fc.constantFrom("11", "12");
  const ads = fc.uniqueArray(fc.record({ aid: ids, ...figures }), { selector: ({ aid }) => aid });
  const creatives = fc.array(fc.record({ aid: ids, cid: fc.constantFrom("k1", "k2", ""), ...figures }), {
    maxLength: 5,
  });
  fc.assert(
    fc.property(ads, creatives, (someAds, someCreatives) => {
      const given = someAds.map((ad) => cost(ad.aid, ad.costE4, ad));
      const costs = splitByCreative(
        given,
        someCreatives.map((one) => creative(one.aid, one.cid, one.costE4, one)),
      );
      for (const ad of given) {
        const rows = costs.filter(({ aid }) => aid === ad.aid);
        for (const name of ["impressions", "clicks", "costE4"] as const)
          expect(rows.reduce((sum, row) => sum + row[name], 0)).toBe(ad[name]);
      }
      expect(costs.every(({ costE4, clicks, impressions }) => Math.min(costE4, clicks, impressions) >= 0)).toBe(true);
    }),
  );
});
