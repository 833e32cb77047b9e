import { noteAdAccounts } from "./ad-account.ts";
import { costsByHour } from "./cost-hour.ts";
import { columnOf } from "./engine/column-name.ts";
import { firstOfEach, rowsOf } from "./engine/rows.ts";
import { allOf, type Executor, execute, identifier, query, type Sql, sql } from "./engine/sql.ts";
import { markLake } from "./lake-mark.ts";

/** What an ad cost on a day. Unknown texts are empty. */
export type Cost = {
  appId: number;
  day: string;
  adPlatform: string;
  advertiserId: string;
  gid: string;
  aid: string;
  /** The creative; empty where only the ad is known. */
  cid: string;
  csite: string;
  channel: string;
  osPlatform: string;
  campaignId: string;
  impressions: number;
  clicks: number;
  /** In ten-thousandths of the major unit. */
  costE4: number;
};

/** The columns that tell ads and their days apart, without the campaign. */
const AD_AND_DAY = {
  appId: "int",
  day: "date",
  adPlatform: "text",
  advertiserId: "text",
  gid: "text",
  aid: "text",
  csite: "text",
  channel: "text",
  osPlatform: "text",
} as const;
const AD_AND_DAY_KEYS = Object.keys(AD_AND_DAY) as (keyof typeof AD_AND_DAY)[];
const adAndDay = sql`app_id, day, ad_platform, advertiser_id, gid, aid, csite, channel, os_platform`;

/** Stores costs, replacing earlier ones of the same day, ad and creative. */
export async function storeCosts(executor: Executor, costs: readonly Cost[], changedAtMs: number): Promise<void> {
  if (costs.length === 0) return;
  const fresh = rowsOf("new", costs, {
    ...AD_AND_DAY,
    cid: "text",
    campaignId: "text",
    impressions: "bigint",
    clicks: "bigint",
    costE4: "bigint",
  });
  await execute(
    executor,
    sql`insert into cost (${adAndDay}, cid, turbo_promoted_object_id, impressions, clicks, cost_e4, changed_at_ms)
      select *, ${changedAtMs}::bigint from ${fresh}
      on conflict (app_id, day, ad_platform, advertiser_id, gid, aid, cid, csite, channel, os_platform, turbo_promoted_object_id)
      do update set impressions = excluded.impressions, clicks = excluded.clicks, cost_e4 = excluded.cost_e4,
        changed_at_ms = excluded.changed_at_ms`,
  );
  await noteAdAccounts(executor, costs, changedAtMs);
  await markCosts(executor, costs, changedAtMs);
}

/** The stored costs of the same days and ads, whatever their creatives. */
export async function findCosts(executor: Executor, costs: readonly Cost[]): Promise<Cost[]> {
  if (costs.length === 0) return [];
  return query<Cost>(
    executor,
    sql`select app_id, day, ad_platform, advertiser_id, gid, aid, cid, csite, channel, os_platform,
        turbo_promoted_object_id as campaign_id, impressions, clicks, cost_e4
      from cost join ${adsOf(costs)} using (${adAndDay}, turbo_promoted_object_id)`,
  );
}

/** Marks the days of costs that have changed or are gone. */
export async function markCosts(
  executor: Executor,
  costs: readonly Pick<Cost, "appId" | "day">[],
  changedAtMs: number,
): Promise<void> {
  const days = firstOfEach(costs, ["appId", "day"]);
  const marks = days.map(({ appId, day }) => ({ appId, day, kind: "costs" as const, again: true, receivedMs: 0 }));
  await markLake(executor, marks, changedAtMs);
}

/** Deletes what `findCosts` finds. Those who store others in their place mark the days. */
export async function deleteCosts(executor: Executor, costs: readonly Cost[]): Promise<void> {
  if (costs.length === 0) return;
  const columns = [...AD_AND_DAY_KEYS.map(columnOf), "turbo_promoted_object_id"].map(identifier);
  const isWanted = allOf(columns.map((column) => sql`cost.${column} = wanted.${column}`));
  await execute(executor, sql`delete from cost using ${adsOf(costs)} where ${isWanted}`);
}

/** The days and ads of costs, each once. */
function adsOf(costs: readonly Cost[]): Sql {
  const each = firstOfEach(costs, [...AD_AND_DAY_KEYS, "campaignId"]);
  return rowsOf("wanted", each, { ...AD_AND_DAY, turboPromotedObjectId: ["text", (cost) => cost.campaignId] });
}

type CostRange = { appId: number; fromDay: string; untilDay: string };

/** Which rows: the stored ones, which may be by creative, or those by the hour. */
export type CostGrain = "creative" | "hour";

function storedRows(range: CostRange, grain: CostGrain): Sql {
  const { appId, fromDay, untilDay } = range;
  if (grain === "hour") return costsByHour(range);
  return sql`select * from cost where app_id = ${appId} and day >= ${fromDay}::date and day < ${untilDay}::date`;
}

/**
 * The costs of some days with their dimensions. A row without channel or system takes them from its campaign; a row
 * without campaign takes the one that its ad, else its plan, was seen with. An ad seen with several campaigns belongs
 * to none. The rebates of an account tell what was really paid.
 */
export function costRows(range: CostRange, grain: CostGrain = "creative"): Sql {
  const { appId } = range;
  return costRowsOf(storedRows(range, grain), { of: sql`${appId}::int`, isSeen: sql`app_id = ${appId}` }, grain);
}

/** The same for any stored rows. `app.of` is the app of a row c of them; `app.isSeen`: whose campaigns are looked at. */
export function costRowsOf(stored: Sql, app: { of: Sql; isSeen: Sql }, grain: CostGrain = "creative"): Sql {
  const seenWith = (
    level: Sql,
  ) => sql`select app_id, ad_platform, object_id, min(turbo_promoted_object_id) as campaign_id
    from ad_campaign where ${app.isSeen} and level = ${level} group by app_id, ad_platform, object_id having count(*) = 1`;
  return sql`select ${app.of} as app_id, c.day, c.ad_platform, c.advertiser_id, c.gid, c.aid,
      ${grain === "hour" ? sql`c.hour` : sql`c.cid as creative`},
      coalesce(nullif(c.channel, ''), p.channel, '') as channel,
      coalesce(nullif(c.os_platform, ''), p.os_platform, '') as os_platform,
      c.csite, c.campaign_id as turbo_promoted_object_id, c.cost_e4, ${realCost} as real_cost_e4, c.impressions, c.clicks
    from (
      select c.*, coalesce(nullif(c.turbo_promoted_object_id, ''), ad.campaign_id, plan.campaign_id, '') as campaign_id
      from (${stored}) c
      left join (${seenWith(sql`'ad'`)}) ad on ad.app_id = ${app.of} and ad.ad_platform = c.ad_platform and ad.object_id = c.aid
      left join (${seenWith(sql`'plan'`)}) plan on plan.app_id = ${app.of} and plan.ad_platform = c.ad_platform
        and plan.object_id = c.gid) c
    left join campaign p on p.app_id = ${app.of} and p.turbo_promoted_object_id = c.campaign_id
    left join rebate r on r.app_id = ${app.of} and r.ad_platform = c.ad_platform and r.advertiser_id = c.advertiser_id
      and c.day >= r.from_day and (r.until_day is null or c.day < r.until_day)`;
}

/**
 * What was really paid for the row c with the rebate r: the cost × (1 − cash) ÷ (1 + credit), rounded half away from
 * zero. Exact: a quotient would be rounded twice, and bigints would overflow.
 */
const realCost = sql`case when r.cash_bp is null then c.cost_e4 else
  (sign(c.cost_e4) * div(2 * abs(c.cost_e4::numeric) * (10000 - r.cash_bp) + (10000 + r.credit_bp),
    2 * (10000 + r.credit_bp)))::bigint end`;
