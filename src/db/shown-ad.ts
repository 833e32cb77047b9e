import { type Sql, sql } from "./engine/sql.ts";
import { type EventRow, eventsWith } from "./event.ts";
import { eventProperties, withOrigin } from "./event-properties.ts";
import { TOUCHED_AT } from "./user-dimension.ts";

/**
 * Shown ads with what each of them earned, of the events e for which `where` holds: whole days of users. What was pulled
 * for a row of user_ad_day goes to its ads in equal shares, and what does not divide to the first of them, as it was
 * spread. `cold`: such events that are only in the lake.
 */
export function pricedAds(appId: number, where: Sql, cold: readonly EventRow[]): Sql {
  return sql`select d.client_id, d.day, d.at_ms, d.fingerprint, d.micros,
      case when d.micros = 0 then div(a.pulled_micros, a.unpriced_count)
        + (d.place <= mod(a.pulled_micros, a.unpriced_count))::int end as pulled,
      case when d.micros = 0 and a.pulled_micros is null then e.view_micros end as estimated
    from (select s.*, row_number() over (partition by client_id, day, span_t, span_r, ad_unit, micros = 0
          order by at_ms, fingerprint) as place from (${shownAds(appId, where, cold)}) s) d
    left join user_ad_day a on a.app_id = ${appId} and a.client_id = d.client_id and a.day = d.day
      and a.span_t = d.span_t and a.span_r = d.span_r and a.ad_unit = d.ad_unit and a.unpriced_count > 0
    left join ad_ecpm e on e.app_id = ${appId} and e.ad_unit = d.ad_unit
      and e.from_day <= d.day and (e.until_day is null or e.until_day > d.day)`;
}

/** The shown ads with their spans, unit and reported revenue, as apply counts them. */
function shownAds(appId: number, where: Sql, cold: readonly EventRow[]): Sql {
  const unit = sql`${eventProperties} ->> '$ad_unit_id'`;
  const spanSince = (base: Sql) => sql`floor((e.at_ms - ${base}) / 86400000.0)::int`;
  return sql`select e.client_id, e.day, e.at_ms, e.fingerprint, ${spanSince(TOUCHED_AT)} as span_t,
      ${spanSince(sql`u.registered_at_ms`)} as span_r,
      (case when json_typeof(${eventProperties} -> '$ad_unit_id') not in ('string', 'number') or ${unit} is null then ''
        when octet_length(${unit}) > 200 then ${cutToBytes(unit)} else ${unit} end) collate "C" as ad_unit,
      case when json_typeof(${eventProperties} -> '$ecpm') = 'number'
        then round(least((${eventProperties} ->> '$ecpm')::numeric * 1000, 9007199254740991)) else 0 end::bigint as micros
    from ${eventsWith(cold)} join user_account u on u.app_id = ${appId} and u.client_id = e.client_id ${withOrigin}
    where e.app_id = ${appId} and e.type = 'track' and e.event = '$AdShow' and ${where}`;
}

/** The longest beginning of at most 200 bytes, as dimensionText cuts. A character has at most four. */
function cutToBytes(text: Sql): Sql {
  return sql`left(${text}, (select max(n) from generate_series(50, 200) n where octet_length(left(${text}, n)) <= 200))`;
}
