import { type Executor, execute, query, sql } from "./sql.ts";

/** How many events of an app, received in a minute, had one outcome: received, stored, duplicate or a rejection. */
export type LedgerCount = { appId: number; minuteMs: number; outcome: string; events: number };

export async function addToLedger(executor: Executor, counts: readonly LedgerCount[]): Promise<void> {
  if (counts.length === 0) return;
  await execute(
    executor,
    sql`insert into ledger_minute (app_id, minute_ms, outcome, events)
      select app_id, minute_ms, outcome, events
      from unnest(${counts.map((c) => c.appId)}::int[], ${counts.map((c) => c.minuteMs)}::bigint[],
        ${counts.map((c) => c.outcome)}::text[], ${counts.map((c) => c.events)}::bigint[])
        as counted (app_id, minute_ms, outcome, events)
      order by app_id, minute_ms, outcome
      on conflict (app_id, minute_ms, outcome) do update set events = ledger_minute.events + excluded.events`,
  );
}

export async function readLedger(
  executor: Executor,
  range: { appId: number; fromMs: number; untilMs: number },
): Promise<LedgerCount[]> {
  return query<LedgerCount>(
    executor,
    sql`select app_id as "appId", minute_ms as "minuteMs", outcome, events from ledger_minute
      where app_id = ${range.appId} and minute_ms >= ${range.fromMs} and minute_ms < ${range.untilMs}
      order by minute_ms, outcome`,
  );
}
