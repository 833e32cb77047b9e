import type pg from "pg";
import { findTouchIds, insertTouches, touchKeyText } from "../../db/touch.ts";
import type { TouchWeekState } from "../../db/touch-week.ts";
import type { DecodedEntry, TouchEntry } from "../entry/decode.ts";
import { type FreshTouch, storedKeysOf } from "./fresh-touches.ts";

export type TouchOutcome = "stored" | "duplicate" | "too_old" | "no_platform";

export type SortedTouches = { outcomes: { entry: TouchEntry; outcome: TouchOutcome }[]; fresh: FreshTouch[] };

/** Separates the new touches of a batch from those that are not stored. */
export async function sortTouches(
  tx: pg.PoolClient,
  entries: readonly DecodedEntry[],
  weeks: ReadonlyMap<string, TouchWeekState>,
): Promise<SortedTouches> {
  const outcomes: SortedTouches["outcomes"] = [];
  const fresh = new Map<string, FreshTouch>();
  const known = await alreadyStored(tx, entries);
  for (const entry of entries) {
    if (entry.kind !== "touch") continue;
    const { read, week } = entry;
    const appId = entry.head.app;
    const id = read && touchKeyText(appId, read.touch.touchId);
    if (!read || !id) outcomes.push({ entry, outcome: "no_platform" });
    else if (fresh.has(id) || known.has(id)) outcomes.push({ entry, outcome: "duplicate" });
    else if (weeks.get(week) !== "open") outcomes.push({ entry, outcome: "too_old" });
    else {
      fresh.set(id, { ...read, appId, week, position: entry.from });
      outcomes.push({ entry, outcome: "stored" });
    }
  }
  return { outcomes, fresh: [...fresh.values()] };
}

/** Searches every week: a touch reported twice may carry another time the second time, or none. */
async function alreadyStored(tx: pg.PoolClient, entries: readonly DecodedEntry[]): Promise<Set<string>> {
  const ids = entries.flatMap((entry) =>
    entry.kind === "touch" && entry.read ? [{ appId: entry.head.app, touchId: entry.read.touch.touchId }] : [],
  );
  return findTouchIds(tx, ids);
}

export async function storeTouches(tx: pg.PoolClient, fresh: readonly FreshTouch[]): Promise<void> {
  await insertTouches(
    tx,
    fresh.map((one) => ({ appId: one.appId, week: one.week, touch: one.touch, keys: storedKeysOf(one) })),
  );
}
