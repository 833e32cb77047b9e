import type { PostbackStatus } from "../domain/postback.ts";
import { type Executor, execute, query, sql } from "./sql.ts";
import type { UserKey } from "./user-account.ts";

/** A postback is one per user, event type and what it is about: an order, a day, or the user as such. */
export type PostbackKey = UserKey & { eventType: string; subject: string };

export type NewPostback = PostbackKey & {
  /** The empty text: a callback to the app's own systems. */
  adPlatform: string;
  ruleId: number;
  moment: string;
  traceId: string;
  atMs: number;
  valueCents: number | null;
  status: PostbackStatus;
  isPassed: boolean;
  reason: string;
  createdAtMs: number;
};

/**
 * Stores what is new; returns those that were stored. One that was skipped can still come to be told, when more is known
 * of the user or when the same happens again. What was sent, given up, or waits, stays.
 */
export async function storePostbacks(tx: Executor, rows: readonly NewPostback[]): Promise<PostbackKey[]> {
  if (rows.length === 0) return [];
  const list = <K extends keyof NewPostback>(key: K) => rows.map((row) => row[key]);
  return query<PostbackKey>(
    tx,
    sql`insert into postback (app_id, client_id, event_type, subject, ad_platform, rule_id, moment, trace_id, at_ms, value_cents,
        status, is_passed, reason, created_at_ms, changed_at_ms, back_cents)
      select *, created_at_ms, 0 from unnest(${list("appId")}::int[], ${list("clientId")}::text[], ${list("eventType")}::text[],
        ${list("subject")}::text[], ${list("adPlatform")}::text[], ${list("ruleId")}::int[], ${list("moment")}::text[],
        ${list("traceId")}::text[], ${list("atMs")}::bigint[], ${list("valueCents")}::bigint[], ${list("status")}::int[],
        ${list("isPassed")}::boolean[], ${list("reason")}::text[], ${list("createdAtMs")}::bigint[])
        as new (app_id, client_id, event_type, subject, ad_platform, rule_id, moment, trace_id, at_ms, value_cents, status, is_passed,
          reason, created_at_ms)
      on conflict (app_id, client_id, event_type, subject) do update set ad_platform = excluded.ad_platform,
        rule_id = excluded.rule_id, moment = excluded.moment, at_ms = excluded.at_ms, value_cents = excluded.value_cents,
        status = excluded.status, is_passed = excluded.is_passed, reason = excluded.reason, changed_at_ms = excluded.created_at_ms
      where postback.status = 3 and postback.trace_id = excluded.trace_id and postback.attempts = 0
        and (excluded.status = 0 or excluded.reason <> postback.reason)
      returning app_id as "appId", client_id as "clientId", event_type as "eventType", subject`,
  );
}

/** Takes back postbacks that nobody has tried to send, so that they can be judged anew. */
export async function withdrawPostbacks(tx: Executor, users: readonly UserKey[]): Promise<void> {
  if (users.length === 0) return;
  const gone = await query<PostbackKey>(
    tx,
    sql`delete from outbox using unnest(${users.map((user) => user.appId)}::int[], ${users.map((user) => user.clientId)}::text[])
        as moved (app_id, client_id)
      where outbox.app_id = moved.app_id and outbox.client_id = moved.client_id collate "C" and outbox.attempts = 0
        and left(outbox.event_type, 1) <> '$'
      returning outbox.app_id as "appId", outbox.client_id as "clientId", outbox.event_type as "eventType", outbox.subject`,
  );
  await execute(tx, sql`delete from postback using ${wanted(gone)} where ${isWanted} and postback.status = 0`);
}

function wanted(keys: readonly PostbackKey[]) {
  return sql`unnest(${keys.map((key) => key.appId)}::int[], ${keys.map((key) => key.clientId)}::text[],
    ${keys.map((key) => key.eventType)}::text[], ${keys.map((key) => key.subject)}::text[]) as wanted (app_id, client_id, event_type, subject)`;
}

const isWanted = sql`postback.app_id = wanted.app_id and postback.client_id = wanted.client_id collate "C"
  and postback.event_type = wanted.event_type and postback.subject = wanted.subject collate "C"`;

/** An order that postbacks are about. */
export type OrderOfPostback = UserKey & { traceId: string };

/**
 * Brings what orders show of their postbacks up to date. Of several, an accepted one speaks for the order, then one that
 * waits, one given up, one skipped; the money is the same under every name, so the greatest amount is what was told.
 */
export async function showPostbacksInOrders(tx: Executor, orders: readonly OrderOfPostback[]): Promise<void> {
  if (orders.length === 0) return;
  await execute(
    tx,
    sql`update orders set postback_status = shown.status, back_cents = shown.back_cents, pass_status = shown.pass_status,
        postback_count = shown.resent, modified_at_ms = greatest(orders.modified_at_ms, shown.changed_at_ms)
      from (
        select p.app_id, p.client_id, p.trace_id, case when bool_or(p.status = 1) then 1 when bool_or(p.status = 0) then 0
            when bool_or(p.status = 2) then 2 else 3 end as status, max(p.back_cents) as back_cents,
          max(p.is_passed::int) as pass_status, sum(p.resent)::int as resent,
          max(p.changed_at_ms) filter (where p.changed_at_ms > p.created_at_ms) as changed_at_ms
        from (select distinct * from unnest(${orders.map((order) => order.appId)}::int[],
            ${orders.map((order) => order.clientId)}::text[], ${orders.map((order) => order.traceId)}::text[])
          as wanted (app_id, client_id, trace_id)) wanted
        join postback p on p.app_id = wanted.app_id and p.client_id = wanted.client_id collate "C"
          and p.trace_id = wanted.trace_id collate "C"
        where p.ad_platform <> '' or p.status = 3
        group by p.app_id, p.client_id, p.trace_id) shown
      where orders.app_id = shown.app_id and orders.client_id = shown.client_id and orders.trace_id = shown.trace_id`,
  );
}

/** Deleted and inserted where the client's id is what the table may be distributed by. */
export async function renamePostbacks(
  tx: Executor,
  { appId, clientId, newClientId }: UserKey & { newClientId: string },
): Promise<void> {
  await execute(
    tx,
    sql`with moved as (delete from postback where app_id = ${appId} and client_id = ${clientId} returning *)
      insert into postback (app_id, client_id, event_type, subject, status, back_cents, accepted_day, ad_platform, rule_id, moment,
        trace_id, at_ms, value_cents, is_passed, reason, attempts, resent, created_at_ms, changed_at_ms)
      select app_id, ${newClientId}, event_type, subject, status, back_cents, accepted_day, ad_platform, rule_id, moment,
        trace_id, at_ms, value_cents, is_passed, reason, attempts, resent, created_at_ms, changed_at_ms from moved`,
  );
  await execute(
    tx,
    sql`update outbox set client_id = ${newClientId} where app_id = ${appId} and client_id = ${clientId}`,
  );
}

/** A postback that people want to be sent once more. */
export type ResentPostback = PostbackKey & { adPlatform: string; valueCents: number | null };

/**
 * Puts postbacks that were given up or skipped back to waiting; returns those. One that has come to wait or to be accepted
 * meanwhile stays as it is.
 */
export async function reopenPostbacks(
  tx: Executor,
  rows: readonly ResentPostback[],
  changedAtMs: number,
): Promise<PostbackKey[]> {
  if (rows.length === 0) return [];
  return query<PostbackKey>(
    tx,
    sql`update postback set status = 0, reason = '', resent = postback.resent + 1, ad_platform = again.ad_platform,
        value_cents = again.value_cents, changed_at_ms = ${changedAtMs}
      from unnest(${rows.map((row) => row.appId)}::int[], ${rows.map((row) => row.clientId)}::text[],
          ${rows.map((row) => row.eventType)}::text[], ${rows.map((row) => row.subject)}::text[],
          ${rows.map((row) => row.adPlatform)}::text[], ${rows.map((row) => row.valueCents)}::bigint[])
        as again (app_id, client_id, event_type, subject, ad_platform, value_cents)
      where postback.app_id = again.app_id and postback.client_id = again.client_id collate "C"
        and postback.event_type = again.event_type and postback.subject = again.subject collate "C" and postback.status in (2, 3)
      returning postback.app_id as "appId", postback.client_id as "clientId", postback.event_type as "eventType", postback.subject`,
  );
}
