import { type Executor, identifier, query, sql } from "../db/engine/sql.ts";
import type { Ledger } from "../db/ledger-minute.ts";
import { type Calendar, calendarOf } from "../domain/calendar.ts";
import { addCount, addsUp, type LedgerCounts, type LedgerStep, ledgerEdges, noCounts } from "../domain/ledger.ts";
import { ApiError } from "../errors.ts";
import { LIMITS } from "../limits.ts";

/** The requested range: the last minutes, or from one local day or second to another, both included. */
export type LedgerWish = {
  of: "events" | "touches";
  step: LedgerStep;
  minutes?: number;
  from?: string;
  to?: string;
};

const TABLES: Readonly<Record<LedgerWish["of"], Ledger>> = { events: "ledger_minute", touches: "touch_minute" };
const MINUTE_MS = 60_000;
const MINUTES_DEFAULT = 60;

/** The number of things received in each step of time, by outcome. */
export async function sumLedger(
  executor: Executor,
  app: { appId: number; timeZone: string },
  wish: LedgerWish & { nowMs: number },
) {
  const calendar = calendarOf(app.timeZone);
  const edges = ledgerEdges(rangeOf(wish, calendar), wish.step, { calendar, stepsMax: LIMITS.ledgerSteps });
  if (!edges)
    throw new ApiError("badParameter", `At most ${LIMITS.ledgerSteps} steps; ask for longer steps or a shorter range.`);
  const steps = edges.slice(0, -1).map((beginMs) => ({ at_ms: beginMs, ...noCounts() }));
  const total = noCounts();
  for (const { step, outcome, events } of await readSteps(executor, app.appId, { ledger: TABLES[wish.of], edges })) {
    addCount(steps[step - 1]!, outcome, events);
    addCount(total, outcome, events);
  }
  const isWhole = (outcomes: LedgerCounts) => addsUp(outcomes);
  return {
    of: wish.of,
    step: wish.step,
    time_zone: app.timeZone,
    from_ms: edges[0]!,
    until_ms: edges.at(-1)!,
    steps,
    total,
    adds_up: isWhole(total) && steps.every(isWhole),
  };
}

function rangeOf(wish: LedgerWish & { nowMs: number }, calendar: Calendar): { fromMs: number; untilMs: number } {
  const { minutes = MINUTES_DEFAULT, from, to, nowMs } = wish;
  // The current minute is included.
  if (from === undefined && to === undefined) {
    const untilMs = (Math.floor(nowMs / MINUTE_MS) + 1) * MINUTE_MS;
    return { fromMs: untilMs - minutes * MINUTE_MS, untilMs };
  }
  const [first, last] = [calendar.rangeOf(from ?? ""), calendar.rangeOf(to ?? "")];
  if (!first || !last) {
    throw new ApiError("badParameter", "from and to must both be days, or seconds such as 2026-11-15 08:00:00.");
  }
  if (first.fromMs >= last.untilMs) throw new ApiError("badParameter", "from is after to.");
  return { fromMs: first.fromMs, untilMs: last.untilMs };
}

type StepCount = { step: number; outcome: string; events: number };

/** Steps count from 1. */
async function readSteps(
  executor: Executor,
  appId: number,
  { ledger, edges }: { ledger: Ledger; edges: readonly number[] },
): Promise<StepCount[]> {
  return query<StepCount>(
    executor,
    sql`select width_bucket(minute_ms, ${edges}::bigint[]) as step, outcome, sum(events)::bigint as events
      from ${identifier(ledger)}
      where app_id = ${appId} and minute_ms >= ${edges[0]} and minute_ms < ${edges.at(-1)}
      group by 1, 2 order by 1, 2`,
  );
}
