import type { UserMeasure } from "../domain/cube.ts";
import { REFUND_EVENT } from "../domain/refund.ts";
import { type Sql, sql } from "./engine/sql.ts";
import { dimensionList, TOUCHED_AT, type UserRange, userDimensions } from "./user-dimension.ts";
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
  const { appId, fromDay, untilDay, where = sql`true`, fine } = range;
  const isRegister = sql`e.event in ('$AppRegister', '$MPRegister')`;
  const isEarlier = sql`exists (select 1 from user_day p where p.app_id = e.app_id and p.client_id = e.client_id
    and p.day < e.day and p.register_events > 0)`;
  const columns = sql`client_id, day, ${dimensionList(fine)}`;
  return sql`select ${columns}, ${activityMeasures}, ${noGaps} from (
      select u.client_id, d.day, ${userDimensions(range, sql`d.at_ms`)}, d.is_register
      from (select e.client_id, e.day, e.at_ms, ${isRegister} and not ${isEarlier}
            and e.at_ms = min(case when ${isRegister} then e.at_ms end) over (partition by e.client_id, e.day) as is_register
          from event e where e.app_id = ${appId} and e.day >= ${fromDay}::date and e.day < ${untilDay}::date
            and e.type = 'track' and e.event <> ${REFUND_EVENT}
        union all
        select client_id, registered_day, registered_at_ms, false from user_account
        where app_id = ${appId} and registered_day >= ${fromDay}::date and registered_day < ${untilDay}::date) d
      join user_account u on u.app_id = ${appId} and u.client_id = d.client_id
      where ${where}) done
    group by ${columns}`;
}

const activityMeasures = measures({ active_users: sql`1`, register_users: sql`bool_or(is_register)::int` });

/**
 * The ads with what each of them earned. What was pulled for a row of user_ad_day goes to its ads in equal shares, and
 * what does not divide to the first of them, as it was spread.
 */
function adRows(range: UserRange): Sql {
  const { appId, fromDay, untilDay, where = sql`true`, fine } = range;
  const columns = sql`client_id, day, ${dimensionList(fine)}`;
  return sql`select ${columns}, ${adMeasures}, ${noGaps} from (
      select u.client_id, d.day, ${userDimensions(range, sql`d.at_ms`)}, d.micros,
        case when d.micros = 0 then div(a.pulled_micros, a.unpriced_count)
          + (d.place <= mod(a.pulled_micros, a.unpriced_count))::int end as pulled,
        case when d.micros = 0 and a.pulled_micros is null then e.view_micros end as estimated
      from (select s.*, row_number() over (partition by client_id, day, span_t, span_r, ad_unit, micros = 0
            order by at_ms, fingerprint) as place from (${shownAds(range)}) s) d
      join user_account u on u.app_id = ${appId} and u.client_id = d.client_id
      left join user_ad_day a on a.app_id = ${appId} and a.client_id = d.client_id and a.day = d.day
        and a.span_t = d.span_t and a.span_r = d.span_r and a.ad_unit = d.ad_unit and a.unpriced_count > 0
      left join ad_ecpm e on e.app_id = ${appId} and e.ad_unit = d.ad_unit
        and e.from_day <= d.day and (e.until_day is null or e.until_day > d.day)
      where d.day >= ${fromDay}::date and d.day < ${untilDay}::date and ${where}) shown
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

/** The shown ads with their spans, unit and reported revenue, as apply counts them. */
function shownAds({ appId, fromDay, untilDay }: UserRange): Sql {
  const unit = sql`e.properties ->> '$ad_unit_id'`;
  const spanSince = (base: Sql) => sql`floor((e.at_ms - ${base}) / 86400000.0)::int`;
  return sql`select e.client_id, e.day, e.at_ms, e.fingerprint, ${spanSince(TOUCHED_AT)} as span_t,
      ${spanSince(sql`u.registered_at_ms`)} as span_r,
      (case when jsonb_typeof(e.properties -> '$ad_unit_id') not in ('string', 'number') or ${unit} is null then ''
        when octet_length(${unit}) > 200 then left(${unit}, 50) else ${unit} end) collate "C" as ad_unit,
      case when jsonb_typeof(e.properties -> '$ecpm') = 'number'
        then round(least((e.properties ->> '$ecpm')::numeric * 1000, 9007199254740991)) else 0 end::bigint as micros
    from event e join user_account u on u.app_id = e.app_id and u.client_id = e.client_id
    where e.app_id = ${appId} and e.day >= ${fromDay}::date and e.day < ${untilDay}::date
      and e.type = 'track' and e.event = '$AdShow'`;
}
