import { addDays, type Calendar } from "./calendar.ts";

/** The steps by which the ledger can be summed; the table itself has minutes. */
export const LEDGER_STEPS = ["minute", "hour", "day"] as const;
export type LedgerStep = (typeof LEDGER_STEPS)[number];

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

export type LedgerCounts = {
  received: number;
  stored: number;
  duplicate: number;
  rejected: Record<string, number>;
};

export function noCounts(): LedgerCounts {
  return { received: 0, stored: 0, duplicate: 0, rejected: {} };
}

export function addCount(outcomes: LedgerCounts, outcome: string, events: number): void {
  if (outcome === "received" || outcome === "stored" || outcome === "duplicate") outcomes[outcome] += events;
  else outcomes.rejected[outcome] = (outcomes.rejected[outcome] ?? 0) + events;
}

/** The promise of the ledger: every event received is counted under exactly one outcome. */
export function addsUp({ received, stored, duplicate, rejected }: LedgerCounts): boolean {
  return received === stored + duplicate + Object.values(rejected).reduce((sum, events) => sum + events, 0);
}

/**
 * The beginnings of a range's steps, and the end of the last one. Steps follow the local clock: the first may begin
 * before the range and the last end after it. Undefined when there are more than `stepsMax`.
 */
export function ledgerEdges(
  { fromMs, untilMs }: { fromMs: number; untilMs: number },
  step: LedgerStep,
  { calendar, stepsMax }: { calendar: Calendar; stepsMax: number },
): number[] | undefined {
  const edges = [beginOf(fromMs, step, calendar)];
  while (edges.at(-1)! < untilMs) {
    if (edges.length > stepsMax) return undefined;
    edges.push(nextOf(edges.at(-1)!, step, calendar));
  }
  return edges;
}

function beginOf(ms: number, step: LedgerStep, calendar: Calendar): number {
  const minute = Math.floor(ms / MINUTE_MS) * MINUTE_MS;
  switch (step) {
    case "minute":
      return minute;
    case "hour":
      // Not every zone is whole hours away from UTC.
      return minute - Number(calendar.textOf(minute).slice(14, 16)) * MINUTE_MS;
    case "day":
      return calendar.startOf(calendar.dayOf(ms));
  }
}

function nextOf(begin: number, step: LedgerStep, calendar: Calendar): number {
  switch (step) {
    case "minute":
      return begin + MINUTE_MS;
    case "hour":
      return begin + HOUR_MS;
    case "day":
      return calendar.startOf(addDays(calendar.dayOf(begin), 1));
  }
}
