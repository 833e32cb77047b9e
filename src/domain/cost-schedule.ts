import { addDays, type Calendar, calendarOf, daysBetween } from "./calendar.ts";

/** The last pull of a day, and the first of the pulls, one after another, that found the figures of this one. */
export type DayPull = { atMs: number; sameSinceMs: number };

/** Which days of an account's costs have been pulled, and how the last attempt ended. */
export type PulledState = {
  /** When the account was created or last changed. */
  changedAtMs: number;
  attemptedAtMs: number | null;
  /** The number of consecutive failures. */
  failures: number;
  pulls: ReadonlyMap<string, DayPull>;
};

/** Reports that reach back a number of days, today included, and how many days one request may cover. */
export type DaySpan = { reachDays: number; daysMax: number };

/** The instant for which the schedule is asked, and how far back the platform's reports reach. */
export type ScheduleAt = { nowMs: number; calendar: Calendar; reachDays: number };

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Today and yesterday, whose costs still grow. */
const GROWING_DAYS = 2;
const GROWING_MS = HOUR_MS;
/** The number of days for which platforms correct their figures. */
const CORRECTED_DAYS = 7;
/** The local time by which platforms have counted yesterday. */
const CORRECTED_AT = "09:00:00";
/** A day, less the hour by which a clock change or a slow pull can bring two daily pulls closer together. */
const DAY_APART_MS = 23 * HOUR_MS;
const FIRST_DAYS = 30;
/** Days missed longer ago are pulled only on request. */
export const SCHEDULED_DAYS = 90;
const SHOWN_DAYS = 366;

const BACK_OFF_MS = [5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS] as const;

/**
 *   today, yesterday ── every hour ──▶ older ── once a day, after 09:00 ──▶ settled
 *
 * A day that was never pulled is due at once, back to the first one that was, and for a new account to 30 days before
 * its creation. The newest day comes first. After failures nothing is due for a while, unless the account was changed
 * meanwhile.
 */
export function dueDays(state: PulledState, at: ScheduleAt): string[] {
  return isWaiting(state, at.nowMs) ? [] : openDays(state, at).filter((day) => isDue(day, state, at));
}

/** All days that are not settled and that the platform still reports, newest first. */
export function openDays(state: PulledState, at: ScheduleAt): string[] {
  const { nowMs, calendar, reachDays } = at;
  const today = calendar.dayOf(nowMs);
  // Counted from the account's last change: while the platform is down, the first of the days do not slip out of sight.
  const firstDays = FIRST_DAYS + daysBetween(calendar.dayOf(state.changedAtMs), today);
  const age = Math.min(Math.max(knownDays(state, today), firstDays), SCHEDULED_DAYS, reachDays);
  return unsettled(state, { calendar, newest: today, count: age });
}

/**
 * Days since the first pull that are not settled and that the schedule no longer pulls, newest first: those that the
 * platform still reports on request, and those that are beyond its reach.
 */
export function leftDays(state: PulledState, at: ScheduleAt): { onRequest: string[]; lost: string[] } {
  const { nowMs, calendar, reachDays } = at;
  const today = calendar.dayOf(nowMs);
  const newest = addDays(today, -Math.min(SCHEDULED_DAYS, reachDays));
  const count = knownDays(state, newest);
  const left = unsettled(state, { calendar, newest, count });
  const isLost = (day: string) => daysBetween(day, today) >= reachDays;
  return { onRequest: left.filter((day) => !isLost(day)), lost: left.filter(isLost) };
}

/** The number of days from the first one pulled to the given one, or 0 when the first one comes later. */
function knownDays({ pulls }: PulledState, until: string): number {
  const [oldest] = [...pulls.keys()].sort();
  return oldest === undefined ? 0 : Math.max(daysBetween(oldest, until) + 1, 0);
}

function unsettled(
  { pulls }: PulledState,
  { calendar, newest, count }: { calendar: Calendar; newest: string; count: number },
): string[] {
  return Array.from({ length: count }, (_, back) => addDays(newest, -back)).filter(
    (day) => !isSettled(day, pulls.get(day), calendar),
  );
}

/** The first day that can matter to the schedule, in any zone. */
export function firstScheduledDay(nowMs: number): string {
  return daysAgo(nowMs, SCHEDULED_DAYS + 1);
}

/** The first day whose state is shown: days that never settled are told for a year. */
export function firstShownDay(nowMs: number): string {
  return daysAgo(nowMs, SHOWN_DAYS);
}

function daysAgo(nowMs: number, days: number): string {
  return addDays(new Date(nowMs).toISOString().slice(0, 10), -days);
}

/** The newest settled day, or null when there is none. */
export function newestSettledDay({ pulls }: PulledState, calendar: Calendar): string | null {
  const settled = [...pulls.keys()].filter((day) => isSettled(day, pulls.get(day), calendar));
  return settled.sort().at(-1) ?? null;
}

/**
 * Whether a day is final, so that it is not pulled again: two pulls at least a day apart, after the day had stopped
 * growing, found the same figures, or it was pulled after the platform's corrections had ended.
 */
export function isSettled(day: string, pull: DayPull | undefined, calendar: Calendar): boolean {
  if (pull === undefined) return false;
  if (daysBetween(day, calendar.dayOf(pull.atMs)) > CORRECTED_DAYS) return true;
  return pull.atMs - pull.sameSinceMs >= DAY_APART_MS && pull.sameSinceMs >= grownAtMs(day, calendar);
}

/** When a day has ended in every time zone. Earlier pulls say nothing about whether the figures still change. */
export function grownAtMs(day: string, calendar: Calendar): number {
  return calendar.startOf(addDays(day, GROWING_DAYS));
}

function isWaiting({ failures, attemptedAtMs, changedAtMs }: PulledState, nowMs: number): boolean {
  if (failures === 0 || attemptedAtMs === null || changedAtMs > attemptedAtMs) return false;
  return nowMs < attemptedAtMs + BACK_OFF_MS[Math.min(failures, BACK_OFF_MS.length) - 1]!;
}

function isDue(day: string, { pulls }: PulledState, { nowMs, calendar }: ScheduleAt): boolean {
  const today = calendar.dayOf(nowMs);
  const at = pulls.get(day)?.atMs;
  if (at === undefined) return true;
  if (daysBetween(day, today) < GROWING_DAYS) {
    // Both days fall due together, because one request to the platform covers them.
    const both = [today, addDays(today, -1)].map((one) => pulls.get(one)?.atMs ?? Number.NEGATIVE_INFINITY);
    return nowMs - Math.min(...both) >= GROWING_MS;
  }
  const correctedMs = calendar.rangeOf(`${today} ${CORRECTED_AT}`)!.fromMs;
  return nowMs >= correctedMs && at < correctedMs;
}

export type DayRange = { fromDay: string; toDay: string };

/**
 * Groups days, given newest first, into ranges, newest first. A range stays within one span, the shortest that reaches
 * its days, and has at most as many days as that allows. Spans are given nearest first.
 */
export function rangesOf(days: readonly string[], spans: readonly DaySpan[], today: string): DayRange[] {
  const ranges: (DayRange & { span: DaySpan })[] = [];
  for (const day of days) {
    const span = spans.find(({ reachDays }) => daysBetween(day, today) < reachDays) ?? spans.at(-1)!;
    const last = ranges.at(-1);
    const isNext = last?.span === span && addDays(last.fromDay, -1) === day;
    if (isNext && daysBetween(day, last.toDay) < span.daysMax) last.fromDay = day;
    else ranges.push({ fromDay: day, toDay: day, span });
  }
  return ranges.map(({ fromDay, toDay }) => ({ fromDay, toDay }));
}

/** The reports of a platform, and the time zone in which it counts how far back they reach; without one, the app's. */
export type Reports = { spans: readonly DaySpan[]; reachZone?: string };

/** How many of the app's days the furthest reports reach back. Without any reports, every day counts as within reach. */
export function reachOf({ spans, reachZone }: Reports, { nowMs, calendar }: Omit<ScheduleAt, "reachDays">): number {
  const days = spans.at(-1)?.reachDays ?? Number.POSITIVE_INFINITY;
  return reachZone === undefined ? days : days - daysBetween(calendar.dayOf(nowMs), calendarOf(reachZone).dayOf(nowMs));
}

/** The days of a range, newest first. */
export function daysOf({ fromDay, toDay }: DayRange): string[] {
  return Array.from({ length: daysBetween(fromDay, toDay) + 1 }, (_, back) => addDays(toDay, -back));
}
