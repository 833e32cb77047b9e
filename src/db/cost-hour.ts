import { rowsOf } from "./engine/rows.ts";
import { type Executor, execute, type Sql, sql } from "./engine/sql.ts";
import type { AccountKey } from "./platform-account.ts";

/** The part of an ad's cost that fell into an hour of the day, "00" to "23". */
export type HourCost = {
  gid: string;
  aid: string;
  hour: string;
  impressions: number;
  clicks: number;
  /** In ten-thousandths of the major unit. */
  costE4: number;
};

/** Replaces the hours of an account's day. */
export async function storeCostHours(
  tx: Executor,
  { appId, adPlatform, advertiserId, day }: AccountKey & { day: string },
  hours: readonly HourCost[],
): Promise<void> {
  await execute(
    tx,
    sql`delete from cost_hour where app_id = ${appId} and ad_platform = ${adPlatform}
      and advertiser_id = ${advertiserId} and day = ${day}::date`,
  );
  const fresh = rowsOf("new", hours, {
    gid: "text",
    aid: "text",
    hour: "text",
    impressions: "bigint",
    clicks: "bigint",
    costE4: "bigint",
  });
  await execute(
    tx,
    sql`insert into cost_hour (app_id, day, ad_platform, advertiser_id, gid, aid, hour, impressions, clicks, cost_e4)
      select ${appId}::int, ${day}::date, ${adPlatform}::text, ${advertiserId}::text, * from ${fresh}`,
  );
}

/**
 * The costs of some days by the hour, in the columns of `cost`. What is known of the day alone has no hour: it is the
 * cost of the day less the hours, which are in it twice, once below zero. Hours that add up to more than the day's cost
 * of their ad do not count; the cost was corrected, or comes from a file.
 */
export function costsByHour({ appId, fromDay, untilDay }: { appId: number; fromDay: string; untilDay: string }): Sql {
  const isIn = sql`app_id = ${appId} and day >= ${fromDay}::date and day < ${untilDay}::date`;
  const ad = sql`day, ad_platform, advertiser_id, gid, aid`;
  const sums = sql`sum(impressions) as impressions, sum(clicks) as clicks, sum(cost_e4) as cost_e4`;
  const fitting = sql`(select h.* from cost_hour h
    join (select ${ad}, ${sums} from cost_hour where ${isIn} group by ${ad}) told using (${ad})
    join (select ${ad}, ${sums} from cost where ${isIn} and csite = '' and channel = '' and os_platform = ''
      and turbo_promoted_object_id = '' group by ${ad}) whole using (${ad})
    where h.app_id = ${appId} and told.cost_e4 <= whole.cost_e4 and told.impressions <= whole.impressions
      and told.clicks <= whole.clicks) h`;
  const unknown = sql`'' as csite, '' as channel, '' as os_platform, '' as turbo_promoted_object_id`;
  return sql`select ${ad}, csite, channel, os_platform, turbo_promoted_object_id, '' as hour, impressions, clicks, cost_e4
      from cost where ${isIn}
    union all select ${ad}, ${unknown}, hour, impressions, clicks, cost_e4 from ${fitting}
    union all select ${ad}, ${unknown}, '' as hour, - impressions, - clicks, - cost_e4 from ${fitting}`;
}
