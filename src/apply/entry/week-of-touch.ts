import { DAY_MS, weekOf } from "../../domain/calendar.ts";

/** A link call may be this much later than its touch, and a platform's clock this much ahead. */
const LATE_MS_MAX = 91 * DAY_MS;
const AHEAD_MS_MAX = DAY_MS;

/** The week that a touch is stored in: that of its instant, unless that lies beyond belief. */
export function weekOfTouch({ touchedAtMs, receivedAtMs }: { touchedAtMs: number; receivedAtMs: number }): string {
  return weekOf(Math.min(Math.max(touchedAtMs, receivedAtMs - LATE_MS_MAX), receivedAtMs + AHEAD_MS_MAX));
}
