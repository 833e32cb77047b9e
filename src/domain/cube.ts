import { LIMITS } from "../limits.ts";
import { cutToBytes } from "./json.ts";

/**
 * The days by which the cube counts a user: of the touch, of the registration, or of the activity. The cube holds sums
 * by the user's own dimensions; every metric of the ad report is made of these sums.
 */
export const COHORTS = ["touch", "registered", "occurred"] as const;
export type Cohort = (typeof COHORTS)[number];

/** An app's day in one cohort, the unit of recounting. */
export type Slice = { appId: number; cohort: Cohort; day: string };

/** The dimensions of users and cost rows, by column name. Operator and department follow from them. */
export const CUBE_DIMENSIONS = [
  ...["ad_platform", "advertiser_id", "gid", "aid", "channel", "os_platform", "csite", "turbo_promoted_object_id"],
] as const;

/**
 * Dimensions that are finer than the cube, which would grow by them for everybody. A report that names one is counted
 * from the users themselves.
 */
export const FINE_DIMENSIONS = ["creative", "hour"] as const;
export type FineDimension = (typeof FINE_DIMENSIONS)[number];

/** The dimensions by which a report can be filtered. */
export const FILTER_DIMENSIONS = [...CUBE_DIMENSIONS, "creative"] as const;
export type FilterDimension = (typeof FILTER_DIMENSIONS)[number];

/**
 * A value of a dimension, as reports group by it. Ids and channels come from outside and can have any length, so a
 * value too long for an index is cut. The whole value stays in the user's ad_data.
 */
export function dimensionText(text: string): string {
  return cutToBytes(text, LIMITS.dimensionBytes);
}

/** Windows after the touch or the registration, in days or spans of 24 hours, that sum payments and ad revenue. */
export const WINDOW_DAYS = [1, 3, 7, 14, 30] as const;
export type WindowDays = (typeof WINDOW_DAYS)[number];

/** Days after the registration day for which retention is counted. */
export const RETENTION_DAYS = [1, 2, 3, 4, 5, 6, 7, 14, 30] as const;
export type RetentionDays = (typeof RETENTION_DAYS)[number];

/** From this many days after the registration day on, every window is closed, even across clock changes. */
export const COHORT_DAYS = 31;

/** Counted by calendar days, or by spans of 24 hours. */
export type WindowModel = "d" | "s";
type WindowMeasure = `${"pay" | "ad"}_${WindowModel}${WindowDays}`;
/** Payments to which a share rule applies, and what is left of them, in spans of 24 hours: days have no share. */
type RuledMeasure = `${"ruled" | "share"}_s${WindowDays}`;
type RetentionMeasure = `kept_${RetentionDays}`;

export type UserMeasure =
  | "users"
  | "real_users"
  | "register_users"
  | "active_users"
  | "payers"
  | "first_payers"
  | "ad_users"
  | "pay_cents"
  | "pay_count"
  | "ad_micros"
  | "ad_count"
  | WindowMeasure
  | RetentionMeasure
  | RuledMeasure
  | "ruled_cents"
  | "share_micros"
  | "postbacks"
  | "postback_cents"
  | "refund_cents"
  | "refund_count"
  | "ad_reported_micros"
  | "ad_pulled_micros"
  | "ad_estimated_micros";

export type CostMeasure = "cost_e4" | "real_cost_e4" | "impressions" | "clicks";
export type Measure = UserMeasure | CostMeasure;

export const COST_MEASURES: readonly CostMeasure[] = ["cost_e4", "real_cost_e4", "impressions", "clicks"];

const windowMeasures = (["pay", "ad"] as const).flatMap((what) =>
  (["d", "s"] as const).flatMap((model) => WINDOW_DAYS.map((days): WindowMeasure => `${what}_${model}${days}`)),
);

/** The user measures in the order of the cube's columns. */
export const USER_MEASURES: readonly UserMeasure[] = [
  ...(["users", "real_users", "register_users", "active_users", "payers", "first_payers", "ad_users"] as const),
  ...(["pay_cents", "pay_count", "ad_micros", "ad_count"] as const),
  ...windowMeasures,
  ...RETENTION_DAYS.map((days): RetentionMeasure => `kept_${days}`),
  ...(["postbacks", "postback_cents", "refund_cents", "refund_count"] as const),
  ...(["ad_reported_micros", "ad_pulled_micros", "ad_estimated_micros", "ruled_cents", "share_micros"] as const),
  ...WINDOW_DAYS.flatMap((days): RuledMeasure[] => [`ruled_s${days}`, `share_s${days}`]),
];

/** The sums of one report row. An absent measure is 0. */
export type Sums = Partial<Record<Measure, number>>;

export type Caliber = "user_activated_time" | "behavior_occurred_time";
export const CALIBERS: readonly Caliber[] = ["user_activated_time", "behavior_occurred_time"];

/** The cohorts that a caliber adds up. Their measures do not overlap. */
export const COHORTS_OF: Readonly<Record<Caliber, readonly Cohort[]>> = {
  user_activated_time: ["touch"],
  behavior_occurred_time: ["registered", "occurred"],
};

/** Measures that count each user once per day. Days of `occurred` cannot be added up: a user may be in each. */
export const DISTINCT_MEASURES = ["active_users", "payers", "ad_users"] as const;
export type DistinctMeasure = (typeof DISTINCT_MEASURES)[number];
