import type { AdRevenue, UnitDay } from "../../contract/admin/ad-revenue.ts";
import { type Executor, query, type Sql, sql } from "../../db/engine/sql.ts";
import { type Page, pageInfo } from "./list-request.ts";

/** `adUnit`: undefined means any. */
export type AdRevenueRange = { appId: number; fromDay: string; toDay: string; adUnit: string | undefined };

/** Ads are compared by unit, or, where the platform tells revenue by player, all of the day's together. */
type Place = { day: string; toldBy: "unit" | "player"; adUnit: string };

type Figures = {
  views: number;
  toldViews: number;
  toldMicros: number | null;
  reportedMicros: number;
  pulledMicros: number;
  estimatedMicros: number;
  /** Null where the platform has not said anything. */
  differenceMicros: number | null;
};

/** What platforms say that ad units earned, beside what the reports count, newest days first. */
export async function listAdRevenue(executor: Executor, range: AdRevenueRange, page: Page): Promise<AdRevenue> {
  const rows = await query<Place & Figures>(
    executor,
    sql`select * from (${unitDays(range)}) d order by day desc, told_by, ad_unit
      limit ${page.pageSize} offset ${(page.page - 1) * page.pageSize}`,
  );
  const [total] = await query<Figures & { days: number }>(
    executor,
    sql`select count(*) as days, coalesce(sum(views), 0)::bigint as views, coalesce(sum(told_views), 0)::bigint as told_views,
        sum(told_micros)::bigint as told_micros, coalesce(sum(reported_micros), 0)::bigint as reported_micros,
        coalesce(sum(pulled_micros), 0)::bigint as pulled_micros,
        coalesce(sum(estimated_micros), 0)::bigint as estimated_micros,
        sum(difference_micros)::bigint as difference_micros from (${unitDays(range)}) d`,
  );
  const { days, ...all } = total!;
  return { page_info: pageInfo(page, days), days: rows.map(shownDay), total: shownFigures(all) };
}

/**
 * One row per day and unit that the app or its platform has told of, and one per day for what is told by player. Ads
 * without a unit are only in the latter.
 */
function unitDays({ appId, fromDay, toDay, adUnit }: AdRevenueRange): Sql {
  const inRange = (row: Sql) =>
    sql`${row}.app_id = ${appId} and ${row}.day >= ${fromDay}::date and ${row}.day <= ${toDay}::date`;
  const isAny = adUnit === undefined;
  const isShown = isAny
    ? sql`(a.ad_unit <> '' or a.is_told_by_user)`
    : sql`a.ad_unit = ${adUnit} and not a.is_told_by_user`;
  return sql`select day, told_by, ad_unit, coalesce(views, 0) as views, coalesce(told_views, 0) as told_views, told_micros,
      coalesce(reported_micros, 0) as reported_micros, coalesce(pulled_micros, 0) as pulled_micros,
      coalesce(estimated_micros, 0) as estimated_micros,
      coalesce(reported_micros, 0) + coalesce(pulled_micros, 0) + coalesce(estimated_micros, 0) - told_micros as difference_micros
    from (select a.day, case when a.is_told_by_user then 'player' else 'unit' end as told_by,
        case when a.is_told_by_user then '' else a.ad_unit end as ad_unit,
        sum(a.reported_count + a.unpriced_count)::bigint as views,
        sum(a.reported_micros)::bigint as reported_micros, sum(a.pulled_micros)::bigint as pulled_micros,
        sum(case when a.pulled_micros is null then a.unpriced_count * e.view_micros end)::bigint as estimated_micros
      from user_ad_day a left join ad_ecpm e on e.app_id = a.app_id and e.ad_unit = a.ad_unit
        and e.from_day <= a.day and (e.until_day is null or e.until_day > a.day)
      where ${inRange(sql`a`)} and ${isShown} group by 1, 2, 3) own
    full join (select r.day, 'unit' as told_by, r.ad_unit, sum(r.views)::bigint as told_views, sum(r.micros)::bigint as told_micros
        from ad_revenue r where ${inRange(sql`r`)} and ${isAny ? sql`true` : sql`r.ad_unit = ${adUnit}`} group by r.day, r.ad_unit
      union all select r.day, 'player', '', sum(r.views)::bigint, sum(r.micros)::bigint
        from ad_revenue_user r where ${inRange(sql`r`)} and ${isAny} group by r.day) told using (day, told_by, ad_unit)`;
}

function shownDay({ day, toldBy, adUnit, ...figures }: Place & Figures): UnitDay {
  return { date: day, told_by: toldBy, ad_unit_id: adUnit, ...shownFigures(figures) };
}

function shownFigures(figures: Figures): AdRevenue["total"] {
  const { views, toldViews, toldMicros, reportedMicros, pulledMicros, estimatedMicros, differenceMicros } = figures;
  return {
    views,
    told_views: toldViews,
    told: major(toldMicros),
    reported: reportedMicros / MICROS,
    pulled: pulledMicros / MICROS,
    estimated: estimatedMicros / MICROS,
    revenue: (reportedMicros + pulledMicros + estimatedMicros) / MICROS,
    difference: major(differenceMicros),
  };
}

const MICROS = 1_000_000;

function major(micros: number | null): number | null {
  return micros === null ? null : micros / MICROS;
}
