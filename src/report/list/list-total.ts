import { allOf, type Executor, query, type Sql, sql } from "../../db/engine/sql.ts";
import { shownPlatformOf } from "../../db/user-dimension.ts";
import { groupConditions } from "./list-filter.ts";
import type { UserFilterBody } from "./list-request.ts";

/** The groups of users that a list holds as a whole: it is filtered by their day and platform only. */
export type Groups = { appId: number; filter: UserFilterBody };

/** The rows of a list that stand on one day. */
export type DayRows<Day> = { day: Day; rows: number };

/** What the order list shows of all orders of the groups. */
export type OrderTotals = {
  payCount: number;
  payCents: number;
  payMaxCents: number;
  backCents: number;
};

/** A sum of amounts. Clients may claim amounts whose sum no number holds; the list then shows the largest exact one. */
export function sumOf(amounts: Sql): Sql {
  return sql`least(coalesce(sum(${amounts}), 0), ${Number.MAX_SAFE_INTEGER}::bigint)::bigint`;
}

/** The statement that counts the users of the groups. */
export function countOfGroups(groups: Groups): Sql {
  return sql`select coalesce(sum(t.users), 0)::bigint as users from user_total t where ${areIn(groups)}`;
}

/** The users of the groups by day of registration, in the order of the days. */
export async function loadUsersByDay(executor: Executor, groups: Groups): Promise<DayRows<string>[]> {
  return query<DayRows<string>>(
    executor,
    sql`select t.registered_day as day, sum(t.users)::bigint as rows from user_total t where ${areIn(groups)}
      group by t.registered_day order by t.registered_day`,
  );
}

/** Orders by the day on which they were received, in the order of the days. The groups may be of some platforms only. */
export async function loadOrdersByDay(executor: Executor, { appId, filter }: Groups): Promise<DayRows<number>[]> {
  const { ad_platform_list = [] } = filter;
  const conditions = [sql`t.app_id = ${appId}`, ...groupConditions({ ad_platform_list }, sql`t`)];
  return query<DayRows<number>>(
    executor,
    sql`select t.received_day as day, sum(t.orders)::bigint as rows from order_total t where ${allOf(conditions)}
      group by t.received_day order by t.received_day`,
  );
}

/** The users of a list by the day on which they were last active, and how many users the app has. */
export type UsersByLogin = { days: DayRows<string>[]; everybody: number };

/**
 * In the order of the days; who has never been active stands on the day -infinity. The totals know nothing of the days of
 * registration: undefined if the groups leave some of them out.
 */
export async function loadUsersByLogin(executor: Executor, groups: Groups): Promise<UsersByLogin | undefined> {
  const { ad_platform_list = [] } = groups.filter;
  const isIn = allOf(groupConditions({ ad_platform_list }, sql`t`));
  const rows = await query<DayRows<string> & { everybody: number; listed: number }>(
    executor,
    sql`select t.latest_login_day as day, coalesce(sum(t.users) filter (where ${isIn}), 0)::bigint as rows,
        sum(t.users)::bigint as everybody, (${countOfGroups(groups)}) as listed
      from login_total t where t.app_id = ${groups.appId} group by t.latest_login_day order by t.latest_login_day`,
  );
  const sum = (of: (row: (typeof rows)[number]) => number) => rows.reduce((all, row) => all + of(row), 0);
  if (sum((row) => row.rows) !== (rows[0]?.listed ?? 0)) return undefined;
  return { days: rows.filter((row) => row.rows > 0), everybody: sum((row) => row.everybody) };
}

/** What a platform has of the groups. */
export type PlatformRows = { adPlatform: string; users: number; orders: number };

/** With more platforms, a list is sorted by them as a whole. */
const PLATFORMS_MAX = 50;

/**
 * The users of the groups and their orders by platform, in the order of the platforms' shown names. Undefined: there are
 * too many platforms to read one after the other.
 */
export async function loadByPlatform(executor: Executor, groups: Groups): Promise<PlatformRows[] | undefined> {
  const platforms = await query<PlatformRows>(
    executor,
    sql`select t.ad_platform, sum(t.users)::bigint as users, sum(t.pay_count)::bigint as orders from user_total t where ${areIn(groups)}
      group by t.ad_platform order by (${shownPlatformOf(sql`t`)}) collate "C"`,
  );
  return platforms.length > PLATFORMS_MAX ? undefined : platforms;
}

export async function loadOrderTotals(executor: Executor, groups: Groups): Promise<OrderTotals> {
  const [totals] = await query<OrderTotals>(
    executor,
    sql`select coalesce(sum(t.pay_count), 0)::bigint as pay_count, ${sumOf(sql`t.pay_cents`)} as pay_cents,
        coalesce(max(t.pay_max_cents), 0) as pay_max_cents, ${sumOf(sql`t.back_cents`)} as back_cents
      from user_total t where ${areIn(groups)}`,
  );
  return totals!;
}

function areIn({ appId, filter }: Groups): Sql {
  return allOf([sql`t.app_id = ${appId}`, ...groupConditions(filter, sql`t`)]);
}

/** The day on which the row at a place stands, and its place within the day; undefined behind the last row. */
export function placeOf<Day>(days: readonly DayRows<Day>[], offset: number): { day: Day; offset: number } | undefined {
  let left = offset;
  for (const { day, rows } of days) {
    if (left < rows) return { day, offset: left };
    left -= rows;
  }
  return undefined;
}
