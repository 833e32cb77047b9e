/** How long a marked day waits for further changes: the latest one is looked at most, the others change seldom. */
const WAIT_MS: Readonly<Record<"latest" | "other", number>> = { latest: 20_000, other: 5 * 60_000 };

/** A day that took long to write is written again after as many times that as this. */
const REST_FACTOR = 20;
/** But an erased user must be gone within the hour. */
const REST_MS_MAX = 30 * 60_000;

/** A change that waits for longer comes before newer days: an erased user must be gone within the hour. */
const OVERDUE_MS = 10 * 60_000;

export function isOverdue({ sinceMs }: Pick<DayState, "sinceMs">, nowMs: number): boolean {
  return sinceMs > 0 && nowMs - sinceMs > OVERDUE_MS;
}

export type DayState = {
  /** When the oldest change came that is not written, or 0 when the day has never been written. */
  sinceMs: number;
  /** Whether it is the latest marked day of its table. */
  isLatest: boolean;
  /** The last time that it was written as a whole, as far as is known. */
  last: { endedAtMs: number; tookMs: number } | undefined;
};

/** Whether a day is to be written as a whole now. */
export function isDayDue({ sinceMs, isLatest, last }: DayState, nowMs: number): boolean {
  // In the future: a clock was wrong.
  if (sinceMs === 0 || sinceMs > nowMs) return true;
  if (nowMs - sinceMs < WAIT_MS[isLatest ? "latest" : "other"]) return false;
  if (!last) return true;
  return nowMs - last.endedAtMs >= Math.min(last.tookMs * REST_FACTOR, REST_MS_MAX);
}
