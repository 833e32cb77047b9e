import type pg from "pg";
import { findUsersByKeys, type KeyOfUser } from "../../db/user-key.ts";
import type { UserKey } from "../../domain/user/user-key.ts";
import { UserMap } from "../entry/user-map.ts";
import type { FreshTouch, FreshTouches } from "./fresh-touches.ts";
import { pushTo } from "./lists.ts";

const USERS_PER_TOUCH_MAX = 100;

/** One key of a new touch, and the range of arrival instants that the touch can explain. */
type TouchedKey = { appId: number; key: string; fromMs: number; untilMs: number; touch: FreshTouch };
/** A user who arrived at an instant under a key. */
type Holder = UserKey & { atMs: number };

/** A key of a user, and the position of the entry that gave it. */
export type GainedKey = KeyOfUser & { gainedAt: number };

/**
 * The users whom the new touches of a batch concern: those who share a key with a touch and precede it in the journal,
 * stored or in the same batch. The touch may be what brought them, so they are decided again. Each key yields only the
 * first few users in order of arrival: a key that thousands share identifies nobody.
 */
export class Concerns {
  readonly #keys: readonly TouchedKey[];
  /** Users who were stored before the batch, by the index of the key. */
  readonly #stored = new Map<number, Holder[]>();
  /** The positions of the touches that concern each stored user. */
  readonly #touchedAt = new UserMap<number[]>();

  private constructor(keys: readonly TouchedKey[]) {
    this.#keys = keys;
  }

  /** `windowMs`: how long after a touch a user of the app may arrive and still be attributed to it. */
  static async load(tx: pg.PoolClient, fresh: FreshTouches, windowMs: (appId: number) => number): Promise<Concerns> {
    const keys = fresh.list.flatMap((touch) => {
      const { appId } = touch;
      const fromMs = touch.touch.touchedAtMs;
      return touch.keys.map(({ value }) => ({ appId, key: value, fromMs, untilMs: fromMs + windowMs(appId), touch }));
    });
    const concerns = new Concerns(keys);
    for (const { lookup, clientId, atMs } of await findUsersByKeys(tx, keys, USERS_PER_TOUCH_MAX)) {
      const { appId, touch } = keys[lookup]!;
      pushTo(concerns.#stored, lookup, { appId, clientId, atMs });
      pushTo(concerns.#touchedAt, { appId, clientId }, touch.position);
    }
    return concerns;
  }

  /** Users who were stored before the batch and whom a touch of it may concern. */
  storedUsers(): UserKey[] {
    return [...this.#stored.values()].flat().map(({ appId, clientId }) => ({ appId, clientId }));
  }

  /** Whether a touch in [from, until) of the journal concerns a user who was stored before the batch. */
  isTouched(user: UserKey, { from, until }: { from: number; until: number }): boolean {
    return this.#touchedAt.get(user)?.some((position) => position >= from && position < until) ?? false;
  }

  /** The position of the last touch that concerns each user. `gained`: the keys that users gained in the batch. */
  positions(gained: () => readonly GainedKey[]): UserMap<number> {
    const positions = new UserMap<number>();
    if (this.#keys.length === 0) return positions;
    const byKey = new Map<string, GainedKey[]>();
    for (const one of gained()) pushTo(byKey, `${one.appId} ${one.key}`, one);
    for (const list of byKey.values()) list.sort(byArrival);
    this.#keys.forEach((touched, number) => {
      const stored = this.#stored.get(number) ?? [];
      const own = byKey.get(`${touched.appId} ${touched.key}`);
      for (const holder of own ? firstOf([...stored, ...gainedBefore(touched, own)]) : stored) {
        positions.set(holder, Math.max(touched.touch.position, positions.get(holder) ?? 0));
      }
    });
    return positions;
  }
}

/** Users who gained the key before the touch in the journal, up to the limit. */
function gainedBefore({ touch, fromMs, untilMs }: TouchedKey, gained: readonly GainedKey[]): Holder[] {
  const found: Holder[] = [];
  for (const one of gained) {
    if (one.atMs >= fromMs && one.atMs < untilMs && one.gainedAt < touch.position) found.push(one);
    if (found.length === USERS_PER_TOUCH_MAX) break;
  }
  return found;
}

/** The first holders, each once: a stored user may have gained the same key again in the batch. */
function firstOf(holders: readonly Holder[]): Holder[] {
  const unique = [...new Map(holders.map((holder) => [`${holder.atMs} ${holder.clientId}`, holder])).values()];
  return unique.length <= USERS_PER_TOUCH_MAX ? unique : unique.sort(byArrival).slice(0, USERS_PER_TOUCH_MAX);
}

/** The table's order, which compares ids by their bytes. */
function byArrival(left: Holder, right: Holder): number {
  return left.atMs - right.atMs || Buffer.compare(Buffer.from(left.clientId), Buffer.from(right.clientId));
}
