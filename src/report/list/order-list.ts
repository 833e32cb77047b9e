import type { OrderList, OrderListRecord, RefundedOrderRecord } from "../../contract/report/list-record.ts";
import { withAdvertisers } from "../../db/ad-account.ts";
import type { App } from "../../db/app.ts";
import { allOf, type Executor, query, readBoth, type Sql, sql } from "../../db/engine/sql.ts";
import { loadOrders } from "../../db/orders.ts";
import { sumRefunds } from "../../db/refund.ts";
import { loadUsers } from "../../db/user-account.ts";
import { amongClients, groupConditions, orderConditions, otherConditions } from "./list-filter.ts";
import {
  type ListBody,
  type OrderFilterBody,
  type Page,
  type PropertyCondition,
  pageInfo,
  readPage,
  windowOf,
} from "./list-request.ts";
import { readSorts } from "./list-sort.ts";
import { loadOrderTotals, sumOf } from "./list-total.ts";
import { ORDER_SORTS, type OrderKey, readOrderPage, type SortedOrders, sourceOf, whereOf } from "./order-pages.ts";
import { orderListRecord, refundedRecord } from "./order-record.ts";
import { propertyConditions } from "./property-condition.ts";
import { SHOWN_PROPERTIES } from "./user-record.ts";

export type OrderListBody = ListBody<OrderFilterBody>;
type OrderTotal = OrderList["total"][number];

/** A list that can be run: its orders in their order, and the page. */
export type OrderQuery = SortedOrders & { page: Page };

/** `clients`: only orders of these, who are many. */
export function readOrderList(body: OrderListBody, app: App, clients?: readonly string[]): OrderQuery {
  const sorts = readSorts(body.order_by_list ?? [], ORDER_SORTS);
  return { ...conditionsOf(body, app, clients), app, sorts, page: readPage(body) };
}

export async function runOrderList(executor: Executor, asked: OrderQuery): Promise<OrderList> {
  const { app, page } = asked;
  const [{ orders, total }, keys] = await readBoth(
    executor,
    () => sumOrderList(executor, asked),
    () => readOrderPage(executor, asked, windowOf(page)),
  );
  const list = await orderRecords(executor, keys, app);
  return { page_info: pageInfo(page, orders), list, total: [total] };
}

type OrderFilters = Pick<OrderListBody, "user_filtering" | "event_filtering" | "property_condition">;

function conditionsOf(
  body: OrderFilters,
  app: App,
  clients: readonly string[] | undefined,
): Pick<OrderQuery, "groups" | "users" | "orders"> {
  const properties = body.property_condition ?? [];
  const isUser = ({ field }: PropertyCondition) => field.startsWith("user$");
  const ofUsers = properties.filter(isUser);
  const ofOrders = properties.filter((condition) => !isUser(condition));
  return {
    groups: { appId: app.appId, filter: body.user_filtering },
    users: [
      ...otherConditions(body.user_filtering),
      ...propertyConditions(ofUsers, app, "order"),
      ...amongClients(clients),
    ],
    orders: [...orderConditions(body.event_filtering, app), ...propertyConditions(ofOrders, app, "order")],
  };
}

/** The condition on the order o and its user u that selects the orders of the list. */
export function orderListCondition(body: OrderFilters, app: App, clients?: readonly string[]): Sql {
  const { users, orders } = conditionsOf(body, app, clients);
  return allOf([sql`o.app_id = ${app.appId}`, ...orders, ...groupConditions(body.user_filtering, sql`u`), ...users]);
}

/** Records of the orders with these keys, in the order of the keys. */
export async function orderRecords(
  executor: Executor,
  keys: readonly OrderKey[],
  app: App,
): Promise<OrderListRecord[]> {
  const orders = await loadOrders(executor, app.appId, keys);
  const clients = [...new Set(keys.map(({ clientId }) => clientId))];
  const wanted = clients.map((clientId) => ({ appId: app.appId, clientId }));
  const users = await withAdvertisers(executor, await loadUsers(executor, wanted, SHOWN_PROPERTIES));
  const orderById = new Map(orders.map((order) => [order.traceId, order]));
  const userById = new Map(users.map((user) => [user.clientId, user]));
  return keys.flatMap(({ clientId, traceId }) => {
    const [order, user] = [orderById.get(traceId), userById.get(clientId)];
    return order && user ? [orderListRecord(order, user, app)] : [];
  });
}

/** The records with what was paid back of their orders. */
export async function withRefunds(
  executor: Executor,
  records: readonly OrderListRecord[],
  app: App,
): Promise<RefundedOrderRecord[]> {
  const traceIds = records.map(({ TraceID }) => TraceID);
  const refunds = await sumRefunds(executor, app.appId, traceIds);
  return records.map((record) => refundedRecord(record, refunds.get(record.TraceID), app));
}

/** Sums over the orders. A user's total payments count once, however many of the orders are the user's. */
async function sumOrderList(executor: Executor, asked: OrderQuery): Promise<{ orders: number; total: OrderTotal }> {
  const { orders, cents, backCents, payers } = await sumsOf(executor, asked);
  return {
    orders,
    total: {
      user$pay_max_amount: payers.payMaxCents,
      user$pay_amount_sum: payers.payCents,
      Amount: cents,
      BackAmount: backCents,
    },
  };
}

type OrderSums = { orders: number; cents: number; backCents: number };
type PayerSums = { payCount: number; payCents: number; payMaxCents: number };

/** Without conditions on orders, their number and amounts are known from the users and need not be summed again. */
async function sumsOf(executor: Executor, asked: OrderQuery): Promise<OrderSums & { payers: PayerSums }> {
  if (asked.orders.length > 0) {
    const [payers, sums] = await readBoth(
      executor,
      () => sumPayers(executor, asked),
      () => sumOrders(executor, asked),
    );
    return { ...sums, payers };
  }
  const { payers, backCents } = await (asked.users.length > 0
    ? sumByUser(executor, asked)
    : sumGroups(executor, asked));
  return { orders: payers.payCount, cents: payers.payCents, backCents, payers };
}

async function sumByUser(executor: Executor, asked: OrderQuery): Promise<{ payers: PayerSums; backCents: number }> {
  const [payers, backCents] = await readBoth(
    executor,
    () => sumPayers(executor, asked),
    () => sumSentBack(executor, asked),
  );
  return { payers, backCents };
}

async function sumGroups(
  executor: Executor,
  { groups }: OrderQuery,
): Promise<{ payers: PayerSums; backCents: number }> {
  const { backCents, ...payers } = await loadOrderTotals(executor, groups);
  return { payers, backCents };
}

/** Sums over the users who have at least one of the orders. */
async function sumPayers(executor: Executor, { app, groups, users, orders }: OrderQuery): Promise<PayerSums> {
  const hasSuch = sql`exists (select 1 from orders o where o.app_id = ${app.appId} and o.client_id = u.client_id and ${allOf(orders)})`;
  const conditions = [
    sql`u.app_id = ${app.appId} and u.pay_count > 0`,
    ...groupConditions(groups.filter, sql`u`),
    ...users,
    ...(orders.length > 0 ? [hasSuch] : []),
  ];
  const [sums] = await query<PayerSums>(
    executor,
    sql`select coalesce(sum(u.pay_count), 0)::bigint as pay_count, ${sumOf(sql`u.pay_cents`)} as pay_cents,
        coalesce(max(u.pay_max_cents), 0) as pay_max_cents
      from user_account u where ${allOf(conditions)}`,
  );
  return sums!;
}

async function sumOrders(executor: Executor, asked: OrderQuery): Promise<OrderSums> {
  const [sums] = await query<OrderSums>(
    executor,
    sql`select count(*) as orders, ${sumOf(sql`o.cents`)} as cents, ${sumOf(sql`o.back_cents`)} as back_cents
      from ${sourceOf(asked)} where ${whereOf(asked)}`,
  );
  return sums!;
}

async function sumSentBack(executor: Executor, asked: OrderQuery): Promise<number> {
  const [sent] = await query<{ backCents: number }>(
    executor,
    sql`select ${sumOf(sql`o.back_cents`)} as back_cents from ${sourceOf(asked)}
      where ${whereOf(asked)} and o.back_cents <> 0`,
  );
  return sent!.backCents;
}
