import type { Hours } from "../domain/calendar.ts";
import { joined, type Sql, sql } from "./engine/sql.ts";
import { eventRows } from "./hour-activity.ts";
import { refundPlace } from "./refund.ts";
import { firstRule, orderKind } from "./share-rule.ts";
import { dimensionList, type UserRange, userDimensions } from "./user-dimension.ts";
import { measures, noGaps } from "./user-measure.ts";

/**
 * What happened by the hour, in rows of one user, day and hour. Counted from the orders and events of one or two days: a
 * table of users by hours would cost every event more than these reports are worth.
 */
export function hourRows(range: UserRange, hours: Hours): Sql {
  return joined([paidRows(range, hours), ...eventRows(range)], sql` union all `);
}

/** What each user paid and got back. */
function paidRows(range: UserRange, { startsMs, untilMs }: Hours): Sql {
  const { appId, fromDay, untilDay, where = sql`true`, fine } = range;
  const [fromMs] = startsMs;
  const { day, atMs } = refundPlace(appId);
  const isWithin = (instant: Sql) => sql`${instant} >= ${fromMs}::bigint and ${instant} < ${untilMs}::bigint`;
  // The days are what refunds have indexes on.
  const isOn = (date: Sql) => sql`(${date} >= ${fromDay}::date and ${date} < ${untilDay}::date)`;
  const isFirst = sql`not exists (select 1 from orders e where e.app_id = ${appId} and e.client_id = o.client_id
    and (e.at_ms, e.trace_id) < (o.at_ms, o.trace_id))`;
  const columns = sql`client_id, day, ${dimensionList(fine)}`;
  return sql`select ${columns}, ${paidMeasures}, ${noGaps} from (
      select u.client_id, p.day, ${userDimensions(range, sql`p.at_ms`)}, p.cents, p.is_refund, p.is_first, s.share_bp
      from (
        select o.client_id, o.day, o.at_ms, o.cents, false as is_refund, ${isFirst} as is_first, ${orderKind}
        from orders o where o.app_id = ${appId} and ${isWithin(sql`o.at_ms`)}
        union all
        select r.client_id, ${day} as day, ${atMs} as at_ms, r.cents, true as is_refund, false as is_first, ${orderKind}
        from refund r join orders o on o.app_id = r.app_id and o.client_id = r.client_id and o.trace_id = r.trace_id
        where r.app_id = ${appId} and r.cents > 0 and ${isWithin(atMs)}
          and (${isOn(sql`r.day`)} or ${isOn(sql`r.order_day`)})) p
      join user_account u on u.app_id = ${appId} and u.client_id = p.client_id
      left join lateral ${firstRule(sql`p`)} s on true
      where ${where}) paid
    group by ${columns}`;
}

/** The users of the cohort `registered` alone, without what they did: a page shows them each time it is opened. */
export function registrationRows(range: UserRange): Sql {
  const { appId, fromDay, untilDay, where = sql`true` } = range;
  return sql`select u.client_id, u.registered_day as day, ${userDimensions(range, sql`u.registered_at_ms`)}, ${userCounts}, ${noGaps}
    from user_account u
    where u.app_id = ${appId} and u.registered_day >= ${fromDay}::date and u.registered_day < ${untilDay}::date and ${where}`;
}

const userCounts = measures({ users: sql`1`, real_users: sql`(not u.is_history)::int` });

const signed = sql`case when is_refund then - cents else cents end`;
const paidMeasures = measures({
  payers: sql`bool_or(not is_refund)::int`,
  first_payers: sql`bool_or(is_first)::int`,
  pay_cents: sql`sum(${signed})`,
  ruled_cents: sql`sum(${signed}) filter (where share_bp is not null)`,
  share_micros: sql`sum(${signed} * share_bp)`,
  pay_count: sql`count(*) filter (where not is_refund)`,
  refund_cents: sql`sum(cents) filter (where is_refund)`,
  refund_count: sql`count(*) filter (where is_refund)`,
});
