import { addDays, DAY_MS, isDay } from "../domain/calendar.ts";
import { ApiError } from "../errors.ts";
import { LIMITS } from "../limits.ts";

/** Reads a range of days, both ends included. */
export function readDates(
  dates: readonly string[],
  name = "date_list",
  daysMax: number = LIMITS.reportDays,
): { fromDay: string; untilDay: string } {
  const [from = "", to = ""] = dates;
  if (dates.length !== 2) throw bad(`${name} must hold two dates, the first and the last.`);
  for (const day of [from, to]) {
    if (!isDay(day) || day < FIRST_DAY || day > LAST_DAY) throw bad(`${name} must hold dates such as 2026-11-15.`);
  }
  if (from > to) throw bad(`${name} is reversed: ${from} is after ${to}.`);
  if ((Date.parse(to) - Date.parse(from)) / DAY_MS >= daysMax) {
    throw bad(`${name} spans more than ${daysMax} days.`);
  }
  return { fromDay: from, untilDay: addDays(to, 1) };
}

const FIRST_DAY = "1970-01-01";
const LAST_DAY = "2199-12-31";

function bad(message: string): ApiError {
  return new ApiError("badParameter", message);
}
