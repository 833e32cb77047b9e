import { type Calendar, daysBetween } from "../domain/calendar.ts";
import { microsOfEcpm } from "../domain/money.ts";
import type { PostbackBook } from "../domain/postback/postback-book.ts";
import {
  adMoments,
  eventMoment,
  orderMoments,
  registrationMoments,
  retentionMoment,
  returnMoment,
} from "../domain/postback/postback-moment.ts";
import type { Occurrence } from "../domain/postback/postback-rule.ts";
import type { Executor } from "./engine/sql.ts";
import type { EventRow } from "./event.ts";
import { ALL_DAYS, type DayRange, loadFirstActivities, loadPastEvents, loadPastOrders } from "./postback-history.ts";
import type { UserAccount } from "./user-account.ts";

export type UserMoment = { user: UserAccount; occurrence: Occurrence };

/** The moments that an app's rules need. */
type Wanted = Pick<PostbackBook, "events" | "retentionDays" | "hasAdViews">;

/**
 * All moments of one app's users that its rules need, rebuilt from the tables. `days` limits the work: of data recorded
 * by day, only these days are loaded. `cold`: the users' track events that are only in the lake.
 */
export async function loadPastMoments(
  executor: Executor,
  users: readonly UserAccount[],
  wish: { book: Wanted; calendar: Calendar; days?: DayRange; cold?: readonly EventRow[] },
): Promise<UserMoment[]> {
  const { book, calendar, days = ALL_DAYS, cold = [] } = wish;
  const live = users.filter((user) => !user.isHistory);
  if (live.length === 0) return [];
  const byId = new Map(live.map((user) => [user.clientId, user]));
  const moments: UserMoment[] = live.flatMap((user) =>
    arrivalMoments(user, calendar).map((occurrence) => ({ user, occurrence })),
  );
  for (const order of await loadPastOrders(executor, live)) {
    const user = byId.get(order.clientId)!;
    moments.push(...orderMoments(order, user.registeredDay).map((occurrence) => ({ user, occurrence })));
  }
  if (book.retentionDays.size > 0) {
    for (const first of await loadFirstActivities(executor, live, { daysAfter: [...book.retentionDays], days, cold })) {
      const user = byId.get(first.clientId)!;
      moments.push({ user, occurrence: retentionMoment(first, daysBetween(user.registeredDay, first.day)) });
    }
  }
  const names = [...book.events, ...(book.hasAdViews ? ["$AdShow"] : [])];
  if (names.length > 0) moments.push(...(await eventMoments(executor, byId, { names, book, days, cold })));
  return moments;
}

function arrivalMoments(user: UserAccount, calendar: Calendar): Occurrence[] {
  if (!user.isRegistered) return [];
  const at = { atMs: user.registeredAtMs, day: user.registeredDay, receivedAtMs: user.registrationReceivedAtMs };
  const { returned } = user;
  if (!returned || returned.number === 0) return registrationMoments(at);
  const { atMs } = returned;
  return [...registrationMoments(at), returnMoment({ atMs, day: calendar.dayOf(atMs), receivedAtMs: atMs })];
}

async function eventMoments(
  executor: Executor,
  byId: ReadonlyMap<string, UserAccount>,
  { names, book, days, cold }: { names: readonly string[]; book: Wanted; days: DayRange; cold: readonly EventRow[] },
): Promise<UserMoment[]> {
  const moments: UserMoment[] = [];
  const seen = new Map<string, { count: number; micros: number }>();
  // Ad views are counted from the user's first one, so all days are needed.
  const range = book.hasAdViews ? { ...days, fromDay: ALL_DAYS.fromDay } : days;
  for (const past of await loadPastEvents(executor, [...byId.values()], { names, days: range, cold })) {
    const user = byId.get(past.clientId)!;
    const { event: name, properties } = past;
    if (book.events.has(name)) moments.push({ user, occurrence: eventMoment(past, { name, properties }) });
    if (name !== "$AdShow") continue;
    const before = seen.get(user.clientId) ?? { count: 0, micros: 0 };
    const ecpm = typeof properties.$ecpm === "number" ? properties.$ecpm : 0;
    const ad = { id: past.fingerprint, micros: microsOfEcpm(ecpm), properties };
    const now = { count: before.count + 1, micros: before.micros + ad.micros };
    seen.set(user.clientId, now);
    moments.push(...adMoments(past, ad, now).map((occurrence) => ({ user, occurrence })));
  }
  return moments;
}
