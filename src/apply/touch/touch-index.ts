import type pg from "pg";
import {
  countInWeek,
  type FoundRow,
  findByKeys,
  findNewest,
  type KeyRow,
  loadTouches,
  type RangeLookup,
  touchKeyText,
} from "../../db/touch.ts";
import type { Touch } from "../../domain/attribution/touch.ts";
import { weekOf } from "../../domain/calendar.ts";
import { LIMITS } from "../../limits.ts";
import type { FreshTouches } from "./fresh-touches.ts";

const TOUCHES_AT_ONCE_MIN = 20_000;
const TOUCHES_AT_ONCE_PER_KEY = 4;

/**
 * The touches that a batch's decisions look up: the stored ones (everything under the batch's keys is read once, unless
 * there are too many) and the batch's own, up to the position of each decision.
 */
export class TouchIndex {
  readonly #tx: pg.PoolClient;
  readonly #fresh: FreshTouches;
  /** Stored touches by app and key, newest first; undefined for an app whose keys hold too many to read at once. */
  readonly #rows = new Map<number, Map<string, KeyRow[]> | undefined>();
  readonly #prepared = new Set<string>();
  readonly #touches = new Map<string, Touch>();

  constructor(tx: pg.PoolClient, fresh: FreshTouches) {
    this.#tx = tx;
    this.#fresh = fresh;
    for (const { appId, touch } of fresh.list) this.#touches.set(touchKeyText(appId, touch.touchId), touch);
  }

  /** Reads the stored touches once, from `earlierMs` before each look-up: counting reaches back that far. */
  async prepare(lookups: readonly RangeLookup[], earlierMs: number): Promise<void> {
    for (const { appId, key } of lookups) this.#prepared.add(`${appId} ${key}`);
    for (const appId of new Set(lookups.map((lookup) => lookup.appId))) {
      const own = lookups.filter((lookup) => lookup.appId === appId);
      const keys = [...new Set(own.map(({ key }) => key))];
      const fromMs = own.reduce((least, one) => Math.min(least, one.fromMs), Number.POSITIVE_INFINITY) - earlierMs;
      const untilMs = own.reduce((most, lookup) => Math.max(most, lookup.untilMs), 0);
      const limit = Math.max(TOUCHES_AT_ONCE_MIN, keys.length * TOUCHES_AT_ONCE_PER_KEY);
      const found = await findByKeys(this.#tx, { appId, keys, fromMs, untilMs }, limit);
      this.#rows.set(appId, found && this.#byKey(appId, found));
    }
  }

  /** Keeps the touches that were read, and returns where each one found stands, newest first under its key. */
  #byKey(appId: number, found: readonly FoundRow[]): Map<string, KeyRow[]> {
    const lists = new Map<string, KeyRow[]>();
    for (const { key, week, ...touch } of found) {
      const { touchedAtMs, touchId } = touch;
      if (touch.kind !== null) this.#touches.set(touchKeyText(appId, touchId), touch);
      const row = { appId, key, touchedAtMs, touchId, week };
      const list = lists.get(key);
      if (list) list.push(row);
      else lists.set(key, [row]);
    }
    for (const list of lists.values()) list.sort(newestFirst);
    return lists;
  }

  /** False only when all touches under the key have been read and there are no more than `touches`. */
  mayHoldMoreThan(touches: number, lookup: { appId: number; key: string }): boolean {
    const rows = this.#rows.get(lookup.appId);
    const isKnown = rows !== undefined && this.#prepared.has(`${lookup.appId} ${lookup.key}`);
    return !isKnown || (rows.get(lookup.key)?.length ?? 0) + this.#fresh.under(lookup).length > touches;
  }

  /** The newest touches of each look-up, at most one page. */
  async page(lookups: readonly RangeLookup[]): Promise<{ lookup: number; touch: Touch }[]> {
    const stored = await this.#newest(lookups);
    const found = lookups.flatMap((lookup, number) => {
      const fresh = this.#fresh.rowsUnder(lookup).filter((row) => isInRange(row, lookup));
      const rows = fresh.length === 0 ? stored[number]! : [...stored[number]!, ...fresh].sort(newestFirst);
      return rows.slice(0, LIMITS.touchesPerKey).map((row) => ({ lookup: number, row }));
    });
    await this.#load(found.map(({ row }) => row));
    return found.map(({ lookup, row }) => ({
      lookup,
      touch: this.#touches.get(touchKeyText(row.appId, row.touchId))!,
    }));
  }

  /** The newest stored touches of each look-up. */
  async #newest(lookups: readonly RangeLookup[]): Promise<KeyRow[][]> {
    const unread: number[] = [];
    const found = lookups.map((lookup, number): KeyRow[] => {
      const rows = this.#rows.get(lookup.appId);
      if (!rows) unread.push(number);
      return (rows?.get(lookup.key) ?? []).filter((row) => isInRange(row, lookup)).slice(0, LIMITS.touchesPerKey);
    });
    const rest = await findNewest(
      this.#tx,
      unread.map((number) => lookups[number]!),
      LIMITS.touchesPerKey,
    );
    for (const { lookup, ...row } of rest) found[unread[lookup]!]!.push(row);
    return found;
  }

  async #load(rows: readonly KeyRow[]): Promise<void> {
    const missing = new Map(
      rows.map((row) => [touchKeyText(row.appId, row.touchId), row] as const).filter(([id]) => !this.#touches.has(id)),
    );
    for (const [id, touch] of await loadTouches(this.#tx, [...missing.values()])) this.#touches.set(id, touch);
  }

  /** The number of touches under each key in [from, until), counted up to `max`. */
  async count(lookups: readonly RangeLookup[], max: number): Promise<number[]> {
    const counts = lookups.map(() => 0);
    const byWeek = new Map<string, number[]>();
    const noteWeek = (week: string, lookup: number) => {
      const numbers = byWeek.get(week);
      if (numbers) numbers.push(lookup);
      else byWeek.set(week, [lookup]);
    };
    lookups.forEach((one, lookup) => {
      const { fromMs, untilMs } = one;
      const [first, last] = [weekOf(fromMs), weekOf(untilMs - 1)];
      const isCounted = ({ touchedAtMs, week }: KeyRow) =>
        touchedAtMs >= fromMs && touchedAtMs < untilMs && (week === first || week === last);
      counts[lookup] = this.#fresh.rowsUnder(one).filter(isCounted).length;
      noteWeek(first, lookup);
      if (last !== first) noteWeek(last, lookup);
    });
    for (const [week, numbers] of byWeek) {
      const counted = await countInWeek(
        this.#tx,
        week,
        numbers.map((lookup) => lookups[lookup]!),
        max,
      );
      numbers.forEach((lookup, index) => {
        counts[lookup]! += counted[index]!;
      });
    }
    return counts;
  }
}

/** Also compares the partition's week: a touch with an impossible instant is stored in another week than its own. */
function isInRange(row: KeyRow, { fromMs, untilMs }: RangeLookup): boolean {
  return row.touchedAtMs >= fromMs && row.touchedAtMs <= untilMs && row.week >= weekOf(fromMs);
}

function newestFirst(left: KeyRow, right: KeyRow): number {
  return right.touchedAtMs - left.touchedAtMs || (left.touchId > right.touchId ? -1 : 1);
}
