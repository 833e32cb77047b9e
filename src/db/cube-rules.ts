import { type UserMeasure, WINDOW_DAYS } from "../domain/cube.ts";
import { identifier, listed, literal, type Sql, sql } from "./engine/sql.ts";
import { refundPlace } from "./refund.ts";
import { firstRule, orderKind } from "./share-rule.ts";

type Sums = Partial<Record<UserMeasure, Sql>>;
type Days = { appId: number; fromDay: string; untilDay: string };

/** How the cube counts payments to which a share rule applies. Shares in ten-thousandths of cents are millionths. */
const [RULED, SHARE] = [sql`sum_bigint(d.cents)`, sql`sum_bigint(d.cents * d.share_bp)`];

/** The measures of one row d for each payment. `span`: the whole spans of 24 hours from the base to the payment. */
export function ruledSums(span: Sql): Sql {
  const windows = WINDOW_DAYS.flatMap((days) => {
    const within = sql`filter (where ${span} >= 0 and ${span} < ${literal(days)})`;
    return [
      sql`${RULED} ${within} as ${identifier(`ruled_s${days}`)}`,
      sql`${SHARE} ${within} as ${identifier(`share_s${days}`)}`,
    ];
  });
  return listed([sql`${RULED} as ruled_cents`, sql`${SHARE} as share_micros`, ...windows]);
}

const ofUser = (names: readonly UserMeasure[]): Sums =>
  Object.fromEntries(names.map((name) => [name, sql`s.${identifier(name)}`]));

/** The measures of a user, which come as one row s beside all days: within windows, and in all. */
export const ruledInWindows = ofUser(WINDOW_DAYS.flatMap((days) => [`ruled_s${days}`, `share_s${days}`] as const));
export const ruledInAll = ofUser(["ruled_cents", "share_micros"]);

/** The measures of the payments x of a user's day, each with its share s. */
export const ruledOfDay: Sums = {
  ruled_cents: sql`sum_bigint(x.cents)`,
  share_micros: sql`sum_bigint(x.cents * s.share_bp)`,
};

/** The payments of the user u to which a rule applies, as the table d. A refund goes by the rule of its order. */
export function ruledPaymentsOf(appId: number): Sql {
  const { atMs } = refundPlace(appId);
  return sql`(select x.cents, x.at_ms, s.share_bp from (
      select o.cents, o.at_ms, ${orderKind} from orders o where o.app_id = ${appId} and o.client_id = u.client_id
      union all
      select - r.cents, ${atMs}, ${orderKind} from ${refundsWithOrders}
      where r.app_id = ${appId} and r.client_id = u.client_id and r.cents > 0) x
    cross join lateral ${firstRule(sql`x`)} s) d`;
}

const refundsWithOrders = sql`refund r
  join orders o on o.app_id = r.app_id and o.client_id = r.client_id and o.trace_id = r.trace_id`;

/** The payments that count on these days, as the table x. The days of users are what leads to orders by day. */
export function paymentsOnDays({ appId, fromDay, untilDay }: Days): Sql {
  const isWithin = (day: Sql) => sql`${day} >= ${fromDay}::date and ${day} < ${untilDay}::date`;
  const { day } = refundPlace(appId);
  return sql`(select o.app_id, o.client_id, o.cents, o.day, ${orderKind} from (
        select distinct app_id, client_id, day from user_day
        where app_id = ${appId} and ${isWithin(sql`day`)} and pay_count > 0) d
      join orders o on o.app_id = ${appId} and o.client_id = d.client_id and o.day = d.day
      union all
      select r.app_id, r.client_id, - r.cents, ${day}, ${orderKind} from ${refundsWithOrders}
      where r.app_id = ${appId} and r.cents > 0 and (${isWithin(sql`r.day`)} or ${isWithin(sql`r.order_day`)})
        and ${isWithin(sql`(${day})`)}) x`;
}
