import type { UserList, UserListRecord } from "../../contract/report/list-record.ts";
import { withAdvertisers } from "../../db/ad-account.ts";
import type { App } from "../../db/app.ts";
import { allOf, type Executor, query, readBoth, type Sql, sql } from "../../db/engine/sql.ts";
import { loadUsers } from "../../db/user-account.ts";
import { POSTBACK_STATUS } from "../../domain/postback/postback.ts";
import { amongClients, cubeConditions, otherConditions, userConditions } from "./list-filter.ts";
import { type ListBody, type Page, type PostbackFilterBody, pageInfo, readPage, windowOf } from "./list-request.ts";
import { readSorts } from "./list-sort.ts";
import { countOfGroups } from "./list-total.ts";
import { propertyConditions } from "./property-condition.ts";
import { type ClientKey, readUserPage, type SortedUsers, USER_SORTS } from "./user-pages.ts";
import { SHOWN_PROPERTIES, userListRecord } from "./user-record.ts";

export type UserListBody = ListBody<PostbackFilterBody>;

/** A list that can be run: its users in their order, the statement that counts them, and the page. */
export type UserQuery = SortedUsers & { count: Sql; page: Page };

/** `clients`: only these, which are many. */
export function readUserList(body: UserListBody, app: App, clients?: readonly string[]): UserQuery {
  const { app_id: appId, user_filtering: filter, order_by_list = [] } = body;
  const where = userListCondition(body, app, clients);
  const groups = { appId, filter };
  const holds = isFilteredFurther(body) || clients ? "some" : "all";
  const count = holds === "all" ? countOfGroups(groups) : clients ? counted(where) : countOf(body, where);
  return { groups, holds, where, sorts: readSorts(order_by_list, USER_SORTS), count, page: readPage(body) };
}

/** Whether anything but the day of registration and the platform decides who is in the list. */
function isFilteredFurther({ user_filtering, event_filtering, property_condition = [] }: UserListBody): boolean {
  const isByPostback = Boolean(event_filtering.postback_filtering);
  return otherConditions(user_filtering).length > 0 || isByPostback || property_condition.length > 0;
}

export async function runUserList(executor: Executor, asked: UserQuery, app: App): Promise<UserList> {
  const { count, page } = asked;
  const [[found], keys] = await readBoth(
    executor,
    () => query<{ users: number }>(executor, count),
    () => readUserPage(executor, asked, windowOf(page)),
  );
  const list = await userRecords(executor, keys, app);
  return { page_info: pageInfo(page, found!.users), list, total: [] };
}

/** Records of the users with these keys, in the order of the keys. */
export async function userRecords(executor: Executor, keys: readonly ClientKey[], app: App): Promise<UserListRecord[]> {
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
  if (!conditions) return counted(where);
  const dirty = sql`select day from dirty_day where app_id = ${body.app_id} and cohort = 'registered' and since is not null`;
  return sql`select (
      select coalesce(sum(c.users), 0)::bigint from cube c
      where c.app_id = ${body.app_id} and c.cohort = 'registered' and ${allOf(conditions)} and c.day not in (${dirty})
    ) + (select count(*) from user_account u where ${where} and u.registered_day in (${dirty})) as users`;
}

function counted(where: Sql): Sql {
  return sql`select count(*) as users from user_account u where ${where}`;
}

/** The condition on the user u that selects the users of the list. */
export function userListCondition(
  body: Pick<UserListBody, "user_filtering" | "event_filtering" | "property_condition">,
  app: App,
  clients?: readonly string[],
): Sql {
  return allOf([
    sql`u.app_id = ${app.appId}`,
    ...userConditions(body.user_filtering),
    ...amongClients(clients),
    ...postbackCondition(app.appId, body.event_filtering),
    ...propertyConditions(body.property_condition ?? [], app, "user"),
  ]);
}

/** The waiting status (not sent) also matches users who have no postback of the type at all. */
function postbackCondition(appId: number, { postback_filtering: filter }: PostbackFilterBody): Sql[] {
  if (!filter) return [];
  const has = (
    condition: Sql,
  ) => sql`exists (select 1 from postback p where p.app_id = ${appId} and p.client_id = u.client_id
    and p.event_type = ${filter.event_type} and ${condition})`;
  const withStatus = has(sql`p.status = ${Number(filter.status)}`);
  return [
    Number(filter.status) === POSTBACK_STATUS.waiting ? sql`(${withStatus} or not ${has(sql`true`)})` : withStatus,
  ];
}
