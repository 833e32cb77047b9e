import type pg from "pg";
import { elapsedMs } from "../clock.ts";
import { findAppsWithNewAdAccounts, takeMovedSlices } from "../db/ad-account.ts";
import {
  type AdRevenueChange,
  type ChangesWanted,
  findAppsWithAdRevenueChanges,
  loadEstimatedSlices,
  takeAdRevenueChanges,
} from "../db/ad-revenue-change.ts";
import { spreadRevenue } from "../db/ad-revenue-spread.ts";
import { replaceSlice } from "../db/cube.ts";
import { type DirtySlice, loadDirtySlices, lockSlice, markRefreshed, markSlices } from "../db/dirty-day.ts";
import { inTransaction, preferHashes, preferIndexes } from "../db/engine/pool.ts";
import { type MarkedDay, markLake } from "../db/lake-mark.ts";
import type { Slice } from "../domain/cube.ts";

const SLICES_AT_ONCE = 100;

/**
 * Counts the slices of the cube that are out of date, newest day first, for about `forMs`. A slice is always counted as
 * a whole from the tables, so the next count repairs any earlier error. Returns the number of slices counted.
 */
export async function refreshOnce(pool: pg.Pool, options: RefreshOptions = {}): Promise<number> {
  const untilMs = elapsedMs() + (options.forMs ?? Number.POSITIVE_INFINITY);
  await markMoved(pool);
  await markRevalued(pool, options.adChanges ?? "all");
  const slices = await loadDirtySlices(pool, SLICES_AT_ONCE);
  let counted = 0;
  const countOneByOne = async () => {
    while (!options.signal?.aborted && elapsedMs() <= untilMs) {
      const slice = slices.shift();
      if (!slice) return;
      if (await refreshSlice(pool, slice)) counted += 1;
    }
  };
  await Promise.all(Array.from({ length: options.atOnce ?? 1 }, countOneByOne));
  return counted;
}

export type RefreshOptions = {
  signal?: AbortSignal;
  forMs?: number;
  /** The number of slices counted at the same time. */
  atOnce?: number;
  /** Which changes of ad revenue are taken into account; by default all. */
  adChanges?: ChangesWanted;
};

/**
 * Marks the slices of users whose account the costs have told. Here and not where the costs are stored: a slice that is
 * being counted at that moment would not know of the costs, and they would not know of its users.
 */
async function markMoved(pool: pg.Pool): Promise<void> {
  for (const appId of await findAppsWithNewAdAccounts(pool)) {
    await inTransaction(pool, async (tx) => {
      const { slices, sinceMs } = await takeMovedSlices(tx, appId);
      await markSlices(tx, slices, sinceMs);
      await markLake(tx, usersOf(slices), sinceMs);
    });
  }
}

/** The days in the lake on which users registered whose account is another now. */
function usersOf(slices: readonly Slice[]): MarkedDay[] {
  const registered = slices.filter(({ cohort }) => cohort === "registered");
  return registered.map(({ appId, day }) => ({ appId, day, kind: "users", again: true, receivedMs: 0 }));
}

/**
 * Spreads pulled revenue that has changed, and marks the slices of ads whose revenue is another. Here for the same reason
 * as accounts.
 */
async function markRevalued(pool: pg.Pool, wanted: ChangesWanted): Promise<void> {
  for (const appId of await findAppsWithAdRevenueChanges(pool, wanted)) {
    await inTransaction(pool, (tx) => markRevaluedOf(tx, appId, wanted));
  }
}

async function markRevaluedOf(tx: pg.PoolClient, appId: number, wanted: ChangesWanted): Promise<void> {
  const changes = await takeAdRevenueChanges(tx, appId, wanted);
  if (changes.length === 0) return;
  const isEstimate = ({ kind }: AdRevenueChange) => kind === "ecpm";
  const estimated = await loadEstimatedSlices(tx, appId, changes.filter(isEstimate));
  const spread = await spreadRevenue(
    tx,
    appId,
    changes.filter((change) => !isEstimate(change)),
  );
  const slices = new Map([...estimated, ...spread].map((slice) => [Object.values(slice).join(" "), slice]));
  await markSlices(tx, [...slices.values()], Math.min(...changes.map(({ notedAtMs }) => notedAtMs)));
}

/** Returns false when another process is counting the slice. */
async function refreshSlice(pool: pg.Pool, slice: DirtySlice): Promise<boolean> {
  return inTransaction(
    pool,
    async (tx) => {
      if (!(await lockSlice(tx, slice))) return false;
      // A slice is a small part of its tables: reading all days to count one would cost more the older the app is.
      await preferIndexes(tx);
      await preferHashes(tx);
      await replaceSlice(tx, slice);
      // Last, so that apply, which marks the same row, waits only for the commit.
      await markRefreshed(tx, slice);
      return true;
    },
    "deferred",
  );
}
