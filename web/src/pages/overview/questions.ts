import type { ReportBatch, ReportBatchBody } from "../../../../src/contract/admin/console-report.ts";
import { addDays } from "../../format.ts";
import type { Reading } from "../../report/catalogue.ts";
import type { Filtering } from "../../report/filter-state.ts";
import type { Days } from "../../ui/date-range.tsx";

export const TILES = [
  ...(["AdCost", "AppActivateStandard", "AppRevenue", "AppROI", "AppDAU", "AppGamePayUserCntStandard"] as const),
];
/** Metrics that are known by the hour; costs where a platform tells it. */
export const HOURLY = [
  ...(["AppActivateStandard", "AppGamePayAmountStandard", "AppGamePayUserCntStandard", "AdCost"] as const),
];
export const HOURS = Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, "0"));
export const RETENTION_DAYS = [1, 2, 3, 4, 5, 6, 7, 14, 30] as const;
export const WINDOW_DAYS = [1, 3, 7, 14, 30] as const;

export const retentionOf = (day: number) => `AppRetention${day}d`;
export const windowOf = (day: number, what: "ROI" | "LTV") => `App${day === 1 ? "FirstDay" : `${day}Day`}${what}`;

export type Report = ReportBatch["reports"][number];
type Question = ReportBatchBody["reports"][number];

/** Answers by the name of their question. */
export type OverviewAnswers = { report: (name: string) => Report | undefined };

export type Asked = {
  days: Days;
  today: string;
  reading: Reading;
  filtering: Filtering;
};

/** All questions of the page, asked in one call so that the answers are from one moment. */
export function questionsOf(asked: Asked): Map<string, Question> {
  const { days, today } = asked;
  const last = lastWholeDay(asked);
  const questions: [string, Question][] = [
    ["range", question(asked, days, ["date"], [...TILES, ...RETENTION_DAYS.map(retentionOf)])],
    ["platforms", question(asked, days, ["ad_platform"], ["AdCost", "AppRevenue", "AppROI", "AppActivateStandard"])],
    ["last days", question(asked, { from: addDays(last, -1), to: last }, ["date"], TILES)],
    ["last week", question(asked, { from: addDays(last, -6), to: last }, [], TILES)],
    ["today and yesterday", byHour(asked, { from: addDays(today, -1), to: today })],
    ["a week ago", byHour(asked, { from: addDays(today, -7), to: addDays(today, -7) })],
    ["week before", question(asked, { from: addDays(last, -13), to: addDays(last, -7) }, [], TILES)],
  ];
  for (const day of RETENTION_DAYS) {
    const to = [days.to, wholeUntil(day, today)].sort()[0]!;
    const isWindow = (WINDOW_DAYS as readonly number[]).includes(day);
    const windows = isWindow ? [windowOf(day, "ROI"), windowOf(day, "LTV")] : [];
    if (days.from <= to) {
      const metrics = [...windows, retentionOf(day)];
      questions.push([`day ${day}`, question(asked, { from: days.from, to }, ["ad_platform"], metrics)]);
    }
  }
  return new Map(questions);
}

/** The last day to compare with others: today is not over yet. */
export function lastWholeDay({ days, today }: Pick<Asked, "days" | "today">): string {
  return days.to < today ? days.to : addDays(today, -1);
}

/** The last registration day whose users have lived through all of day `day` (registration is day 0). */
function wholeUntil(day: number, today: string): string {
  return addDays(today, -day - 1);
}

/** What happened in each hour, whatever the caliber of the page: a touch says little about the hour. */
function byHour(asked: Asked, days: Days): Question {
  const reading: Reading = { ...asked.reading, caliber: "behavior_occurred_time" };
  return question({ ...asked, reading }, days, ["date", "hour"], HOURLY);
}

/** Money is rounded to the cent, rates more finely. */
function question(asked: Asked, days: Days, dims: readonly string[], metrics: readonly string[]): Question {
  const { reading, filtering } = asked;
  return {
    date_list: [days.from, days.to],
    dims_list: [...dims],
    metrics_list: [...metrics],
    filtering,
    statistics_caliber: reading.caliber,
    roi_version: reading.roi === "2" ? 2 : 1,
    decimal_point: 2,
    rate_decimal_point: 4,
  };
}

/** A number of a row or a total, or 0 if it is missing. */
export function numberOf(row: Record<string, string | number> | undefined, name: string): number {
  const value = row?.[name];
  return typeof value === "number" ? value : 0;
}
