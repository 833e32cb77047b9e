import { expect, test } from "vitest";
import { Progress } from "../../src/intake/progress.ts";
import { PATIENCE_MS } from "../support/patience.ts";

test("a wait ends when its position has been applied", async () => {
  const progress = new Progress(0);
  const waiting = progress.waitFor(10, PATIENCE_MS);
  progress.advance(9, 1);
  progress.advance(10, 2);
  expect(await waiting).toBe(true);
  expect(await progress.waitFor(10, 0)).toBe(true);
});

test("a wait ends after its time", async () => {
  expect(await new Progress(0).waitFor(1, 1)).toBe(false);
});

test("while apply is stuck nobody waits, and those who do are let go", async () => {
  const progress = new Progress(0);
  const waiting = progress.waitFor(10, PATIENCE_MS);
  progress.stall(true);
  expect(await waiting).toBe(false);
  expect(await progress.waitFor(10, PATIENCE_MS)).toBe(false);
  progress.stall(false);
  const again = progress.waitFor(10, PATIENCE_MS);
  progress.advance(10, 1);
  expect(await again).toBe(true);
});

test("when nothing was applied for long while somebody waited, nobody waits until something is", async () => {
  let nowMs = 0;
  const progress = new Progress(0, () => nowMs);
  expect(await progress.waitFor(10, 1)).toBe(false);
  nowMs = 4_999;
  expect(await progress.waitFor(10, 1)).toBe(false);
  nowMs = 5_001;
  // Would wait for minutes otherwise.
  expect(await progress.waitFor(10, PATIENCE_MS)).toBe(false);
  progress.advance(5, 1);
  const waiting = progress.waitFor(10, PATIENCE_MS);
  progress.advance(10, 2);
  expect(await waiting).toBe(true);
});
