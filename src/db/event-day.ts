import type pg from "pg";
import { addDays } from "../domain/calendar.ts";
import { attachPartition, dropPartition } from "./partition.ts";
import { inTransaction } from "./pool.ts";
import { type Executor, execute, query, sql } from "./sql.ts";

/** "open": the day has a partition. "dropped": it had one, and takes no more events. */
export type EventDayState = "open" | "dropped";

export async function loadEventDays(executor: Executor): Promise<Map<string, EventDayState>> {
  const rows = await query<{ day: string; state: EventDayState }>(executor, sql`select day, state from event_day`);
  return new Map(rows.map((row) => [row.day, row.state]));
}

/** Gives a day its partition. */
export async function openEventDay(pool: pg.Pool, day: string): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await tx.query("select pg_advisory_xact_lock(7226388)");
    const [known] = await query(tx, sql`select 1 from event_day where day = ${day}::date`);
    if (known) return;
    await attachPartition(tx, { of: "event", name: partitionOf(day), from: day, until: addDays(day, 1) });
    await execute(tx, sql`insert into event_day (day, state) values (${day}::date, 'open')`);
  });
}

/** Drops every day before `day`. Returns the days dropped. */
export async function dropEventDaysBefore(pool: pg.Pool, day: string): Promise<string[]> {
  const rows = await query<{ day: string }>(
    pool,
    sql`select day from event_day where state = 'open' and day < ${day}::date order by day`,
  );
  for (const row of rows) {
    await inTransaction(pool, async (tx) => {
      await execute(tx, sql`update event_day set state = 'dropped' where day = ${row.day}::date`);
      await dropPartition(tx, partitionOf(row.day));
    });
  }
  return rows.map((row) => row.day);
}

function partitionOf(day: string): string {
  return `event_${day.replaceAll("-", "")}`;
}
