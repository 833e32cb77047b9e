import { LIMITS } from "../limits.ts";

/** Days and clock texts in an app's own time zone. A day is written YYYY-MM-DD. */
const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const QUARTER_HOUR_MS = 15 * MINUTE_MS;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

const HOUR_TEXT = "YYYY-MM-DD HH";

/** Hours one after another: when each begins, what the clock shows ("00" to "23"), and when the last one ends. */
export type Hours = { startsMs: number[]; names: string[]; untilMs: number };

export function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

/**
 * The calendar of one zone. Offsets come from Intl once per quarter of an hour and are cached, because every event
 * needs one and Intl is slow. Within the rare quarter in which the offset changes (Newfoundland used to change at one
 * minute past midnight) Intl is asked each time.
 */
export class Calendar {
  readonly zone: string;
  #format: Intl.DateTimeFormat | undefined;
  #offsets = new Map<number, number>();
  #days = new Map<number, string>();

  constructor(zone: string) {
    this.zone = zone;
  }

  dayOf(ms: number): string {
    const dayNumber = Math.floor((ms + this.#offsetMs(ms)) / DAY_MS);
    let day = this.#days.get(dayNumber);
    if (day === undefined) {
      if (this.#days.size > LIMITS.rememberedDays) this.#days.clear();
      day = new Date(dayNumber * DAY_MS).toISOString().slice(0, 10);
      this.#days.set(dayNumber, day);
    }
    return day;
  }

  /** YYYY-MM-DD HH:mm:ss */
  textOf(ms: number): string {
    return new Date(ms + this.#offsetMs(ms)).toISOString().slice(0, 19).replace("T", " ");
  }

  /** The first instant of a local day, also when a clock change skips midnight. */
  startOf(day: string): number {
    return Math.min(...this.#instantsOf(Date.parse(`${day}T00:00:00Z`)));
  }

  /**
   * The hours that the clock shows from one day until another. When clocks go back, an hour is shown twice and is one
   * hour here; when they go forward, one is missing.
   */
  hoursOf({ fromDay, untilDay }: { fromDay: string; untilDay: string }): Hours {
    const [fromMs, untilMs] = [this.startOf(fromDay), this.startOf(untilDay)];
    const hours: Hours = { startsMs: [], names: [], untilMs };
    let shown = "";
    for (let ms = fromMs; ms < untilMs; ms += QUARTER_HOUR_MS) {
      const hour = this.textOf(ms).slice(0, HOUR_TEXT.length);
      if (hour === shown) continue;
      shown = hour;
      hours.startsMs.push(ms);
      hours.names.push(hour.slice(-2));
    }
    return hours;
  }

  /**
   * The range that a text names: a second with its fractions ("2026-11-15 08:00:00"), or a whole day ("2026-11-15");
   * undefined for any other text. A second that a clock change repeats covers both; one that it skips is the next one.
   */
  rangeOf(text: string): { fromMs: number; untilMs: number } | undefined {
    if (isDay(text)) return { fromMs: this.startOf(text), untilMs: this.startOf(addDays(text, 1)) };
    const [, day = "", clock = ""] = /^(\d{4}-\d\d-\d\d)[ T]((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)$/.exec(text) ?? [];
    if (!isDay(day)) return undefined;
    const instants = this.#instantsOf(Date.parse(`${day}T${clock}Z`));
    return { fromMs: Math.min(...instants), untilMs: Math.max(...instants) + SECOND_MS };
  }

  /** How far the local clock is ahead of UTC in a range, in the order of time, and until when. */
  offsetsIn({ fromMs, untilMs }: { fromMs: number; untilMs: number }): { offsetMs: number; untilMs: number }[] {
    const offsets: { offsetMs: number; untilMs: number }[] = [];
    for (let ms = fromMs; ms < untilMs; ms += DAY_MS) {
      const [offsetMs, nextMs] = [this.#offsetMs(ms), this.#offsetMs(ms + DAY_MS)];
      if (offsetMs !== nextMs) offsets.push({ offsetMs, untilMs: this.#changeIn(ms, ms + DAY_MS) });
    }
    return [...offsets, { offsetMs: this.#offsetMs(untilMs), untilMs }];
  }

  /** The second from which on the offset is the one at the end of a range. */
  #changeIn(fromMs: number, untilMs: number): number {
    let [before, after] = [Math.floor(fromMs / SECOND_MS), Math.floor(untilMs / SECOND_MS)];
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (this.#offsetMs(middle * SECOND_MS) === this.#offsetMs(untilMs)) after = middle;
      else before = middle;
    }
    return after * SECOND_MS;
  }

  /** The instants at which the local clock shows a time, given as if it were UTC. Offsets reach from -12 to +14 hours. */
  #instantsOf(utc: number): number[] {
    const candidates = [utc - this.#offsetMs(utc - 14 * HOUR_MS), utc - this.#offsetMs(utc + 12 * HOUR_MS)];
    const exact = candidates.filter((ms) => ms + this.#offsetMs(ms) === utc);
    return exact.length > 0 ? exact : [Math.max(...candidates)];
  }

  #offsetMs(ms: number): number {
    const quarter = Math.floor(ms / QUARTER_HOUR_MS);
    let offset = this.#offsets.get(quarter);
    if (offset === undefined) {
      if (this.#offsets.size > LIMITS.rememberedDays) this.#offsets.clear();
      const from = quarter * QUARTER_HOUR_MS;
      offset = this.#askOffset(from);
      if (this.#askOffset(from + QUARTER_HOUR_MS - SECOND_MS) !== offset) offset = CHANGES;
      this.#offsets.set(quarter, offset);
    }
    return offset === CHANGES ? this.#askOffset(Math.floor(ms / SECOND_MS) * SECOND_MS) : offset;
  }

  /** The offset at a whole second: Intl shows no fractions. */
  #askOffset(ms: number): number {
    // Made when it is first needed: loading the zones takes as long as twenty queries, and most starts need none.
    this.#format ??= formatOf(this.zone);
    const part: Record<string, number> = {};
    for (const { type, value } of this.#format.formatToParts(ms)) part[type] = Number(value);
    const local = Date.UTC(part.year!, part.month! - 1, part.day!, part.hour!, part.minute!, part.second!);
    return local - ms;
  }
}

const CHANGES = Number.POSITIVE_INFINITY;

function formatOf(zone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
}

const calendars = new Map<string, Calendar>();

/** The calendar of a zone. It caches only what never changes, so all callers share one. */
export function calendarOf(zone: string): Calendar {
  let calendar = calendars.get(zone);
  if (!calendar) {
    calendar = new Calendar(zone);
    calendars.set(zone, calendar);
  }
  return calendar;
}

const DAY = /^\d{4}-\d\d-\d\d$/;

export function isDay(text: string): boolean {
  return DAY.test(text) && !Number.isNaN(Date.parse(`${text}T00:00:00Z`)) && addDays(text, 0) === text;
}

export function addDays(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

/** Days from `from` to `to`; negative when `to` is earlier. */
export function daysBetween(from: string, to: string): number {
  return (Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / DAY_MS;
}

/** Whole 24-hour spans from `baseMs` to `ms`; negative before it. */
export function spanOf(ms: number, baseMs: number): number {
  return Math.floor((ms - baseMs) / DAY_MS);
}

const mondays = new Map<number, string>();

/** The Monday, in UTC, of the week of an instant. Cached, because every touch needs it. */
export function weekOf(ms: number): string {
  // 1 January 1970 was a Thursday.
  const week = Math.floor((ms / DAY_MS + 3) / 7);
  let monday = mondays.get(week);
  if (monday === undefined) {
    if (mondays.size > LIMITS.rememberedDays) mondays.clear();
    monday = new Date((week * 7 - 3) * DAY_MS).toISOString().slice(0, 10);
    mondays.set(week, monday);
  }
  return monday;
}
