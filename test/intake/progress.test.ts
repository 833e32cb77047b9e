import { expect, test } from "vitest";
import { Progress } from "../../src/intake/progress.ts";
import { PATIENCE_MS } from "../support/patience.ts";

/** Two partitions; an app with an odd number is in the second. */
const newProgress = (now?: () => number) => new Progress({ applied: [0, 0], partitionOf: (app) => app % 2 }, now);

test("a wait ends when its position has been applied", async () => {
  const progress = newProgress();
  const waiting = progress.waitFor({ appId: 1, position: 10 }, PATIENCE_MS);
  progress.advance({ partition: 1, position: 9 }, 1);
  progress.advance({ partition: 1, position: 10 }, 2);
  expect(await waiting).toBe(true);
  expect(await progress.waitFor({ appId: 1, position: 10 }, 0)).toBe(true);
});

test("a wait is for the partition of its app, or for all", async () => {
  const progress = newProgress();
  const [one, all] = [
    progress.waitFor({ appId: 2, position: 5 }, PATIENCE_MS),
    progress.waitForAll([5, 7], PATIENCE_MS),
  ];
  let ended = 0;
  for (const waiting of [one, all]) void waiting.then(() => (ended += 1));
  progress.advance({ partition: 1, position: 7 }, 1);
  await Promise.resolve();
  expect([ended, progress.applied]).toEqual([0, [0, 7]]);
  progress.advance({ partition: 0, position: 5 }, 2);
  expect(await Promise.all([one, all])).toEqual([true, true]);
  expect(await progress.waitForAll([5, 8], 1)).toBe(false);
});

test("a wait ends after its time", async () => {
  expect(await newProgress().waitFor({ appId: 1, position: 1 }, 1)).toBe(false);
});

test("while apply is stuck nobody waits, and those who do are let go", async () => {
  const progress = newProgress();
  const waiting = progress.waitFor({ appId: 1, position: 10 }, PATIENCE_MS);
  progress.stall(true);
  expect(await waiting).toBe(false);
  expect(await progress.waitFor({ appId: 1, position: 10 }, PATIENCE_MS)).toBe(false);
  progress.stall(false);
  const again = progress.waitFor({ appId: 1, position: 10 }, PATIENCE_MS);
  progress.advance({ partition: 1, position: 10 }, 1);
  expect(await again).toBe(true);
});

test("when nothing was applied for long while somebody waited, nobody waits until something is", async () => {
  let nowMs = 0;
  const progress = newProgress(() => nowMs);
  expect(await progress.waitFor({ appId: 1, position: 10 }, 1)).toBe(false);
  nowMs = 4_999;
  expect(await progress.waitFor({ appId: 1, position: 10 }, 1)).toBe(false);
  nowMs = 5_001;
  // Would wait for minutes otherwise.
  expect(await progress.waitFor({ appId: 1, position: 10 }, PATIENCE_MS)).toBe(false);
  progress.advance({ partition: 1, position: 5 }, 1);
  const waiting = progress.waitFor({ appId: 1, position: 10 }, PATIENCE_MS);
  progress.advance({ partition: 1, position: 10 }, 2);
  expect(await waiting).toBe(true);
});
