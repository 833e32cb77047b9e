import type pg from "pg";
import { inTransaction } from "./engine/pool.ts";
import { type Executor, query, sql } from "./engine/sql.ts";

/*
 * A backup copies the journal from the cursor of its snapshot on, after the tables. Until then no segment may be
 * deleted or packed. A lock in the database says so to the server, whichever process takes the backup; it ends with its
 * connection, so that a backup that was killed holds nothing back.
 */

const HOLD_KEY = 7226391;

/** Keeps the journal from being pruned for as long as this connection lives. Waits for a pruning under way. */
export async function holdJournal(client: pg.PoolClient): Promise<void> {
  await query(client, sql`select pg_advisory_lock_shared(${HOLD_KEY})`);
}

/** Lets the journal be pruned again. False when the hold had been lost, because the connection was another one. */
export async function releaseJournal(client: pg.PoolClient): Promise<boolean> {
  const [row] = await query<{ held: boolean }>(client, sql`select pg_advisory_unlock_shared(${HOLD_KEY}) as held`);
  return row!.held;
}

/** Runs the work unless a backup holds the journal. A backup that begins meanwhile waits for it. */
export async function unlessHeld<T>(pool: pg.Pool, work: (tx: Executor) => Promise<T>): Promise<T | undefined> {
  return inTransaction(pool, async (tx) => {
    const [row] = await query<{ free: boolean }>(tx, sql`select pg_try_advisory_xact_lock(${HOLD_KEY}) as free`);
    return row!.free ? work(tx) : undefined;
  });
}
