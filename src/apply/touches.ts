import type pg from "pg";
import { findTouchIds, insertTouches, type TouchRow, touchKeyText } from "../db/touch.ts";
import type { TouchWeekState } from "../db/touch-week.ts";
import type { UserKey } from "../db/user-account.ts";
import { findUsersByKeys } from "../db/user-key.ts";
import { DAY_MS, weekOf } from "../domain/calendar.ts";
import { LIMITS } from "../limits.ts";
import type { ReadTouch } from "../platform/link.ts";
import type { DecodedEntry } from "./decode.ts";

export type TouchEntry = Extract<DecodedEntry, { kind: "touch" }>;

export type TouchOutcome = "stored" | "duplicate" | "too_old" | "no_platform";

/** What-if asks about windows wider than the ones in force, so touches are kept and looked for at least this long. */
export const LOOK_BACK_MS_MIN = 14 * DAY_MS;
/** A link call may be this much later than its touch, and a platform's clock this much ahead. */
const LATE_MS_MAX = 91 * DAY_MS;
const AHEAD_MS_MAX = DAY_MS;

/** The week that a touch is stored in: that of its instant, unless that lies beyond belief. */
export function weekOfTouch({ touchedAtMs, receivedAtMs }: { touchedAtMs: number; receivedAtMs: number }): string {
  return weekOf(Math.min(Math.max(touchedAtMs, receivedAtMs - LATE_MS_MAX), receivedAtMs + AHEAD_MS_MAX));
}

export type StoredTouches = { outcomes: { entry: TouchEntry; outcome: TouchOutcome }[]; fresh: FreshTouch[] };
export type FreshTouch = ReadTouch & { appId: number };

/** Stores the touches of a batch that are new. */
export async function storeTouches(
  tx: pg.PoolClient,
  entries: readonly DecodedEntry[],
  weeks: ReadonlyMap<string, TouchWeekState>,
): Promise<StoredTouches> {
  const outcomes: StoredTouches["outcomes"] = [];
  const chosen = new Map<string, { entry: TouchEntry; read: ReadTouch; row: TouchRow }>();
  const known = await alreadyStored(tx, entries);
  for (const entry of entries) {
    if (entry.kind !== "touch") continue;
    const { read } = entry;
    const appId = entry.head.app;
    const id = read && touchKeyText(appId, read.touch.touchId);
    if (!read || !id) outcomes.push({ entry, outcome: "no_platform" });
    else if (chosen.has(id) || known.has(id)) outcomes.push({ entry, outcome: "duplicate" });
    else if (weeks.get(weekOfTouch(read.touch)) !== "open") outcomes.push({ entry, outcome: "too_old" });
    else chosen.set(id, { entry, read, row: rowOf(appId, read) });
  }
  const fresh = [...chosen.values()];
  await insertTouches(
    tx,
    fresh.map(({ row }) => row),
  );
  for (const { entry } of fresh) outcomes.push({ entry, outcome: "stored" });
  return { outcomes, fresh: fresh.map(({ entry, read }) => ({ ...read, appId: entry.head.app })) };
}

/** In whatever week: a touch that is reported twice may carry another time the second time, or none. */
async function alreadyStored(tx: pg.PoolClient, entries: readonly DecodedEntry[]): Promise<Set<string>> {
  const ids = entries.flatMap((entry) =>
    entry.kind === "touch" && entry.read ? [{ appId: entry.head.app, touchId: entry.read.touch.touchId }] : [],
  );
  return findTouchIds(tx, ids);
}

function rowOf(appId: number, read: ReadTouch): TouchRow {
  const keys = read.keys.map((key) => key.value);
  if (read.addressKey) keys.push(read.addressKey);
  return { appId, week: weekOfTouch(read.touch), touch: read.touch, keys };
}

/** Users who were there before their touch was: it may be what brought them. */
export async function findLateUsers(
  tx: pg.PoolClient,
  fresh: readonly FreshTouch[],
  windowMs: (appId: number) => number,
): Promise<UserKey[]> {
  const lookups = fresh.flatMap(({ appId, touch, keys }) =>
    keys.map(({ value }) => ({
      appId,
      key: value,
      fromMs: touch.touchedAtMs,
      untilMs: touch.touchedAtMs + windowMs(appId),
    })),
  );
  return findUsersByKeys(tx, lookups, LIMITS.usersPerLateTouch);
}
