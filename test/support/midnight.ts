import { setTimeout as sleep } from "node:timers/promises";
import { PATIENCE_MS } from "./patience.ts";

const HOUR_MS = 3_600_000;

/**
 * For tests that speak of today: where midnight of Shanghai, in whose zone their apps are, is near, waits until it is over.
 * Then today is one and the same day for all that follows.
 */
export async function untilTodayLasts(): Promise<void> {
  const leftMs = 24 * HOUR_MS - ((Date.now() + 8 * HOUR_MS) % (24 * HOUR_MS));
  if (leftMs < 2 * PATIENCE_MS) await sleep(leftMs);
}
