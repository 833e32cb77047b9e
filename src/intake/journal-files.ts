import type { Position } from "../journal/entry-log.ts";
import type { Journal } from "../journal/journal.ts";
import { Packing } from "../journal/packing.ts";
import { Unconfirmed } from "../journal/unconfirmed.ts";
import type { Log } from "../log.ts";
import { writeAgain } from "./write-again.ts";

/** What only a journal in files needs: positions that are never used twice although it may be an older copy, and packing. */
export class JournalFiles {
  readonly #journal: Journal;
  readonly #log: Log;
  readonly #unconfirmed: Unconfirmed;
  readonly #packing: Packing;

  constructor(journal: Journal, log: Log) {
    this.#journal = journal;
    this.#log = log;
    this.#unconfirmed = new Unconfirmed(journal.dir);
    this.#packing = new Packing(journal, log);
  }

  get dir(): string {
    return this.#journal.dir;
  }

  /** Prepares the journal for new entries. `isConfirmed`: whether `applied` is the cursor itself. */
  async begin({ applied, isConfirmed }: { applied: Position; isConfirmed: boolean }): Promise<void> {
    await this.#journal.skipTo(applied);
    if (!isConfirmed) await this.#unconfirmed.begin(this.#journal.durable);
  }

  /**
   * Saves what was accepted without the database into a journal that is an older copy: it lies at positions that the
   * cursor has passed, and would never be applied. It is written again behind the cursor. An entry that a crash leaves
   * there twice is recognised as repeated.
   */
  async bringBack(applied: Position, obstacle: () => string | undefined): Promise<void> {
    const from = await this.#unconfirmed.from();
    const durable = await this.#journal.skipTo(applied);
    if (from === undefined) return;
    if (from < applied && from < durable) {
      const stretch = { from, until: applied, durable };
      const entries = await writeAgain(this.#journal, stretch, { obstacle, log: this.#log });
      this.#log.error(
        { entries, from, until: applied },
        "The journal is older than the database: what was just accepted was written again.",
      );
    }
    await this.#unconfirmed.end();
  }

  /** Packs the oldest segment that is worth it. False when none is, or when the processor is needed elsewhere. */
  packOne(options: { applied: Position; isBusy: boolean; signal: AbortSignal }): Promise<boolean> {
    return this.#packing.packOne(options);
  }
}
