import { newRows, rowsOf } from "./engine/rows.ts";
import { type Executor, execute, query, sql } from "./engine/sql.ts";

/** The number of touches that a campaign's links have brought on a local day. */
export type TouchDay = {
  appId: number;
  campaignId: string;
  day: string;
  clicks: number;
  impressions: number;
};

/** Adds to the stored numbers. Takes one row per campaign and day; rows are sorted, so that writers cannot deadlock. */
export async function addTouchDays(tx: Executor, rows: readonly TouchDay[]): Promise<void> {
  if (rows.length === 0) return;
  const fresh = newRows(tx, "new", rows, {
    appId: "int",
    campaignId: "text",
    day: "date",
    clicks: "bigint",
    impressions: "bigint",
  });
  await execute(
    tx,
    sql`insert into touch_day as known (app_id, turbo_promoted_object_id, day, clicks, impressions)
      select * from ${fresh} order by 1, 2, 3
      on conflict (app_id, turbo_promoted_object_id, day) do update set clicks = known.clicks + excluded.clicks,
        impressions = known.impressions + excluded.impressions`,
  );
}

/** What a campaign has brought in some days. */
export type CampaignFigures = { clicks: number; impressions: number; users: number };

/** Figures by campaign. Users are those who registered in these days, as far as the cube is up to date. */
export async function loadCampaignFigures(
  executor: Executor,
  asked: { appId: number; campaignIds: readonly string[]; fromDay: string; untilDay: string },
): Promise<Map<string, CampaignFigures>> {
  const { appId, campaignIds, fromDay, untilDay } = asked;
  const wanted = rowsOf("wanted", campaignIds, { id: ["text", (id) => id] });
  const rows = await query<{ id: string } & CampaignFigures>(
    executor,
    sql`select wanted.id, coalesce(t.clicks, 0) as clicks, coalesce(t.impressions, 0) as impressions,
        coalesce(c.users, 0) as users
      from ${wanted}
      left join (
        select turbo_promoted_object_id as id, sum(clicks)::bigint as clicks, sum(impressions)::bigint as impressions
        from touch_day where app_id = ${appId} and turbo_promoted_object_id = any(${campaignIds}::text[])
          and day >= ${fromDay}::date and day < ${untilDay}::date group by 1) t on t.id = wanted.id
      left join (
        select turbo_promoted_object_id as id, sum(users)::bigint as users from cube
        where app_id = ${appId} and cohort = 'registered' and turbo_promoted_object_id = any(${campaignIds}::text[])
          and day >= ${fromDay}::date and day < ${untilDay}::date group by 1) c on c.id = wanted.id`,
  );
  return new Map(rows.map(({ id, ...figures }) => [id, figures]));
}
