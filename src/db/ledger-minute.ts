import { newRows } from "./engine/rows.ts";
import { type Executor, execute, identifier, query, sql } from "./engine/sql.ts";

/** The number of an app's events received in a minute with one outcome: received, stored, duplicate or a rejection. */
export type LedgerCount = { appId: number; minuteMs: number; outcome: string; events: number };

/** The ledger of events or of touches; each adds up by itself. */
export type Ledger = "ledger_minute" | "touch_minute";

export async function addToLedger(executor: Executor, ledger: Ledger, counts: readonly LedgerCount[]): Promise<void> {
  if (counts.length === 0) return;
  const table = identifier(ledger);
  const counted = newRows(executor, "counted", counts, {
    appId: "int",
    minuteMs: "bigint",
    outcome: "text",
    events: "bigint",
  });
  await execute(
    executor,
    sql`insert into ${table} (app_id, minute_ms, outcome, events)
      select app_id, minute_ms, outcome, events from ${counted}
      order by app_id, minute_ms, outcome
      on conflict (app_id, minute_ms, outcome) do update set events = ${table}.events + excluded.events`,
  );
}

export async function readLedger(
  executor: Executor,
  ledger: Ledger,
  range: { appId: number; fromMs: number; untilMs: number },
): Promise<LedgerCount[]> {
  return query<LedgerCount>(
    executor,
    sql`select app_id, minute_ms, outcome, events from ${identifier(ledger)}
      where app_id = ${range.appId} and minute_ms >= ${range.fromMs} and minute_ms < ${range.untilMs}
      order by minute_ms, outcome`,
  );
}
