import { LIMITS } from "../config.ts";
import type { CostAccount } from "../db/cost-pull.ts";
import { calendarOf, daysBetween } from "../domain/calendar.ts";
import { newestSettledDay } from "../domain/cost-schedule.ts";
import type { AccountPull, PullPlan } from "./account-pull.ts";

/** What came of pulling an account, as people and programs are shown it. Money is in major units of the app's currency. */
export function pullRecord({ adPlatform, advertiserId, days, rows, costE4, error }: AccountPull) {
  return { ad_platform: adPlatform, advertiser_id: advertiserId, days, rows, cost: costE4 / 10_000, error };
}

/** How far an account is pulled. The empty text where there is nothing to tell; times are those of the app's zone. */
export function statusRecord({ adPlatform, advertiserId, timeZone, error, state }: CostAccount) {
  const calendar = calendarOf(timeZone);
  const pulledAtMs = Math.max(0, ...state.pulledAtMs.values());
  return {
    ad_platform: adPlatform,
    advertiser_id: advertiserId,
    last_pull: pulledAtMs === 0 ? "" : calendar.textOf(pulledAtMs),
    last_attempt: state.attemptedAtMs === null ? "" : calendar.textOf(state.attemptedAtMs),
    settled_until: newestSettledDay(state, calendar) ?? "",
    failures: state.failures,
    error,
  };
}

/** Which of the accounts are meant; the empty text means any. */
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

/** The days that somebody asks for, both ends included; without any, all that are not settled. */
export function askedDays(
  { from, to }: { from: string | undefined; to: string | undefined },
  today: string,
): AskedDays {
  if (from === undefined && to === undefined) return { kind: "open" };
  if (from === undefined || to === undefined) return { kind: "wrong", problem: "from and to belong together." };
  if (to < from) return { kind: "wrong", problem: "to lies before from." };
  if (to > today) return { kind: "wrong", problem: "to lies in the future." };
  if (daysBetween(from, to) >= LIMITS.costDays) {
    return { kind: "wrong", problem: `At most ${LIMITS.costDays} days are pulled at once.` };
  }
  return { kind: "range", fromDay: from, toDay: to };
}
