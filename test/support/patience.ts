import { setTimeout as sleep } from "node:timers/promises";

/**
 * How long a test waits for a condition. This limit is reached only if the condition never comes: even a machine four times
 * slower and in use by others needs far less.
 */
export const PATIENCE_MS = 5 * 60_000;

/** How long a whole test or hook may take before it counts as hanging. */
export const TEST_MS_MAX = 3 * PATIENCE_MS;

/** The longest pause between two checks of a condition. Pauses grow, because a check costs more than waiting. */
export const LOOK_MS_MAX = 160;

/** Runs `check` until it passes; returns its result, or throws its last error. */
export async function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  const until = Date.now() + PATIENCE_MS;
  for (let waitMs = 20; ; waitMs = Math.min(2 * waitMs, LOOK_MS_MAX)) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > until) throw error;
    }
    await sleep(waitMs);
  }
}
