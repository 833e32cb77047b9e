import { LIMITS } from "../../limits.ts";

/**
 * Moments that every app has, besides `retention_<n>` (the first activity n days after registration) and
 * `event:<name>`.
 */
export const PRESET_MOMENTS = [
  "activate",
  "register",
  "pay",
  "first_pay",
  "first_day_pay",
  "ad_view",
  "each_ad",
  "return",
] as const;

/** An ad that the user has seen: with the revenue of all ads so far, and on its own with its own revenue. */
export const AD_MOMENTS: readonly string[] = ["ad_view", "each_ad"];

const RETENTION = /^retention_([1-9]\d{0,2})$/;
const OWN_EVENT = /^event:([A-Za-z$][A-Za-z0-9_$]{0,49})$/;

export function isMoment(text: string): boolean {
  if ((PRESET_MOMENTS as readonly string[]).includes(text) || OWN_EVENT.test(text)) return true;
  return (retentionDaysOf(text) ?? Number.POSITIVE_INFINITY) <= LIMITS.retentionDays;
}

/** Moments that have an amount and a count. */
export const COUNTED_MOMENTS: readonly string[] = ["pay", "first_pay", "first_day_pay", ...AD_MOMENTS];

/** The days after which a retention moment fires; undefined for every other moment. */
export function retentionDaysOf(moment: string): number | undefined {
  const days = RETENTION.exec(moment)?.[1];
  return days === undefined ? undefined : Number(days);
}

export function ownEventOf(moment: string): string | undefined {
  return OWN_EVENT.exec(moment)?.[1];
}
