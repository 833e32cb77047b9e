import { setTimeout as sleep } from "node:timers/promises";
import { elapsedMs } from "../../src/clock.ts";

/** Something that had to happen did not. */
export class Stuck extends Error {
  constructor(what: string, waitedMs: number) {
    super(`Waited ${Math.round(waitedMs / 1000)} s in vain: ${what}.`);
    this.name = "Stuck";
  }
}

export const WAIT_MS_MAX = 5 * 60_000;
const LOOK_MS = 20;

/** Waits for a condition instead of a time, so that a slow machine only takes longer. An error means not yet. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  { waitMs = WAIT_MS_MAX, everyMs = LOOK_MS } = {},
): Promise<void> {
  const startedMs = elapsedMs();
  for (;;) {
    if (await Promise.resolve(holds()).catch(() => false)) return;
    if (elapsedMs() - startedMs > waitMs) throw new Stuck(what, waitMs);
    await sleep(everyMs);
  }
}
