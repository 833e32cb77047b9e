import type { Database } from "../db/engine/database.ts";
import type { UserKey } from "../domain/user/user-key.ts";
import type { EntryLog, Place } from "../journal/entry-log.ts";
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
    const { database, log, journal, progress, isOwn, onReached } = options;
    this.#options = options;
    this.#gone = new GoneClients({ sessionPool: database.sessionPool, log, known: options.known });
    this.#cursors = new CursorWatch({
      pool: database.pool,
      log,
      journalId: journal.id,
      partitions: journal.partitions,
      isOwn,
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

  /** Why entries are not applied by anybody, or undefined when all are. */
  get obstacle(): string | undefined {
    const unheld = this.#cursors.unheld();
    if (unheld.length === 0) return undefined;
    return `Nobody applies ${unheld.length} partitions of the log (${unheld.join(", ")}): no process with the role apply has taken them. Collected data waits.`;
  }

  /** Waits, not for long, until apply has passed everything that any process has appended to a partition. */
  async catchUp(partition: number): Promise<boolean> {
    const { journal, progress } = this.#options;
    const position = await journal.freshEnd(partition);
    return progress.waitForPlace({ partition, position }, CATCH_UP_MS_MAX);
  }
}
