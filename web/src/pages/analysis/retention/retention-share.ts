import type { RetentionGroup } from "../../../../../src/contract/analysis/retention.ts";

/** Whether a period of a cohort has begun, so that its number means something. */
export type IsBegun = (cohort: string, period: number) => boolean;
type Cohort = RetentionGroup["cohorts"][number];

/**
 * A figure per user in a period, over the cohorts for which it has begun; undefined without any. Cohorts that are too young
 * would otherwise count as users who stayed away.
 */
export type Over = (group: { cohorts: readonly Cohort[] }, period: number, isBegun: IsBegun) => number | undefined;

/** The share of users who came back in a period. */
export const shareOver: Over = ({ cohorts }, period, isBegun) =>
  perUser(begun(cohorts, period, isBegun), ({ returned }) => returned[period] ?? 0);

/** The value of all periods up to this one by the number of users. */
export const valueOver: Over = ({ cohorts }, period, isBegun) =>
  perUser(begun(cohorts, period, isBegun), ({ values = [] }) => sum(values.slice(0, period + 1)));

function begun(cohorts: readonly Cohort[], period: number, isBegun: IsBegun): Cohort[] {
  return cohorts.filter(({ cohort }) => isBegun(cohort, period));
}

function perUser(cohorts: readonly Cohort[], of: (cohort: Cohort) => number): number | undefined {
  const users = sum(cohorts.map((one) => one.users));
  return users === 0 ? undefined : sum(cohorts.map(of)) / users;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
