import { expect, test } from "vitest";
import { computedValue, parseFormula } from "../../../src/report/analysis/formula.ts";

const worthOf = (text: string, ...series: (number | null)[]) =>
  computedValue(parseFormula(text, series.length), series);

test.each<[string, (number | null)[], number | null]>([
  ["A", [7], 7],
  ["a", [7], 7],
  ["A / B * 100", [1, 4], 25],
  ["A - B - C", [10, 3, 2], 5],
  ["A / B / C", [100, 5, 2], 10],
  ["A + B * C", [1, 2, 3], 7],
  ["(A + B) * C", [1, 2, 3], 9],
  ["-A * -2", [3], 6],
  ["--A", [3], 3],
  ["A × B ÷ 2 − 1", [3, 4], 5],
  ["  A\t*\n2.5 ", [4], 10],
  ["A / B", [1, 0], null],
  ["A / (B - B)", [1, 5], null],
  ["A + B", [1, null], null],
  ["0 * B", [1, null], null],
  ["A * 0", [-1], 0],
])("%j of %j is %j", (text, series, value) => {
  expect(worthOf(text, ...series)).toBe(value);
});

test.each([
  ["", "is empty"],
  ["   ", "is empty"],
  ["A +", "ends too early"],
  ["A B", "cannot be read at"],
  ["A C", "cannot be read at"],
  ["(A", "closing parenthesis"],
  ["A)", "cannot be read at"],
  ["C / A", "names C, but series are A to B"],
  ["A ** B", "is missing at *"],
  ["AB", "cannot be read at"],
  ["A1", "cannot be read at"],
  ["1e5", "cannot be read at"],
  [".5", "cannot be read at"],
  ["A; B", "cannot be read at"],
  ["constructor", "cannot be read at"],
  ["A[0]", "cannot be read at"],
  ["A = B", "cannot be read at"],
  ["(".repeat(30), "nested too deeply"],
])("the formula %j is refused: %s", (text, reason) => {
  expect(() => parseFormula(text, 2)).toThrow(reason);
});

test("with one series, the sentence says that there is one", () => {
  expect(() => parseFormula("A / B", 1)).toThrow('The formula "A / B" names B, but the only series is A.');
});
