import type pg from "pg";
import { ORGANIC } from "../domain/attribution/attribution.ts";
import { addDays } from "../domain/calendar.ts";
import {
  COHORT_DAYS,
  type Cohort,
  CUBE_DIMENSIONS,
  type DistinctMeasure,
  RETENTION_DAYS,
  type Slice,
  USER_MEASURES,
  type UserMeasure,
  WINDOW_DAYS,
  type WindowModel,
} from "../domain/cube.ts";
import { shownAdvertiser } from "./ad-account.ts";
import { execute, identifier, listed, literal, type Sql, sql } from "./engine/sql.ts";
import { STATUS } from "./postback-status.ts";

/** The users and days to count; `where` is a condition on the user, aliased u. */
export type UserRange = { appId: number; fromDay: string; untilDay: string; where?: Sql };

type Sums = Partial<Record<UserMeasure, Sql>>;

/**
 * What each user contributes to a cohort: one row per user, or per user and day, with the day that counts it, the
 * user's dimensions and every measure. The cube is the sum of these rows; opening a number of a report shows them.
 */
export function userRows(cohort: Cohort, range: UserRange): Sql {
  switch (cohort) {
    case "touch":
      return touchRows(range);
    case "registered":
      return registeredRows(range);
    case "occurred":
      return occurredRows(range);
  }
}

/** The platform of the user u, as reports show it. */
export const shownPlatform = sql`case u.ad_platform when '' then ${ORGANIC} else u.ad_platform end`;

/** Dimensions whose value is not simply the user's column. */
const SHOWN: Readonly<Record<string, Sql>> = { ad_platform: shownPlatform, advertiser_id: shownAdvertiser };

/** The dimensions of the user u, under the cube's column names. */
export const userDimensions = listed(
  CUBE_DIMENSIONS.map((name) => sql`${SHOWN[name] ?? sql`u.${identifier(name)}`} as ${identifier(name)}`),
);

function measures(sums: Sums): Sql {
  return listed(USER_MEASURES.map((name) => sql`${sums[name] ?? sql`null`}::bigint as ${identifier(name)}`));
}

const dimensionList = listed(CUBE_DIMENSIONS.map(identifier));

/** Days since the user was last active, last paid or last saw an ad; distinctUsers counts by them. */
const GAPS = ["active", "pay", "ad"] as const;
const gapList = listed(GAPS.map((name) => identifier(`${name}_gap`)));
const noGaps = listed(GAPS.map((name) => sql`null::int as ${identifier(`${name}_gap`)}`));
/** The gap before the first time: longer than any range of days. */
const NEVER = literal(1_000_000);

/**
 * The number of different users in the rows c of the days from `fromDay` on: of a user's days, only the first one in
 * the range follows a gap that reaches back before the range. The gaps of a row are sorted, so counting the longer ones
 * is a search, and several days can be added up without reading users.
 */
export function distinctUsers(measure: DistinctMeasure, fromDay: string): Sql {
  const gaps = sql`c.${identifier(GAPS_OF[measure])}`;
  return sql`cardinality(${gaps}) - width_bucket(c.day - ${fromDay}::date, ${gaps})`;
}

const GAPS_OF: Readonly<Record<DistinctMeasure, string>> = {
  active_users: "active_gaps",
  payers: "pay_gaps",
  ad_users: "ad_gaps",
};

const flag = (condition: Sql): Sql => sql`(${condition})::int`;

function touchRows({ appId, fromDay, untilDay, where = sql`true` }: UserRange): Sql {
  return sql`select u.client_id, u.cohort_day as day, ${userDimensions}, ${touchMeasures}, ${noGaps}
    from user_account u
    left join user_day d on d.app_id = u.app_id and d.client_id = u.client_id
    left join lateral (
      select count(*) as postbacks, sum(p.back_cents) as postback_cents from postback p
      where p.app_id = u.app_id and p.client_id = u.client_id and p.status = ${STATUS.accepted} and ${isToPlatform}) p on true
    left join lateral (select ${touchRefunds} from ${refundsOf(appId)}) r on true
    where u.app_id = ${appId} and u.cohort_day >= ${fromDay}::date and u.cohort_day < ${untilDay}::date and ${where}
    group by u.app_id, u.client_id`;
}

/** Callbacks to the app's own systems do not count as postbacks. */
const isToPlatform = sql`left(p.event_type, 1) <> '$'`;

function registeredRows({ appId, fromDay, untilDay, where = sql`true` }: UserRange): Sql {
  return sql`select u.client_id, u.registered_day as day, ${userDimensions}, ${registeredMeasures}, ${noGaps}
    from user_account u
    left join user_day d on d.app_id = u.app_id and d.client_id = u.client_id
      and d.day <= u.registered_day + ${literal(COHORT_DAYS)}
    left join lateral (select ${registeredRefunds} from ${refundsOf(appId)}) r on true
    where u.app_id = ${appId} and u.registered_day >= ${fromDay}::date and u.registered_day < ${untilDay}::date and ${where}
    group by u.app_id, u.client_id`;
}

/** The refund r counts on the day and at the instant of its order or on its own, as the app has chosen. */
export function refundPlace(appId: number): { day: Sql; atMs: Sql } {
  const isOrder = sql`(select refunds_on = 'order' from app where app_id = ${appId})`;
  return {
    day: sql`case when ${isOrder} then r.order_day else r.day end`,
    atMs: sql`case when ${isOrder} then r.order_at_ms else r.at_ms end`,
  };
}

/** The refunds of the user u that count, each with its day and instant. */
function refundsOf(appId: number): Sql {
  const { day, atMs } = refundPlace(appId);
  return sql`(select r.cents, ${day} as day, ${atMs} as at_ms from refund r
    where r.app_id = u.app_id and r.client_id = u.client_id and r.cents > 0) d`;
}

/** Users, and what they did within their windows. Activity before the base has a negative span and is in no window. */
function cohortSums(base: Base): Sums {
  const sums: Sums = { users: sql`1`, real_users: flag(sql`not u.is_history`) };
  for (const model of ["d", "s"] as const) {
    for (const days of WINDOW_DAYS) {
      const within = sql`filter (where ${base.span} >= 0 and ${windowEnd(model, days, base)})`;
      sums[`pay_${model}${days}`] = netOf(sql`sum(d.pay_cents) ${within}`, `pay_${model}${days}`);
      sums[`ad_${model}${days}`] = sql`sum(d.ad_micros) ${within}`;
    }
  }
  for (const days of RETENTION_DAYS) {
    sums[`kept_${days}`] = flag(sql`bool_or(d.day = u.registered_day + ${literal(days)})`);
  }
  return sums;
}

/** Payments less refunds. The refunds of a user come as one row beside all days. */
function netOf(payments: Sql, refunds: string): Sql {
  return sql`coalesce(${payments}, 0) - coalesce(max(r.${identifier(refunds)}), 0)`;
}

/** The refunds of a user, in all and within each window. */
function refundSums(base: Base): Sql {
  const windows = (["d", "s"] as const).flatMap((model) =>
    WINDOW_DAYS.map((days) => {
      const within = sql`filter (where ${base.span} >= 0 and ${windowEnd(model, days, base)})`;
      return sql`sum(d.cents) ${within} as ${identifier(`pay_${model}${days}`)}`;
    }),
  );
  return listed([sql`sum(d.cents) as refund_cents`, sql`count(*) as refund_count`, ...windows]);
}

/** Where windows begin: the day, and the number of whole spans of 24 hours from then to the row d. */
type Base = { cohortDay: Sql; span: Sql };

const spanFrom = (baseMs: Sql): Sql => sql`floor((d.at_ms - ${baseMs}) / 86400000.0)`;

function windowEnd(model: WindowModel, days: number, base: Base): Sql {
  return model === "d" ? sql`d.day < ${base.cohortDay} + ${literal(days)}` : sql`${base.span} < ${literal(days)}`;
}

// Made once: a statement of some hundred measures takes longer to put together than to send.
const touchRefunds = refundSums({
  cohortDay: sql`u.cohort_day`,
  span: spanFrom(sql`coalesce(u.touched_at_ms, u.registered_at_ms)`),
});
const registeredRefunds = refundSums({
  cohortDay: sql`u.registered_day`,
  span: spanFrom(sql`u.registered_at_ms`),
});
const touchMeasures = measures({
  ...cohortSums({ cohortDay: sql`u.cohort_day`, span: sql`d.span_t` }),
  register_users: flag(sql`bool_or(d.register_events > 0)`),
  active_users: flag(sql`count(d.day) > 0`),
  payers: flag(sql`bool_or(d.pay_count > 0)`),
  first_payers: flag(sql`bool_or(d.pay_count > 0)`),
  ad_users: flag(sql`bool_or(d.ad_count > 0)`),
  pay_cents: netOf(sql`sum(d.pay_cents)`, "refund_cents"),
  pay_count: sql`sum(d.pay_count)`,
  refund_cents: sql`max(r.refund_cents)`,
  refund_count: sql`max(r.refund_count)`,
  ad_micros: sql`sum(d.ad_micros)`,
  ad_count: sql`sum(d.ad_count)`,
  postbacks: sql`max(p.postbacks)`,
  postback_cents: sql`max(p.postback_cents)`,
});
const registeredMeasures = measures(cohortSums({ cohortDay: sql`u.registered_day`, span: sql`d.span_r` }));

/** What happened on a day. First payers and first registration events count on the day of a user's first one. */
function occurredRows({ appId, fromDay, untilDay, where = sql`true` }: UserRange): Sql {
  const lastDay = (condition: Sql) => sql`(select max(e.day) from user_day e
    where e.app_id = u.app_id and e.client_id = u.client_id and e.day < d.day and ${condition})`;
  // The previous row nearly always gives the answer; only otherwise are the days before it searched.
  const gap = (has: Sql, before: Sql, condition: Sql) => sql`case when not ${has} then null
    when min(before.day) is null then ${NEVER} when bool_or(${before}) then d.day - min(before.day)
    else coalesce(d.day - ${lastDay(condition)}, ${NEVER}) end`;
  return sql`select client_id, day, ${dimensionList}, ${activityMeasures}, ${gapList} from (
      select u.client_id, d.day, ${userDimensions}, sum(d.pay_cents) as pay_cents, sum(d.pay_count) as pay_count,
        sum(d.ad_micros) as ad_micros, sum(d.ad_count) as ad_count,
        coalesce(d.day - min(before.day), ${NEVER}) as active_gap,
        ${gap(sql`sum(d.pay_count) > 0`, sql`before.pay_count > 0`, sql`e.pay_count > 0`)} as pay_gap,
        ${gap(sql`sum(d.ad_count) > 0`, sql`before.ad_count > 0`, sql`e.ad_count > 0`)} as ad_gap,
        ${gap(sql`sum(d.register_events) > 0`, sql`before.register_events > 0`, sql`e.register_events > 0`)} as register_gap
      from user_day d join user_account u on u.app_id = d.app_id and u.client_id = d.client_id
      left join lateral (
        select e.day, e.pay_count, e.ad_count, e.register_events from user_day e
        where e.app_id = d.app_id and e.client_id = d.client_id and e.day < d.day
        order by e.day desc, e.span_t desc, e.span_r desc limit 1) before on true
      where d.app_id = ${appId} and d.day >= ${fromDay}::date and d.day < ${untilDay}::date and ${where}
      group by u.app_id, u.client_id, d.day) activity
    union all
    select u.client_id, p.accepted_day as day, ${userDimensions}, ${postbackMeasures}, ${noGaps}
    from postback p join user_account u on u.app_id = p.app_id and u.client_id = p.client_id
    where p.app_id = ${appId} and p.status = ${STATUS.accepted} and ${isToPlatform} and p.accepted_day >= ${fromDay}::date and p.accepted_day < ${untilDay}::date
      and ${where}
    group by u.app_id, u.client_id, p.accepted_day
    union all
    select u.client_id, r.counted_day as day, ${userDimensions}, ${refundMeasures}, ${noGaps}
    from (select r.*, ${refundPlace(appId).day} as counted_day from refund r where r.app_id = ${appId} and r.cents > 0
        and ((r.day >= ${fromDay}::date and r.day < ${untilDay}::date) or (r.order_day >= ${fromDay}::date and r.order_day < ${untilDay}::date))) r
    join user_account u on u.app_id = r.app_id and u.client_id = r.client_id
    where r.counted_day >= ${fromDay}::date and r.counted_day < ${untilDay}::date and ${where}
    group by u.app_id, u.client_id, r.counted_day`;
}

const activityMeasures = measures({
  active_users: sql`1`,
  register_users: sql`(register_gap = ${NEVER})::int`,
  payers: sql`(pay_gap is not null)::int`,
  first_payers: sql`(pay_gap = ${NEVER})::int`,
  ad_users: sql`(ad_gap is not null)::int`,
  pay_cents: sql`pay_cents`,
  pay_count: sql`pay_count`,
  ad_micros: sql`ad_micros`,
  ad_count: sql`ad_count`,
});
const refundMeasures = measures({
  pay_cents: sql`- sum(r.cents)`,
  refund_cents: sql`sum(r.cents)`,
  refund_count: sql`count(*)`,
});
const postbackMeasures = measures({ postbacks: sql`count(*)`, postback_cents: sql`sum(p.back_cents)` });

/** The user rows added up, in the columns of the cube. */
export function cubeRows(cohort: Cohort, range: UserRange): Sql {
  return sql`select day, ${dimensionList}, ${shownColumns} from (
      select day, ${dimensionList}, ${summedColumns[cohort]}
      from (${userRows(cohort, range)}) user_row group by day, ${dimensionList}) summed`;
}

const noLists = listed(GAPS.map((name) => sql`null::int[] as ${identifier(`${name}_gaps`)}`));

const isCohort = (name: UserMeasure) => /^(?:users|real_users|kept_\d+|(?:pay|ad)_[ds]\d+)$/.test(name);

/** Which measures a cohort has. */
const HAS: Readonly<Record<Cohort, (name: UserMeasure) => boolean>> = {
  touch: () => true,
  registered: isCohort,
  occurred: (name) => !isCohort(name),
};

function sumsOf(cohort: Cohort): Sql {
  const sums = USER_MEASURES.map((name) => {
    const column = identifier(name);
    // A measure that the cohort does not have is not summed: that would take longer than all the rest.
    return HAS[cohort](name) ? sql`nullif(sum(${column}), 0)::bigint as ${column}` : sql`null::bigint as ${column}`;
  });
  const gaps = GAPS.map((name) => {
    const gap = identifier(`${name}_gap`);
    return sql`array_agg(${gap}) filter (where ${gap} is not null) as ${identifier(`${name}_gaps`)}`;
  });
  return listed([...sums, ...(cohort === "occurred" ? gaps : [noLists])]);
}

const summedColumns: Readonly<Record<Cohort, Sql>> = {
  touch: sumsOf("touch"),
  registered: sumsOf("registered"),
  occurred: sumsOf("occurred"),
};

/** Gaps are sorted only here: an order within the aggregate would first sort all users by all their dimensions. */
const shownColumns = listed([
  ...USER_MEASURES.map(identifier),
  ...GAPS.map((name) => {
    const all = identifier(`${name}_gaps`);
    return sql`(select array_agg(gap order by gap) from unnest(${all}) gap) as ${all}`;
  }),
]);

const cubeColumns = listed([...USER_MEASURES, ...GAPS.map((name) => `${name}_gaps`)].map(identifier));

/** Recounts a whole slice. */
export async function replaceSlice(tx: pg.PoolClient, { appId, cohort, day }: Slice): Promise<void> {
  await execute(tx, sql`delete from cube where app_id = ${appId} and cohort = ${cohort} and day = ${day}::date`);
  await execute(
    tx,
    sql`insert into cube (app_id, cohort, day, ${dimensionList}, ${cubeColumns})
      select ${appId}::int, ${cohort}, slice.* from (${cubeRows(cohort, { appId, fromDay: day, untilDay: addDays(day, 1) })}) slice`,
    // Planning it takes four times as long as counting a small slice: 5.5 ms of the database's time, 1.4 ms with a name.
    `slice_${cohort}`,
  );
}
