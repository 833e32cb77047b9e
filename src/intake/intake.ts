import { statfs } from "node:fs/promises";
import { ApiError } from "../errors.ts";
import type { EntryHead, EntryKind } from "../journal/entry.ts";
import { type EntryLog, endsOf, type Position } from "../journal/entry-log.ts";
import type { Log } from "../log.ts";
import { type Loop, startLoop } from "../loop.ts";
import { isOverShare } from "../shared-room.ts";
import type { AppBacklog } from "./app-backlog.ts";
import type { Progress } from "./progress.ts";
import type { Refusals } from "./refusals.ts";

/** Below this multiple of the minimum free space, apps that write more than an even share are refused first. */
const DISK_SHORT_TIMES = 1.25;

const WATCH_MS = 1_000;
const RETRY_AFTER_S = 10;
const OWN_KINDS: ReadonlySet<EntryKind> = new Set(["erase", "apple_attribution"]);

export type IntakeOptions = {
  journal: EntryLog;
  /** The folder whose disk must not fill up. */
  dir: string;
  progress: Progress;
  backlog: AppBacklog;
  refusals: Refusals;
  log: Log;
  diskFreeBytesMin: number;
  backlogBytesMax: number;
};

/** The entrance to the journal. It refuses data before anything breaks, and only then. */
export class Intake {
  readonly #options: IntakeOptions;
  #diskFreeBytes = Number.POSITIVE_INFINITY;
  #watch: Loop | undefined;

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    await this.#measureDisk();
    this.#watch = startLoop({
      name: "disk",
      log: this.#options.log,
      idleMs: WATCH_MS,
      turn: async () => {
        await this.#measureDisk();
        return "idle";
      },
    });
  }

  async stop(): Promise<void> {
    await this.#watch?.stop();
  }

  get diskFreeBytes(): number {
    return this.#diskFreeBytes;
  }

  /** The end of each partition, as this process knows it. */
  get ends(): readonly Position[] {
    return endsOf(this.#options.journal);
  }

  /** How far the journal reaches and how far it is applied: each partition, and added up. */
  get reach(): { durable: number; applied: number; partitions: { durable: Position; applied: Position }[] } {
    const { applied } = this.#options.progress;
    const partitions = this.ends.map((durable, partition) => ({ durable, applied: applied[partition]! }));
    return { durable: sumOf(this.ends), applied: sumOf(applied), partitions };
  }

  /** The end of each partition after everything that any process has appended. */
  async freshEnds(): Promise<Position[]> {
    const { journal } = this.#options;
    return Promise.all(this.ends.map((_, partition) => journal.freshEnd(partition)));
  }

  /** A position in the partition of an app, about so many bytes before its end. */
  positionBefore({ appId, bytes }: { appId: number; bytes: number }): Position {
    const { journal } = this.#options;
    return journal.positionBefore(journal.partitionOf(appId), { bytes });
  }

  get backlogBytes(): number {
    return this.#options.journal.bytesBehind(this.#options.progress.applied);
  }

  /** Why whoever sends data had better go elsewhere, or undefined. */
  get trouble(): string | undefined {
    return this.obstacle() ?? this.#options.journal.trouble;
  }

  /** Why new data would be refused now, or undefined when it would be accepted. */
  obstacle(): string | undefined {
    const obstacle = this.#options.journal.obstacle ?? this.diskObstacle();
    if (this.backlogBytes <= this.#options.backlogBytesMax) return obstacle;
    return obstacle ?? "The journal is full; new data is refused until the database has caught up.";
  }

  diskObstacle(): string | undefined {
    if (this.#diskFreeBytes >= this.#options.diskFreeBytesMin) return undefined;
    return "The disk is nearly full; new data is refused until there is space.";
  }

  /** Resolves with the position after the entry, in the partition of its app, once it is durable. */
  accept(head: EntryHead, body: Buffer, verdicts?: string): Promise<Position> {
    const obstacle = this.obstacle();
    if (obstacle) return Promise.reject(new ApiError("overloaded", obstacle, { retryAfterS: RETRY_AFTER_S }));
    const overShare = this.#overShare(head);
    if (overShare) return Promise.reject(this.#options.refusals.refuse(head.app, overShare, RETRY_AFTER_S));
    return this.#options.journal.append({ head, body, verdicts });
  }

  /** The scarce resource of which an app has more than an even share. Our own entries are never refused. */
  #overShare({ kind, app }: EntryHead): "backlog" | "disk" | undefined {
    const { diskFreeBytesMin, backlogBytesMax: max, backlog } = this.#options;
    const { waiting, lately } = backlog;
    // A single writer shares with nobody.
    if (lately.count < 2 || OWN_KINDS.has(kind)) return undefined;
    const used = Math.max(this.backlogBytes, waiting.all);
    if (used > max / 2) {
      const isOver = isOverShare({ used, max, held: waiting.of(app), holders: waiting.count });
      if (isOver) return "backlog";
    }
    if (this.#diskFreeBytes < DISK_SHORT_TIMES * diskFreeBytesMin) {
      if (lately.of(app) > lately.all / lately.count) return "disk";
    }
    return undefined;
  }

  async #measureDisk(): Promise<void> {
    const wasShort = this.#diskFreeBytes < this.#options.diskFreeBytesMin;
    const { bavail, bsize } = await statfs(this.#options.dir);
    this.#diskFreeBytes = bavail * bsize;
    const isShort = this.#diskFreeBytes < this.#options.diskFreeBytesMin;
    if (isShort !== wasShort) {
      const fields = { freeBytes: this.#diskFreeBytes };
      if (isShort) this.#options.log.error(fields, "The disk is nearly full: new data is refused.");
      else this.#options.log.info(fields, "There is space on the disk again.");
    }
  }
}

function sumOf(positions: readonly Position[]): number {
  return positions.reduce((sum, position) => sum + position, 0);
}
