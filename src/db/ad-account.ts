import type { Slice } from "../domain/cube.ts";
import type { UserKey } from "../domain/user/user-key.ts";
import { countedDays } from "./dirty-day.ts";
import { rowsOf } from "./engine/rows.ts";
import { type Executor, execute, query, type Sql, sql } from "./engine/sql.ts";
import type { UserAccount } from "./user-account.ts";

/** The ids that a cost row names. */
type CostIds = { appId: number; adPlatform: string; advertiserId: string; gid: string; aid: string };

/** Notes which accounts the costs of plans and ads name; known pairs stay as they are. */
export async function noteAdAccounts(executor: Executor, costs: readonly CostIds[], atMs: number): Promise<void> {
  const named = costs.filter(({ adPlatform, advertiserId }) => adPlatform !== "" && advertiserId !== "");
  const pairs = [
    ...named.map(({ aid, ...cost }) => ({ ...cost, level: "ad", objectId: aid })),
    ...named.map(({ gid, ...cost }) => ({ ...cost, level: "plan", objectId: gid })),
  ].filter(({ objectId }) => objectId !== "");
  if (pairs.length === 0) return;
  const fresh = rowsOf("new", pairs, {
    appId: "int",
    adPlatform: "text",
    level: "text",
    objectId: "text",
    advertiserId: "text",
  });
  await execute(
    executor,
    sql`insert into ad_account (app_id, ad_platform, level, object_id, advertiser_id, noted_at_ms)
      select distinct *, ${atMs}::bigint from ${fresh}
      order by 1, 2, 3, 4, 5 on conflict do nothing`,
  );
}

const ownerOf = (level: Sql, id: Sql) => sql`(select min(o.advertiser_id) from ad_account o
  where o.app_id = u.app_id and o.ad_platform = u.ad_platform and o.level = ${level} and o.object_id = ${id} having count(*) = 1)`;

/**
 * The account of the user u. Launches of some platforms name the ad only: the account is then the one whose costs name
 * the ad, else the plan. An ad in the costs of several accounts belongs to none.
 */
export const shownAdvertiser = sql`case when u.advertiser_id <> '' or (u.aid = '' and u.gid = '') then u.advertiser_id
  else coalesce(${ownerOf(sql`'ad'`, sql`u.aid`)}, ${ownerOf(sql`'plan'`, sql`u.gid`)}, '') end`;

/** Whether the app has users whose launch names the ad or the plan, but not the account. */
export async function hasUnnamedAdvertisers(executor: Executor, appId: number): Promise<boolean> {
  const has = (id: Sql) => sql`exists (select 1 from user_account
    where app_id = ${appId} and advertiser_id = '' and ${id} <> '')`;
  const [row] = await query<{ isThere: boolean }>(
    executor,
    sql`select ${has(sql`aid`)} or ${has(sql`gid`)} as is_there`,
  );
  return row!.isThere;
}

/** Users with the account that reports count them by. */
export async function withAdvertisers(executor: Executor, users: readonly UserAccount[]): Promise<UserAccount[]> {
  const unknown = users.filter(({ advertiserId, aid, gid }) => advertiserId === "" && (aid !== "" || gid !== ""));
  if (unknown.length === 0) return [...users];
  const wanted = rowsOf("wanted", unknown, { appId: "int", clientId: "text" });
  const found = await query<UserKey & { advertiserId: string }>(
    executor,
    sql`select u.app_id, u.client_id, ${shownAdvertiser} as advertiser_id from ${wanted}
      join user_account u on u.app_id = wanted.app_id and u.client_id = wanted.client_id collate "C"`,
  );
  const byId = new Map(found.map(({ clientId, advertiserId }) => [clientId, advertiserId]));
  return users.map((user) => ({ ...user, advertiserId: byId.get(user.clientId) ?? user.advertiserId }));
}

/** The apps of whose plans or ads the costs have told accounts since the slices were last taken. */
export async function findAppsWithNewAdAccounts(executor: Executor): Promise<number[]> {
  const rows = await query<{ appId: number }>(
    executor,
    sql`select distinct app_id from ad_account where not is_counted order by app_id`,
  );
  return rows.map(({ appId }) => appId);
}

/**
 * The slices that count users of an app whose account the costs have told since the last call, and when the first of
 * these costs came.
 */
export async function takeMovedSlices(tx: Executor, appId: number): Promise<{ slices: Slice[]; sinceMs: number }> {
  const told = await query<{ adPlatform: string; level: string; objectId: string; notedAtMs: number }>(
    tx,
    sql`update ad_account set is_counted = true where app_id = ${appId} and not is_counted
      returning ad_platform, level, object_id, noted_at_ms`,
  );
  const fresh = rowsOf("listed", told, { adPlatform: "text", level: "text", objectId: "text", notedAtMs: "bigint" });
  const rows = await query<Slice & { sinceMs: number }>(
    tx,
    sql`with fresh as (select ad_platform, level, object_id collate "C" as object_id, noted_at_ms from ${fresh}),
      moved as (
        select u.app_id, u.client_id, u.cohort_day, u.registered_day, f.noted_at_ms from fresh f
        join user_account u on f.level = 'ad' and u.app_id = ${appId} and u.ad_platform = f.ad_platform
          and u.aid = f.object_id and u.advertiser_id = '' and u.aid <> ''
        union
        select u.app_id, u.client_id, u.cohort_day, u.registered_day, f.noted_at_ms from fresh f
        join user_account u on f.level = 'plan' and u.app_id = ${appId} and u.ad_platform = f.ad_platform
          and u.gid = f.object_id and u.advertiser_id = '' and u.gid <> ''),
      slice as (
        select app_id, 'touch' as cohort, cohort_day as day, noted_at_ms from moved
        union all select app_id, 'registered', registered_day, noted_at_ms from moved
        union all select m.app_id, 'occurred', d.day, m.noted_at_ms from moved m
          join ${countedDays} d on d.app_id = ${appId} and d.client_id = m.client_id
        union all select m.app_id, 'occurred', p.accepted_day, m.noted_at_ms from moved m
          join postback p on p.app_id = ${appId} and p.client_id = m.client_id and p.accepted_day is not null)
      select app_id, cohort, day, min(noted_at_ms) as since_ms from slice group by app_id, cohort, day`,
  );
  return { slices: rows, sinceMs: Math.min(...rows.map(({ sinceMs }) => sinceMs)) };
}
