import { LIMITS } from "../limits.ts";
import { cutToBytes } from "./json.ts";

/**
 * What the ad report adds up. The cube holds sums by the dimensions that a user has of his own; each metric of the
 * catalogue is made of these sums.
 */
export const PLACEMENTS = ["touch", "registered", "occurred"] as const;
export type Placement = (typeof PLACEMENTS)[number];

/** A day of an app, as one placement sees it: what is counted anew as a whole. */
export type Slice = { appId: number; placement: Placement; day: string };

/** The dimensions of a user, and of a cost row, by the names of their columns. Operator and department follow from them. */
export const CUBE_DIMENSIONS = [
  ...["ad_platform", "advertiser_id", "gid", "aid", "channel", "os_platform", "csite", "turbo_promoted_object_id"],
] as const;

/**
 * A value of a dimension, as reports group by it. Ids and channels come from outside and are as long as they like; a
 * value that no index could hold is cut. What was sent stays whole beside it, in the user's ad_data.
 */
export function dimensionText(text: string): string {
  return cutToBytes(text, LIMITS.dimensionBytes);
}

/** Days, or spans of 24 hours, in which payments and ad revenue are counted from the touch or the registration. */
export const WINDOW_DAYS = [1, 3, 7, 14, 30] as const;
export type WindowDays = (typeof WINDOW_DAYS)[number];

/** Days after that of the registration on which a user may be active again. */
export const RETENTION_DAYS = [1, 2, 3, 4, 5, 6, 7, 14, 30] as const;
export type RetentionDays = (typeof RETENTION_DAYS)[number];

/** So many days after that of the registration, no window is open any more, not even where clocks change. */
export const COHORT_DAYS = 31;

/** Counted by calendar days, or by spans of 24 hours. */
export type WindowModel = "d" | "s";
type WindowMeasure = `${"pay" | "ad"}_${WindowModel}${WindowDays}`;
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
  | "postbacks"
  | "postback_cents";

export type CostMeasure = "cost_e4" | "impressions" | "clicks";
export type Measure = UserMeasure | CostMeasure;

export const COST_MEASURES: readonly CostMeasure[] = ["cost_e4", "impressions", "clicks"];

const windowMeasures = (["pay", "ad"] as const).flatMap((what) =>
  (["d", "s"] as const).flatMap((model) => WINDOW_DAYS.map((days): WindowMeasure => `${what}_${model}${days}`)),
);

/** In the order of the cube's columns. */
export const USER_MEASURES: readonly UserMeasure[] = [
  ...(["users", "real_users", "register_users", "active_users", "payers", "first_payers", "ad_users"] as const),
  ...(["pay_cents", "pay_count", "ad_micros", "ad_count"] as const),
  ...windowMeasures,
  ...RETENTION_DAYS.map((days): RetentionMeasure => `kept_${days}`),
  ...(["postbacks", "postback_cents"] as const),
];

/** Sums of one row of a report. A measure that is not there is 0. */
export type Sums = Partial<Record<Measure, number>>;

export type Caliber = "user_activated_time" | "behavior_occurred_time";
export const CALIBERS: readonly Caliber[] = ["user_activated_time", "behavior_occurred_time"];

/** The placements that a caliber adds up. Their measures do not overlap. */
export const PLACEMENTS_OF: Readonly<Record<Caliber, readonly Placement[]>> = {
  user_activated_time: ["touch"],
  behavior_occurred_time: ["registered", "occurred"],
};

/** Users of a day, each once. Over several days of `occurred` they cannot be added: the same user may be in each. */
export const DISTINCT_MEASURES = ["active_users", "payers", "ad_users"] as const;
export type DistinctMeasure = (typeof DISTINCT_MEASURES)[number];
