import type { CostAccount } from "../db/cost-pull.ts";
import { addDays, calendarOf } from "../domain/calendar.ts";
import { leftDays, openDays, SCHEDULED_DAYS } from "../domain/cost-schedule.ts";
import { reachOfAccount, scheduleOf } from "./account-reach.ts";

/** From so many failures in a row on, an account is tried every hour. */
const LASTING_FAILURES = 3;
/** Days that a sentence lists one by one. */
const DAYS_LISTED = 3;

/** What is to be known about an account's costs, one sentence each: days that never settle, or that do not add up. */
export function notesOf(account: CostAccount, nowMs: number): string[] {
  return [...unsettledNotes(account, nowMs), ...exceedingNotes(account, nowMs)];
}

function unsettledNotes(account: CostAccount, nowMs: number): string[] {
  const { state, timeZone } = account;
  const at = scheduleOf(account, nowMs);
  const reach = reachOfAccount(account, nowMs);
  const left = leftDays(state, at);
  const notes: string[] = [];
  if (left.lost.length > 0 && reach) {
    notes.push(
      `${spanOf(left.lost)} can never be settled: reports of ${reach.platform} reach back ${reach.days} days, to ${reach.firstDay}.`,
    );
  }
  if (left.onRequest.length > 0) {
    notes.push(
      `${spanOf(left.onRequest)} will not be settled by schedule, which goes back ${SCHEDULED_DAYS} days: pull them by hand.`,
    );
  }
  if (state.failures >= LASTING_FAILURES) {
    const pulledAtMs = Math.max(0, ...[...state.pulls.values()].map(({ atMs }) => atMs));
    const last =
      pulledAtMs === 0 ? "nothing was ever pulled" : `the last pull was ${calendarOf(timeZone).textOf(pulledAtMs)}`;
    const oldest = openDays(state, at).at(-1);
    const until =
      reach && oldest
        ? ` From ${addDays(oldest, reach.days)} on, ${oldest} is beyond the reach of ${reach.platform}.`
        : "";
    notes.push(`No day settles as long as pulls fail: ${state.failures} have failed in a row, and ${last}.${until}`);
  }
  return notes;
}

/** Today still grows while it is being read, so that only days that have ended count. */
function exceedingNotes({ exceeding, timeZone }: CostAccount, nowMs: number): string[] {
  const today = calendarOf(timeZone).dayOf(nowMs);
  const ended = exceeding.filter(({ day }) => day < today).reverse();
  const listed = ended
    .slice(0, DAYS_LISTED)
    .map(
      ({ day, costE4, totalE4 }) =>
        `The ads of ${day} add up to ${amountOf(costE4)}, which is ${amountOf(costE4 - totalE4)} more than the account's total of ${amountOf(totalE4)}; the rows are kept as the platform sent them.`,
    );
  const more = ended.length - listed.length;
  return more > 0 ? [...listed, `The same holds for ${more} earlier ${more === 1 ? "day" : "days"}.`] : listed;
}

/** Days, given newest first, in words. */
function spanOf(days: readonly string[]): string {
  return days.length === 1 ? days[0]! : `${days.length} days from ${days.at(-1)} to ${days[0]}`;
}

/** An amount in major units, with as many decimals as it needs, but at least two. */
function amountOf(e4: number): string {
  const digits = String(Math.abs(e4)).padStart(5, "0");
  const text = `${e4 < 0 ? "-" : ""}${digits.slice(0, -4)}.${digits.slice(-4)}`;
  return text.replace(/0{1,2}$/, "");
}
