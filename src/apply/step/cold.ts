import type pg from "pg";
import { type ColdEvents, type ColdWish, loadColdAmong, noteGone } from "../../db/cold-event.ts";
import { loadDaysOfUsers } from "../../db/dirty-day.ts";
import { type EventRow, insertEvents } from "../../db/event.ts";
import { markLake } from "../../db/lake-mark.ts";
import type { UserAccount } from "../../db/user-account.ts";
import { DAY_MS } from "../../domain/calendar.ts";
import type { UserKey } from "../../domain/user/user-key.ts";

/* What a batch needs of events that are only in the lake. Nothing is asked while there are none. */

/**
 * Files written before this instant have nothing of the users: whoever is in a file was in the tables before, and got there
 * by an entry received after this. The days are for clocks that differ; see ColdWish for those that differ by more.
 */
export function writtenAfterMs(users: readonly UserAccount[]): number {
  return users.reduce((least, user) => Math.min(least, firstMs(user)), Number.POSITIVE_INFINITY) - 3 * DAY_MS;
}

function firstMs({ registeredAtMs, registrationReceivedAtMs }: UserAccount): number {
  return Math.min(registeredAtMs, registrationReceivedAtMs);
}

/** The users' cold track events, which made them active; with the properties of some only, because there may be many. */
export async function loadColdTracks(
  tx: pg.PoolClient,
  cold: ColdEvents | undefined,
  users: readonly UserAccount[],
  wish: Pick<ColdWish, "names" | "propertiesOf">,
): Promise<EventRow[]> {
  if (!cold || wish.names?.length === 0) return [];
  const rows: EventRow[] = [];
  const active = await loadDaysOfUsers(tx, users);
  for (const appId of new Set(users.map((user) => user.appId))) {
    const own = users.filter((user) => user.appId === appId);
    const days = await loadColdAmong(tx, [
      ...new Set(active.filter((one) => one.appId === appId).map(({ day }) => day)),
    ]);
    if (days.length === 0) continue;
    const clientIds = own.map(({ clientId }) => clientId);
    const narrowed = { ...wish, appId, clientIds, days, type: "track" as const, writtenAfterMs: writtenAfterMs(own) };
    // One by one: a call takes only so many arguments.
    for (const row of await cold.load(tx, narrowed)) rows.push(row);
  }
  return rows;
}

/** Brings a user's cold events back under another client id, until their days are written again. */
export async function renameCold(
  tx: pg.PoolClient,
  cold: ColdEvents | undefined,
  { user, newClientId, atMs }: { user: UserAccount; newClientId: string; atMs: number },
): Promise<void> {
  if (!cold) return;
  const { appId, clientId } = user;
  // Most users are renamed soon after their first entry, and must not cost a look into all files. For others, clocks may
  // have been set since.
  const isNew = atMs - DAY_MS < firstMs(user);
  const days = await cold.daysOf(tx, user, isNew ? writtenAfterMs([user]) : undefined);
  for (const day of days) {
    const rows = await cold.load(tx, { appId, clientIds: [clientId], days: [day] });
    await insertEvents(
      tx,
      rows.map((row) => ({ ...row, clientId: newClientId })),
    );
  }
  await leaveDays(tx, user, { days, atMs });
}

/** Takes a user out of the cold days. All files are asked: no clock may keep anything of an erased user. */
export async function eraseCold(
  tx: pg.PoolClient,
  cold: ColdEvents | undefined,
  { user, atMs }: { user: UserAccount | undefined; atMs: number },
): Promise<void> {
  if (!cold || !user) return;
  await leaveDays(tx, user, { days: await cold.daysOf(tx, user, undefined), atMs });
}

async function leaveDays(
  tx: pg.PoolClient,
  user: UserKey,
  { days, atMs }: { days: readonly string[]; atMs: number },
): Promise<void> {
  await noteGone(tx, user, days);
  const { appId } = user;
  await markLake(
    tx,
    days.map((day) => ({ appId, kind: "events", day, again: true, receivedMs: 0 })),
    atMs,
  );
}
