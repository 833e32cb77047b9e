import type pg from "pg";
import type { ShownFormula } from "../../contract/admin/console-report.ts";
import type { App } from "../../db/app.ts";
import { holdDays } from "../../db/apply-holder.ts";
import { COLD_NOWHERE, type ColdEvents } from "../../db/cold-event.ts";
import { type Cost, costRows } from "../../db/cost.ts";
import { userRows } from "../../db/cube.ts";
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
import { loadToldCents } from "../../db/orders.ts";
import { refundPlace, sumRefunds } from "../../db/refund.ts";
import { firstRule, orderKind } from "../../db/share-rule.ts";
import { TOUCHED_AT, userDimensions } from "../../db/user-dimension.ts";
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
import { countRows, measuresOf, readersOf, withEvents } from "./ad-report.ts";
import { derivedFrom, dimensionValue, filterOf, fineOf, isCost, sumReader, versionsOf } from "./ad-report-query.ts";
import { type AdReportRequest, withHours } from "./ad-report-request.ts";

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
  orders: BehindOrder[];
  costs: Record<string, string | number>[];
  /** The number of each, which exceeds the listed ones only when there are very many. */
  numbers: { users: number; orders: number; costs: number };
  /** The sums over all of them, listed or not. */
  added: { users: Sums; orders: Record<string, number>; costs: Sums };
};

/** An order or one of its refunds: `cents` is what it adds. */
type BehindOrder = {
  trace_id: string;
  client_id: string;
  kind: "order" | "refund";
  time: string;
  cents: number;
  /** The share of it that is left after the store's cut. */
  share: number;
  /** What was paid back of the order in all, and what platforms were told of it. */
  refunded_cents: number;
  back_cents: number;
};

/** Reads from one snapshot, so that the listed rows add up to the number. */
export async function explainCell(
  pool: pg.Pool,
  cell: Cell,
  app: App,
  cold: ColdEvents = COLD_NOWHERE,
): Promise<Explained> {
  const asked = withHours(cell.request, app.timeZone);
  return inTransaction(
    pool,
    async (tx) => {
      await holdDays(tx);
      const request = await withEvents(tx, asked, cold);
      return explain(tx, { ...cell, request }, app);
    },
    "snapshot",
  );
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
  const { appId, fromDay, untilDay, reading, filter, hours, cold } = cell.request;
  const wanted = measures.filter((one): one is UserMeasure => !isCost(one));
  if (wanted.length === 0) return NOTHING;
  const fine = fineOf(cell.request);
  const range = { appId, fromDay, untilDay, where: versionsOf(filter), fine, hours, measures: wanted, cold };
  const rows = COHORTS_OF[reading.caliber].map((cohort) => sql`(${userRows(cohort, range)})`);
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
): Promise<Listed<BehindOrder>> {
  const { appId, fromDay, untilDay, filter, hours } = cell.request;
  const dimensions = { fine: fineOf(cell.request), hours };
  const range = rangeOfOrders(measures, cell.request.reading.caliber);
  if (!range) return NOTHING;
  const calendar = calendarOf(app.timeZone);
  type Row = Pick<BehindOrder, "kind" | "cents"> & {
    traceId: string;
    clientId: string;
    atMs: number;
    shareBp: number | null;
  };
  const found = await list(executor, {
    rows: sql`select r.trace_id, r.client_id, r.kind, r.at_ms, r.cents, r.share_bp from (
        select o.trace_id, o.client_id, o.kind, o.at_ms, o.cents, s.share_bp, ${range.day} as day, ${userDimensions(dimensions, range.atMs)}
        from (${payments(appId, measures)}) o join user_account u on u.app_id = ${appId} and u.client_id = o.client_id
        left join lateral ${firstRule(sql`o`)} s on true
        where o.app_id = ${appId} and ${range.day} >= ${fromDay}::date and ${range.day} < ${untilDay}::date and ${range.window} and ${versionsOf(filter)}
      ) r ${derivedFrom(appId, cell.request.dimensions)} where ${matches(cell)}`,
    order: sql`at_ms, trace_id, kind, cents`,
    added: ["cents"],
    limit: cell.limit,
    shown: (row: Row) => row,
  });
  const traceIds = [...new Set(found.list.map(({ traceId }) => traceId))];
  const refunds = await sumRefunds(executor, appId, traceIds);
  const told = await loadToldCents(executor, appId, traceIds);
  const shown = found.list.map(({ traceId, clientId, kind, atMs, cents, shareBp }) => ({
    trace_id: traceId,
    client_id: clientId,
    kind,
    time: calendar.textOf(atMs),
    cents,
    share: (shareBp ?? app.payShareBp) / FULL_SHARE_BP,
    refunded_cents: refunds.get(traceId)?.cents ?? 0,
    back_cents: told.get(traceId) ?? 0,
  }));
  return { ...found, list: shown };
}

/** The orders and refunds that the measures are made of. Refunds lower payments, by the rule of their order. */
function payments(appId: number, measures: readonly Measure[]): Sql {
  const { day, atMs } = refundPlace(appId);
  const refunds = (cents: Sql) =>
    sql`select r.app_id, r.client_id, r.trace_id, 'refund' as kind, ${day} as day, ${atMs} as at_ms, ${cents} as cents, ${orderKind}
      from refund r join orders o on o.app_id = r.app_id and o.client_id = r.client_id and o.trace_id = r.trace_id
      where r.app_id = ${appId} and r.cents > 0`;
  const orders = sql`select o.app_id, o.client_id, o.trace_id, 'order' as kind, o.day, o.at_ms, o.cents, ${orderKind}
    from orders o where o.app_id = ${appId}`;
  const parts = [measures.some((name) => name.startsWith("refund_")) ? refunds(sql`r.cents`) : orders];
  if (measures.some((name) => /^pay_(?:cents|[ds]\d+)$/.test(name))) parts.push(refunds(sql`- r.cents`));
  return joined(parts, sql` union all `);
}

const DAY_MS_SQL = sql`86400000::bigint`;

/** The day and the instant at which an order counts, and which orders do. */
type OrderRange = { day: Sql; atMs: Sql; window: Sql };

/** The orders and refunds that a metric is made of: all of them, on the day they are reported on, or those within a window. */
function rangeOfOrders(measures: readonly Measure[], caliber: Caliber): OrderRange | undefined {
  const isFirst = caliber === "user_activated_time";
  const [, model, days] = measures.map((name) => /^pay_([ds])(\d+)$/.exec(name)).find((match) => match !== null) ?? [];
  if (model !== undefined) {
    const cohortDay = isFirst ? sql`u.cohort_day` : sql`u.registered_day`;
    const baseMs = isFirst ? TOUCHED_AT : sql`u.registered_at_ms`;
    const end =
      model === "d"
        ? sql`o.day < ${cohortDay} + ${Number(days)}::int`
        : sql`o.at_ms < ${baseMs} + ${Number(days)}::int * ${DAY_MS_SQL}`;
    return { day: cohortDay, atMs: baseMs, window: sql`o.at_ms >= ${baseMs} and ${end}` };
  }
  if (!measures.some((name) => ORDER_MEASURES.includes(name))) return undefined;
  return isFirst
    ? { day: sql`u.cohort_day`, atMs: TOUCHED_AT, window: sql`true` }
    : { day: sql`o.day`, atMs: sql`o.at_ms`, window: sql`true` };
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
  const { appId, dimensions, hours } = cell.request;
  const grain = hours ? "hour" : "creative";
  return list(executor, {
    rows: sql`select r.*, r.turbo_promoted_object_id as campaign_id from (${costRows(cell.request, grain)}) r ${derivedFrom(appId, dimensions)} where ${matches(cell)}`,
    order: sql`day, ad_platform, advertiser_id, gid, aid, ${identifier(grain)}, csite, channel, os_platform, turbo_promoted_object_id`,
    added: wanted,
    limit: cell.limit,
    shown: shownCost,
  });
}

/** The columns of `costRows` that are not its sums. */
type CostOfAd = Omit<Cost, "appId" | "cid" | "impressions" | "clicks" | "costE4"> & {
  creative?: string;
  hour?: string;
};

const costSums = sumReader(COST_MEASURES);

function shownCost(row: CostOfAd): Record<string, string | number> {
  return {
    day: row.day,
    ad_platform: row.adPlatform,
    advertiser_id: row.advertiserId,
    gid: row.gid,
    aid: row.aid,
    ...(row.creative !== undefined && { creative: row.creative }),
    ...(row.hour !== undefined && { hour: row.hour }),
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
