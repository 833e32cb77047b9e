import type { UserAccount } from "../../db/user-account.ts";
import type { UserDay } from "../../db/user-day.ts";
import { spanOf } from "../../domain/calendar.ts";
import type { UserKey } from "../../domain/user/user-key.ts";
import { userKeyText } from "../entry/key-text.ts";
import { addCounters } from "./day-counters.ts";

type Instant = { atMs: number; day: string };

/** The counters that a batch adds to the days of its users. */
export class UserDays {
  readonly #stored = new Map<string, UserDay>();
  /** The counters that a stored user's last event was added to; the next event nearly always belongs there too. */
  readonly #last = new Map<UserAccount, UserDay>();
  readonly #instants = new Map<string, { user: UserAccount; atMs: number; counters: UserDay }>();
  #new: UserDay[] | undefined;

  /** The counters last used for a stored user, if the instant belongs to them. A new user has none. */
  lastOf(user: UserAccount, { atMs, day }: Instant): UserDay | undefined {
    const last = this.#last.get(user);
    const isThere =
      last?.day === day &&
      last.sinceTouch === spanSinceTouch(user, atMs) &&
      last.sinceRegistration === spanOf(atMs, user.registeredAtMs);
    return isThere ? last : undefined;
  }

  /** The counters of a stored user for the instant's local day and both spans. */
  ofStored(user: UserAccount, { atMs, day }: Instant): UserDay {
    const at = spansAt(user, { atMs, day });
    const key = dayKeyText(user, at);
    let counters = this.#stored.get(key);
    if (!counters) {
      counters = newUserDay(user, at);
      this.#stored.set(key, counters);
    }
    this.#last.set(user, counters);
    return counters;
  }

  /** The counters of a new user at one instant. Instants stay apart until the user's touch is decided. */
  ofNew(user: UserAccount, { atMs, day }: Instant): UserDay {
    const key = `${userKeyText(user)}\t${atMs}`;
    let instant = this.#instants.get(key);
    if (!instant) {
      instant = { user, atMs, counters: newUserDay(user, { day, sinceTouch: 0, sinceRegistration: 0 }) };
      this.#instants.set(key, instant);
    }
    return instant.counters;
  }

  /** Days of stored users. */
  storedUsers(): UserDay[] {
    return [...this.#stored.values()];
  }

  /** Days of new users. Call it after attribution: spans are counted from the touch. */
  newUsers(): UserDay[] {
    if (this.#new) return this.#new;
    const days = new Map<string, UserDay>();
    for (const { user, atMs, counters } of this.#instants.values()) {
      const at = spansAt(user, { atMs, day: counters.day });
      const key = dayKeyText(user, at);
      const known = days.get(key);
      if (known) addCounters(known, counters);
      else days.set(key, Object.assign(counters, at));
    }
    this.#new = [...days.values()];
    return this.#new;
  }
}

export type SpannedDay = Pick<UserDay, "day" | "sinceTouch" | "sinceRegistration">;

/** The local day of an instant, and its spans since the user's touch and registration. */
export function spansAt(user: UserAccount, { atMs, day }: Instant): SpannedDay {
  return { day, sinceTouch: spanSinceTouch(user, atMs), sinceRegistration: spanOf(atMs, user.registeredAtMs) };
}

function spanSinceTouch(user: UserAccount, atMs: number): number {
  return spanOf(atMs, user.touchedAtMs ?? user.registeredAtMs);
}

export function dayKeyText(user: UserKey, { day, sinceTouch, sinceRegistration }: SpannedDay): string {
  return `${userKeyText(user)}\t${day}\t${sinceTouch}\t${sinceRegistration}`;
}

export function newUserDay(user: UserKey, { day, sinceTouch, sinceRegistration }: SpannedDay): UserDay {
  return {
    appId: user.appId,
    clientId: user.clientId,
    day,
    sinceTouch,
    sinceRegistration,
    trackEvents: 0,
    registerEvents: 0,
    payCount: 0,
    payCents: 0,
    adCount: 0,
    adMicros: 0,
  };
}
