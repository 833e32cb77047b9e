import { addDays, type Calendar, daysBetween } from "./calendar.ts";

/** Which days of an account's costs have been pulled, and how the last attempt ended. */
export type PulledState = {
  /** When the account was created or last changed. */
  changedAtMs: number;
  attemptedAtMs: number | null;
  /** The number of consecutive failures. */
  failures: number;
  /** The last pull of each day. */
  pulledAtMs: ReadonlyMap<string, number>;
};

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Today and yesterday, whose costs still grow. */
const GROWING_DAYS = 2;
const GROWING_MS = HOUR_MS;
/** The number of days for which platforms correct their figures. */
const CORRECTED_DAYS = 7;
/** The local time by which platforms have counted yesterday. */
const CORRECTED_AT = "09:00:00";
const FIRST_DAYS = 30;
/** Days missed longer ago are pulled only on request. */
const SCHEDULED_DAYS = 90;

const BACK_OFF_MS = [5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS] as const;

/**
 *   today, yesterday ── every hour ──▶ up to 7 days ago ── once a day, after 09:00 ──▶ older ── once more ──▶ settled
 *
 * A day that was never pulled is due at once, back to the first one that was, and for a new account 30 days back. The
 * newest day comes first. After failures nothing is due for a while, unless the account was changed meanwhile.
 */
export function dueDays(state: PulledState, now: { nowMs: number; calendar: Calendar }): string[] {
  return isWaiting(state, now.nowMs) ? [] : openDays(state, now).filter((day) => isDue(day, state, now));
}

/** All days that are not settled, newest first. */
export function openDays(state: PulledState, { nowMs, calendar }: { nowMs: number; calendar: Calendar }): string[] {
  const today = calendar.dayOf(nowMs);
  const [oldest = today] = [...state.pulledAtMs.keys()].sort();
  const age = Math.min(Math.max(daysBetween(oldest, today) + 1, FIRST_DAYS), SCHEDULED_DAYS);
  return Array.from({ length: age }, (_, back) => addDays(today, -back)).filter(
    (day) => !isSettled(day, state, calendar),
  );
}

/** The first day that can matter to the schedule, in any zone. */
export function firstScheduledDay(nowMs: number): string {
  return addDays(new Date(nowMs).toISOString().slice(0, 10), -SCHEDULED_DAYS - 1);
}

/** The newest settled day, or null when there is none. */
export function newestSettledDay(state: PulledState, calendar: Calendar): string | null {
  const settled = [...state.pulledAtMs.keys()].filter((day) => isSettled(day, state, calendar));
  return settled.sort().at(-1) ?? null;
}

/** Whether a day was pulled after the platform's corrections ended, so that it is not pulled again. */
export function isSettled(day: string, state: Pick<PulledState, "pulledAtMs">, calendar: Calendar): boolean {
  const pulledAtMs = state.pulledAtMs.get(day);
  return pulledAtMs !== undefined && daysBetween(day, calendar.dayOf(pulledAtMs)) > CORRECTED_DAYS;
}

function isWaiting({ failures, attemptedAtMs, changedAtMs }: PulledState, nowMs: number): boolean {
  if (failures === 0 || attemptedAtMs === null || changedAtMs > attemptedAtMs) return false;
  return nowMs < attemptedAtMs + BACK_OFF_MS[Math.min(failures, BACK_OFF_MS.length) - 1]!;
}

function isDue(
  day: string,
  { pulledAtMs }: PulledState,
  { nowMs, calendar }: { nowMs: number; calendar: Calendar },
): boolean {
  const today = calendar.dayOf(nowMs);
  const at = pulledAtMs.get(day);
  if (at === undefined) return true;
  if (daysBetween(day, today) < GROWING_DAYS) {
    // Both days fall due together, because one request to the platform covers them.
    const both = [today, addDays(today, -1)].map((one) => pulledAtMs.get(one) ?? Number.NEGATIVE_INFINITY);
    return nowMs - Math.min(...both) >= GROWING_MS;
  }
  const correctedMs = calendar.rangeOf(`${today} ${CORRECTED_AT}`)!.fromMs;
  return nowMs >= correctedMs && at < correctedMs;
}

export type DayRange = { fromDay: string; toDay: string };

/** Groups days, given newest first, into ranges of at most `daysMax` days, newest first. */
export function rangesOf(days: readonly string[], daysMax: number): DayRange[] {
  const ranges: DayRange[] = [];
  for (const day of days) {
    const last = ranges.at(-1);
    const isNext = last !== undefined && addDays(last.fromDay, -1) === day;
    if (isNext && daysBetween(day, last.toDay) < daysMax) last.fromDay = day;
    else ranges.push({ fromDay: day, toDay: day });
  }
  return ranges;
}

/** The days of a range, newest first. */
export function daysOf({ fromDay, toDay }: DayRange): string[] {
  return Array.from({ length: daysBetween(fromDay, toDay) + 1 }, (_, back) => addDays(toDay, -back));
}
