import type pg from "pg";
import { elapsedMs } from "../clock.ts";
import { LIMITS } from "../config.ts";
import { replaceSlice } from "../db/cube.ts";
import { type DirtySlice, loadDirtySlices, lockRefresh, markRefreshed } from "../db/dirty-day.ts";
import { inTransaction, preferIndexes } from "../db/pool.ts";

/**
 * Counts the slices of the cube that are out of date, the newest day first. A slice is always counted as a whole, from
 * the tables: whatever went wrong before is healed by the next time. Returns how many were counted, for about `forMs`.
 */
export async function refreshOnce(pool: pg.Pool, options: RefreshOptions = {}): Promise<number> {
  const untilMs = elapsedMs() + (options.forMs ?? Number.POSITIVE_INFINITY);
  let counted = 0;
  for (const slice of await loadDirtySlices(pool, LIMITS.slicesAtOnce)) {
    if (options.signal?.aborted || elapsedMs() > untilMs || !(await refreshSlice(pool, slice))) break;
    counted += 1;
  }
  return counted;
}

export type RefreshOptions = { signal?: AbortSignal; forMs?: number };

/** False: another process is at it. */
async function refreshSlice(pool: pg.Pool, slice: DirtySlice): Promise<boolean> {
  return inTransaction(
    pool,
    async (tx) => {
      if (!(await lockRefresh(tx))) return false;
      // A slice is little among much: reading all days to count one would cost the more the older the app is.
      await preferIndexes(tx);
      await replaceSlice(tx, slice);
      // Last, so that apply, which marks the same row, waits for no more than the commit.
      await markRefreshed(tx, slice);
      return true;
    },
    "deferred",
  );
}
