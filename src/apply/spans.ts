import type pg from "pg";
import { loadTrackEvents } from "../db/event.ts";
import { loadEventParts } from "../db/event-day.ts";
import { loadPayments } from "../db/orders.ts";
import type { UserAccount } from "../db/user-account.ts";
import { addUserDays, deleteUserDays, type UserDay } from "../db/user-day.ts";
import { spanOf } from "../domain/calendar.ts";
import { LIMITS } from "../limits.ts";
import { countPayment, countTrackEvent, numberOf } from "./day-counters.ts";
import { type Facts, newUserDay, userKey } from "./facts.ts";

/**
 * Counts the days of users anew whose touch has changed: spans are counted from the touch, so every one of their rows
 * may move. Reads the events and orders that are stored, those of the batch at hand included.
 */
export async function recountDays(tx: pg.PoolClient, facts: Facts, users: readonly UserAccount[]): Promise<void> {
  for (let at = 0; at < users.length; at += LIMITS.spanUsersAtOnce) {
    const some = users.slice(at, at + LIMITS.spanUsersAtOnce);
    const counted = await countDays(tx, facts, some);
    await deleteUserDays(tx, some);
    await addUserDays(tx, counted);
  }
}

async function countDays(tx: pg.PoolClient, facts: Facts, users: readonly UserAccount[]): Promise<UserDay[]> {
  const byKey = new Map(users.map((user) => [userKey(user), user]));
  const days = new Map<string, UserDay>();
  const dayOf = (user: UserAccount, atMs: number): UserDay => {
    const at = {
      day: facts.app(user.appId).calendar.dayOf(atMs),
      spanT: spanOf(atMs, user.touchedAtMs ?? user.registeredAtMs),
      spanR: spanOf(atMs, user.registeredAtMs),
    };
    const key = `${userKey(user)}\t${at.day}\t${at.spanT}\t${at.spanR}`;
    const known = days.get(key) ?? newUserDay(user, at);
    days.set(key, known);
    return known;
  };
  for (const user of users) dayOf(user, user.registeredAtMs);
  for (const row of await loadTrackEvents(tx, users)) {
    countTrackEvent(dayOf(byKey.get(userKey(row))!, row.atMs), { event: row.event, ecpm: numberOf(row.ecpm) });
  }
  for (const row of await loadPayments(tx, users)) countPayment(dayOf(byKey.get(userKey(row))!, row.atMs), row.cents);
  // Days whose events were dropped keep the counters that they have.
  const parts = await loadEventParts(tx);
  return [...days.values()].filter(({ day }) => parts.stateOf(day) !== "dropped");
}
