import type { App } from "../db/app.ts";
import { loadOrders } from "../db/orders.ts";
import { allOf, type Executor, query, type Sql, sql } from "../db/sql.ts";
import { loadUsers } from "../db/user-account.ts";
import { ORGANIC } from "../domain/attribution.ts";
import { orderConditions, userConditions } from "./list-filter.ts";
import { type ListBody, type OrderFilterBody, type PageInfo, pageInfo, readPage } from "./list-request.ts";
import { type OrderListRecord, orderListRecord } from "./order-record.ts";
import { propertyConditions } from "./property-condition.ts";
import { type ListQuery, orderOf } from "./user-list.ts";

export type OrderListBody = ListBody<OrderFilterBody>;
export type OrderTotal = Record<"user$pay_max_amount" | "user$pay_amount_sum" | "Amount" | "BackAmount", number>;
export type OrderList = { page_info: PageInfo; list: OrderListRecord[]; total: [OrderTotal] };

const SORTS: Readonly<Record<string, Sql>> = {
  CreateTime: sql`u.registered_at_ms`,
  ClientID: sql`o.client_id`,
  AdPlatform: sql`(case u.ad_platform when '' then ${ORGANIC} else u.ad_platform end) collate "C"`,
  Channel: sql`u.channel collate "C"`,
  Version: sql`u.version`,
  TurboPromotedObjectID: sql`u.turbo_promoted_object_id collate "C"`,
  WXOpenID: sql`u.wx_openid collate "C"`,
  AdvertiserID: sql`u.advertiser_id collate "C"`,
  AdAid: sql`u.aid collate "C"`,
  PayEventTime: sql`o.at_ms`,
  ModifyTime: sql`coalesce(o.modified_at_ms, 0)`,
  Amount: sql`o.cents`,
  PayCount: sql`o.pay_count`,
  BackAmount: sql`o.back_cents`,
  PassStatus: sql`o.pass_status`,
  PostbackCnt: sql`o.postback_count`,
};

const source = sql`orders o join user_account u on u.app_id = o.app_id and u.client_id = o.client_id`;

export function readOrderList(body: OrderListBody, app: App): ListQuery {
  // As received: what arrives later is on the last pages, and those before stay as they are.
  const order = orderOf(body.order_by_list ?? [], SORTS, [sql`o.received_at_ms`, sql`o.trace_id`]);
  return { page: readPage(body), order, where: orderListCondition(body, app) };
}

export async function runOrderList(executor: Executor, asked: ListQuery, app: App): Promise<OrderList> {
  const { where, order, page } = asked;
  const { orders, total } = await sumOrderList(executor, where);
  const keys = await query<{ clientId: string; traceId: string }>(
    executor,
    sql`select o.client_id as "clientId", o.trace_id as "traceId" from ${source} where ${where}
      order by ${order} limit ${page.pageSize} offset ${(page.page - 1) * page.pageSize}`,
  );
  const list = await orderRecords(executor, keys, app);
  return { page_info: pageInfo(page, orders), list, total: [total] };
}

/** Which orders are in the list, as a condition on o and on its user u. */
export function orderListCondition(
  body: Pick<OrderListBody, "user_filtering" | "event_filtering" | "property_condition">,
  app: App,
): Sql {
  return allOf([
    // Whoever has an order has paid: said so that the index of the payers can be used.
    sql`o.app_id = ${app.appId} and u.pay_count > 0`,
    ...userConditions(body.user_filtering),
    ...orderConditions(body.event_filtering, app),
    ...propertyConditions(body.property_condition ?? [], app, "order"),
  ]);
}

/** Orders by their keys, as records, in the order of the keys. */
export async function orderRecords(
  executor: Executor,
  keys: readonly { clientId: string; traceId: string }[],
  app: App,
): Promise<OrderListRecord[]> {
  const orders = await loadOrders(executor, app.appId, keys);
  const clients = [...new Set(keys.map(({ clientId }) => clientId))];
  const users = await loadUsers(
    executor,
    clients.map((clientId) => ({ appId: app.appId, clientId })),
  );
  const orderById = new Map(orders.map((order) => [order.traceId, order]));
  const userById = new Map(users.map((user) => [user.clientId, user]));
  return keys.flatMap(({ clientId, traceId }) => {
    const [order, user] = [orderById.get(traceId), userById.get(clientId)];
    return order && user ? [orderListRecord(order, user, app)] : [];
  });
}

/** Amounts over the orders; what a user has paid in all counts once, however many of the orders are his. */
async function sumOrderList(executor: Executor, where: Sql): Promise<{ orders: number; total: OrderTotal }> {
  type Row = { orders: number; cents: number; backCents: number; payCents: number; payMaxCents: number };
  const [row] = await query<Row>(
    executor,
    sql`select coalesce(sum(orders), 0)::bigint as orders, coalesce(sum(cents), 0)::bigint as cents,
        coalesce(sum(back_cents), 0)::bigint as "backCents", coalesce(sum(pay_cents), 0)::bigint as "payCents",
        coalesce(max(pay_max_cents), 0) as "payMaxCents"
      from (
        select count(*) as orders, sum(o.cents) as cents, sum(o.back_cents) as back_cents,
          max(u.pay_cents) as pay_cents, max(u.pay_max_cents) as pay_max_cents
        from ${source} where ${where} group by u.client_id) payer`,
  );
  const { orders, cents, backCents, payCents, payMaxCents } = row!;
  return {
    orders,
    total: { user$pay_max_amount: payMaxCents, user$pay_amount_sum: payCents, Amount: cents, BackAmount: backCents },
  };
}
