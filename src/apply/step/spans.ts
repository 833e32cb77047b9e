import type pg from "pg";
import { noteAdRevenueChanges } from "../../db/ad-revenue-change.ts";
import type { ColdEvents } from "../../db/cold-event.ts";
import { loadTrackEvents } from "../../db/event.ts";
import { loadEventParts } from "../../db/event-day.ts";
import { loadPayments } from "../../db/orders.ts";
import type { UserAccount } from "../../db/user-account.ts";
import { changesOfAds } from "../../db/user-ad-day.ts";
import { addUserDays, deleteUserDays, type UserDay } from "../../db/user-day.ts";
import { adUnitOf } from "../../domain/ad-revenue.ts";
import { numberOf } from "../../domain/json.ts";
import { REFUND_EVENT } from "../../domain/refund.ts";
import { UserMap } from "../entry/user-map.ts";
import type { AppSettings } from "../facts/app-settings.ts";
import { countPayment, countTrackEvent } from "../facts/day-counters.ts";
import { dayKeyText, newUserDay, spansAt } from "../facts/user-days.ts";
import { loadColdTracks } from "./cold.ts";

const USERS_AT_ONCE = 200;

/**
 * Recounts the days of users whose touch has changed: spans are counted from the touch, so any of their rows may move.
 * Reads the stored events and orders, including those of the current batch.
 */
export async function recountDays(
  tx: pg.PoolClient,
  settings: AppSettings,
  { users, receivedAtMs, cold }: { users: readonly UserAccount[]; receivedAtMs: number; cold: ColdEvents | undefined },
): Promise<void> {
  for (let at = 0; at < users.length; at += USERS_AT_ONCE) {
    const some = users.slice(at, at + USERS_AT_ONCE);
    const counted = await countDays(tx, settings, { users: some, cold });
    await deleteUserDays(tx, some);
    await addUserDays(tx, counted);
    // Their shares of pulled revenue were deleted with the old days.
    await noteAdRevenueChanges(tx, changesOfAds(counted), receivedAtMs);
  }
}

async function countDays(
  tx: pg.PoolClient,
  settings: AppSettings,
  { users, cold }: { users: readonly UserAccount[]; cold: ColdEvents | undefined },
): Promise<UserDay[]> {
  const byKey = new UserMap<UserAccount>();
  for (const user of users) byKey.set(user, user);
  const days = new Map<string, UserDay>();
  const dayOf = (user: UserAccount, atMs: number): UserDay => {
    const at = spansAt(user, { atMs, day: settings.of(user.appId).calendar.dayOf(atMs) });
    const key = dayKeyText(user, at);
    const known = days.get(key) ?? newUserDay(user, at);
    days.set(key, known);
    return known;
  };
  for (const user of users) dayOf(user, user.registeredAtMs);
  const coldTracks = await loadColdTracks(tx, cold, users, { propertiesOf: ["$AdShow"] });
  for (const row of await loadTrackEvents(tx, users, coldTracks)) {
    if (row.event === REFUND_EVENT) continue;
    const counted = { event: row.event, ecpm: numberOf(row.ecpm), adUnit: adUnitOf(row.adUnit) };
    countTrackEvent(dayOf(byKey.get(row)!, row.atMs), counted);
  }
  for (const row of await loadPayments(tx, users)) countPayment(dayOf(byKey.get(row)!, row.atMs), row.cents);
  // Days whose events were dropped keep their counters.
  const parts = await loadEventParts(tx);
  return [...days.values()].filter(({ day }) => parts.stateOf(day) !== "dropped");
}
