import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { elapsedMs } from "../../src/clock.ts";
import { LoopDelay } from "../../src/intake/loop-delay.ts";
import { createLog } from "../../src/log.ts";
import { eventually } from "../support/patience.ts";

const delay = new LoopDelay();
afterAll(() => delay.stop());

test("a blocked event loop is noticed, remembered for one more window, and then forgotten", async () => {
  delay.start(createLog("silent"));
  await sleep(50);
  const startedMs = elapsedMs();
  while (elapsedMs() < startedMs + 300);
  await eventually(() => expect(delay.longestMs).toBeGreaterThan(250));
  delay.nextWindow();
  expect(delay.longestMs).toBeGreaterThan(250);
  delay.nextWindow();
  expect(delay.longestMs).toBe(0);
});
