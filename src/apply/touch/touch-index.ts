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
import { pushTo } from "./lists.ts";

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
    for (const [appId, { keys, fromMs, untilMs }] of rangesOf(lookups)) {
      const limit = Math.max(TOUCHES_AT_ONCE_MIN, keys.size * TOUCHES_AT_ONCE_PER_KEY);
      const range = { appId, keys: [...keys], fromMs: fromMs - earlierMs, untilMs };
      const found = await findByKeys(this.#tx, range, limit);
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
      pushTo(lists, key, row);
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
    const found: { lookup: number; row: KeyRow }[] = [];
    for (const [lookup, one] of lookups.entries()) {
      for (const row of this.#withFresh(stored[lookup]!, one)) found.push({ lookup, row });
    }
    await this.#load(found);
    const touches: { lookup: number; touch: Touch }[] = [];
    for (const { lookup, row } of found)
      touches.push({ lookup, touch: this.#touches.get(touchKeyText(row.appId, row.touchId))! });
    return touches;
  }

  /** The newest touches of a look-up, those of the batch among them. */
  #withFresh(stored: KeyRow[], lookup: RangeLookup): KeyRow[] {
    const fresh = this.#fresh.rowsUnder(lookup);
    if (fresh.length === 0) return stored;
    const rows = [...stored, ...fresh.filter((row) => isInRange(row, lookup))];
    return rows.sort(newestFirst).slice(0, LIMITS.touchesPerKey);
  }

  /** The newest stored touches of each look-up. */
  async #newest(lookups: readonly RangeLookup[]): Promise<KeyRow[][]> {
    const unread: number[] = [];
    const found: KeyRow[][] = [];
    for (const [number, lookup] of lookups.entries()) {
      const rows = this.#rows.get(lookup.appId);
      if (!rows) unread.push(number);
      found.push(newestIn(rows?.get(lookup.key), lookup));
    }
    const rest = await findNewest(
      this.#tx,
      unread.map((number) => lookups[number]!),
      LIMITS.touchesPerKey,
    );
    for (const { lookup, ...row } of rest) found[unread[lookup]!]!.push(row);
    return found;
  }

  async #load(found: readonly { row: KeyRow }[]): Promise<void> {
    const missing = new Map<string, KeyRow>();
    for (const { row } of found) {
      const id = touchKeyText(row.appId, row.touchId);
      if (!this.#touches.has(id)) missing.set(id, row);
    }
    for (const [id, touch] of await loadTouches(this.#tx, [...missing.values()])) this.#touches.set(id, touch);
  }

  /** The number of touches under each key in [from, until), counted up to `max`. */
  async count(lookups: readonly RangeLookup[], max: number): Promise<number[]> {
    const counts: number[] = [];
    const byWeek = new Map<string, Numbered[]>();
    for (const [number, lookup] of lookups.entries()) {
      const [first, last] = [weekOf(lookup.fromMs), weekOf(lookup.untilMs - 1)];
      counts.push(this.#countFresh(lookup, first, last));
      pushTo(byWeek, first, { number, lookup });
      if (last !== first) pushTo(byWeek, last, { number, lookup });
    }
    for (const [week, numbered] of byWeek) {
      const wanted: RangeLookup[] = [];
      for (const { lookup } of numbered) wanted.push(lookup);
      const counted = await countInWeek(this.#tx, week, wanted, max);
      for (const [index, { number }] of numbered.entries()) counts[number]! += counted[index]!;
    }
    return counts;
  }

  /** The touches of the batch that a look-up counts in these weeks. */
  #countFresh(lookup: RangeLookup, first: string, last: string): number {
    let count = 0;
    for (const { touchedAtMs, week } of this.#fresh.rowsUnder(lookup)) {
      const isWithin = touchedAtMs >= lookup.fromMs && touchedAtMs < lookup.untilMs;
      if (isWithin && (week === first || week === last)) count += 1;
    }
    return count;
  }
}

/** A look-up and its place among all. */
type Numbered = { number: number; lookup: RangeLookup };

/** The keys that the look-ups of an app name, and the range that holds all of theirs. */
function rangesOf(
  lookups: readonly RangeLookup[],
): Map<number, { keys: Set<string>; fromMs: number; untilMs: number }> {
  const ranges = new Map<number, { keys: Set<string>; fromMs: number; untilMs: number }>();
  for (const { appId, key, fromMs, untilMs } of lookups) {
    const range = ranges.get(appId) ?? { keys: new Set(), fromMs, untilMs };
    ranges.set(appId, range);
    range.keys.add(key);
    range.fromMs = Math.min(range.fromMs, fromMs);
    range.untilMs = Math.max(range.untilMs, untilMs);
  }
  return ranges;
}

/** The first touches in the range, of rows that are sorted. */
function newestIn(rows: readonly KeyRow[] | undefined, lookup: RangeLookup): KeyRow[] {
  const newest: KeyRow[] = [];
  if (!rows) return newest;
  for (const row of rows) {
    if (newest.length === LIMITS.touchesPerKey) break;
    if (isInRange(row, lookup)) newest.push(row);
  }
  return newest;
}

/** Also compares the partition's week: a touch with an impossible instant is stored in another week than its own. */
function isInRange(row: KeyRow, { fromMs, untilMs }: RangeLookup): boolean {
  return row.touchedAtMs >= fromMs && row.touchedAtMs <= untilMs && row.week >= weekOf(fromMs);
}

function newestFirst(left: KeyRow, right: KeyRow): number {
  return right.touchedAtMs - left.touchedAtMs || (left.touchId > right.touchId ? -1 : 1);
}
