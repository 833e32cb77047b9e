import type { CostAccount, PulledDay } from "../db/cost-pull.ts";
import { calendarOf, daysBetween } from "../domain/calendar.ts";
import { isSettled, newestSettledDay } from "../domain/cost-schedule.ts";
import { LIMITS } from "../limits.ts";
import type { AccountPull, PullPlan } from "./account-pull.ts";
import { reachOfAccount } from "./account-reach.ts";
import type { AskedPull } from "./pull-desk.ts";
import { notesOf } from "./pull-notes.ts";

/** The result of pulling an account, as shown. Money is in major units of the app's currency. */
export function pullRecord({ adPlatform, advertiserId, days, rows, costE4, error }: AccountPull) {
  return { ad_platform: adPlatform, advertiser_id: advertiserId, days, rows, cost: costE4 / 10_000, error };
}

/** How far an account has been pulled. Unknown values are empty; times are in the app's zone. */
export function statusRecord(account: CostAccount, nowMs: number) {
  const { adPlatform, advertiserId, timeZone, error, state } = account;
  const calendar = calendarOf(timeZone);
  const pulledAtMs = Math.max(0, ...[...state.pulls.values()].map(({ atMs }) => atMs));
  const reach = reachOfAccount(account, nowMs);
  return {
    ad_platform: adPlatform,
    advertiser_id: advertiserId,
    last_pull: pulledAtMs === 0 ? "" : calendar.textOf(pulledAtMs),
    last_attempt: state.attemptedAtMs === null ? "" : calendar.textOf(state.attemptedAtMs),
    settled_until: newestSettledDay(state, calendar) ?? "",
    failures: state.failures,
    error,
    reach_days: reach?.days ?? null,
    first_day: reach?.firstDay ?? "",
    notes: notesOf(account, nowMs),
  };
}

/** A pulled day of an account, with the interface's field names. A settled day is not pulled again. */
export function pulledDayRecord({ day, pulledAtMs, sameSinceMs, rows, ...money }: PulledDay, timeZone: string) {
  const calendar = calendarOf(timeZone);
  return {
    date: day,
    pulled_at: calendar.textOf(pulledAtMs),
    rows,
    cost: money.costE4 / 10_000,
    total: money.totalE4 === null ? null : money.totalE4 / 10_000,
    not_by_ad: money.notByAdE4 / 10_000,
    settled: isSettled(day, { atMs: pulledAtMs, sameSinceMs }, calendar),
  };
}

/** A requested pull, with the interface's field names. */
export function askedPullRecord(pull: AskedPull, timeZone: string) {
  const calendar = calendarOf(timeZone);
  return {
    state: pull.state,
    started_at: calendar.textOf(pull.startedAtMs),
    ended_at: pull.endedAtMs === null ? "" : calendar.textOf(pull.endedAtMs),
    days_done: pull.days.done,
    days_total: pull.days.total,
    error: pull.error,
    accounts: pull.accounts.map(pullRecord),
  };
}

/** The accounts that match; an empty text matches any. */
export function accountsOf(
  accounts: readonly CostAccount[],
  { adPlatform, advertiserId }: { adPlatform: string; advertiserId: string },
): CostAccount[] {
  return accounts.filter(
    (account) =>
      (adPlatform === "" || account.adPlatform === adPlatform) &&
      (advertiserId === "" || account.advertiserId === advertiserId),
  );
}

export type AskedDays = Exclude<PullPlan, { kind: "due" }> | { kind: "wrong"; problem: string };

/** The requested days, both ends included, or all that are not settled when none are named. */
export function askedDays(
  { from, to }: { from: string | undefined; to: string | undefined },
  today: string,
): AskedDays {
  if (from === undefined && to === undefined) return { kind: "open" };
  if (from === undefined || to === undefined) return { kind: "wrong", problem: "Give both from and to, or neither." };
  if (to < from) return { kind: "wrong", problem: "to is before from." };
  if (to > today) return { kind: "wrong", problem: "to is in the future." };
  if (daysBetween(from, to) >= LIMITS.costDays) {
    return { kind: "wrong", problem: `At most ${LIMITS.costDays} days can be pulled at once.` };
  }
  return { kind: "range", fromDay: from, toDay: to };
}

/** Why a range of days cannot be pulled for one of the accounts, or undefined when it can. */
export function beyondReach(accounts: readonly CostAccount[], fromDay: string, nowMs: number): string | undefined {
  for (const account of accounts) {
    const reach = reachOfAccount(account, nowMs);
    if (reach && fromDay < reach.firstDay) {
      return `Reports of ${reach.platform} reach back ${reach.days} days: the first day that can be pulled for account ${account.advertiserId} is ${reach.firstDay}.`;
    }
  }
  return undefined;
}
