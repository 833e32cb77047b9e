import type pg from "pg";
import { type Erasure, type ErasureDigest, loadErasures } from "../../db/erased-user.ts";
import type { UserKey } from "../../domain/user/user-key.ts";
import type { EntryHead } from "../../journal/entry.ts";
import type { DecodedEntry } from "../entry/decode.ts";
import { firstReceivedAtMs } from "../entry/received-at.ts";

/** `journalId`: the journal that the batch is of; undefined for what is taken in out of turn. */
export type ErasureContext = { journalId?: string | undefined; erasureDigest: ErasureDigest };

/** Erasures of users of whom the batch brings something. Nearly always there are none. */
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

  /** `users`: those who are new to the tables. Only what was received before somebody was erased is looked for. */
  static async load(
    tx: pg.PoolClient,
    { entries, users }: { entries: readonly DecodedEntry[]; users: readonly UserKey[] },
    context: ErasureContext,
  ): Promise<Erasures> {
    const afterMs = firstReceivedAtMs(entries);
    return new Erasures(await loadErasures(tx, { users, afterMs }, context.erasureDigest), context);
  }

  /**
   * Where an entry stands to the erasures of its user. "before": it comes from before one of them, by another way than
   * the one that leads to the erasure. "after": it comes after one, and before none.
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

  /** In a replay: of whom nobody may be told any more, because further on in the journal the user is erased. */
  isErasedAfter(receivedAtMs: number, user: UserKey): boolean {
    return this.#of(user).some(({ erasedAtMs }) => erasedAtMs > receivedAtMs);
  }

  #of(user: UserKey): readonly Erasure[] {
    return this.#byDigest.size === 0 ? [] : (this.#byDigest.get(this.#digest.of(user)) ?? []);
  }
}
