import type { App } from "../../db/app.ts";
import { allOf, type Executor, type Sql, sql } from "../../db/engine/sql.ts";
import { shownPlatformOf } from "../../db/user-dimension.ts";
import { DAY_MS } from "../../domain/calendar.ts";
import { groupConditions } from "./list-filter.ts";
import { cutAtEnd, type Part, readParts } from "./list-part.ts";
import type { Window } from "./list-request.ts";
import { IDENTITY_SORTS, indexedFields, orderOf, type SortBy, type Sorts } from "./list-sort.ts";
import { type Groups, loadByPlatform, loadOrdersByDay, placeOf } from "./list-total.ts";

/** What the order itself has of its user. */
const OWN_IDENTITY_SORTS: Sorts = {
  ClientID: [sql`o.client_id`],
  AdPlatform: [sql`(${shownPlatformOf(sql`o`)}) collate "C"`],
};

export const ORDER_SORTS: Sorts = {
  ...IDENTITY_SORTS,
  ...OWN_IDENTITY_SORTS,
  PayEventTime: [sql`o.at_ms`],
  ModifyTime: [sql`coalesce(o.modified_at_ms, 0)`],
  Amount: [sql`o.cents`],
  PayCount: [sql`o.pay_count`],
  BackAmount: [sql`o.back_cents`],
  PassStatus: [sql`o.pass_status`],
  PostbackCnt: [sql`o.postback_count`],
};

/** In order of arrival: new orders appear on the last pages, and earlier pages stay as they are. */
const BY_RECEIPT = [sql`o.received_at_ms`, sql`o.trace_id`];

/** Orders o with their users u. */
export const ordersOfUsers = sql`orders o join user_account u on u.app_id = o.app_id and u.client_id = o.client_id`;

/**
 * Conditions on the order o and on the user u are kept apart: where none needs the user, no join is needed. `groups` are
 * those that the list is filtered by.
 */
export type SortedOrders = { app: App; groups: Groups; users: Sql[]; orders: Sql[]; sorts: readonly SortBy[] };

export type OrderKey = { clientId: string; traceId: string };

const KEYS = sql`o.client_id, o.trace_id`;

/** The keys of a page. */
export async function readOrderPage(executor: Executor, asked: SortedOrders, window: Window): Promise<OrderKey[]> {
  const { sorts } = asked;
  if (sorts.length === 0) return readByReceipt(executor, asked, window);
  if (sorts.some(needsUser)) return readByUser(executor, asked, window);
  const parts = (await platformParts(executor, asked)) ?? [wholeOf(asked)];
  return readParts(executor, { keys: KEYS, from: sourceOf(asked) }, parts, window);
}

/** The list as one part. */
function wholeOf(asked: SortedOrders): Part {
  return { where: whereOf(asked), order: orderOf(asked.sorts, ORDER_SORTS, BY_RECEIPT) };
}

/** A sort by platform, one platform after the other. */
async function platformParts(executor: Executor, asked: SortedOrders): Promise<Part[] | undefined> {
  const [first, ...rest] = asked.sorts;
  if (first?.field !== "AdPlatform" || isFilteredFurther(asked)) return undefined;
  const platforms = await loadByPlatform(executor, asked.groups);
  const order = orderOf(rest, ORDER_SORTS, [sql`o.trace_id`]);
  const parts = platforms?.map(({ adPlatform, orders }) => ({
    where: allOf([whereOf(asked), sql`o.ad_platform = ${adPlatform}`]),
    order,
    rows: orders,
  }));
  return first.sort === 1 ? parts?.reverse() : parts;
}

/** Whether anything but the users' day of registration and platform decides which orders are in the list. */
function isFilteredFurther({ users, orders }: SortedOrders): boolean {
  return users.length > 0 || orders.length > 0;
}

function needsUser({ field }: SortBy): boolean {
  return Object.hasOwn(IDENTITY_SORTS, field) && !Object.hasOwn(OWN_IDENTITY_SORTS, field);
}

/**
 * A page of all orders, or of all orders of some platforms, begins on the day on which it stands, so that a page far
 * behind costs no more than the first one.
 */
async function readByReceipt(executor: Executor, asked: SortedOrders, { limit, offset }: Window): Promise<OrderKey[]> {
  const { groups } = asked;
  const source = { keys: KEYS, from: sourceOf(asked) };
  const all = wholeOf(asked);
  const { create_date_list = [] } = groups.filter;
  const isWhole = !isFilteredFurther(asked) && create_date_list.length === 0;
  if (offset === 0 || !isWhole) return readParts(executor, source, [all], { limit, offset });
  const place = placeOf(await loadOrdersByDay(executor, groups), offset);
  if (!place) return [];
  const isThere = sql`o.received_at_ms >= ${place.day * DAY_MS}::bigint`;
  const part = { ...all, where: allOf([all.where, isThere]) };
  return readParts(executor, source, [part], { limit, offset: place.offset });
}

/** Users are met in the order of an index, and their orders looked up, unless other filters may leave only few of them. */
async function readByUser(executor: Executor, asked: SortedOrders, window: Window): Promise<OrderKey[]> {
  const { app, groups, sorts } = asked;
  const source = { keys: KEYS, from: ordersOfUsers };
  const fields =
    !isFilteredFurther(asked) && (await indexedFields(executor, { appId: app.appId, sorts, fields: ORDER_SORTS }));
  if (!fields) return readParts(executor, source, [wholeOf(asked)], window);
  const where = allOf([sql`o.app_id = ${app.appId} and u.pay_count > 0`, ...groupConditions(groups.filter, sql`u`)]);
  const parts = await cutAtEnd(executor, { source, where, sorts, fields, unique: sql`o.trace_id` }, window);
  return readParts(executor, source, parts, window);
}

/** Without the condition that the users have paid, although it always holds: the planner would take it as selective. */
export function whereOf({ app, groups, users, orders }: SortedOrders): Sql {
  const ofGroups = groupConditions(groups.filter, users.length > 0 ? sql`u` : sql`o`);
  return allOf([sql`o.app_id = ${app.appId}`, ...orders, ...ofGroups, ...users]);
}

export function sourceOf({ users }: SortedOrders): Sql {
  return users.length > 0 ? ordersOfUsers : sql`orders o`;
}
