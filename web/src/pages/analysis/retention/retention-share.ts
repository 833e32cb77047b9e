import type { RetentionGroup } from "../../../../../src/contract/analysis/retention.ts";

/** Whether a period of a cohort has begun, so that its number means something. */
export type IsBegun = (cohort: string, period: number) => boolean;

/**
 * The share of users who came back in a period, over the cohorts for which it has begun; undefined without any. Cohorts that
 * are too young would otherwise count as users who stayed away.
 */
export function shareOver({ cohorts }: Pick<RetentionGroup, "cohorts">, period: number, isBegun: IsBegun) {
  const begun = cohorts.filter(({ cohort }) => isBegun(cohort, period));
  const users = sum(begun.map((one) => one.users));
  return users === 0 ? undefined : sum(begun.map(({ returned }) => returned[period] ?? 0)) / users;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
