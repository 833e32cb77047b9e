import type { UserList, UserListRecord } from "../../contract/report/list-record.ts";
import { shownAdvertiser, withAdvertisers } from "../../db/ad-account.ts";
import type { App } from "../../db/app.ts";
import { allOf, type Executor, joined, query, type Sql, sql } from "../../db/engine/sql.ts";
import { loadUsers } from "../../db/user-account.ts";
import { shownPlatform } from "../../db/user-dimension.ts";
import { POSTBACK_STATUS } from "../../domain/postback/postback.ts";
import { ApiError } from "../../errors.ts";
import { cubeConditions, userConditions } from "./list-filter.ts";
import { type ListBody, type Page, type PostbackFilterBody, pageInfo, readPage } from "./list-request.ts";
import { propertyConditions } from "./property-condition.ts";
import { SHOWN_PROPERTIES, userListRecord } from "./user-record.ts";

export type UserListBody = ListBody<PostbackFilterBody>;

/** The sortable fields of a list, each with the expressions that make its order. */
export type Sorts = Readonly<Record<string, readonly Sql[]>>;

/** Day first, then instant, as in the index. The order is the same: later instants are never on earlier days. */
const REGISTRATION = [sql`u.registered_day`, sql`u.registered_at_ms`];

/**
 * Sortable fields of both users and orders. Texts sort by code point, so that the order is the same on every machine.
 */
export const IDENTITY_SORTS: Sorts = {
  CreateTime: REGISTRATION,
  ClientID: [sql`u.client_id`],
  AdPlatform: [sql`(${shownPlatform}) collate "C"`],
  Channel: [sql`u.channel collate "C"`],
  Version: [sql`u.version`],
  TurboPromotedObjectID: [sql`u.turbo_promoted_object_id collate "C"`],
  WXOpenID: [sql`u.wx_openid collate "C"`],
  AdvertiserID: [sql`(${shownAdvertiser}) collate "C"`],
  AdAid: [sql`u.aid collate "C"`],
};

export const USER_SORTS: Sorts = {
  ...IDENTITY_SORTS,
  LatestLoginDay: [sql`coalesce(u.latest_login_day, '-infinity')`],
  user$pay_amount_sum: [sql`u.pay_cents`],
  user$pay_count: [sql`u.pay_count`],
  user$pay_max_amount: [sql`u.pay_max_cents`],
};

const BY_REGISTRATION = [...REGISTRATION, sql`u.client_id`];

/** A list that can be run: its condition, its count statement, its order and its page. */
export type UserQuery = { where: Sql; count: Sql; order: Sql; page: Page };

export function readUserList(body: UserListBody, app: App): UserQuery {
  const where = userListCondition(body, app);
  const order = orderOf(body.order_by_list ?? [], USER_SORTS, BY_REGISTRATION);
  return { page: readPage(body), order, where, count: countOf(body, where) };
}

export async function runUserList(executor: Executor, asked: UserQuery, app: App): Promise<UserList> {
  const { where, count, order, page } = asked;
  const [counted] = await query<{ users: number }>(executor, count);
  const keys = await query<{ clientId: string }>(
    executor,
    sql`select u.client_id from user_account u where ${where}
      order by ${order} limit ${page.pageSize} offset ${(page.page - 1) * page.pageSize}`,
  );
  const list = await userRecords(executor, keys, app);
  return { page_info: pageInfo(page, counted!.users), list, total: [] };
}

/** Records of the users with these keys, in the order of the keys. */
export async function userRecords(
  executor: Executor,
  keys: readonly { clientId: string }[],
  app: App,
): Promise<UserListRecord[]> {
  const wanted = keys.map(({ clientId }) => ({ appId: app.appId, clientId }));
  const users = await withAdvertisers(executor, await loadUsers(executor, wanted, SHOWN_PROPERTIES));
  const byId = new Map(users.map((user) => [user.clientId, user]));
  return keys.flatMap(({ clientId }) => {
    const user = byId.get(clientId);
    return user ? [userListRecord(user, app)] : [];
  });
}

/**
 * Counts the users in the list. For days that are up to date the cube knows the number, in a tenth of the time: marks
 * commit together with the change they mark, so within one statement an unmarked day is complete. Other days are
 * counted.
 */
function countOf(body: UserListBody, where: Sql): Sql {
  const hasOther = body.event_filtering.postback_filtering || (body.property_condition ?? []).length > 0;
  const conditions = hasOther ? undefined : cubeConditions(body.user_filtering);
  if (!conditions) return sql`select count(*) as users from user_account u where ${where}`;
  const dirty = sql`select day from dirty_day where app_id = ${body.app_id} and cohort = 'registered' and since is not null`;
  return sql`select (
      select coalesce(sum(c.users), 0)::bigint from cube c
      where c.app_id = ${body.app_id} and c.cohort = 'registered' and ${allOf(conditions)} and c.day not in (${dirty})
    ) + (select count(*) from user_account u where ${where} and u.registered_day in (${dirty})) as users`;
}

/** The condition on the user u that selects the users of the list. */
export function userListCondition(
  body: Pick<UserListBody, "user_filtering" | "event_filtering" | "property_condition">,
  app: App,
): Sql {
  return allOf([
    sql`u.app_id = ${app.appId}`,
    ...userConditions(body.user_filtering),
    ...postbackCondition(body.event_filtering),
    ...propertyConditions(body.property_condition ?? [], app, "user"),
  ]);
}

/** The waiting status (not sent) also matches users who have no postback of the type at all. */
function postbackCondition({ postback_filtering: filter }: PostbackFilterBody): Sql[] {
  if (!filter) return [];
  const has = (
    condition: Sql,
  ) => sql`exists (select 1 from postback p where p.app_id = u.app_id and p.client_id = u.client_id
    and p.event_type = ${filter.event_type} and ${condition})`;
  const withStatus = has(sql`p.status = ${Number(filter.status)}`);
  return [
    Number(filter.status) === POSTBACK_STATUS.waiting ? sql`(${withStatus} or not ${has(sql`true`)})` : withStatus,
  ];
}

/** The requested sort keys in their order, then the unique key, so that pages never overlap. */
export function orderOf(list: readonly { field: string; sort: 0 | 1 }[], sorts: Sorts, last: readonly Sql[]): Sql {
  const asked = list.flatMap(({ field, sort }) => {
    const expressions = Object.hasOwn(sorts, field) ? sorts[field] : undefined;
    if (!expressions) {
      throw new ApiError(
        "badParameter",
        `order_by_list: ${JSON.stringify(field.slice(0, 60))} is not sortable; sortable fields are ${Object.keys(sorts).join(", ")}.`,
      );
    }
    return sort === 1 ? expressions.map((expression) => sql`${expression} desc`) : expressions;
  });
  return joined(asked.length > 0 ? [...asked, last.at(-1)!] : last, sql`, `);
}
