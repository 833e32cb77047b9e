import type pg from "pg";
import type { ShownFormula } from "../../contract/admin/console-report.ts";
import type { App } from "../../db/app.ts";
import { type Cost, costRows } from "../../db/cost.ts";
import { refundPlace, userDimensions, userRows } from "../../db/cube.ts";
import { keyOf } from "../../db/engine/column-name.ts";
import { inTransaction } from "../../db/engine/pool.ts";
import {
  allOf,
  type Executor,
  type InCamelCase,
  identifier,
  joined,
  listed,
  query,
  type Sql,
  sql,
} from "../../db/engine/sql.ts";
import { calendarOf } from "../../domain/calendar.ts";
import {
  type Caliber,
  COHORTS_OF,
  COST_MEASURES,
  DISTINCT_MEASURES,
  type Measure,
  type Sums,
  type UserMeasure,
} from "../../domain/cube.ts";
import type { Dimension } from "../metric/dimension.ts";
import { FULL_SHARE_BP } from "../metric/metric-value.ts";
import { shownFormula } from "../metric/shown-catalogue.ts";
import { countRows, measuresOf, readersOf } from "./ad-report.ts";
import { derivedFrom, dimensionValue, filterOf, isCost, sumReader } from "./ad-report-query.ts";
import type { AdReportRequest } from "./ad-report-request.ts";

/**
 * One cell: a report with one metric, and the values of the row's dimensions (none for the total). At most `limit` rows
 * are listed.
 */
export type Cell = { request: AdReportRequest; values: Partial<Record<Dimension, string>>; limit: number };

/** The facts behind a number: the listed rows add up to the sums that it is computed from. */
export type Explained = {
  metric: string;
  value: number;
  formula: ShownFormula;
  pay_share: number;
  /** The sums of the cell, to which the formula was applied. */
  sums: Sums;
  users: ({ client_id: string } & Sums)[];
  orders: { trace_id: string; client_id: string; time: string; cents: number }[];
  costs: Record<string, string | number>[];
  /** The number of each, which exceeds the listed ones only when there are very many. */
  numbers: { users: number; orders: number; costs: number };
  /** The sums over all of them, listed or not. */
  added: { users: Sums; orders: Record<string, number>; costs: Sums };
};

/** Reads from one snapshot, so that the listed rows add up to the number. */
export async function explainCell(pool: pg.Pool, cell: Cell, app: App): Promise<Explained> {
  return inTransaction(pool, (tx) => explain(tx, cell, app), "snapshot");
}

async function explain(executor: Executor, cell: Cell, app: App): Promise<Explained> {
  const [metric] = cell.request.metrics;
  if (!metric || cell.request.metrics.length !== 1) throw new Error("A cell has one metric.");
  const { reading } = cell.request;
  const sums = await sumsOf(executor, cell);
  const measures = measuresOf([metric], reading);
  const users = await usersBehind(executor, cell, measures);
  const orders = await ordersBehind(executor, cell, measures, app);
  const costs = await costsBehind(executor, cell, measures);
  return {
    metric: metric.name,
    value: readersOf(cell.request, app.payShareBp)[0]!.read(sums),
    formula: shownFormula(metric, reading),
    pay_share: app.payShareBp / FULL_SHARE_BP,
    sums,
    users: users.list,
    orders: orders.list,
    costs: costs.list,
    numbers: { users: users.number, orders: orders.number, costs: costs.number },
    added: { users: users.added, orders: orders.added, costs: costs.added },
  };
}

/** The sums of the cell, computed as the report computes them. */
async function sumsOf(executor: Executor, { request, values }: Cell): Promise<Sums> {
  const { rows, total } = await countRows(executor, request);
  if (request.dimensions.length === 0) return total;
  const row = rows.find((one) => request.dimensions.every((name, at) => one.values[at] === values[name]));
  return row?.sums ?? {};
}

type Listed<Shown> = { list: Shown[]; number: number; added: Record<string, number> };

const NOTHING = { list: [], number: 0, added: {} };

/** Each user once: figures of several days are added, but a user who was active on all of them still counts as one. */
async function usersBehind(
  executor: Executor,
  cell: Cell,
  measures: readonly Measure[],
): Promise<Listed<{ client_id: string } & Sums>> {
  const { appId, fromDay, untilDay, reading, filter } = cell.request;
  const wanted = measures.filter((one): one is UserMeasure => !isCost(one));
  if (wanted.length === 0) return NOTHING;
  const where = filter.versions.length > 0 ? sql`u.version = any(${filter.versions}::numeric[])` : sql`true`;
  const rows = COHORTS_OF[reading.caliber].map(
    (cohort) => sql`(${userRows(cohort, { appId, fromDay, untilDay, where })})`,
  );
  const distinct: readonly Measure[] = DISTINCT_MEASURES;
  const sums = wanted.map((name) => {
    const column = sql`r.${identifier(name)}`;
    return sql`coalesce(${distinct.includes(name) ? sql`max(${column})` : sql`sum(${column})`}, 0)::bigint as ${identifier(name)}`;
  });
  const sumsOfRow = sumReader(wanted);
  return list(executor, {
    rows: sql`select r.client_id, ${listed(sums)} from (${joined(rows, sql` union all `)}) r ${derivedFrom(appId, cell.request.dimensions)}
      where ${matches(cell)} group by r.client_id
      having ${joined(
        wanted.map((name) => sql`coalesce(sum(r.${identifier(name)}), 0) <> 0`),
        sql` or `,
      )}`,
    order: sql`client_id`,
    added: wanted,
    limit: cell.limit,
    shown: (row: { clientId: string }) => ({ client_id: row.clientId, ...sumsOfRow(row) }),
  });
}

async function ordersBehind(
  executor: Executor,
  cell: Cell,
  measures: readonly Measure[],
  app: App,
): Promise<Listed<Explained["orders"][number]>> {
  const { appId, fromDay, untilDay, filter } = cell.request;
  const range = rangeOfOrders(measures, cell.request.reading.caliber);
  if (!range) return NOTHING;
  const versions = filter.versions.length > 0 ? sql`and u.version = any(${filter.versions}::numeric[])` : sql``;
  const calendar = calendarOf(app.timeZone);
  return list(executor, {
    rows: sql`select r.trace_id, r.client_id, r.at_ms, r.cents from (
        select o.trace_id, o.client_id, o.at_ms, o.cents, ${range.day} as day, ${userDimensions}
        from (${payments(appId, measures)}) o join user_account u on u.app_id = o.app_id and u.client_id = o.client_id
        where o.app_id = ${appId} and ${range.day} >= ${fromDay}::date and ${range.day} < ${untilDay}::date and ${range.window} ${versions}
      ) r ${derivedFrom(appId, cell.request.dimensions)} where ${matches(cell)}`,
    order: sql`at_ms, trace_id`,
    added: ["cents"],
    limit: cell.limit,
    shown: (row: { traceId: string; clientId: string; atMs: number; cents: number }) => ({
      trace_id: row.traceId,
      client_id: row.clientId,
      time: calendar.textOf(row.atMs),
      cents: row.cents,
    }),
  });
}

/** The orders and refunds that the measures are made of. Refunds lower payments. */
function payments(appId: number, measures: readonly Measure[]): Sql {
  const { day, atMs } = refundPlace(appId);
  const refunds = (cents: Sql) =>
    sql`select r.app_id, r.client_id, r.trace_id, ${day} as day, ${atMs} as at_ms, ${cents} as cents from refund r
      where r.app_id = ${appId} and r.cents > 0`;
  const parts: Sql[] = [];
  if (measures.some((name) => name.startsWith("refund_"))) parts.push(refunds(sql`r.cents`));
  else parts.push(sql`select app_id, client_id, trace_id, day, at_ms, cents from orders where app_id = ${appId}`);
  if (measures.some((name) => /^pay_(?:cents|[ds]\d+)$/.test(name))) parts.push(refunds(sql`- r.cents`));
  return joined(parts, sql` union all `);
}

const DAY_MS_SQL = sql`86400000::bigint`;

/** The orders and refunds that a metric is made of: all of them, on the day they are reported on, or those within a window. */
function rangeOfOrders(measures: readonly Measure[], caliber: Caliber): { day: Sql; window: Sql } | undefined {
  const isFirst = caliber === "user_activated_time";
  const [, model, days] = measures.map((name) => /^pay_([ds])(\d+)$/.exec(name)).find((match) => match !== null) ?? [];
  if (model !== undefined) {
    const cohortDay = isFirst ? sql`u.cohort_day` : sql`u.registered_day`;
    const baseMs = isFirst ? sql`coalesce(u.touched_at_ms, u.registered_at_ms)` : sql`u.registered_at_ms`;
    const end =
      model === "d"
        ? sql`o.day < ${cohortDay} + ${Number(days)}::int`
        : sql`o.at_ms < ${baseMs} + ${Number(days)}::int * ${DAY_MS_SQL}`;
    return { day: cohortDay, window: sql`o.at_ms >= ${baseMs} and ${end}` };
  }
  if (!measures.some((name) => ORDER_MEASURES.includes(name))) return undefined;
  return { day: isFirst ? sql`u.cohort_day` : sql`o.day`, window: sql`true` };
}

const ORDER_MEASURES: readonly Measure[] = [
  ...(["pay_cents", "pay_count", "payers", "first_payers", "refund_cents", "refund_count"] as const),
];

async function costsBehind(
  executor: Executor,
  cell: Cell,
  measures: readonly Measure[],
): Promise<Listed<Record<string, string | number>>> {
  const wanted = measures.filter(isCost);
  if (wanted.length === 0) return NOTHING;
  const { appId, dimensions } = cell.request;
  return list(executor, {
    rows: sql`select r.*, r.turbo_promoted_object_id as campaign_id from (${costRows(cell.request)}) r ${derivedFrom(appId, dimensions)} where ${matches(cell)}`,
    order: sql`day, ad_platform, advertiser_id, gid, aid, csite, channel, os_platform, turbo_promoted_object_id`,
    added: wanted,
    limit: cell.limit,
    shown: shownCost,
  });
}

/** The columns of `costRows` that are not its sums. */
type CostOfAd = Omit<Cost, "appId" | "impressions" | "clicks" | "costE4">;

const costSums = sumReader(COST_MEASURES);

function shownCost(row: CostOfAd): Record<string, string | number> {
  return {
    day: row.day,
    ad_platform: row.adPlatform,
    advertiser_id: row.advertiserId,
    gid: row.gid,
    aid: row.aid,
    channel: row.channel,
    os_platform: row.osPlatform,
    csite: row.csite,
    turbo_promoted_object_id: row.campaignId,
    ...costSums(row),
  };
}

/** Whether the row r belongs to the cell. */
function matches({ request, values }: Cell): Sql {
  const conditions = request.dimensions.map((name) => {
    const value = values[name] ?? "";
    return name === "date" ? sql`r.day = ${value}::date` : sql`${dimensionValue(name)} = ${value}`;
  });
  return allOf([...conditions, filterOf(request.filter, sql`r`)]);
}

type Behind<Row, Shown> = {
  rows: Sql;
  order: Sql;
  added: readonly string[];
  limit: number;
  shown: (row: Row) => Shown;
};

async function list<Row extends InCamelCase<Row>, Shown>(
  executor: Executor,
  { rows, order, limit, ...behind }: Behind<Row, Shown>,
): Promise<Listed<Shown>> {
  const sums = behind.added.map((name) => sql`coalesce(sum(${identifier(name)}), 0)::bigint as ${identifier(name)}`);
  const [counted] = await query<Record<string, number>>(
    executor,
    sql`select ${listed([sql`count(*) as number`, ...sums])} from (${rows}) behind`,
  );
  const found = await query<Row>(executor, sql`select * from (${rows}) behind order by ${order} limit ${limit}`);
  const added = Object.fromEntries(behind.added.map((name) => [name, counted![keyOf(name)]!]));
  return { list: found.map(behind.shown), number: counted!.number!, added };
}
