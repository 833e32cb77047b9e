import { rowsOf } from "./engine/rows.ts";
import { type Executor, execute, identifier, listed, query, type Sql, sql } from "./engine/sql.ts";

/**
 * Names belong to an app: an account of one app must not change what another app reads, nor must an app read them by
 * naming another's ids. What people import is for all apps, and so may only those do who have rights for all.
 */
const ALL_APPS = 0;

/** The columns of a row, or of two for one id: what the app's own pulls have told, else what was imported for all. */
function told(columns: readonly string[]): Sql {
  return listed(
    columns.map((name) => {
      const column = identifier(name);
      return sql`coalesce(max(${column}) filter (where app_id <> ${ALL_APPS} and ${column} <> ''), max(${column})) as ${column}`;
    }),
  );
}

const isTold = (appId: number) => sql`app_id in (${ALL_APPS}, ${appId})`;

/** The accounts that an app has names of, each once. */
export function advertisersOf(appId: number): Sql {
  return sql`(select ad_platform, advertiser_id, ${told(["name", "status", "remark", "operator", "dept"])}
    from advertiser where ${isTold(appId)} group by ad_platform, advertiser_id)`;
}

/** An account at an ad platform. */
export type Advertiser = {
  adPlatform: string;
  advertiserId: string;
  name: string;
  status: string;
  remark: string;
  operator: string;
  dept: string;
};

export const AD_LEVELS = ["plan", "ad", "creative"] as const;
export type AdLevel = (typeof AD_LEVELS)[number];

/** The name of a plan, an ad or a creative. */
export type AdObject = { adPlatform: string; level: AdLevel; objectId: string; name: string; status: string };

/** Imports accounts for all apps, in place of what their pulls have told so far. */
export async function storeAdvertisers(executor: Executor, rows: readonly Advertiser[]): Promise<void> {
  if (rows.length === 0) return;
  const fresh = rowsOf("new", rows, {
    adPlatform: "text",
    advertiserId: "text",
    name: "text",
    status: "text",
    remark: "text",
    operator: "text",
    dept: "text",
  });
  await execute(
    executor,
    sql`insert into advertiser (app_id, ad_platform, advertiser_id, name, status, remark, operator, dept)
      select ${ALL_APPS}::int, * from ${fresh}
      on conflict (app_id, ad_platform, advertiser_id) do update set name = excluded.name, status = excluded.status,
        remark = excluded.remark, operator = excluded.operator, dept = excluded.dept`,
  );
  await execute(
    executor,
    sql`delete from advertiser a using ${fresh} where a.app_id <> ${ALL_APPS} and a.ad_platform = new.ad_platform
      and a.advertiser_id = new.advertiser_id`,
  );
}

/** The same for plans, ads and creatives. */
export async function storeAdObjects(executor: Executor, rows: readonly AdObject[]): Promise<void> {
  if (rows.length === 0) return;
  const fresh = rowsOf("new", rows, {
    adPlatform: "text",
    level: "text",
    objectId: "text",
    name: "text",
    status: "text",
  });
  await execute(
    executor,
    sql`insert into ad_object (app_id, ad_platform, level, object_id, name, status)
      select ${ALL_APPS}::int, * from ${fresh}
      on conflict (app_id, ad_platform, level, object_id) do update set name = excluded.name, status = excluded.status`,
  );
  await execute(
    executor,
    sql`delete from ad_object o using ${fresh} where o.app_id <> ${ALL_APPS} and o.ad_platform = new.ad_platform
      and o.level = new.level and o.object_id = new.object_id`,
  );
}

/** The same accounts as they were imported before. */
export async function findAdvertisers(executor: Executor, rows: readonly Advertiser[]): Promise<Advertiser[]> {
  const wanted = rowsOf("wanted", rows, { adPlatform: "text", advertiserId: "text" });
  return query<Advertiser>(
    executor,
    sql`select a.ad_platform, a.advertiser_id, a.name, a.status, a.remark, a.operator, a.dept from ${wanted}
      join advertiser a using (ad_platform, advertiser_id) where a.app_id = ${ALL_APPS}`,
  );
}

/** The same plans, ads and creatives as they were imported before. */
export async function findAdObjects(executor: Executor, rows: readonly AdObject[]): Promise<AdObject[]> {
  const wanted = rowsOf("wanted", rows, { adPlatform: "text", level: "text", objectId: "text" });
  return query<AdObject>(
    executor,
    sql`select o.ad_platform, o.level, o.object_id, o.name, o.status from ${wanted}
      join ad_object o using (ad_platform, level, object_id) where o.app_id = ${ALL_APPS}`,
  );
}

/** Updates an app's accounts with the names and statuses given; an empty one leaves the stored value. */
export async function learnAdvertisers(
  executor: Executor,
  appId: number,
  rows: readonly Pick<Advertiser, "adPlatform" | "advertiserId" | "name" | "status">[],
): Promise<void> {
  if (rows.length === 0) return;
  const fresh = rowsOf("new", rows, { adPlatform: "text", advertiserId: "text", name: "text", status: "text" });
  await execute(
    executor,
    sql`insert into advertiser as known (app_id, ad_platform, advertiser_id, name, status, remark, operator, dept)
      select ${appId}::int, *, '', '', '' from ${fresh} order by 1, 2, 3
      on conflict (app_id, ad_platform, advertiser_id) do update set ${toldNames}
      where ${isNews}`,
  );
}

/** The same for plans, ads and creatives. Rows are sorted, so that two writers of the same ads cannot deadlock. */
export async function learnAdObjects(executor: Executor, appId: number, rows: readonly AdObject[]): Promise<void> {
  if (rows.length === 0) return;
  const fresh = rowsOf("new", rows, {
    adPlatform: "text",
    level: "text",
    objectId: "text",
    name: "text",
    status: "text",
  });
  await execute(
    executor,
    sql`insert into ad_object as known (app_id, ad_platform, level, object_id, name, status)
      select ${appId}::int, * from ${fresh} order by 1, 2, 3, 4
      on conflict (app_id, ad_platform, level, object_id) do update set ${toldNames}
      where ${isNews}`,
  );
}

const toldNames = sql`name = coalesce(nullif(excluded.name, ''), known.name),
  status = coalesce(nullif(excluded.status, ''), known.status)`;

const isNews = sql`excluded.name not in ('', known.name) or excluded.status not in ('', known.status)`;

/** The stored name of an id in a report; `remark` is filled for accounts only. */
export type AdName = { adPlatform: string; id: string; name: string; status: string; remark: string };

/** The level of an account, beside those of its plans, ads and creatives. */
export type NamedLevel = "account" | AdLevel;

/** Names sorted by platform: when a report does not separate platforms, an id shows the first one's name. */
export async function loadAdNames(
  executor: Executor,
  { appId, level, ids }: { appId: number; level: NamedLevel; ids: readonly string[] },
): Promise<AdName[]> {
  if (level === "account") {
    return query<AdName>(
      executor,
      sql`select ad_platform, advertiser_id as id, name, status, remark from ${advertisersOf(appId)} a
        where advertiser_id = any(${ids}::text[]) order by ad_platform collate "C", advertiser_id`,
    );
  }
  return query<AdName>(
    executor,
    sql`select ad_platform, object_id as id, ${told(["name", "status"])}, '' as remark from ad_object
      where ${isTold(appId)} and level = ${level} and object_id = any(${ids}::text[])
      group by ad_platform, object_id order by ad_platform collate "C", object_id`,
  );
}
