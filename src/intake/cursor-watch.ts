import type pg from "pg";
import { elapsedMs } from "../clock.ts";
import { readReached } from "../db/journal-cursor.ts";
import { loadHeldPartitions } from "../db/lock/partition-locks.ts";
import { loadNodes } from "../db/node.ts";
import type { Place, Position } from "../journal/entry-log.ts";
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
  nodeId: string;
  /** Whether this process applies the partition, and so hears of progress before it can be read. */
  isOwn: (partition: number) => boolean;
  /** How far a partition is known to be applied. */
  applied: (partition: number) => Position;
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
  /** Why other processes do not apply what they hold. */
  #troubles: string[] = [];
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
      failureMsMax: LOOK_MS,
      turn: async () => {
        const isDue = elapsedMs() - this.#lookedAtMs >= LOOK_MS;
        if (isDue || this.#options.isAwaited()) await this.#follow();
        if (isDue) await this.#findTrouble();
        return "idle";
      },
    });
  }

  async stop(): Promise<void> {
    await this.#loop?.stop();
  }

  get troubles(): readonly string[] {
    return this.#troubles;
  }

  /** The partitions that nobody has applied for a while. */
  unheld(): number[] {
    const longAgoMs = elapsedMs() - UNHELD_MS_MAX;
    return [...this.#unheldSinceMs].flatMap(([partition, sinceMs]) => (sinceMs < longAgoMs ? [partition] : []));
  }

  async #follow(): Promise<void> {
    const { pool, journalId, isOwn, applied, onReached } = this.#options;
    for (const reached of await readReached(pool, journalId)) {
      const { partition, position } = reached;
      // A crash of the database may have set it back, which whoever applies it finds out.
      if (isOwn(partition) ? position > applied(partition) : position !== applied(partition)) onReached(reached);
    }
  }

  async #findTrouble(): Promise<void> {
    const { pool, partitions, nodeId } = this.#options;
    const held = new Set(await loadHeldPartitions(pool));
    const others = (await loadNodes(pool)).filter((node) => node.nodeId !== nodeId && node.silentMs < UNHELD_MS_MAX);
    this.#troubles = others.flatMap(({ host, trouble }) => (trouble === "" ? [] : [`${host}: ${trouble}`]));
    this.#lookedAtMs = elapsedMs();
    const unheld = Array.from({ length: partitions }, (_, partition) => partition).filter((one) => !held.has(one));
    this.#unheldSinceMs = new Map(unheld.map((one) => [one, this.#unheldSinceMs.get(one) ?? this.#lookedAtMs]));
  }
}
