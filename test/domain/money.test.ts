import fc from "fast-check";
import { expect, test } from "vitest";
import { convertToCents, isRate, microsOfEcpm, roundHalfAway } from "../../src/domain/money.ts";

test.each<[number, number]>([
  [0.5, 1],
  [-0.5, -1],
  [1.5, 2],
  [2.5, 3],
  [-2.5, -3],
  [0.49, 0],
  [-0.49, 0],
  [1.005 * 1000, 1005],
  [2 ** 52 + 1, 2 ** 52 + 1],
  [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  [-Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER],
  [0, 0],
  [1e300, Number.MAX_SAFE_INTEGER],
  [-1e19, -Number.MAX_SAFE_INTEGER],
])("%d rounds to %d: halves go away from zero, whole numbers stay", (value, expected) => {
  expect(roundHalfAway(value)).toBe(expected);
});

test("rounding is exact for every amount written with up to six decimals", () => {
  fc.assert(
    fc.property(fc.integer({ min: -1e15, max: 1e15 }), (millionths) => {
      const [whole, rest] = [Math.trunc(millionths / 1e6), Math.abs(millionths % 1e6)];
      const expected = whole + Math.sign(millionths) * (rest >= 500_000 ? 1 : 0);
      expect(roundHalfAway(millionths / 1e6)).toBe(expected + 0);
    }),
    { numRuns: 1_000 },
  );
});

test.each<[number, number]>([
  [12.5, 12_500],
  [0.001, 1],
  [0.0005, 1],
  [0.0004, 0],
  [1.0005, 1_001],
  [0, 0],
])("one ad shown at an ecpm of %d earns %d millionths", (ecpm, micros) => {
  expect(microsOfEcpm(ecpm)).toBe(micros);
});

const app = { currency: "CNY", rates: { USD: "7.1234", JPY: "0.05", EUR: "7.855", BIG: "999999999.999999999" } };

test.each<[number, string, number]>([
  [600, "CNY", 600],
  [600, "", 600],
  [600.4, "CNY", 600],
  [99, "USD", 705],
  [-99, "USD", -705],
  [100, "JPY", 5],
  [10, "JPY", 1],
  [9, "JPY", 0],
  [100, "EUR", 786],
  [0, "USD", 0],
])("%d of %j are %d cents of the app", (amount, currency, cents) => {
  expect(convertToCents(amount, currency, app)).toEqual({ kind: "converted", cents });
});

test("a currency without a rate has none, whatever its name", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.constantFrom("GBP", "constructor", "__proto__", "toString"), fc.string({ minLength: 1 })),
      (currency) => {
        fc.pre(currency !== "CNY" && !Object.hasOwn(app.rates, currency));
        expect(convertToCents(600, currency, app)).toEqual({ kind: "no_rate" });
      },
    ),
  );
});

test("an amount never leaves the exact integers, so that a table can hold it", () => {
  expect(convertToCents(1e15, "BIG", app)).toEqual({ kind: "converted", cents: Number.MAX_SAFE_INTEGER });
  expect(convertToCents(-1e300, "BIG", app)).toEqual({ kind: "converted", cents: -Number.MAX_SAFE_INTEGER });
  expect(microsOfEcpm(1e300)).toBe(Number.MAX_SAFE_INTEGER);
});

test("a conversion is exact: never more than half a cent from the true product", () => {
  const decimals = fc.tuple(fc.integer({ min: 0, max: 99_999 }), fc.integer({ min: 1, max: 999_999_999 }));
  fc.assert(
    fc.property(fc.integer({ min: -1e9, max: 1e9 }), decimals, (amount, [whole, fraction]) => {
      const rate = `${whole}.${String(fraction).padStart(9, "0")}`;
      const conversion = convertToCents(amount, "USD", { currency: "CNY", rates: { USD: rate } });
      const cents = conversion.kind === "converted" ? BigInt(conversion.cents) : -1n;
      const error = cents * 10n ** 9n - BigInt(amount) * (BigInt(whole) * 10n ** 9n + BigInt(fraction));
      expect(error * 2n <= 10n ** 9n && error * 2n >= -(10n ** 9n)).toBe(true);
    }),
  );
});

test.each<[string, boolean]>([
  ["7.1234", true],
  ["7", true],
  ["0.000000001", true],
  ["0", false],
  ["0.0", false],
  ["-7", false],
  ["7.", false],
  [".5", false],
  ["1e3", false],
  ["7,1", false],
  ["", false],
  ["1234567890", false],
])("%j is a rate: %s", (text, expected) => {
  expect(isRate(text)).toBe(expected);
});
