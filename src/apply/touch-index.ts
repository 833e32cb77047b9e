import type pg from "pg";
import {
  countInWeek,
  findByKeys,
  findNewest,
  type KeyLookup,
  type KeyRow,
  loadTouches,
  touchKeyText,
} from "../db/touch.ts";
import { weekOf } from "../domain/calendar.ts";
import type { Touch } from "../domain/touch.ts";
import { LIMITS } from "../limits.ts";

/** The stored touches, as a batch looks into them: everything under its keys is read once, unless that is a flood. */
export class TouchIndex {
  readonly #tx: pg.PoolClient;
  /** By app and key, newest first; undefined for an app whose keys hold more than is read at once. */
  readonly #rows = new Map<number, Map<string, KeyRow[]> | undefined>();
  readonly #prepared = new Set<string>();
  readonly #touches = new Map<string, Touch>();

  constructor(tx: pg.PoolClient) {
    this.#tx = tx;
  }

  async prepare(lookups: readonly KeyLookup[]): Promise<void> {
    for (const { appId, key } of lookups) this.#prepared.add(`${appId} ${key}`);
    for (const appId of new Set(lookups.map((lookup) => lookup.appId))) {
      const own = lookups.filter((lookup) => lookup.appId === appId);
      const keys = [...new Set(own.map(({ key }) => key))];
      const fromMs = own.reduce((least, lookup) => Math.min(least, lookup.fromMs), Number.POSITIVE_INFINITY);
      const untilMs = own.reduce((most, lookup) => Math.max(most, lookup.untilMs), 0);
      const limit = Math.max(LIMITS.touchesAtOnceMin, keys.length * LIMITS.touchesAtOncePerKey);
      const rows = await findByKeys(this.#tx, { appId, keys, fromMs, untilMs, fromWeek: weekOf(fromMs) }, limit);
      this.#rows.set(appId, rows && byKey(rows));
    }
  }

  /** False only where the key was looked for, everything under it was read, and that is no more than `touches`. */
  mayHoldMoreThan(touches: number, { appId, key }: { appId: number; key: string }): boolean {
    const rows = this.#rows.get(appId);
    const isKnown = rows !== undefined && this.#prepared.has(`${appId} ${key}`);
    return !isKnown || (rows.get(key)?.length ?? 0) > touches;
  }

  /** The newest of each look-up, as many as a page holds. */
  async page(lookups: readonly KeyLookup[]): Promise<{ lookup: number; touch: Touch }[]> {
    const found: { lookup: number; row: KeyRow }[] = [];
    const unread: number[] = [];
    lookups.forEach(({ appId, key, fromMs, untilMs }, lookup) => {
      const rows = this.#rows.get(appId);
      if (!rows) {
        unread.push(lookup);
        return;
      }
      const inRange = (rows.get(key) ?? []).filter((row) => row.touchedAtMs >= fromMs && row.touchedAtMs <= untilMs);
      for (const row of inRange.slice(0, LIMITS.touchesPerKey)) found.push({ lookup, row });
    });
    const rest = await findNewest(
      this.#tx,
      unread.map((lookup) => lookups[lookup]!),
      LIMITS.touchesPerKey,
    );
    for (const { lookup, ...row } of rest) found.push({ lookup: unread[lookup]!, row });
    await this.#load(found.map(({ row }) => row));
    return found.map(({ lookup, row }) => ({
      lookup,
      touch: this.#touches.get(touchKeyText(row.appId, row.touchId))!,
    }));
  }

  async #load(rows: readonly KeyRow[]): Promise<void> {
    const missing = new Map(
      rows.map((row) => [touchKeyText(row.appId, row.touchId), row] as const).filter(([id]) => !this.#touches.has(id)),
    );
    for (const [id, touch] of await loadTouches(this.#tx, [...missing.values()])) this.#touches.set(id, touch);
  }

  /** How many touches each key has in [from, until), counted no further than `max`. */
  async count(lookups: readonly KeyLookup[], max: number): Promise<number[]> {
    const counts = lookups.map(() => 0);
    const byWeek = new Map<string, number[]>();
    lookups.forEach(({ fromMs, untilMs }, lookup) => {
      for (const week of new Set([weekOf(fromMs), weekOf(untilMs - 1)])) {
        const numbers = byWeek.get(week);
        if (numbers) numbers.push(lookup);
        else byWeek.set(week, [lookup]);
      }
    });
    for (const [week, numbers] of byWeek) {
      const counted = await countInWeek(
        this.#tx,
        week,
        numbers.map((lookup) => lookups[lookup]!),
        max,
      );
      numbers.forEach((lookup, place) => {
        counts[lookup]! += counted[place]!;
      });
    }
    return counts;
  }
}

function byKey(rows: readonly KeyRow[]): Map<string, KeyRow[]> {
  const lists = new Map<string, KeyRow[]>();
  for (const row of rows) {
    const list = lists.get(row.key);
    if (list) list.push(row);
    else lists.set(row.key, [row]);
  }
  const newestFirst = (left: KeyRow, right: KeyRow) =>
    right.touchedAtMs - left.touchedAtMs || (left.touchId > right.touchId ? -1 : 1);
  for (const list of lists.values()) list.sort(newestFirst);
  return lists;
}
