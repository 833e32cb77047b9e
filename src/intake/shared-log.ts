import type { Database } from "../db/engine/database.ts";
import { readCursor } from "../db/journal-cursor.ts";
import type { UserKey } from "../domain/user/user-key.ts";
import type { EntryLog, Place, Position } from "../journal/entry-log.ts";
import type { Log } from "../log.ts";
import { CursorWatch } from "./cursor-watch.ts";
import { GoneClients } from "./gone-clients.ts";
import type { KnownClients } from "./known-clients.ts";
import type { Progress } from "./progress.ts";

/** How long a client that is not found waits for apply to pass what the log holds. */
const CATCH_UP_MS_MAX = 1_500;

export type SharedLogOptions = {
  database: Database;
  log: Log;
  journal: EntryLog;
  progress: Progress;
  known: () => KnownClients;
  nodeId: string;
  /** Whether this process applies the partition. */
  isOwn: (partition: number) => boolean;
  /** Another process has applied a partition up to a place. */
  onReached: (place: Place, receivedAtMs: number) => void;
};

/** What a process must know about the others that append to the same log and apply it. */
export class SharedLog {
  readonly #options: SharedLogOptions;
  readonly #cursors: CursorWatch;
  readonly #gone: GoneClients;

  constructor(options: SharedLogOptions) {
    const { database, log, journal, progress, nodeId, isOwn, onReached } = options;
    this.#options = options;
    this.#gone = new GoneClients({ sessionPool: database.sessionPool, log, known: options.known });
    this.#cursors = new CursorWatch({
      pool: database.pool,
      log,
      journalId: journal.id,
      partitions: journal.partitions,
      nodeId,
      isOwn,
      applied: (partition) => progress.applied[partition]!,
      isAwaited: () => progress.isAwaited,
      onReached: ({ receivedAtMs, ...place }) => onReached(place, receivedAtMs),
    });
  }

  whenGone(gone: (client: UserKey) => void): void {
    this.#gone.whenGone(gone);
  }

  start(): void {
    this.#cursors.start();
    this.#gone.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#cursors.stop(), this.#gone.stop()]);
  }

  /** Why other processes do not apply what they should, or nobody does, or undefined. */
  get obstacle(): string | undefined {
    const unheld = this.#cursors.unheld();
    if (unheld.length === 0) return this.#cursors.troubles.join(" ") || undefined;
    return `Nobody applies ${unheld.length} partitions of the log (${unheld.join(", ")}): no process with the role apply has taken them. Collected data waits.`;
  }

  /**
   * Waits, not for long, until apply has passed everything that any process has appended to a partition, and returns that
   * position; undefined when it has not.
   */
  async catchUp(partition: number): Promise<Position | undefined> {
    const { journal, progress } = this.#options;
    const position = await journal.freshEnd(partition);
    return (await progress.waitForPlace({ partition, position }, CATCH_UP_MS_MAX)) ? position : undefined;
  }

  /** Whether the tables hold everything before a place now: a crash of the database may have set them back. */
  async isReached({ partition, position }: Place): Promise<boolean> {
    const { database, journal } = this.#options;
    return (await readCursor(database.pool, { journalId: journal.id, partition })) >= position;
  }
}
