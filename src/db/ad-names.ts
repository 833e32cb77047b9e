import { type Executor, execute, query, sql } from "./sql.ts";

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

/** What is known of an id of a report: of an account the remark too. */
export type AdName = { adPlatform: string; id: string; name: string; status: string; remark: string };

/** In the order of the platforms: where a report does not tell them apart, the first one speaks for an id. */
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
