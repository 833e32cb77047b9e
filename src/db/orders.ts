import type { JsonObject } from "../domain/json.ts";
import type { PassStatus, PostbackStatus } from "../domain/postback/postback.ts";
import type { UserKey } from "../domain/user/user-key.ts";
import { newRows, rowsOf } from "./engine/rows.ts";
import { type Executor, execute, query, sql } from "./engine/sql.ts";
import type { UserGroup } from "./user-total.ts";

export type Order = {
  appId: number;
  clientId: string;
  traceId: string;
  day: string;
  atMs: number;
  receivedAtMs: number;
  cents: number;
  currency: string;
  sentAmount: number;
  hasRate: boolean;
  payCount: number;
  isVirtual: number;
  /** JSON text. */
  properties: string;
  /** The status of the order's postback, and whether the conditions of a rule were met. */
  postbackStatus: PostbackStatus;
  passStatus: PassStatus;
  /** The user's day of registration and platform, because lists are filtered by them. */
  registeredDay: string;
  adPlatform: string;
};

export type OrderKey = Pick<Order, "appId" | "traceId">;

export async function findOrderKeys(executor: Executor, keys: readonly OrderKey[]): Promise<OrderKey[]> {
  if (keys.length === 0) return [];
  const wanted = rowsOf("wanted", keys, { appId: "int", traceId: "text" });
  return query<OrderKey>(
    executor,
    sql`select k.app_id, k.trace_id from ${wanted}
      join order_key k on k.app_id = wanted.app_id and k.trace_id = wanted.trace_id collate "C"`,
  );
}

export async function insertOrders(executor: Executor, orders: readonly Order[]): Promise<void> {
  if (orders.length === 0) return;
  const keys = newRows(executor, "new", orders, { appId: "int", traceId: "text", clientId: "text" });
  await execute(executor, sql`insert into order_key (app_id, trace_id, client_id) select * from ${keys}`);
  const fresh = newRows(executor, "new", orders, {
    appId: "int",
    clientId: "text",
    traceId: "text",
    day: "date",
    atMs: "bigint",
    receivedAtMs: "bigint",
    cents: "bigint",
    currency: "text",
    sentAmount: "bigint",
    hasRate: "boolean",
    payCount: "int",
    isVirtual: "int",
    properties: "jsonb",
    postbackStatus: "int",
    passStatus: "int",
    registeredDay: "date",
    adPlatform: "text",
  });
  await execute(
    executor,
    sql`insert into orders (app_id, client_id, trace_id, day, at_ms, received_at_ms, cents, currency, sent_amount,
        has_rate, pay_count, is_virtual, properties, postback_status, pass_status, registered_day, ad_platform)
      select * from ${fresh}`,
  );
}

/** What the totals count of an order. */
export type OrderFigures = { receivedAtMs: number; backCents: number };

/** Moves the orders of users into the users' groups, and returns those that moved. */
export async function regroupOrders(
  tx: Executor,
  users: readonly (UserKey & UserGroup)[],
): Promise<(UserKey & OrderFigures)[]> {
  if (users.length === 0) return [];
  const moved = rowsOf("moved", users, { appId: "int", clientId: "text", registeredDay: "date", adPlatform: "text" });
  return query<UserKey & OrderFigures>(
    tx,
    sql`update orders o set registered_day = moved.registered_day, ad_platform = moved.ad_platform from ${moved}
      where o.app_id = moved.app_id and o.client_id = moved.client_id collate "C"
        and (o.registered_day <> moved.registered_day or o.ad_platform <> moved.ad_platform)
      returning o.app_id, o.client_id, o.received_at_ms, o.back_cents`,
  );
}

export async function sumOrders(
  executor: Executor,
  user: { appId: number; clientId: string },
): Promise<{ count: number; cents: number }> {
  const [row] = await query<{ count: number; cents: number }>(
    executor,
    sql`select count(*) as count, coalesce(sum(cents), 0)::bigint as cents from orders
      where app_id = ${user.appId} and client_id = ${user.clientId}`,
  );
  return row!;
}

/** Orders that count as 0 because the app had no rate for their currency, summed by currency. Amounts are as sent. */
export async function sumOrdersWithoutRate(
  executor: Executor,
  appId?: number,
): Promise<{ appId: number; currency: string; orders: number; amount: number }[]> {
  return query(
    executor,
    sql`select app_id, currency, count(*) as orders, least(sum(sent_amount), ${Number.MAX_SAFE_INTEGER})::bigint as amount from orders
      where not has_rate and ${appId === undefined ? sql`true` : sql`app_id = ${appId}`}
      group by app_id, currency order by app_id, currency`,
  );
}

export async function loadPayments(
  executor: Executor,
  users: readonly { appId: number; clientId: string }[],
): Promise<{ appId: number; clientId: string; atMs: number; cents: number }[]> {
  const wanted = rowsOf("wanted", users, { appId: "int", clientId: "text" });
  return query(
    executor,
    sql`select o.app_id, o.client_id, o.at_ms, o.cents from ${wanted}
      join orders o on o.app_id = wanted.app_id and o.client_id = wanted.client_id collate "C"`,
  );
}

/** An order as the order list shows it. */
export type ListedOrder = {
  clientId: string;
  traceId: string;
  atMs: number;
  modifiedAtMs: number | null;
  cents: number;
  payCount: number;
  isVirtual: number;
  postbackStatus: PostbackStatus;
  backCents: number;
  passStatus: PassStatus;
  postbackCount: number;
  properties: JsonObject;
};

export async function loadOrders(
  executor: Executor,
  appId: number,
  keys: readonly { clientId: string; traceId: string }[],
): Promise<ListedOrder[]> {
  if (keys.length === 0) return [];
  const wanted = rowsOf("wanted", keys, { clientId: "text", traceId: "text" });
  return query<ListedOrder>(
    executor,
    sql`select o.client_id, o.trace_id, o.at_ms, o.modified_at_ms, o.cents, o.pay_count, o.is_virtual,
        o.postback_status, o.back_cents, o.pass_status, o.postback_count, o.properties
      from ${wanted}
      join orders o on o.app_id = ${appId} and o.client_id = wanted.client_id collate "C" and o.trace_id = wanted.trace_id collate "C"`,
  );
}

/** What platforms were told of orders, by trace id. */
export async function loadToldCents(
  executor: Executor,
  appId: number,
  traceIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (traceIds.length === 0) return new Map();
  const rows = await query<{ traceId: string; backCents: number }>(
    executor,
    sql`select o.trace_id, o.back_cents from order_key k
      join orders o on o.app_id = k.app_id and o.client_id = k.client_id and o.trace_id = k.trace_id
      where k.app_id = ${appId} and k.trace_id = any(${traceIds}::text[])`,
  );
  return new Map(rows.map(({ traceId, backCents }) => [traceId, backCents]));
}
