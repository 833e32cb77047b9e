import type pg from "pg";
import { type Erasure, type ErasureDigest, loadErasures } from "../../db/erased-user.ts";
import type { UserKey } from "../../domain/user/user-key.ts";
import type { EntryHead } from "../../journal/entry.ts";
import type { DecodedEntry } from "../entry/decode.ts";
import { appsOf, firstReceivedAtMs } from "../entry/entry-heads.ts";

/** `journalId`: the batch's journal; undefined for a set-aside entry, which is applied out of turn. */
export type ErasureContext = { journalId?: string | undefined; erasureDigest: ErasureDigest };

/** Erasures of users in the batch. Nearly always there are none. */
export class Erasures {
  readonly #journalId: string | undefined;
  readonly #digest: ErasureDigest;
  readonly #byDigest = new Map<string, Erasure[]>();

  private constructor(erasures: readonly Erasure[], { journalId, erasureDigest }: ErasureContext) {
    this.#journalId = journalId;
    this.#digest = erasureDigest;
    for (const erasure of erasures) {
      this.#byDigest.set(erasure.digest, [...(this.#byDigest.get(erasure.digest) ?? []), erasure]);
    }
  }

  /**
   * `users`: the users who are not in the tables; all their erasures are loaded. Of other users, only erasures after
   * the first entry's receipt can matter.
   */
  static async load(
    tx: pg.PoolClient,
    { entries, users }: { entries: readonly DecodedEntry[]; users: readonly UserKey[] },
    context: ErasureContext,
  ): Promise<Erasures> {
    const afterMs = firstReceivedAtMs(entries);
    return new Erasures(
      await loadErasures(tx, { appIds: appsOf(entries), users, afterMs }, context.erasureDigest),
      context,
    );
  }

  /**
   * Whether an entry precedes or follows the erasures of its user. "before": it precedes one that stands in another
   * journal, or it is applied out of turn. "after": it follows one and precedes none in that way.
   */
  sideOf({ head, user, from }: { head: EntryHead; user: UserKey; from: number }): "before" | "after" | "none" {
    let side: "after" | "none" = "none";
    for (const erasure of this.#of(user)) {
      const isInTurn = erasure.journalId === this.#journalId;
      const isBefore = isInTurn ? from < erasure.position : head.at < erasure.erasedAtMs;
      if (isBefore && !isInTurn) return "before";
      if (!isBefore) side = "after";
    }
    return side;
  }

  /** During a replay, whether the user is erased later on, so that nothing about the user may be sent any more. */
  isErasedAfter(receivedAtMs: number, user: UserKey): boolean {
    return this.#of(user).some(({ erasedAtMs }) => erasedAtMs > receivedAtMs);
  }

  #of(user: UserKey): readonly Erasure[] {
    return this.#byDigest.size === 0 ? [] : (this.#byDigest.get(this.#digest.of(user)) ?? []);
  }
}
