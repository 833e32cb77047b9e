import type { UserAccount } from "../../db/user-account.ts";
import type { UserDay } from "../../db/user-day.ts";
import { daysBetween } from "../../domain/calendar.ts";
import { type At, retentionMoment } from "../../domain/postback/postback-moment.ts";
import type { Occurrence } from "../../domain/postback/postback-rule.ts";
import { addActivity } from "../../domain/user/user-figures.ts";
import type { Facts } from "./facts.ts";

/** When the user last gave a sign of life. A refund is none: usually the app's own systems report it. */
export function lastSeenMs({ lastSeenAtMs, latestEventAtMs, registeredAtMs }: UserAccount): number {
  return lastSeenAtMs ?? latestEventAtMs ?? registeredAtMs;
}

/** The user's counters at an instant. Asking for them marks the day as active. */
export function countersAt(facts: Facts, user: UserAccount, at: At): UserDay {
  const { users, tallies } = facts;
  const last = tallies.days.lastOf(user, at);
  if (last) return last;
  noteActive(facts, user, at);
  return users.isStored(user) ? tallies.days.ofStored(user, at) : tallies.days.ofNew(user, at);
}

function noteActive(facts: Facts, user: UserAccount, at: At): void {
  addActivity(user, at.day);
  facts.users.put(user);
  const retentionDays = facts.settings.of(user.appId).book?.retentionDays;
  if (!retentionDays || retentionDays.size === 0 || user.isHistory) return;
  const daysAfter = daysBetween(user.registeredDay, at.day);
  if (retentionDays.has(daysAfter)) noteMoments(facts, user, () => [retentionMoment(at, daysAfter)]);
}

/**
 * Notes moments that may have to be reported; they are made only if the app reports anything. Another system has
 * already reported the users imported as history.
 */
export function noteMoments(
  { settings, users, tallies }: Facts,
  user: UserAccount,
  makeOccurrences: () => readonly Occurrence[],
): void {
  if (user.isHistory || !settings.of(user.appId).book?.tellsPlatforms) return;
  // A later entry, which may be in another batch, must not change the properties by which this moment is judged.
  const userProperties = user.properties;
  users.ownProfiles.delete(userProperties);
  for (const occurrence of makeOccurrences())
    tallies.moments.push({ user, occurrence: { ...occurrence, userProperties } });
}
