import { addDays, calendarOf } from "../../domain/calendar.ts";
import type { DayRange } from "../../domain/cost-schedule.ts";
import type { CostQuestion, Subject } from "./cost-connector.ts";

/** The questions for costs, for the account's totals and for its name. */
export function firstQuestions({ fromDay, toDay }: { fromDay: string; toDay: string }): CostQuestion[] {
  const days = { from: fromDay, to: toDay, page: 1 };
  return [{ list: "report", ...days }, { list: "totals", ...days }, { list: "account" }];
}

export function subjectOf({ list }: CostQuestion): Subject {
  if (list === "creatives" || list === "hours") return list;
  return list === "report" ? "costs" : list === "totals" ? "totals" : "names";
}

/** Days of platforms in China are their own, whatever the app's time zone. */
const SHANGHAI = calendarOf("Asia/Shanghai");
/** Costs by the hour are for looking at today; older days no longer change much. */
const HOURLY_DAYS = 7;

/** The part of a range for which costs are pulled by the hour. */
export function hourlyDays({ fromDay, toDay }: DayRange, nowMs: number): DayRange | undefined {
  const first = addDays(SHANGHAI.dayOf(nowMs), 1 - HOURLY_DAYS);
  if (toDay < first) return undefined;
  return { fromDay: fromDay < first ? first : fromDay, toDay };
}

/** Ids in groups of at most `size`, each as one text, because questions hold only texts and numbers. */
export function idGroups(ids: Iterable<string>, size: number): string[] {
  const distinct = [...new Set(ids)].filter((id) => id !== "");
  return Array.from({ length: Math.ceil(distinct.length / size) }, (_, at) =>
    distinct.slice(at * size, (at + 1) * size).join(","),
  );
}
