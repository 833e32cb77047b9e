import fc from "fast-check";
import { expect, test } from "vitest";
import { e4OfDecimal } from "../../src/domain/decimal.ts";

test.each<[string, number]>([
  ["0", 0],
  ["-0", 0],
  ["1", 10_000],
  ["12.3456", 123_456],
  ["0.005", 50],
  [".5", 5_000],
  ["5.", 50_000],
  ["+2.5", 25_000],
  ["1.00005", 10_001],
  ["1.000049999999999999999", 10_000],
  ["-1.00005", -10_001],
  ["0.00005", 1],
  ["0.00004", 0],
  ["-0.00004", 0],
  ["1e-7", 0],
  ["5e-5", 1],
  ["1.5e3", 15_000_000],
  ["1E+2", 1_000_000],
  ["8.115", 81_150],
  ["1.005", 10_050],
  ["123456789012.3456", 1_234_567_890_123_456],
  ["900719925474.0991", Number.MAX_SAFE_INTEGER],
])("%s is %d ten-thousandths", (text, expected) => {
  expect(e4OfDecimal(text)).toBe(expected);
});

test.each<[string, number]>([
  ["1", 100],
  ["123456", 12_345_600],
  ["0.5", 50],
  ["0.005", 1],
  ["0.004", 0],
  ["90071992547409", 9_007_199_254_740_900],
])("%s cents are %d ten-thousandths", (text, expected) => {
  expect(e4OfDecimal(text, 2)).toBe(expected);
});

test.each([
  [""],
  ["."],
  ["-"],
  ["e5"],
  ["1,234.50"],
  ["¥5"],
  ["1.2.3"],
  ["NaN"],
  ["Infinity"],
  ["0x10"],
  [" 1"],
  ["1e1000"],
  ["900719925474.0992"],
  ["1e99"],
])("%j is no amount", (text) => {
  expect(e4OfDecimal(text)).toBeUndefined();
});

test("every amount with four decimals is read exactly, whatever follows below half a unit", () => {
  fc.assert(
    fc.property(fc.nat({ max: 10 ** 9 }), fc.nat({ max: 9_999 }), fc.nat({ max: 4 }), (whole, fraction, next) => {
      const text = `${whole}.${String(fraction).padStart(4, "0")}`;
      expect(e4OfDecimal(text)).toBe(whole * 10_000 + fraction);
      expect(e4OfDecimal(`-${text}${next}9`)).toBe(-(whole * 10_000 + fraction) + 0);
      expect(e4OfDecimal(`${text}${next + 5}`)).toBe(whole * 10_000 + fraction + 1);
    }),
  );
});

test("a number and its text are the same amount", () => {
  fc.assert(
    fc.property(fc.nat({ max: 10 ** 12 }), (e4) => {
      expect(e4OfDecimal(String(e4 / 10_000))).toBe(e4);
    }),
  );
});
