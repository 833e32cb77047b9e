import { type Executor, query, sql } from "../../db/engine/sql.ts";
import { type RefundSum, sumRefunds } from "../../db/refund.ts";
import type { UserAccount } from "../../db/user-account.ts";
import { type Calendar, calendarOf } from "../../domain/calendar.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Entry, Page } from "./timeline-source.ts";

/** A user's orders. Like postbacks they are few compared with events: they are found by the client's key and sorted. */
export async function readOrders(executor: Executor, user: UserAccount, page: Page): Promise<Entry[]> {
  const { bound, limit } = page;
  const calendar = calendarOf(page.timeZone);
  const rows = await query<{
    traceId: string;
    atMs: number;
    cents: number;
    payCount: number;
    isVirtual: number;
    postbackStatus: number;
    backCents: number;
    properties: JsonObject;
  }>(
    executor,
    sql`select trace_id, at_ms, cents, pay_count, is_virtual, postback_status, back_cents, properties
      from orders
      where app_id = ${user.appId} and client_id = ${user.clientId}
        and (at_ms, trace_id) < (${bound.atMs}::bigint, ${bound.key?.[0] ?? ""})
      order by at_ms desc, trace_id desc limit ${limit}`,
  );
  const refunds = await refundsOf(executor, user, rows);
  return rows.map((row) => ({
    key: [row.traceId],
    item: {
      kind: "order",
      at: calendar.textOf(row.atMs),
      at_ms: row.atMs,
      trace_id: row.traceId,
      cents: row.cents,
      pay_count: row.payCount,
      is_virtual: row.isVirtual,
      postback_status: row.postbackStatus,
      back_cents: row.backCents,
      ...refundFields(refunds.get(row.traceId), calendar),
      net_cents: row.cents - (refunds.get(row.traceId)?.cents ?? 0),
      properties: row.properties,
    },
  }));
}

/** A user's postbacks, each at the instant at which it was created. */
export async function readPostbacks(executor: Executor, user: UserAccount, page: Page): Promise<Entry[]> {
  const { bound, limit } = page;
  const calendar = calendarOf(page.timeZone);
  const rows = await query<{
    eventType: string;
    subject: string;
    adPlatform: string;
    moment: string;
    traceId: string;
    status: number;
    reason: string;
    attempts: number;
    resent: number;
    valueCents: number | null;
    backCents: number;
    createdAtMs: number;
    changedAtMs: number;
  }>(
    executor,
    sql`select event_type, subject, ad_platform, moment, trace_id, status, reason, attempts, resent, value_cents,
        back_cents, created_at_ms, changed_at_ms
      from postback
      where app_id = ${user.appId} and client_id = ${user.clientId}
        and (created_at_ms, event_type collate "C", subject) < (${bound.atMs}::bigint, ${bound.key?.[0] ?? ""}, ${bound.key?.[1] ?? ""})
      order by created_at_ms desc, event_type collate "C" desc, subject desc limit ${limit}`,
  );
  const refunds = await refundsOf(executor, user, rows);
  return rows.map((row) => ({
    key: [row.eventType, row.subject],
    item: {
      kind: "postback",
      at: calendar.textOf(row.createdAtMs),
      at_ms: row.createdAtMs,
      event_type: row.eventType,
      subject: row.subject,
      ad_platform: row.adPlatform,
      moment: row.moment,
      trace_id: row.traceId,
      status: row.status,
      reason: row.reason,
      attempts: row.attempts,
      resent: row.resent,
      value_cents: row.valueCents,
      back_cents: row.backCents,
      ...refundFields(refunds.get(row.traceId), calendar),
      changed_at: calendar.textOf(row.changedAtMs),
    },
  }));
}

/** The refunds of a user's orders, whoever reported them. One whose order is unknown belongs to nobody yet. */
export async function readRefunds(executor: Executor, user: UserAccount, page: Page): Promise<Entry[]> {
  const { bound, limit } = page;
  const calendar = calendarOf(page.timeZone);
  const rows = await query<{
    refundId: string;
    traceId: string;
    atMs: number;
    receivedAtMs: number;
    cents: number;
    orderCents: number;
    netCents: number;
  }>(
    executor,
    sql`select counted.* from (
        select r.refund_id, r.trace_id, r.at_ms, r.received_at_ms, r.cents, o.cents as order_cents,
          o.cents - sum(r.cents) over (partition by r.trace_id order by r.at_ms, r.refund_id)::bigint as net_cents
        from refund r join orders o on o.app_id = r.app_id and o.client_id = r.client_id and o.trace_id = r.trace_id
        where r.app_id = ${user.appId} and r.client_id = ${user.clientId} and r.order_day is not null) counted
      where (at_ms, refund_id) < (${bound.atMs}::bigint, ${bound.key?.[0] ?? ""})
      order by at_ms desc, refund_id desc limit ${limit}`,
  );
  return rows.map((row) => ({
    key: [row.refundId],
    item: {
      kind: "refund",
      at: calendar.textOf(row.atMs),
      at_ms: row.atMs,
      refund_id: row.refundId,
      trace_id: row.traceId,
      cents: row.cents,
      order_cents: row.orderCents,
      net_cents: row.netCents,
      received_at: calendar.textOf(row.receivedAtMs),
    },
  }));
}

/** What was paid back of the orders of these rows. */
function refundsOf(
  executor: Executor,
  { appId }: UserAccount,
  rows: readonly { traceId: string }[],
): Promise<ReadonlyMap<string, RefundSum>> {
  const orders = rows.flatMap(({ traceId }) => (traceId === "" ? [] : [traceId]));
  return sumRefunds(executor, appId, orders);
}

function refundFields(refund: RefundSum | undefined, calendar: Calendar) {
  return { refunded_cents: refund?.cents ?? 0, refunded_at: refund ? calendar.textOf(refund.atMs) : "" };
}
