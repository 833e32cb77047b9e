import fc from "fast-check";
import { expect, test } from "vitest";
import { JournalDepth } from "../../src/intake/journal-depth.ts";

test("entries wait from their flush until they are applied; a partly applied flush counts whole", () => {
  const depth = new JournalDepth({ applied: 0, recovered: 0 });
  expect(depth.entries).toBe(0);
  depth.written(100, 3);
  depth.written(250, 2);
  expect(depth.entries).toBe(5);
  depth.applied(100);
  expect(depth.entries).toBe(2);
  depth.applied(200);
  expect(depth.entries).toBe(2);
  depth.applied(250);
  expect(depth.entries).toBe(0);
});

test("while entries of an earlier process wait, their number is unknown", () => {
  const depth = new JournalDepth({ applied: 50, recovered: 100 });
  depth.written(150, 1);
  expect(depth.entries).toBeUndefined();
  depth.applied(100);
  expect(depth.entries).toBe(1);
});

test("however many flushes wait, their entries add up, and none is left when all are applied", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 12_000 }), (flushes) => {
      const depth = new JournalDepth({ applied: 0, recovered: 0 });
      for (const [index, entries] of flushes.entries()) depth.written(index + 1, entries);
      expect(depth.entries).toBe(flushes.reduce((sum, entries) => sum + entries, 0));
      depth.applied(flushes.length);
      expect(depth.entries).toBe(0);
    }),
    { numRuns: 20 },
  );
});
