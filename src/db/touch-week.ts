import type pg from "pg";
import { addDays } from "../domain/calendar.ts";
import { dropPartition, makePartition, waitBriefly } from "./engine/partition.ts";
import { inTransaction } from "./engine/pool.ts";
import { type Executor, execute, query, sql } from "./engine/sql.ts";

/** "open": the week has partitions. "dropped": its partitions are gone, and it takes no more touches. */
export type TouchWeekState = "open" | "dropped";

const PARTITIONED = ["touch", "touch_key"];

export async function loadTouchWeeks(executor: Executor): Promise<Map<string, TouchWeekState>> {
  const rows = await query<{ week: string; state: TouchWeekState }>(executor, sql`select week, state from touch_week`);
  return new Map(rows.map((row) => [row.week, row.state]));
}

export async function openTouchWeek(pool: pg.Pool, week: string): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await tx.query("select pg_advisory_xact_lock(7226389)");
    const [known] = await query(tx, sql`select 1 from touch_week where week = ${week}::date`);
    if (known) return;
    const range = { from: week, until: addDays(week, 7) };
    for (const table of PARTITIONED) {
      await makePartition(tx, { of: table, name: partitionOf(table, week), ...range });
    }
    await execute(tx, sql`insert into touch_week (week, state) values (${week}::date, 'open')`);
  });
}

/** Drops every week that begins before `week`. Returns the weeks dropped. Throws while somebody reads one of them. */
export async function dropTouchWeeksBefore(pool: pg.Pool, week: string): Promise<string[]> {
  const rows = await query<{ week: string }>(
    pool,
    sql`select week from touch_week where state = 'open' and week < ${week}::date order by week`,
  );
  for (const row of rows) {
    await inTransaction(pool, async (tx) => {
      await waitBriefly(tx);
      await execute(tx, sql`update touch_week set state = 'dropped' where week = ${row.week}::date`);
      for (const table of PARTITIONED) await dropPartition(tx, partitionOf(table, row.week));
    });
  }
  return rows.map((row) => row.week);
}

/** Drops all weeks with their touches. */
export async function dropTouchWeeks(tx: Executor): Promise<void> {
  const rows = await query<{ week: string }>(tx, sql`delete from touch_week where state = 'open' returning week`);
  for (const row of rows) for (const table of PARTITIONED) await dropPartition(tx, partitionOf(table, row.week));
  await execute(tx, sql`delete from touch_week`);
}

function partitionOf(table: string, week: string): string {
  return `${table}_${week.replaceAll("-", "")}`;
}
