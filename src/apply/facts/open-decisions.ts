import type { UserAccount } from "../../db/user-account.ts";
import type { UserKey } from "../../domain/user/user-key.ts";
import { UserMap } from "../entry/user-map.ts";
import type { Concerns, GainedKey } from "../touch/concerns.ts";
import type { FreshTouches } from "../touch/fresh-touches.ts";

/** The users whose source a batch may change: those with entries about them, and those whom a new touch concerns. */
export class OpenDecisions {
  /** Touches that were not stored before, and the users they concern. */
  readonly fresh: FreshTouches;
  readonly concerns: Concerns;
  /** Keys that users held for a while during the batch. */
  readonly pastKeys: GainedKey[] = [];
  /** Positions at which the batch must be cut. */
  readonly cuts: number[] = [];
  /** The position of the last entry that says something about the user's source. */
  readonly #heardAt = new UserMap<number>();

  constructor(fresh: FreshTouches, concerns: Concerns) {
    this.fresh = fresh;
    this.concerns = concerns;
  }

  /** Notes that the entry at this position says something about the user's source. */
  hear(user: UserKey, position: number): void {
    this.#heardAt.set(user, position);
  }

  heardAt(user: UserKey): number | undefined {
    return this.#heardAt.get(user);
  }

  /**
   * Notes that the entry at this position depends on the decisions about a user. When something earlier in the batch
   * concerns the user, those decisions are still open, and the batch must be cut at this position.
   */
  need(user: UserAccount, position: number): void {
    const from = this.cuts.at(-1) ?? 0;
    const isHeard = (this.heardAt(user) ?? -1) >= from;
    if (isHeard || this.concerns.isTouched(user, { from, until: position })) this.cuts.push(position);
  }

  /** The users whose source may have changed. One may be named several times. */
  users(): UserKey[] {
    return [...this.#heardAt.keys(), ...this.concerns.storedUsers()];
  }
}
