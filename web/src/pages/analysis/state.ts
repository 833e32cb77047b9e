import type { Condition, Filter, Join, Operator } from "../../../../src/contract/analysis/condition.ts";
import type { EventsQuestion, Measure, Series, Step } from "../../../../src/contract/analysis/events.ts";
import type { Source } from "../../../../src/contract/analysis/question.ts";
import type { Segment } from "../../../../src/contract/analysis/segment.ts";
import { segmentIdOf } from "../../analysis/segment.ts";
import { addDays } from "../../format.ts";
import { daysBetween } from "../../report/days.ts";
import { listOf } from "../../report/value-list.ts";
import type { Days } from "../../ui/date-range.tsx";

/** The whole question as it stands in the address: everyone with the link asks the same. */
export const DEFAULTS = {
  from: "",
  to: "",
  by: "day",
  /** The series as JSON; empty: every event, counted. */
  series: "",
  formulas: "",
  split: "",
  top: "10",
  /** Empty, `before`, a number of days, or the first day of the earlier range. */
  compare: "",
  chart: "line",
  view: "",
  tab: "events",
  /** The steps of a funnel, and the window in minutes. */
  steps: "",
  window: "10080",
  /** The two events of retention, and the periods after the first. */
  from_to: "",
  periods: "7",
  periods_by: "day",
  /** The field by which the users of a funnel or of cohorts are split. */
  users_by: "",
  /** The id of the saved segment whose users every question is about. */
  segment: "",
  /** What retention is counted in: empty for users, or a measure; see `measureOf`. */
  value: "",
  /** Of a distribution: the source as a list of one, the measure, and where buckets begin. */
  counted: "",
  per_user: "times",
  edges: "",
  /** Of paths: the event where they begin as a list of one, and what is shown from there. */
  start: "",
  direction: "after",
  gap: "30",
  levels: "4",
  branches: "5",
};
export type UrlState = Record<keyof typeof DEFAULTS, string>;

export const STEPS: readonly Step[] = ["hour", "day", "week", "month", "total"];
export const MEASURES: readonly Measure[] = ["count", "users", "per_user", "sum", "average", "percentile"];
export const SERIES_MAX = 10;
export const TOPS = ["5", "10", "20", "50", "100"];
const NEW_SERIES: Series = { source: "event", measure: "count" };

/** Conditions of one level, as the page edits them. */
export type Conditions = { join: Join; parts: readonly Filter[] };

/** The parsed address. Series and conditions may still lack something; see `questionOf`. */
export type AnalysisState = {
  days: Days;
  by: Step;
  series: readonly Series[];
  formulas: readonly string[];
  split: readonly string[];
  top: number;
  compare: string;
  /** The id of a saved segment, or empty. */
  segment: string;
};

export function analysisState(url: UrlState, days: Days): AnalysisState {
  return {
    days,
    by: STEPS.find((step) => step === url.by) ?? "day",
    series: seriesOf(url.series),
    formulas: listOf(url.formulas).slice(0, SERIES_MAX),
    split: listOf(url.split).slice(0, 2),
    top: TOPS.includes(url.top) ? Number(url.top) : 10,
    compare: url.compare,
    segment: url.segment,
  };
}

export function seriesText(series: readonly Series[]): string {
  const text = JSON.stringify(series);
  return text === JSON.stringify([NEW_SERIES]) ? "" : text;
}

/** The address may have been typed by hand: what is no series is left out. */
function seriesOf(text: string): Series[] {
  const found = parsed(text);
  const series = (Array.isArray(found) ? found : []).filter(isSeries).slice(0, SERIES_MAX);
  return series.length > 0 ? series : [NEW_SERIES];
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isSeries(value: unknown): value is Series {
  const { source, measure } = (value ?? {}) as Partial<Series>;
  return (source === "event" || source === "order") && MEASURES.some((one) => one === measure);
}

export function needsNumber(measure: Measure): boolean {
  return measure === "sum" || measure === "average" || measure === "percentile";
}

/** The index of the first series that lacks its number, or undefined. */
export function incompleteSeries(series: readonly Series[]): number | undefined {
  const at = series.findIndex(
    ({ measure, property, amount }) => needsNumber(measure) && property === undefined && amount === undefined,
  );
  return at < 0 ? undefined : at;
}

/** The question to ask. Conditions that are not complete yet are left out. */
export function questionOf(state: AnalysisState): EventsQuestion {
  const { days, by, series, formulas, split, top, compare, segment } = state;
  const written = formulas.filter((formula) => formula.trim() !== "");
  const compareDate = compareDay(compare, days);
  return {
    date_list: [days.from, days.to],
    by,
    series: series.map(completed),
    ...(written.length > 0 && { formulas: written }),
    ...(split.length > 0 && { split, top }),
    ...(compareDate !== undefined && { compare_date: compareDate }),
    ...usersOf(segment),
  };
}

/** Which users a question is about: everybody, or those of a saved segment. */
export function usersOf(segment: string): { segment?: Segment } {
  const id = segmentIdOf(segment);
  return id === "" ? {} : { segment: { kind: "saved", segment: Number(id) } };
}

/** The first day of the earlier range. */
export function compareDay(compare: string, days: Days): string | undefined {
  if (compare === "") return undefined;
  if (compare === "before") return addDays(days.from, -daysBetween(days) - 1);
  return /^\d{1,4}$/.test(compare) ? addDays(days.from, -Number(compare)) : compare;
}

/** The same without conditions that are not complete yet. */
export function completed<One extends Source>({ filter, ...source }: One): One {
  const { join, parts } = conditionsOf(filter);
  const complete = parts.filter((part) => "join" in part || isComplete(part));
  const [only] = complete;
  const asked = complete.length > 1 ? { join, parts: complete } : only;
  return { ...source, ...(asked !== undefined && { filter: asked }) } as One;
}

/** A filter as one level of conditions. What lies deeper, in links from elsewhere, stays one part. */
export function conditionsOf(filter: Filter | undefined): Conditions {
  if (filter === undefined) return { join: "and", parts: [] };
  return "join" in filter ? filter : { join: "and", parts: [filter] };
}

export type ValueForm = "none" | "texts" | "number" | "ends";

export function valueForm(operator: Operator): ValueForm {
  switch (operator) {
    case "is_set":
    case "not_set":
    case "is_true":
    case "is_false":
      return "none";
    case "less":
    case "at_most":
    case "greater":
    case "at_least":
      return "number";
    case "between":
      return "ends";
    case "equal":
    case "not_equal":
    case "contains":
    case "starts_with":
      return "texts";
  }
}

export function isComplete({ field, operator, values = [] }: Condition): boolean {
  if (field === "") return false;
  switch (valueForm(operator)) {
    case "none":
      return true;
    case "texts":
    case "number":
      return values.length > 0;
    case "ends":
      return values.length === 2 && values.every((value) => value !== "");
  }
}

/** A, B, C … */
export function letterOf(index: number): string {
  return String.fromCharCode(65 + index);
}
