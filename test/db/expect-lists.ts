import { expect } from "vitest";
import { wrongTotals } from "../../sim/chaos/promises/totals.ts";
import type { App } from "../../src/db/app.ts";
import type { ListBody, UserFilterBody } from "../../src/report/list/list-request.ts";
import { readOrderList, runOrderList } from "../../src/report/list/order-list.ts";
import { readUserList, runUserList } from "../../src/report/list/user-list.ts";
import { type MadeMarket, toldOf } from "../report/market.ts";
import { byText, expectedLists, type Identity, type ListedOrder, type ListedUser } from "../report/oracle-lists.ts";
import type { Asked } from "../report/oracle-market.ts";
import type { ApplyStage } from "./apply-stage.ts";

type SortBy = ListBody<object>["order_by_list"] & object;
type Question = { stage: ApplyStage; app: App; body: ListBody<object> };
type Compare<Row> = (one: Row, other: Row) => number;

/** How the interface sorts by a field, both ways, and how the lists do it by definition: equal rows by their key. */
function bothWays<Row>(field: string, compare: Compare<Row>, byKey: Compare<Row>): [SortBy, Compare<Row>][] {
  return [
    [[{ field, sort: 0 }], (one, other) => compare(one, other) || byKey(one, other)],
    [[{ field, sort: 1 }], (one, other) => compare(other, one) || byKey(one, other)],
  ];
}

const byClient: Compare<ListedUser> = (one, other) => byText(one.clientId, other.clientId);
const byRegistration: Compare<Identity> = (one, other) => one.registeredAtMs - other.registeredAtMs;
/** The fields that both lists have. */
const IDENTITY: [field: string, Compare<Identity>][] = [
  ["CreateTime", byRegistration],
  ["ClientID", (one, other) => byText(one.clientId, other.clientId)],
  ["AdPlatform", (one, other) => byText(one.platform, other.platform)],
  ["Channel", (one, other) => byText(one.channel, other.channel)],
  ["Version", (one, other) => one.version - other.version],
  ["TurboPromotedObjectID", (one, other) => byText(one.campaign, other.campaign)],
  ["WXOpenID", (one, other) => byText(one.openId, other.openId)],
  ["AdvertiserID", (one, other) => byText(one.account, other.account)],
  ["AdAid", (one, other) => byText(one.aid, other.aid)],
];
const userSort = (field: string, compare: Compare<ListedUser>) => bothWays(field, compare, byClient);
const USER_ORDERS: [SortBy, Compare<ListedUser>][] = [
  [[], (one, other) => byRegistration(one, other) || byClient(one, other)],
  ...IDENTITY.flatMap(([field, compare]) => userSort(field, compare)),
  ...userSort("LatestLoginDay", (one, other) => byText(one.lastDay, other.lastDay)),
  ...userSort("user$pay_amount_sum", (one, other) => one.paid - other.paid),
  ...userSort("user$pay_count", (one, other) => one.payments - other.payments),
  ...userSort("user$pay_max_amount", (one, other) => one.greatest - other.greatest),
];

const byTrace: Compare<ListedOrder> = (one, other) => byText(one.traceId, other.traceId);
const orderSort = (field: string, compare: Compare<ListedOrder>) => bothWays(field, compare, byTrace);
const ORDER_ORDERS: [SortBy, Compare<ListedOrder>][] = [
  [[], (one, other) => one.receivedAtMs - other.receivedAtMs || byTrace(one, other)],
  ...IDENTITY.flatMap(([field, compare]) => orderSort(field, compare)),
  ...orderSort("Amount", (one, other) => one.cents - other.cents),
];

/** The dimensions that the lists can be filtered by. */
const LISTED = ["ad_platform", "channel", "turbo_promoted_object_id", "advertiser_id", "gid", "aid"];

/** The days of a list that is not filtered by them. */
export const EVER = { fromDay: "0000-01-01", toDay: "9999-12-31" };

/** Compares all pages of both lists, and their totals, with what happened in the market. */
export async function expectLists(stage: ApplyStage, app: App, market: MadeMarket, asked: Asked): Promise<void> {
  const renamed = new Set(market.people.filter(({ isRenamed }) => isRenamed).map(({ clientId }) => clientId));
  const lists = Object.fromEntries(Object.entries(asked.lists).filter(([name]) => LISTED.includes(name)));
  const expected = expectedLists(toldOf(market), { ...asked, lists }, ({ clientId }) =>
    renamed.has(clientId) ? `${clientId}-new` : clientId,
  );
  const user_filtering: UserFilterBody = {
    ...Object.fromEntries(Object.entries(lists).map(([name, list]) => [`${name}_list`, list])),
    version_list: asked.versions,
    ...(asked.fromDay !== EVER.fromDay && { create_date_list: [asked.fromDay, asked.toDay] }),
  };
  const question = { stage, app, body: { app_id: app.appId, user_filtering, event_filtering: {} } };
  for (const [order_by_list, compare] of USER_ORDERS)
    await expectUsers({ ...question, body: { ...question.body, order_by_list } }, [...expected.users].sort(compare));
  for (const [order_by_list, compare] of ORDER_ORDERS)
    await expectOrders({ ...question, body: { ...question.body, order_by_list } }, [...expected.orders].sort(compare));
  expect(await wrongTotals(stage.pool)).toEqual([]);
}

async function expectUsers({ stage, app, body }: Question, users: readonly ListedUser[]): Promise<void> {
  const ids: string[] = [];
  for (const page of pagesOf(users.length)) {
    const asked = readUserList({ ...body, ...page }, app);
    const { list, page_info } = await runUserList(stage.pool, asked, app);
    expect(page_info.total_number).toBe(users.length);
    ids.push(...list.map(({ ClientID }) => ClientID));
  }
  const expected = users.map(({ clientId }) => clientId);
  expect({ ids, by: body.order_by_list }).toEqual({ ids: expected, by: body.order_by_list });
}

async function expectOrders({ stage, app, body }: Question, orders: readonly ListedOrder[]): Promise<void> {
  const ids: string[] = [];
  const paid = orders.reduce((sum, { cents }) => sum + cents, 0);
  const user$pay_max_amount = Math.max(0, ...orders.map(({ cents }) => cents));
  for (const page of pagesOf(orders.length)) {
    const { list, page_info, total } = await runOrderList(stage.pool, readOrderList({ ...body, ...page }, app));
    expect(page_info.total_number).toBe(orders.length);
    expect(total).toEqual([{ Amount: paid, BackAmount: 0, user$pay_amount_sum: paid, user$pay_max_amount }]);
    ids.push(...list.map(({ TraceID }) => TraceID));
  }
  const expected = orders.map(({ traceId }) => traceId);
  expect({ ids, by: body.order_by_list }).toEqual({ ids: expected, by: body.order_by_list });
}

/** Small pages, so that most lists have several, and an empty one behind the last. */
function pagesOf(rows: number): { page: number; page_size: number }[] {
  return Array.from({ length: Math.ceil(rows / 2) + 1 }, (_, index) => ({ page: index + 1, page_size: 2 }));
}
