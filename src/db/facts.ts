import type pg from "pg";
import { assertApplies } from "./apply-holder.ts";
import { countColdEvents } from "./cold-event.ts";
import { keepEarlierPostbacks, restoreOtherPostbacks } from "./earlier-postback.ts";
import { inTransaction } from "./engine/pool.ts";
import { type Executor, execute, identifier, joined, query, sql } from "./engine/sql.ts";
import { dropEventDays } from "./event-day.ts";
import { LAKE_TABLES } from "./lake-app.ts";
import { dropTouchWeeks } from "./touch-week.ts";

/** Tables that are filled from the journal alone. */
export const FACT_TABLES = [
  ...["user_account", "user_total", "login_total", "user_day", "user_ad_day", "user_key", "event_origin", "refund"],
  ...["orders", "order_key", "order_total"],
  ...["attribution_decision", "asa_token"],
  ...["ad_campaign", "touch_day"],
  ...["ledger_minute", "touch_minute", "set_aside"],
] as const;

/** Tables that are computed from the facts, or say what of them is in files. */
const COUNTED_TABLES = ["cube", "dirty_day", "ad_revenue_change", ...LAKE_TABLES] as const;

/**
 * Empties all fact tables and resets the cursors of all journals, so that each can be applied from the beginning.
 * Postbacks and the outbox are kept as the earlier ones, so that replaying a journal sends nothing twice. `term`: the
 * term of the process that applies.
 */
export async function emptyFacts(pool: pg.Pool, term: string): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await assertApplies(tx, term);
    await dropEventDays(tx);
    await dropTouchWeeks(tx);
    const filled = await filledOf(tx, [...FACT_TABLES, ...COUNTED_TABLES]);
    for (const table of filled) await execute(tx, sql`truncate ${identifier(table)}`);
    await keepEarlierPostbacks(tx);
    await execute(tx, sql`delete from event_meta where state = 'observed'`);
    await execute(tx, sql`delete from property_meta where state = 'observed'`);
    await execute(tx, sql`delete from app_cursor`);
    await execute(tx, sql`delete from journal_cursor`);
  });
  // The only fact table with generated ids; they restart even when the table is empty. Afterwards, because it is not undone.
  await execute(pool, sql`select setval('set_aside_set_aside_id_seq', 1, false)`);
}

/** Ends a replay once the whole journal has been applied again, also one that another process began. */
export async function endReplay(pool: pg.Pool, { term, nowMs }: { term: string; nowMs: number }): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await assertApplies(tx, term);
    await restoreOtherPostbacks(tx, nowMs);
  });
}

export async function countFacts(executor: Executor): Promise<{ events: number; users: number; orders: number }> {
  const [counts] = await query<{ events: number; users: number; orders: number }>(
    executor,
    sql`select (select count(*) from event) as events, (select count(*) from user_account) as users,
      (select count(*) from orders) as orders`,
  );
  return { ...counts!, events: counts!.events + (await countColdEvents(executor)) };
}

/** The tables that hold rows: truncating recreates all files of a table even when it is empty. */
async function filledOf(tx: Executor, tables: readonly string[]): Promise<string[]> {
  const filled = tables.map(
    (table) => sql`select ${table}::text as name where exists (select 1 from ${identifier(table)})`,
  );
  return (await query<{ name: string }>(tx, joined(filled, sql` union all `))).map(({ name }) => name);
}
