import type { EventRow } from "../../db/event.ts";
import { calendarOf, daysBetween, type Hours } from "../../domain/calendar.ts";
import { type Caliber, FILTER_DIMENSIONS, type FilterDimension } from "../../domain/cube.ts";
import { ApiError } from "../../errors.ts";
import { readDates } from "../dates.ts";
import { metricNamed } from "../metric/catalogue.ts";
import {
  ASSOCIATED,
  type Associated,
  DIMENSIONS,
  type Dimension,
  dimensionNamed,
  incompatiblePair,
  incompatibleText,
  isAssociated,
} from "../metric/dimension.ts";
import { notByHour } from "../metric/hour-rule.ts";
import type { Metric, Reading } from "../metric/metric.ts";

/** The body of an ad report, after validation. */
export type AdReportBody = {
  app_id: number;
  date_list: readonly string[];
  metrics_list: readonly string[];
  dims_list: readonly string[];
  statistics_caliber: Caliber;
  decimal_point: 2 | 4;
  roi_version?: 1 | 2;
  filtering?: { [Name in `${FilterDimension}_list`]?: readonly string[] } & { version_list?: readonly number[] };
  dims_metrics_list?: readonly string[];
};

/** Keeps rows that have one of the values in each of these dimensions, and users of these versions. Empty keeps all. */
export type ReportFilter = {
  values: readonly (readonly [FilterDimension, readonly string[]])[];
  versions: readonly number[];
};

export type AdReportRequest = {
  appId: number;
  fromDay: string;
  untilDay: string;
  metrics: readonly Metric[];
  dimensions: readonly Dimension[];
  associated: readonly Associated[];
  reading: Reading;
  decimals: { money: number; rate: number };
  filter: ReportFilter;
  /** The hours of the days, if the report is by the hour and the app's clock is known. */
  hours?: Hours;
  /** What users did on days whose events are only in the lake, if the report is by the hour. */
  cold?: readonly EventRow[];
};

/** Rates have as many decimals as money, unless the caller asks for more: two are often too few for a share. */
export function readAdReport(body: AdReportBody, rateDecimals = body.decimal_point): AdReportRequest {
  const dimensions = unique(body.dims_list).map(readDimension);
  const pair = incompatiblePair(dimensions);
  if (pair) throw new ApiError("incompatibleDimensions", incompatibleText(pair));
  if (body.metrics_list.length === 0) throw bad("metrics_list is empty.");
  const request = {
    appId: body.app_id,
    ...readDates(body.date_list),
    metrics: unique(body.metrics_list).map(readMetric),
    dimensions,
    associated: unique(body.dims_metrics_list ?? []).map((name) => readAssociated(name, dimensions)),
    reading: { caliber: body.statistics_caliber, roiVersion: body.roi_version ?? 1 },
    decimals: { money: body.decimal_point, rate: rateDecimals },
    filter: readFilter(body.filtering ?? {}),
  };
  if (dimensions.includes("hour")) checkHour(request);
  return request;
}

/** The most days of a report by the hour, which is counted from users and orders. */
const HOUR_DAYS_MAX = 2;

function checkHour({ fromDay, untilDay, metrics, reading, dimensions, filter }: AdReportRequest): void {
  if (daysBetween(fromDay, untilDay) > HOUR_DAYS_MAX) {
    throw bad(`date_list spans more than ${HOUR_DAYS_MAX} days, which is the most for a report by hour.`);
  }
  const isByCreative = dimensions.includes("creative") || filter.values.some(([name]) => name === "creative");
  const reason = notByHour(metrics, { reading, isByCreative });
  if (reason !== undefined) throw new ApiError("incompatibleDimensions", reason);
}

/** The request with the hours that the app's clock shows, if it is by the hour. */
export function withHours(request: AdReportRequest, timeZone: string): AdReportRequest {
  return request.dimensions.includes("hour") ? { ...request, hours: calendarOf(timeZone).hoursOf(request) } : request;
}

function readFilter(filtering: NonNullable<AdReportBody["filtering"]>): ReportFilter {
  const values = FILTER_DIMENSIONS.map((name) => [name, filtering[`${name}_list`] ?? []] as const);
  return { values: values.filter(([, list]) => list.length > 0), versions: filtering.version_list ?? [] };
}

function readDimension(name: string): Dimension {
  const dimension = dimensionNamed(name);
  if (!dimension) {
    throw bad(
      `dims_list: ${quoted(name)} is not a dimension. Dimensions are: ${DIMENSIONS.map((one) => one.name).join(", ")}.`,
    );
  }
  return dimension.name;
}

function readMetric(name: string): Metric {
  const metric = metricNamed(name);
  if (!metric) throw bad(`metrics_list: ${quoted(name)} is not a metric; report/metrics/list shows all metrics.`);
  return metric;
}

function readAssociated(name: string, dimensions: readonly Dimension[]): Associated {
  if (!isAssociated(name)) {
    throw bad(`dims_metrics_list: ${quoted(name)} is not one of ${Object.keys(ASSOCIATED).join(", ")}.`);
  }
  const { dimension } = ASSOCIATED[name];
  if (!dimensions.includes(dimension)) throw bad(`dims_metrics_list: ${name} needs ${dimension} in dims_list.`);
  return name;
}

function quoted(name: string): string {
  return JSON.stringify(name.slice(0, 60));
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)];
}

function bad(message: string): ApiError {
  return new ApiError("badParameter", message);
}
