import { type Executor, execute, query, sql } from "./engine/sql.ts";

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

export const AD_LEVELS = ["plan", "ad"] as const;
export type AdLevel = (typeof AD_LEVELS)[number];

/** The name of a plan or of an ad. */
export type AdObject = { adPlatform: string; level: AdLevel; objectId: string; name: string; status: string };

export async function storeAdvertisers(executor: Executor, rows: readonly Advertiser[]): Promise<void> {
  if (rows.length === 0) return;
  const list = <K extends keyof Advertiser>(key: K) => rows.map((row) => row[key]);
  await execute(
    executor,
    sql`insert into advertiser (ad_platform, advertiser_id, name, status, remark, operator, dept)
      select * from unnest(${list("adPlatform")}::text[], ${list("advertiserId")}::text[], ${list("name")}::text[],
        ${list("status")}::text[], ${list("remark")}::text[], ${list("operator")}::text[], ${list("dept")}::text[])
      on conflict (ad_platform, advertiser_id) do update set name = excluded.name, status = excluded.status,
        remark = excluded.remark, operator = excluded.operator, dept = excluded.dept`,
  );
}

export async function storeAdObjects(executor: Executor, rows: readonly AdObject[]): Promise<void> {
  if (rows.length === 0) return;
  const list = <K extends keyof AdObject>(key: K) => rows.map((row) => row[key]);
  await execute(
    executor,
    sql`insert into ad_object (ad_platform, level, object_id, name, status)
      select * from unnest(${list("adPlatform")}::text[], ${list("level")}::text[], ${list("objectId")}::text[],
        ${list("name")}::text[], ${list("status")}::text[])
      on conflict (ad_platform, level, object_id) do update set name = excluded.name, status = excluded.status`,
  );
}

/** The stored rows of the same accounts. */
export async function findAdvertisers(executor: Executor, rows: readonly Advertiser[]): Promise<Advertiser[]> {
  return query<Advertiser>(
    executor,
    sql`select a.ad_platform as "adPlatform", a.advertiser_id as "advertiserId", a.name, a.status, a.remark, a.operator, a.dept
      from unnest(${rows.map((row) => row.adPlatform)}::text[], ${rows.map((row) => row.advertiserId)}::text[])
        as wanted (ad_platform, advertiser_id)
      join advertiser a using (ad_platform, advertiser_id)`,
  );
}

/** The stored rows of the same plans and ads. */
export async function findAdObjects(executor: Executor, rows: readonly AdObject[]): Promise<AdObject[]> {
  return query<AdObject>(
    executor,
    sql`select o.ad_platform as "adPlatform", o.level, o.object_id as "objectId", o.name, o.status
      from unnest(${rows.map((row) => row.adPlatform)}::text[], ${rows.map((row) => row.level)}::text[],
          ${rows.map((row) => row.objectId)}::text[]) as wanted (ad_platform, level, object_id)
      join ad_object o using (ad_platform, level, object_id)`,
  );
}

/** Updates accounts with the names and statuses given; an empty one leaves the stored value. */
export async function learnAdvertisers(
  executor: Executor,
  rows: readonly Pick<Advertiser, "adPlatform" | "advertiserId" | "name" | "status">[],
): Promise<void> {
  if (rows.length === 0) return;
  await execute(
    executor,
    sql`insert into advertiser as known (ad_platform, advertiser_id, name, status, remark, operator, dept)
      select *, '', '', '' from unnest(${rows.map((row) => row.adPlatform)}::text[],
        ${rows.map((row) => row.advertiserId)}::text[], ${rows.map((row) => row.name)}::text[],
        ${rows.map((row) => row.status)}::text[]) order by 1, 2
      on conflict (ad_platform, advertiser_id) do update set ${toldNames}
      where ${isNews}`,
  );
}

/** The same for plans and ads. Rows are sorted, so that two writers of the same ads cannot deadlock. */
export async function learnAdObjects(executor: Executor, rows: readonly AdObject[]): Promise<void> {
  if (rows.length === 0) return;
  const list = <K extends keyof AdObject>(key: K) => rows.map((row) => row[key]);
  await execute(
    executor,
    sql`insert into ad_object as known (ad_platform, level, object_id, name, status)
      select * from unnest(${list("adPlatform")}::text[], ${list("level")}::text[], ${list("objectId")}::text[],
        ${list("name")}::text[], ${list("status")}::text[]) order by 1, 2, 3
      on conflict (ad_platform, level, object_id) do update set ${toldNames}
      where ${isNews}`,
  );
}

const toldNames = sql`name = coalesce(nullif(excluded.name, ''), known.name),
  status = coalesce(nullif(excluded.status, ''), known.status)`;

const isNews = sql`excluded.name not in ('', known.name) or excluded.status not in ('', known.status)`;

/** The stored name of an id in a report; `remark` is filled for accounts only. */
export type AdName = { adPlatform: string; id: string; name: string; status: string; remark: string };

/** Names sorted by platform: when a report does not separate platforms, an id shows the first one's name. */
export async function loadAdvertiserNames(executor: Executor, ids: readonly string[]): Promise<AdName[]> {
  return query<AdName>(
    executor,
    sql`select ad_platform as "adPlatform", advertiser_id as id, name, status, remark from advertiser
      where advertiser_id = any(${ids}::text[]) order by ad_platform collate "C", advertiser_id`,
  );
}

export async function loadAdObjectNames(executor: Executor, level: AdLevel, ids: readonly string[]): Promise<AdName[]> {
  return query<AdName>(
    executor,
    sql`select ad_platform as "adPlatform", object_id as id, name, status, '' as remark from ad_object
      where level = ${level} and object_id = any(${ids}::text[]) order by ad_platform collate "C", object_id`,
  );
}
