import type { ConsoleReportBody } from "../../../../src/contract/admin/console-report.ts";
import type { Reading } from "../../report/catalogue.ts";
import { NAME_OF } from "../../report/catalogue.ts";
import { FILTER_NAMES, type Filtering, filteringOf, NO_FILTER } from "../../report/filter-state.ts";
import { readingOf } from "../../report/reading-fields.tsx";
import { listOf } from "../../report/value-list.ts";
import type { Sort } from "../../ui/data-table.tsx";
import type { Days } from "../../ui/date-range.tsx";

/** The whole state of the page as it stands in the address: everyone with the link sees the same report. */
export const DEFAULTS = {
  from: "",
  to: "",
  caliber: "user_activated_time",
  roi: "1",
  decimals: "2",

  dims: "date",
  metrics: "AdCost,AppActivateStandard,AppActivateCost,AppRevenue,AppROI,App7DayROI,AppRetention1d",
  names: "",
  sort: "",
  page: "1",
  size: "50",
  view: "",
  chart: "line",
  chart_by: "date",
  chart_metrics: "",
  ...NO_FILTER,
};
export type UrlState = Record<keyof typeof DEFAULTS, string>;

/** The parsed state of the page. */
export type ReportState = {
  days: Days;
  reading: Reading;
  decimals: 2 | 4;
  dims: string[];
  metrics: string[];
  /** States and remarks of accounts, plans and ads, shown beside them. */
  names: string[];
  filtering: Filtering;
  sort: Sort | undefined;
  page: number;
  size: number;
};

export const SIZES = ["20", "50", "100", "500"];

export function reportState(url: UrlState, days: Days): ReportState {
  return {
    days,
    reading: readingOf(url),
    decimals: url.decimals === "4" ? 4 : 2,
    dims: listOf(url.dims),
    metrics: listOf(url.metrics),
    names: listOf(url.names),
    filtering: filteringOf(url),
    sort: sortOf(url.sort),
    page: Math.max(1, Math.floor(Number(url.page)) || 1),
    size: SIZES.includes(url.size) ? Number(url.size) : 50,
  };
}

export function sortText({ column, direction }: Sort): string {
  return `${column}:${direction}`;
}

function sortOf(text: string): Sort | undefined {
  const [column = "", direction] = text.split(":");
  return column === "" ? undefined : { column, direction: direction === "asc" ? "asc" : "desc" };
}

/** The report as a request to the public interface. */
export function publicBody(appId: number, state: ReportState): Omit<ConsoleReportBody, "rate_decimal_point"> {
  const { days, reading, decimals, dims, metrics, names, filtering } = state;
  const called = dims.flatMap((name) => NAME_OF[name] ?? []);
  return {
    app_id: appId,
    date_list: [days.from, days.to],
    dims_list: dims,
    metrics_list: metrics,
    statistics_caliber: reading.caliber,
    roi_version: reading.roi === "2" ? 2 : 1,
    decimal_point: decimals,
    ...(Object.keys(filtering).length > 0 && { filtering }),
    ...(called.length + names.length > 0 && { dims_metrics_list: [...called, ...names] }),
  };
}

/** The request with the console's extra fields. A sort by a column that is no longer shown is dropped. */
export function consoleBody(appId: number, state: ReportState): ConsoleReportBody {
  const { sort, dims, metrics, names } = state;
  const isSorted = sort && [...dims, ...metrics, ...names].includes(sort.column);
  return {
    ...publicBody(appId, state),
    rate_decimal_point: 4,
    ...(isSorted && { order_by_list: [{ field: sort.column, sort: sort.direction === "asc" ? 0 : 1 }] }),
  };
}

/** A key of all filters that narrow the report. */
export function filterKey(url: UrlState): string {
  return FILTER_NAMES.map((name) => url[name]).join("\n");
}
