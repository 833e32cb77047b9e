import type pg from "pg";
import { assertApplies } from "./apply-holder.ts";
import { inTransaction } from "./engine/pool.ts";
import { type Executor, execute, identifier, joined, query, sql } from "./engine/sql.ts";
import { dropEventDays } from "./event-day.ts";
import { unrenamePostbacks } from "./postback.ts";
import { dropTouchWeeks } from "./touch-week.ts";

/** Tables that hold nothing but what the journal says. */
export const FACT_TABLES = [
  ...["user_account", "user_day", "user_key", "orders", "order_key", "attribution_decision", "asa_token"],
  ...["ad_campaign", "touch_day"],
  ...["ledger_minute", "touch_minute", "set_aside"],
] as const;

/** Tables that are counted from the facts. */
const COUNTED_TABLES = ["cube", "dirty_day"] as const;

/**
 * Empties every fact and puts the cursors of all journals back to the beginning, so that each can be applied from there.
 * What others were told, or are still to be told, stays: nobody is told twice of what a journal says again. `term` is that
 * of the process that applies.
 */
export async function emptyFacts(pool: pg.Pool, term: string): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await assertApplies(tx, term);
    await dropEventDays(tx);
    await dropTouchWeeks(tx);
    const filled = await filledOf(tx, [...FACT_TABLES, ...COUNTED_TABLES]);
    for (const table of filled) await execute(tx, sql`truncate ${identifier(table)}`);
    // The only one with numbers of its own; they begin anew also where what had them is gone since.
    await execute(tx, sql`alter table set_aside alter column set_aside_id restart`);
    await unrenamePostbacks(tx);
    await execute(tx, sql`delete from event_meta where state = 'observed'`);
    await execute(tx, sql`delete from property_meta where state = 'observed'`);
    await execute(tx, sql`delete from journal_cursor`);
  });
}

export async function countFacts(executor: Executor): Promise<{ events: number; users: number; orders: number }> {
  const [counts] = await query<{ events: number; users: number; orders: number }>(
    executor,
    sql`select (select count(*) from event) as events, (select count(*) from user_account) as users,
      (select count(*) from orders) as orders`,
  );
  return counts!;
}

/** Emptying a table makes all its files anew, also when there is nothing in it. */
async function filledOf(tx: Executor, tables: readonly string[]): Promise<string[]> {
  const filled = tables.map(
    (table) => sql`select ${table}::text as name where exists (select 1 from ${identifier(table)})`,
  );
  return (await query<{ name: string }>(tx, joined(filled, sql` union all `))).map(({ name }) => name);
}
