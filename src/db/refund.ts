import type { Slice } from "../domain/cube.ts";
import type { Asked, RefundedOrder } from "../domain/refund.ts";
import { firstOfEach, newRows, rowsOf } from "./engine/rows.ts";
import { allOf, type Executor, execute, oneOf, query, type Sql, sql } from "./engine/sql.ts";
import type { OrderKey } from "./orders.ts";

/** A refund as it was reported. */
export type Refund = OrderKey & {
  refundId: string;
  /** Who reported it. */
  clientId: string;
  day: string;
  atMs: number;
  receivedAtMs: number;
  asked: Asked;
};

/** Stores refunds that are not known yet, and returns their orders. */
export async function insertRefunds(tx: Executor, refunds: readonly Refund[]): Promise<OrderKey[]> {
  if (refunds.length === 0) return [];
  const fresh = newRows(tx, "new", refunds, {
    appId: "int",
    refundId: "text",
    traceId: "text",
    clientId: "text",
    day: "date",
    atMs: "bigint",
    receivedAtMs: "bigint",
    askedAmount: ["bigint", ({ asked }) => asked.amount],
    askedCurrency: ["text", ({ asked }) => asked.currency],
    askedCents: ["bigint", ({ asked }) => asked.cents],
  });
  return query<OrderKey>(
    tx,
    sql`insert into refund (app_id, refund_id, trace_id, client_id, day, at_ms, received_at_ms, asked_amount,
        asked_currency, asked_cents, cents)
      select new.*, 0 from ${fresh} on conflict (app_id, refund_id) do nothing returning app_id, trace_id`,
  );
}

/** Those of the ids that are ids of stored refunds. */
export async function findRefundIds(
  executor: Executor,
  appId: number,
  refundIds: readonly string[],
): Promise<string[]> {
  if (refundIds.length === 0) return [];
  const rows = await query<{ refundId: string }>(
    executor,
    sql`select refund_id from refund where app_id = ${appId} and refund_id = any(${refundIds}::text[])`,
  );
  return rows.map(({ refundId }) => refundId);
}

/** Those of the orders that have refunds. */
export async function findRefundedOrders(tx: Executor, orders: readonly OrderKey[]): Promise<OrderKey[]> {
  if (orders.length === 0) return [];
  const wanted = rowsOf("wanted", orders, { appId: "int", traceId: "text" });
  return query<OrderKey>(
    tx,
    sql`select distinct r.app_id, r.trace_id from ${wanted}
      join refund r on r.app_id = wanted.app_id and r.trace_id = wanted.trace_id collate "C"`,
  );
}

/** A refund beside its order. */
export type OrderRefund = OrderKey & {
  refundId: string;
  asked: Asked;
  order: RefundedOrder & { clientId: string; day: string; atMs: number };
};

/** The refunds of these orders, by order and time. Refunds whose order is unknown are not among them. */
export async function loadOrderRefunds(tx: Executor, orders: readonly OrderKey[]): Promise<OrderRefund[]> {
  if (orders.length === 0) return [];
  const each = firstOfEach(orders, ["appId", "traceId"]);
  const wanted = rowsOf("wanted", each, { appId: "int", traceId: "text" });
  type Row = OrderKey & {
    refundId: string;
    askedAmount: number | null;
    askedCurrency: string;
    askedCents: number | null;
    clientId: string;
    day: string;
    atMs: number;
    cents: number;
    sentAmount: number;
    currency: string;
  };
  const rows = await query<Row>(
    tx,
    sql`select r.app_id, r.trace_id, r.refund_id, r.asked_amount, r.asked_currency, r.asked_cents,
        o.client_id, o.day, o.at_ms, o.cents, o.sent_amount, o.currency
      from ${wanted}
      join refund r on r.app_id = wanted.app_id and r.trace_id = wanted.trace_id collate "C"
      join order_key k on k.app_id = r.app_id and k.trace_id = r.trace_id
      join orders o on o.app_id = k.app_id and o.client_id = k.client_id and o.trace_id = k.trace_id
      order by r.app_id, r.trace_id, r.at_ms, r.refund_id`,
  );
  return rows.map(({ appId, traceId, refundId, askedAmount, askedCurrency, askedCents, ...order }) => {
    const asked = { amount: askedAmount, currency: askedCurrency, cents: askedCents };
    return { appId, traceId, refundId, asked, order };
  });
}

export type CountedRefund = {
  appId: number;
  refundId: string;
  clientId: string;
  orderDay: string;
  orderAtMs: number;
  cents: number;
};

/** Notes what counts of refunds, and for whom. */
export async function storeCounted(tx: Executor, counted: readonly CountedRefund[]): Promise<void> {
  if (counted.length === 0) return;
  const fresh = rowsOf("counted", counted, {
    appId: "int",
    refundId: "text",
    clientId: "text",
    orderDay: "date",
    orderAtMs: "bigint",
    cents: "bigint",
  });
  await execute(
    tx,
    sql`update refund set client_id = counted.client_id, order_day = counted.order_day,
        order_at_ms = counted.order_at_ms, cents = counted.cents
      from ${fresh} where refund.app_id = counted.app_id and refund.refund_id = counted.refund_id collate "C"`,
  );
}

/** What counts of an order's refunds, and when the last of them was. */
export type RefundSum = { cents: number; atMs: number };

/** By trace id. Orders of which nothing was paid back are not among them. */
export async function sumRefunds(
  executor: Executor,
  appId: number,
  traceIds: readonly string[],
): Promise<ReadonlyMap<string, RefundSum>> {
  if (traceIds.length === 0) return new Map();
  const rows = await query<RefundSum & { traceId: string }>(
    executor,
    sql`select trace_id, sum(cents)::bigint as cents, max(at_ms) as at_ms from refund
      where app_id = ${appId} and trace_id = any(${traceIds}::text[]) and cents > 0 group by trace_id`,
  );
  return new Map(rows.map(({ traceId, cents, atMs }) => [traceId, { cents, atMs }]));
}

/** The slices that count the refunds of an app. */
export function loadRefundSlices(tx: Executor, appId: number): Promise<Slice[]> {
  return slicesOf(tx, sql`r.app_id = ${appId}`);
}

/** The slices that count the refunds of these orders. */
export function loadSlicesOfRefunded(tx: Executor, orders: readonly OrderKey[]): Promise<Slice[]> {
  const wanted = rowsOf("wanted", orders, { appId: "int", traceId: "text" });
  const isWanted = sql`exists (select 1 from ${wanted} where wanted.app_id = r.app_id and wanted.trace_id = r.trace_id collate "C")`;
  const appIds = [...new Set(orders.map(({ appId }) => appId))];
  return slicesOf(tx, sql`${oneOf(sql`r.app_id`, appIds)} and ${isWanted}`);
}

/** Both days of each refund, whichever of them the app has chosen. */
async function slicesOf(tx: Executor, where: Sql): Promise<Slice[]> {
  return query<Slice>(
    tx,
    sql`with known as (select u.app_id, u.cohort_day, u.registered_day, r.day, r.order_day from refund r
        join user_account u on u.app_id = r.app_id and u.client_id = r.client_id
        where ${allOf([sql`r.order_day is not null`, where])})
      select app_id, 'touch' as cohort, cohort_day as day from known
      union select app_id, 'registered', registered_day from known
      union select app_id, 'occurred', day from known
      union select app_id, 'occurred', order_day from known`,
  );
}

/** The refund r counts on the day and at the instant of its order or on its own, as the app has chosen. */
export function refundPlace(appId: number): { day: Sql; atMs: Sql } {
  const isOrder = sql`(select refunds_on = 'order' from app where app_id = ${appId})`;
  return {
    day: sql`case when ${isOrder} then r.order_day else r.day end`,
    atMs: sql`case when ${isOrder} then r.order_at_ms else r.at_ms end`,
  };
}
