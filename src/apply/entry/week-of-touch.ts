import { DAY_MS, weekOf } from "../../domain/calendar.ts";

/** The most that a link call may lag behind its touch, and that a platform's clock may run ahead. */
const LATE_MS_MAX = 91 * DAY_MS;
const AHEAD_MS_MAX = DAY_MS;

/** The week in which a touch is stored: the week of its instant, moved into the plausible range around its receipt. */
export function weekOfTouch({ touchedAtMs, receivedAtMs }: { touchedAtMs: number; receivedAtMs: number }): string {
  return weekOf(Math.min(Math.max(touchedAtMs, receivedAtMs - LATE_MS_MAX), receivedAtMs + AHEAD_MS_MAX));
}
