import type { UserAccount } from "../../db/user-account.ts";
import type { UserKey } from "../../domain/user/user-key.ts";
import { userKeyText } from "../entry/key-text.ts";
import type { Concerns, GainedKey } from "../touch/concerns.ts";
import type { FreshTouches } from "../touch/fresh-touches.ts";

/** Whose source a batch may change: users of whom an entry says something, and users whom a new touch concerns. */
export class OpenDecisions {
  /** Touches that were not stored before, and whom they concern. */
  readonly fresh: FreshTouches;
  readonly concerns: Concerns;
  /** Keys that users had for a while in the course of the batch. */
  readonly pastKeys: GainedKey[] = [];
  /** Positions at which the batch has to be cut. */
  readonly cuts: number[] = [];
  /** The position of the last entry that said something of where the user came from. */
  readonly #heardAt = new Map<string, number>();

  constructor(fresh: FreshTouches, concerns: Concerns) {
    this.fresh = fresh;
    this.concerns = concerns;
  }

  /** An entry at this position says something of where the user came from. */
  hear(user: UserKey, position: number): void {
    this.#heardAt.set(userKeyText(user), position);
  }

  heardAt(user: UserKey): number | undefined {
    return this.#heardAt.get(userKeyText(user));
  }

  /**
   * An entry at this position builds on the decisions about a user. Where something before it in the batch concerns the
   * user, those decisions are still open, and the batch has to be cut there.
   */
  need(user: UserAccount, position: number): void {
    const from = this.cuts.at(-1) ?? 0;
    const isHeard = (this.heardAt(user) ?? -1) >= from;
    if (isHeard || this.concerns.isTouched(user, { from, until: position })) this.cuts.push(position);
  }

  /** The texts of the users whose source may have changed. */
  userTexts(): Set<string> {
    return new Set([...this.#heardAt.keys(), ...this.concerns.storedUsers().map(userKeyText)]);
  }
}
