import { type Executor, query, sql } from "../../db/engine/sql.ts";
import type { UserAccount } from "../../db/user-account.ts";
import { calendarOf } from "../../domain/calendar.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Entry, Page } from "./timeline-source.ts";

/** A user's orders. Like postbacks they are few compared with events: they are found by the client's key and sorted. */
export async function readOrders(executor: Executor, user: UserAccount, page: Page): Promise<Entry[]> {
  const { bound, limit, timeZone } = page;
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
  return rows.map((row) => ({
    key: [row.traceId],
    item: {
      kind: "order",
      at: calendarOf(timeZone).textOf(row.atMs),
      at_ms: row.atMs,
      trace_id: row.traceId,
      cents: row.cents,
      pay_count: row.payCount,
      is_virtual: row.isVirtual,
      postback_status: row.postbackStatus,
      back_cents: row.backCents,
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
      changed_at: calendar.textOf(row.changedAtMs),
    },
  }));
}
