import { rowsOf } from "./engine/rows.ts";
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

export const AD_LEVELS = ["plan", "ad", "creative"] as const;
export type AdLevel = (typeof AD_LEVELS)[number];

/** The name of a plan, an ad or a creative. */
export type AdObject = { adPlatform: string; level: AdLevel; objectId: string; name: string; status: string };

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
    sql`insert into advertiser (ad_platform, advertiser_id, name, status, remark, operator, dept)
      select * from ${fresh}
      on conflict (ad_platform, advertiser_id) do update set name = excluded.name, status = excluded.status,
        remark = excluded.remark, operator = excluded.operator, dept = excluded.dept`,
  );
}

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
    sql`insert into ad_object (ad_platform, level, object_id, name, status)
      select * from ${fresh}
      on conflict (ad_platform, level, object_id) do update set name = excluded.name, status = excluded.status`,
  );
}

/** The stored rows of the same accounts. */
export async function findAdvertisers(executor: Executor, rows: readonly Advertiser[]): Promise<Advertiser[]> {
  const wanted = rowsOf("wanted", rows, { adPlatform: "text", advertiserId: "text" });
  return query<Advertiser>(
    executor,
    sql`select a.ad_platform, a.advertiser_id, a.name, a.status, a.remark, a.operator, a.dept from ${wanted}
      join advertiser a using (ad_platform, advertiser_id)`,
  );
}

/** The stored rows of the same plans, ads and creatives. */
export async function findAdObjects(executor: Executor, rows: readonly AdObject[]): Promise<AdObject[]> {
  const wanted = rowsOf("wanted", rows, { adPlatform: "text", level: "text", objectId: "text" });
  return query<AdObject>(
    executor,
    sql`select o.ad_platform, o.level, o.object_id, o.name, o.status from ${wanted}
      join ad_object o using (ad_platform, level, object_id)`,
  );
}

/** Updates accounts with the names and statuses given; an empty one leaves the stored value. */
export async function learnAdvertisers(
  executor: Executor,
  rows: readonly Pick<Advertiser, "adPlatform" | "advertiserId" | "name" | "status">[],
): Promise<void> {
  if (rows.length === 0) return;
  const fresh = rowsOf("new", rows, { adPlatform: "text", advertiserId: "text", name: "text", status: "text" });
  await execute(
    executor,
    sql`insert into advertiser as known (ad_platform, advertiser_id, name, status, remark, operator, dept)
      select *, '', '', '' from ${fresh} order by 1, 2
      on conflict (ad_platform, advertiser_id) do update set ${toldNames}
      where ${isNews}`,
  );
}

/** The same for plans, ads and creatives. Rows are sorted, so that two writers of the same ads cannot deadlock. */
export async function learnAdObjects(executor: Executor, rows: readonly AdObject[]): Promise<void> {
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
    sql`insert into ad_object as known (ad_platform, level, object_id, name, status)
      select * from ${fresh} order by 1, 2, 3
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
    sql`select ad_platform, advertiser_id as id, name, status, remark from advertiser
      where advertiser_id = any(${ids}::text[]) order by ad_platform collate "C", advertiser_id`,
  );
}

export async function loadAdObjectNames(executor: Executor, level: AdLevel, ids: readonly string[]): Promise<AdName[]> {
  return query<AdName>(
    executor,
    sql`select ad_platform, object_id as id, name, status, '' as remark from ad_object
      where level = ${level} and object_id = any(${ids}::text[]) order by ad_platform collate "C", object_id`,
  );
}
