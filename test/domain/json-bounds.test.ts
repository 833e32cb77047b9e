import fc from "fast-check";
import { expect, test } from "vitest";
import { assertWithin } from "../../src/domain/json-bounds.ts";

const within = (text: string, values: number, depth: number) => () =>
  assertWithin(Buffer.from(text), { values, depth });

test.each<[string, number]>([
  ["[1,2,3]", 4],
  ['{"a":1,"b":{"c":[]}}', 5],
  ["[{},{},{}]", 7],
  ['["a,b","{[","\\"[,","\\\\",1]', 6],
])("%s counts as %i values", (text, values) => {
  expect(within(text, values, 64)).not.toThrow();
  expect(within(text, values - 1, 64)).toThrow(/more than \d+ values/);
});

test.each<[string, number]>([
  ["1", 0],
  ["[[]]", 2],
  ['{"a":[{"b":1}],"c":2}', 3],
  ['["[[[[","\\"[["]', 1],
])("%s has %i levels", (text, depth) => {
  expect(within(text, 1_000, depth)).not.toThrow();
  if (depth > 0) expect(within(text, 1_000, depth - 1)).toThrow(/nested deeper than \d+ levels/);
});

test("the count is never below the values and levels of any JSON, and invalid JSON is left to the parser", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), (text) => {
      const { values, depth } = measured(JSON.parse(text));
      if (values > 1) expect(within(text, values - 1, 64)).toThrow(/values/);
      if (depth > 0) expect(within(text, 1_000_000, depth - 1)).toThrow(/levels/);
    }),
  );
  fc.assert(fc.property(fc.string(), (text) => void within(text, 1_000_000, 1_000_000)()));
});

function measured(value: unknown): { values: number; depth: number } {
  if (typeof value !== "object" || value === null) return { values: 1, depth: 0 };
  const inner = Object.values(value).map(measured);
  return {
    values: inner.reduce((sum, one) => sum + one.values, 1),
    depth: 1 + Math.max(0, ...inner.map((one) => one.depth)),
  };
}
