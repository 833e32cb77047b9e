import { type Base, windowSums } from "./cohort-window.ts";
import { identifier, listed, type Sql, sql } from "./engine/sql.ts";

/**
 * What ads earned of which the client does not know it: by user, unit, day and spans, of the rows a of user_ad_day for
 * which `where` holds. Estimates are computed here, so that a change of an eCPM needs no change of the rows.
 */
export function unpricedRevenue(where: Sql): Sql {
  return sql`select a.app_id, a.client_id, a.day, a.span_t, a.span_r, a.pulled_micros,
      case when a.pulled_micros is null then a.unpriced_count * e.view_micros end as estimated_micros
    from user_ad_day a left join ad_ecpm e on e.app_id = a.app_id and e.ad_unit = a.ad_unit
      and e.from_day <= a.day and (e.until_day is null or e.until_day > a.day)
    where a.unpriced_count > 0 and ${where}`;
}

/** What the platform told of the row d, else the estimate. */
const micros = sql`coalesce(d.pulled_micros, d.estimated_micros)`;

/** The measures of the rows d. */
export const UNPRICED = {
  ad_micros: sql`sum_bigint(${micros})`,
  ad_pulled_micros: sql`sum_bigint(d.pulled_micros)`,
  ad_estimated_micros: sql`sum_bigint(d.estimated_micros)`,
};

/** One row beside all days of the user u: the sums, in all and within each window. */
export function unpricedSums(base: Base): Sql {
  const all = Object.entries(UNPRICED).map(([name, sum]) => sql`${sum} as ${identifier(name)}`);
  return listed([...all, ...windowSums("ad", micros, base)]);
}

/** The rows d of the user u of an app. */
export function unpricedOfUser(appId: Sql): Sql {
  return sql`(${unpricedRevenue(sql`a.app_id = ${appId} and a.client_id = u.client_id`)}) d`;
}
