import { type AdName, loadAdNames, type NamedLevel } from "../../db/ad-names.ts";
import { COLD_NOWHERE, type ColdEvents, readSettled } from "../../db/cold-event.ts";
import type { Executor } from "../../db/engine/sql.ts";
import { loadEventParts } from "../../db/event-day.ts";
import { needsEvents } from "../../db/hour-activity.ts";
import { addDays } from "../../domain/calendar.ts";
import { DISTINCT_MEASURES, type DistinctMeasure, type Measure, type Sums } from "../../domain/cube.ts";
import { ApiError } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import { ASSOCIATED, type Dimension, dimensionNamed } from "../metric/dimension.ts";
import type { Formula, Metric, Reading } from "../metric/metric.ts";
import { metricReader } from "../metric/metric-value.ts";
import { queryDistinct, querySums, type ReportRow } from "./ad-report-query.ts";
import { type AdReportRequest, withHours } from "./ad-report-request.ts";

type Item = Record<string, string | number>;

/** The answer's data, with the interface's field names. */
export type AdReport = {
  columns: string[];
  items: Item[];
  total: Item[];
  tips: Record<string, string>;
  static: string[];
};

export async function runAdReport(
  executor: Executor,
  request: AdReportRequest,
  app: { payShareBp: number; timeZone: string },
  cold: ColdEvents = COLD_NOWHERE,
): Promise<AdReport> {
  const asked = withHours(request, app.timeZone);
  const count = async () => countRows(executor, await withEvents(executor, asked, cold));
  const { rows, total } = await (needsEventsOf(asked) ? readSettled(executor, request.appId, count) : count());
  const readers = readersOf(request, app.payShareBp);
  const names = await namesOf(executor, request, rows);
  // Copied, with all its keys, and then filled in: an object that grows key by key is moved several times.
  const blank: Item = Object.fromEntries(
    [...request.dimensions, ...readers.map(({ name }) => name)].map((name) => [name, 0]),
  );
  const items = rows.map(({ values, sums }, index) => {
    const item = { ...blank };
    request.dimensions.forEach((name, at) => {
      item[name] = values[at]!;
    });
    for (const { name, read } of readers) item[name] = read(sums);
    return Object.assign(item, names[index]);
  });
  return {
    columns: request.metrics.map(({ name }) => name),
    items,
    total: rows.length === 0 ? [] : [Object.fromEntries(readers.map(({ name, read }) => [name, read(total)]))],
    tips: Object.fromEntries(request.metrics.map(({ label, tip }) => [label, tip])),
    static: request.dimensions.map((name) => dimensionNamed(name)!.label),
  };
}

/** The rows, sorted by their dimensions, and the sums over all of them. */
export async function countRows(
  executor: Executor,
  request: AdReportRequest,
): Promise<{ rows: ReportRow[]; total: Sums }> {
  const measures = measuresOf(request.metrics, request.reading);
  const rows = await querySums(executor, request, measures);
  if (rows.length > LIMITS.reportRows) {
    const rowsMax = LIMITS.reportRows.toLocaleString("en");
    throw new ApiError("badParameter", `The report has more than ${rowsMax} rows; ask for fewer dimensions or days.`);
  }
  const total = addUp(rows, measures);
  const repeated = repeatedMeasures(request, measures);
  if (repeated.length > 0) {
    const distinct = await queryDistinct(executor, request, repeated);
    Object.assign(total, addUp(distinct, repeated));
    if (!request.dimensions.includes("date") && !request.hours) replaceUsers(rows, distinct);
  }
  return { rows: rows.sort(byValues), total };
}

function needsEventsOf({ reading, hours, metrics }: AdReportRequest): boolean {
  return hours !== undefined && reading.caliber !== "user_activated_time" && needsEvents(measuresOf(metrics, reading));
}

/**
 * The request with the events that are only in the lake. What users did by the hour is known from the events, which are not
 * kept forever.
 */
export async function withEvents(
  executor: Executor,
  request: AdReportRequest,
  cold: ColdEvents,
): Promise<AdReportRequest> {
  if (!needsEventsOf(request)) return request;
  const { appId, fromDay, untilDay } = request;
  const parts = await loadEventParts(executor);
  let isCold = false;
  for (let day = fromDay; day < untilDay; day = addDays(day, 1)) {
    isCold ||= parts.stateOf(day) === "cold";
    if (parts.stateOf(day) !== "dropped") continue;
    throw new ApiError(
      "badParameter",
      `The events of ${day} are no longer kept, so what users did is known by the day only. Ask without hour, or for payments, users and costs alone.`,
    );
  }
  return isCold ? { ...request, cold: await cold.loadActive(executor, { appId, fromDay, untilDay }) } : request;
}

/** A reader for each requested metric, which computes it from the sums of a row. */
export function readersOf({ metrics, reading, decimals }: AdReportRequest, payShareBp: number) {
  return metrics.map(({ name, formula, unit }) => ({
    name,
    read: metricReader(formula(reading), { payShareBp, decimals: unit === "rate" ? decimals.rate : decimals.money }),
  }));
}

/** The measures that these metrics need, each once. */
export function measuresOf(metrics: readonly Metric[], reading: Reading): Measure[] {
  const inFormula = ({ of, by }: Formula) => [...of.measures, ...(by?.measures ?? [])];
  return [...new Set(metrics.flatMap(({ formula }) => inFormula(formula(reading))))];
}

/** Measures that cannot be added up over days or hours: in the second caliber the same user may be counted in each. */
function repeatedMeasures(request: AdReportRequest, measures: readonly Measure[]): DistinctMeasure[] {
  const { reading, fromDay, untilDay, hours } = request;
  const isOneDay = addDays(fromDay, 1) === untilDay && !hours;
  if (reading.caliber === "user_activated_time" || isOneDay) return [];
  return DISTINCT_MEASURES.filter((one) => measures.includes(one));
}

function addUp(rows: readonly ReportRow[], measures: readonly Measure[]): Sums {
  const total: Sums = {};
  for (const name of measures) total[name] = rows.reduce((sum, { sums }) => sum + (sums[name] ?? 0), 0);
  return total;
}

function replaceUsers(rows: readonly ReportRow[], distinct: readonly ReportRow[]): void {
  const byValue = new Map(distinct.map((row) => [row.values.join("\u0000"), row.sums]));
  for (const row of rows) Object.assign(row.sums, byValue.get(row.values.join("\u0000")));
}

function byValues(left: ReportRow, right: ReportRow): number {
  for (let at = 0; at < left.values.length; at += 1) {
    const [one, other] = [left.values[at]!, right.values[at]!];
    if (one !== other) return one < other ? -1 : 1;
  }
  return 0;
}

/** The associated values of each row: names and states of its account, plan, ad and creative. */
async function namesOf(executor: Executor, request: AdReportRequest, rows: readonly ReportRow[]): Promise<Item[]> {
  const { associated, dimensions } = request;
  if (associated.length === 0) return [];
  const found = new Map<Dimension, AdName[]>();
  for (const dimension of new Set(associated.map((name) => ASSOCIATED[name].dimension))) {
    const at = dimensions.indexOf(dimension);
    const ids = [...new Set(rows.map(({ values }) => values[at]!))];
    found.set(dimension, await loadAdNames(executor, { appId: request.appId, level: levelOf(dimension), ids }));
  }
  const platformAt = dimensions.indexOf("ad_platform");
  const byId = new Map<string, AdName>();
  for (const [dimension, names] of found) {
    for (const name of names) {
      byId.set([dimension, name.adPlatform, name.id].join("\u0000"), name);
      const anyPlatform = [dimension, "", name.id].join("\u0000");
      if (!byId.has(anyPlatform)) byId.set(anyPlatform, name);
    }
  }
  return rows.map(({ values }) =>
    Object.fromEntries(
      associated.map((name) => {
        const { dimension, field } = ASSOCIATED[name];
        const platform = platformAt < 0 ? "" : values[platformAt]!;
        const known = byId.get([dimension, platform, values[dimensions.indexOf(dimension)]].join("\u0000"));
        return [name, known?.[field] ?? ""];
      }),
    ),
  );
}

function levelOf(dimension: Dimension): NamedLevel {
  if (dimension === "advertiser_id") return "account";
  return dimension === "gid" ? "plan" : dimension === "aid" ? "ad" : "creative";
}
