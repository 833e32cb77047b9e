import type pg from "pg";
import { loadAcceptedDays, loadDaysOfUsers, loadLaterDays, markSlices } from "../../db/dirty-day.ts";
import type { UserAccount } from "../../db/user-account.ts";
import type { UserDay } from "../../db/user-day.ts";
import { daysBetween } from "../../domain/calendar.ts";
import { COHORT_DAYS, type Cohort, RETENTION_DAYS, type Slice } from "../../domain/cube.ts";
import type { Facts } from "../facts/facts.ts";

/** Users who are counted elsewhere than before, slices with refunds, and when the first entry of the batch came. */
type Changed = { regrouped: readonly UserAccount[]; refunded: readonly Slice[]; receivedAtMs: number };

/**
 * Marks the slices of the cube that a batch changes, in the batch's own transaction. Plain activity of existing users
 * does not mark the days on which they came: otherwise every batch would recount the whole past.
 */
export async function markDirty(
  tx: pg.PoolClient,
  { users, tallies }: Facts,
  { regrouped, refunded, receivedAtMs }: Changed,
): Promise<void> {
  const slices = new DirtySlices();
  const moved: UserAccount[] = [];
  for (const { appId, cohort, day } of refunded) slices.add(appId, cohort, day);
  for (const user of regrouped) {
    const before = users.before(user);
    if (before) moved.push(user);
    if (before) slices.add(user.appId, "touch", before.cohortDay);
    slices.add(user.appId, "touch", user.cohortDay);
    slices.add(user.appId, "registered", user.registeredDay);
  }
  const days = tallies.days.storedUsers();
  for (const day of tallies.days.newUsers()) slices.add(day.appId, "occurred", day.day);
  const late: UserDay[] = [];
  for (const day of days) {
    addDay(slices, users.find(day), day);
    if (day.day < (users.before(day)?.latestDay ?? "")) late.push(day);
  }
  // A moved user is counted elsewhere on every day. A user whose earlier activity becomes known is not new later on.
  const elsewhere = [...(await loadDaysOfUsers(tx, moved)), ...(await loadLaterDays(tx, late))];
  for (const { appId, day } of [...elsewhere, ...(await loadAcceptedDays(tx, regrouped))]) {
    slices.add(appId, "occurred", day);
  }
  await markSlices(tx, slices.list(), receivedAtMs);
}

/** Marks the slices that a stored user's day changes, including those of other days that show it. */
function addDay(slices: DirtySlices, user: UserAccount | undefined, day: UserDay): void {
  slices.add(day.appId, "occurred", day.day);
  if (!user) return;
  const hasFigures = day.payCount > 0 || day.adCount > 0 || day.registerEvents > 0;
  const daysAfter = daysBetween(user.registeredDay, day.day);
  const isReturn = (RETENTION_DAYS as readonly number[]).includes(daysAfter);
  if (hasFigures || isReturn) slices.add(user.appId, "touch", user.cohortDay);
  if (isReturn || (hasFigures && daysAfter <= COHORT_DAYS)) slices.add(user.appId, "registered", user.registeredDay);
}

class DirtySlices {
  readonly #apps = new Map<number, Map<Cohort, Set<string>>>();

  /** Called for every user of a batch, nearly always with a slice that is there already: so no key is made of the three. */
  add(appId: number, cohort: Cohort, day: string): void {
    const cohorts = entered(this.#apps, appId, () => new Map<Cohort, Set<string>>());
    entered(cohorts, cohort, () => new Set<string>()).add(day);
  }

  list(): Slice[] {
    const slices: Slice[] = [];
    for (const [appId, cohorts] of this.#apps)
      for (const [cohort, days] of cohorts) for (const day of days) slices.push({ appId, cohort, day });
    return slices;
  }
}

function entered<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
