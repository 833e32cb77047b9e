import { setTimeout as sleep } from "node:timers/promises";
import { PATIENCE_MS } from "./patience.ts";

const HOUR_MS = 3_600_000;

/**
 * For tests about today: if midnight in Shanghai, the time zone of their apps, is near, waits until it is over, so that
 * today is the same day for the whole test.
 */
export async function untilTodayLasts(): Promise<void> {
  const leftMs = 24 * HOUR_MS - ((Date.now() + 8 * HOUR_MS) % (24 * HOUR_MS));
  if (leftMs < 2 * PATIENCE_MS) await sleep(leftMs);
}
