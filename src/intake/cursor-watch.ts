import type pg from "pg";
import { elapsedMs } from "../clock.ts";
import { readReached } from "../db/journal-cursor.ts";
import { loadHeldPartitions } from "../db/lock/partition-locks.ts";
import type { Place } from "../journal/entry-log.ts";
import type { Log } from "../log.ts";
import { type Loop, startLoop } from "../loop.ts";

/** How soon a caller learns that another process has applied its entry, and how often the cursors are read otherwise. */
const AWAITED_MS = 20;
const LOOK_MS = 500;
/** How long a partition may be without a holder: as long as it takes to move to another process, and more. */
const UNHELD_MS_MAX = 15_000;

export type CursorWatchOptions = {
  pool: pg.Pool;
  log: Log;
  journalId: string;
  partitions: number;
  /** Whether this process applies the partition, and so knows better. */
  isOwn: (partition: number) => boolean;
  /** Whether somebody waits for an entry to be applied. */
  isAwaited: () => boolean;
  onReached: (reached: Place & { receivedAtMs: number }) => void;
};

/** Follows the partitions of a shared log that other processes apply. */
export class CursorWatch {
  readonly #options: CursorWatchOptions;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  /** Since when nobody has held each of these partitions. */
  #unheldSinceMs = new Map<number, number>();
  #loop: Loop | undefined;

  constructor(options: CursorWatchOptions) {
    this.#options = options;
  }

  start(): void {
    const { log } = this.#options;
    this.#loop = startLoop({
      name: "cursors",
      log,
      idleMs: AWAITED_MS,
      turn: async () => {
        const isDue = elapsedMs() - this.#lookedAtMs >= LOOK_MS;
        if (isDue || this.#options.isAwaited()) await this.#follow();
        if (isDue) await this.#findUnheld();
        return "idle";
      },
    });
  }

  async stop(): Promise<void> {
    await this.#loop?.stop();
  }

  /** The partitions that nobody has applied for a while. */
  unheld(): number[] {
    const longAgoMs = elapsedMs() - UNHELD_MS_MAX;
    return [...this.#unheldSinceMs].flatMap(([partition, sinceMs]) => (sinceMs < longAgoMs ? [partition] : []));
  }

  async #follow(): Promise<void> {
    const { pool, journalId, isOwn, onReached } = this.#options;
    const reached = await readReached(pool, journalId);
    for (const one of reached) if (!isOwn(one.partition)) onReached(one);
  }

  async #findUnheld(): Promise<void> {
    const { pool, partitions } = this.#options;
    const held = new Set(await loadHeldPartitions(pool));
    this.#lookedAtMs = elapsedMs();
    const unheld = Array.from({ length: partitions }, (_, partition) => partition).filter((one) => !held.has(one));
    this.#unheldSinceMs = new Map(unheld.map((one) => [one, this.#unheldSinceMs.get(one) ?? this.#lookedAtMs]));
  }
}
