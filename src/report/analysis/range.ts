import type { Step } from "../../contract/analysis/events.ts";
import { addDays, daysBetween } from "../../domain/calendar.ts";
import { LIMITS } from "../../limits.ts";
import { readDates } from "../dates.ts";
import { type Duck, date, duck } from "./duck-sql.ts";
import { refused, shown } from "./refusal.ts";

/** Days in the app's time zone, both included. */
export type Range = { fromDay: string; toDay: string };

export function readRange(dates: readonly string[], name = "date_list"): Range {
  if (!Array.isArray(dates)) throw refused(`${name} must hold two dates, the first and the last.`);
  const { fromDay, untilDay } = readDates(dates, name);
  const range = { fromDay, toDay: addDays(untilDay, -1) };
  const days = daysOf(range);
  if (days > LIMITS.analysisDays)
    throw refused(
      `${name} spans ${days} days, and a question reads at most ${LIMITS.analysisDays}: choose fewer days.`,
    );
  return range;
}

export function daysOf({ fromDay, toDay }: Range): number {
  return daysBetween(fromDay, toDay) + 1;
}

/** The range of the same length that begins on an earlier day. */
export function earlierRange(range: Range, firstDay: string): Range {
  const { fromDay } = readRange([firstDay, firstDay], "compare_date");
  if (fromDay >= range.fromDay)
    throw refused(`compare_date is ${shown(firstDay)}: choose a day before ${range.fromDay}, the first of the range.`);
  return { fromDay, toDay: addDays(fromDay, daysOf(range) - 1) };
}

export function inRange({ fromDay, toDay }: Range): Duck {
  return fromDay === toDay
    ? duck`e."day" = ${date(fromDay)}`
    : duck`e."day" between ${date(fromDay)} and ${date(toDay)}`;
}

/** The bucket of a row. An hour that the clock shows twice is one. */
export function bucketOfRow(by: Exclude<Step, "total">): Duck {
  switch (by) {
    case "hour":
      return duck`date_trunc('hour', e.local_time)`;
    case "day":
      return duck`e."day"`;
    case "week":
      return duck`cast(date_trunc('week', e."day") as date)`;
    case "month":
      return duck`cast(date_trunc('month', e."day") as date)`;
  }
}

/** The number of a row's bucket among those of a range, from 0. */
export function bucketIndex(by: Exclude<Step, "total">, { fromDay }: Range): Duck {
  if (by === "day") return duck`e."day" - ${date(fromDay)}`;
  return duck`date_diff(${by}, ${firstBucket(by, fromDay)}, ${bucketOfRow(by)})`;
}

/** The bucket with a number. */
export function bucketAt(by: Exclude<Step, "total">, { fromDay }: Range, index: Duck): Duck {
  const first = firstBucket(by, fromDay);
  switch (by) {
    case "hour":
      return duck`${first} + to_hours(${index})`;
    case "day":
      return duck`${first} + cast(${index} as integer)`;
    case "week":
      return duck`${first} + 7 * cast(${index} as integer)`;
    case "month":
      return duck`cast(${first} + to_months(cast(${index} as integer)) as date)`;
  }
}

function firstBucket(by: Exclude<Step, "total">, fromDay: string): Duck {
  if (by === "hour") return duck`timestamp ${`${fromDay} 00:00:00`}`;
  if (by === "month") return date(`${fromDay.slice(0, 7)}-01`);
  return date(by === "week" ? mondayOf(fromDay) : fromDay);
}

/** A bucket as answers show it, from the text that the database gives. */
export function bucketText(by: Step, text: string): string {
  if (by === "hour") return `${text.slice(0, 13)}:00`;
  return text.slice(0, by === "month" ? 7 : 10);
}

/** A bucket of an answer as a literal. */
export function bucketLiteral(by: Exclude<Step, "total">, bucket: string): Duck {
  const isOne = by === "hour" ? /^\d{4}-\d\d-\d\d [012]\d:00$/ : by === "month" ? /^\d{4}-\d\d$/ : /^\d{4}-\d\d-\d\d$/;
  if (!isOne.test(bucket)) throw refused(`${shown(bucket)} is not one of the answer's buckets.`);
  if (by === "hour") return duck`timestamp ${`${bucket}:00`}`;
  return date(by === "month" ? `${bucket}-01` : bucket);
}

/** All buckets of a range, those without events too. A clock change leaves an hour empty. */
export function bucketsOf(by: Step, range: Range): string[] {
  if (by === "total") return [];
  const days = Array.from({ length: daysOf(range) }, (_, index) => addDays(range.fromDay, index));
  if (by === "hour") return days.flatMap((day) => HOURS.map((hour) => `${day} ${hour}:00`));
  if (by === "day") return days;
  const texts = by === "week" ? days.map(mondayOf) : days.map((day) => day.slice(0, 7));
  return [...new Set(texts)];
}

const HOURS = Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, "0"));

export function mondayOf(day: string): string {
  // 5 January 1970 was a Monday.
  const weekday = ((daysBetween("1970-01-05", day) % 7) + 7) % 7;
  return addDays(day, -weekday);
}
