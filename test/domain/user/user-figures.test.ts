import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type AdView,
  addActivity,
  addAdView,
  addPayment,
  type Figures,
  type Payment,
} from "../../../src/domain/user/user-figures.ts";

const NO_FIGURES: Figures = {
  payCount: 0,
  payCents: 0,
  payMaxCents: 0,
  firstPayAtMs: null,
  firstPayMethod: "",
  firstPayReason: "",
  adCount: 0,
  adMicros: 0,
  adMaxEcpmMicros: 0,
  ad24hCount: 0,
  ad24hMicros: 0,
  rewardAdCount: 0,
  rewardAdMicros: 0,
  rewardAdMaxEcpmMicros: 0,
  rewardAd24hMicros: 0,
  interstitialAdCount: 0,
  interstitialAdMicros: 0,
  interstitialAdMaxEcpmMicros: 0,
  interstitialAd24hMicros: 0,
  latestLoginDay: null,
};

const DAY_MS = 86_400_000;
const REGISTERED_AT_MS = Date.UTC(2024, 5, 15);

const after = (change: (figures: Figures) => void): Figures => {
  const figures = { ...NO_FIGURES };
  change(figures);
  return figures;
};

const payment = (cents: number, change: Partial<Payment> = {}): Payment => ({
  cents,
  atMs: REGISTERED_AT_MS,
  method: "wx",
  reason: "gems",
  ...change,
});

test("the first payment to arrive is the first payment, even if a later one happened earlier", () => {
  const figures = after((f) => {
    addPayment(f, payment(600, { atMs: REGISTERED_AT_MS + 5 }));
    addPayment(f, payment(3_000, { atMs: REGISTERED_AT_MS, method: "alipay", reason: "pass" }));
  });
  expect(figures).toEqual({
    ...NO_FIGURES,
    payCount: 2,
    payCents: 3_600,
    payMaxCents: 3_000,
    firstPayAtMs: REGISTERED_AT_MS + 5,
    firstPayMethod: "wx",
    firstPayReason: "gems",
  });
});

test("payments add up and the largest is kept, in any order of arrival", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 1e9 }), { minLength: 1, maxLength: 20 }), (amounts) => {
      const figures = after((f) => {
        for (const cents of amounts) addPayment(f, payment(cents));
      });
      expect(figures.payCount).toBe(amounts.length);
      expect(figures.payCents).toBe(amounts.reduce((sum, cents) => sum + cents, 0));
      expect(figures.payMaxCents).toBe(Math.max(...amounts));
    }),
  );
});

const view = (change: Partial<AdView> = {}): AdView => ({
  micros: 12,
  ecpmMicros: 12_000,
  adType: "reward",
  atMs: REGISTERED_AT_MS,
  ...change,
});

test.each<[number, boolean]>([
  [-1, false],
  [0, true],
  [DAY_MS - 1, true],
  [DAY_MS, false],
])("a view %d ms after registration counts for the first 24 hours: %s", (afterMs, counts) => {
  const figures = after((f) => addAdView(f, view({ atMs: REGISTERED_AT_MS + afterMs }), REGISTERED_AT_MS));
  expect(figures).toMatchObject({
    adCount: 1,
    adMicros: 12,
    ad24hCount: counts ? 1 : 0,
    ad24hMicros: counts ? 12 : 0,
    rewardAd24hMicros: counts ? 12 : 0,
  });
});

test.each<[string, Partial<Figures>]>([
  ["reward", { rewardAdCount: 1, rewardAdMicros: 12, rewardAdMaxEcpmMicros: 12_000, rewardAd24hMicros: 12 }],
  [
    "interstitial",
    {
      interstitialAdCount: 1,
      interstitialAdMicros: 12,
      interstitialAdMaxEcpmMicros: 12_000,
      interstitialAd24hMicros: 12,
    },
  ],
  ["banner", {}],
  ["", {}],
])("an ad of type %j counts only in the totals and in its own figures", (adType, own) => {
  const figures = after((f) => addAdView(f, view({ adType }), REGISTERED_AT_MS));
  expect(figures).toEqual({
    ...NO_FIGURES,
    adCount: 1,
    adMicros: 12,
    adMaxEcpmMicros: 12_000,
    ad24hCount: 1,
    ad24hMicros: 12,
    ...own,
  });
});

test("views give the same figures in any order", () => {
  const views = fc.array(
    fc.record({
      micros: fc.nat(1e6),
      ecpmMicros: fc.nat(1e9),
      adType: fc.constantFrom("reward", "interstitial", "banner"),
      atMs: fc.integer({ min: REGISTERED_AT_MS - DAY_MS, max: REGISTERED_AT_MS + 3 * DAY_MS }),
    }),
  );
  fc.assert(
    fc.property(views, (list) => {
      const figuresOf = (order: readonly AdView[]) =>
        after((f) => {
          for (const one of order) addAdView(f, one, REGISTERED_AT_MS);
        });
      expect(figuresOf(list.toReversed())).toEqual(figuresOf(list));
    }),
  );
});

test("the latest day of activity is the maximum, in any order of arrival", () => {
  const figures = after((f) => {
    for (const day of ["2024-06-15", "2024-06-20", "2024-06-18"]) addActivity(f, day);
  });
  expect(figures.latestLoginDay).toBe("2024-06-20");
});
