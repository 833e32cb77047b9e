import type { UserMeasure } from "../domain/cube.ts";
import { REFUND_EVENT } from "../domain/refund.ts";
import { type Sql, sql } from "./engine/sql.ts";
import { eventsWith } from "./event.ts";
import { pricedAds } from "./shown-ad.ts";
import { dimensionList, type UserRange, userDimensions } from "./user-dimension.ts";
import { measures, noGaps } from "./user-measure.ts";

/** Measures that come from the events of a day, and are there by the hour as long as these are kept. */
const ACTIVITY: readonly UserMeasure[] = ["active_users", "register_users"];
const ADS: readonly UserMeasure[] = [
  ...(["ad_users", "ad_count", "ad_micros"] as const),
  ...(["ad_reported_micros", "ad_pulled_micros", "ad_estimated_micros"] as const),
];

/** Whether any of the measures are counted from events when they are counted by the hour. */
export function needsEvents(wanted: readonly string[]): boolean {
  return [...ACTIVITY, ...ADS].some((name) => wanted.includes(name));
}

/**
 * What users did besides paying, one row per user, day and hour. Counted from the events of one or two days, and only if
 * asked for: there are many more of them than orders.
 */
export function eventRows(range: UserRange): Sql[] {
  const { measures: wanted = [...ACTIVITY, ...ADS] } = range;
  const isWanted = (some: readonly UserMeasure[]) => some.some((name) => wanted.includes(name));
  return [...(isWanted(ACTIVITY) ? [activityRows(range)] : []), ...(isWanted(ADS) ? [adRows(range)] : [])];
}

/** The registration is an activity, a refund is none. Registration events count once, at a user's first one. */
function activityRows(range: UserRange): Sql {
  const { appId, fromDay, untilDay, where = sql`true`, fine, cold = [] } = range;
  const isRegister = sql`e.event in ('$AppRegister', '$MPRegister')`;
  const isEarlier = sql`exists (select 1 from user_day p where p.app_id = ${appId} and p.client_id = e.client_id
    and p.day < e.day and p.register_events > 0)`;
  const columns = sql`client_id, day, ${dimensionList(fine)}`;
  return sql`select ${columns}, ${activityMeasures}, ${noGaps} from (
      select u.client_id, d.day, ${userDimensions(range, sql`d.at_ms`)}, d.is_register
      from (select e.client_id, e.day, e.at_ms, ${isRegister} and not ${isEarlier}
            and e.at_ms = min(case when ${isRegister} then e.at_ms end) over (partition by e.client_id, e.day) as is_register
          from ${eventsWith(cold)} where e.app_id = ${appId} and e.day >= ${fromDay}::date and e.day < ${untilDay}::date
            and e.type = 'track' and e.event <> ${REFUND_EVENT}
        union all
        select client_id, registered_day, registered_at_ms, false from user_account
        where app_id = ${appId} and registered_day >= ${fromDay}::date and registered_day < ${untilDay}::date) d
      join user_account u on u.app_id = ${appId} and u.client_id = d.client_id
      where ${where}) done
    group by ${columns}`;
}

const activityMeasures = measures({ active_users: sql`1`, register_users: sql`bool_or(is_register)::int` });

/** The ads with what each of them earned. */
function adRows(range: UserRange): Sql {
  const { appId, fromDay, untilDay, where = sql`true`, fine, cold = [] } = range;
  const columns = sql`client_id, day, ${dimensionList(fine)}`;
  const onDays = sql`e.day >= ${fromDay}::date and e.day < ${untilDay}::date`;
  return sql`select ${columns}, ${adMeasures}, ${noGaps} from (
      select u.client_id, d.day, ${userDimensions(range, sql`d.at_ms`)}, d.micros, d.pulled, d.estimated
      from (${pricedAds(appId, onDays, cold)}) d
      join user_account u on u.app_id = ${appId} and u.client_id = d.client_id
      where ${where}) shown
    group by ${columns}`;
}

const earned = sql`micros + coalesce(pulled, 0) + coalesce(estimated, 0)`;
const adMeasures = measures({
  ad_users: sql`1`,
  ad_count: sql`count(*)`,
  ad_micros: sql`sum(${earned})`,
  ad_reported_micros: sql`sum(micros)`,
  ad_pulled_micros: sql`sum(pulled)`,
  ad_estimated_micros: sql`sum(estimated)`,
});
