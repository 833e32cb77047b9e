import fs from "node:fs";
import { unlink } from "node:fs/promises";
import { elapsedMs } from "../clock.ts";
import { ApiError, messageOf } from "../errors.ts";
import { LIMITS } from "../limits.ts";
import type { Log } from "../log.ts";
import { SharedRoom } from "../shared-room.ts";
import { type Disk, O_DSYNC } from "./disk.ts";
import { measureEntry, type NewEntry } from "./entry.ts";
import type { Appended, EntryLog, LogReader, Position } from "./entry-log.ts";
import { type Group, Groups, type Waiting } from "./group.ts";
import { readOrMakeId } from "./journal-id.ts";
import { removeDraft } from "./packed-segment.ts";
import { JournalReader } from "./reader.ts";
import { cutTornTail, listSegments, type Segment, segmentPath, syncFolder } from "./segment.ts";

const { O_RDWR, O_CREAT, O_TRUNC } = fs.constants;

/**
 * The log in files of this machine: one partition, whose positions are bytes. `append` resolves when the entry is on the disk. Callers that arrive together, or while a sync
 * is under way, share the next write and the next fdatasync.
 *
 *   append → waiting ──(flush: seal, write, fdatasync)──▶ durable → resolve
 *                              └── failed: cut back to durable, reject, go on in a new segment
 */
export class Journal implements EntryLog {
  readonly partitions = 1;
  readonly obstacle = undefined;
  readonly trouble = undefined;
  readonly id: string;
  readonly dir: string;
  readonly #options: JournalOptions;
  #fd = -1;
  #segmentFrom = 0;
  #durable = 0;
  readonly #groups = new Groups();
  /** Bytes that wait for the disk, by app. */
  readonly #room: SharedRoom<number>;
  #flushing: Promise<void> | undefined;
  #broken = false;
  #closed = false;

  private constructor(dir: string, id: string, options: JournalOptions) {
    this.dir = dir;
    this.id = id;
    this.#options = options;
    this.#room = new SharedRoom(options.pendingBytesMax);
  }

  static async open(dir: string, options: JournalOptions): Promise<Journal> {
    const journal = new Journal(dir, await readOrMakeId(dir), options);
    await removeDraft(dir);
    const segments = await listSegments(dir);
    for (const hole of holesOf(segments)) options.log.error(hole, "The journal has a hole; what it held is lost.");
    const last = segments.at(-1);
    if (last?.isPacked) {
      await journal.#startSegment(last.from + last.bytes);
    } else if (last) {
      const { bytes, cutBytes } = await cutTornTail(last);
      if (cutBytes > 0) options.log.warn({ segment: last.path, cutBytes }, "A torn tail was cut off the journal.");
      journal.#segmentFrom = last.from;
      journal.#durable = last.from + bytes;
      journal.#fd = fs.openSync(last.path, O_RDWR | O_DSYNC);
    } else {
      await journal.#startSegment(0);
    }
    return journal;
  }

  /** Every byte before this position is on the disk. */
  get durable(): number {
    return this.#durable;
  }

  /** The same as a count of bytes, which positions are here. */
  get writtenBytes(): number {
    return this.#durable;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  get waitingBytes(): number {
    return this.#room.used;
  }

  partitionOf(): number {
    return 0;
  }

  end(): Position {
    return this.#durable;
  }

  /** Only one process may write a journal in files. */
  async freshEnd(): Promise<Position> {
    return this.#durable;
  }

  positionBefore(_partition: number, { bytes }: { bytes: number }): Position {
    return Math.max(0, this.#durable - bytes);
  }

  bytesBehind(applied: readonly Position[]): number {
    return Math.max(0, this.#durable - applied[0]!);
  }

  read(_partition: number, from: Position): LogReader {
    return new JournalReader(this.dir, from);
  }

  /**
   * Continues at `applied` when the journal is shorter than the cursor, because an older copy was restored. Positions
   * that the cursor has passed must not be used again: entries appended there would count as applied already.
   * Returns where the journal ended before.
   */
  async skipTo(applied: Position): Promise<Position> {
    // Appends may go on meanwhile: they wait as they do for a flush.
    while (this.#flushing) await this.#flushing;
    const durable = this.#durable;
    this.#flushing = this.#skipTo(applied).finally(() => this.#flushAll());
    await this.#flushing;
    return durable;
  }

  async #skipTo(applied: Position): Promise<void> {
    if (applied <= this.#durable) return;
    this.#options.log.error({ durable: this.#durable, applied }, "The journal lacks bytes that were applied before.");
    await this.#startSegment(applied);
  }

  /** Resolves with the position after the entry, once it is durable. */
  append(entry: NewEntry): Promise<Position> {
    if (this.#closed) return Promise.reject(overloaded("The server is stopping."));
    const measured = measureEntry(entry);
    const { recordBytes } = measured;
    if (recordBytes > LIMITS.segmentBytes)
      return Promise.reject(new ApiError("bodyTooLarge", "The body is too large."));
    const { app, gzip = 0 } = entry.head;
    const room = this.#room.take(app, recordBytes);
    if (room === "full") return Promise.reject(overloaded("The journal cannot keep up with the incoming data."));
    if (room === "over_share") return Promise.reject(this.#overShare(app));
    return new Promise((resolve, reject) => {
      this.#groups.add(measured, { app, plainBytes: recordBytes + gzip, recordBytes, resolve, reject });
      this.#flushing ??= new Promise((done) => setImmediate(done)).then(() => this.#flushAll());
    });
  }

  #overShare(app: number): ApiError {
    const { overShare = () => overloaded("This app has more data waiting for the disk than an even share.") } =
      this.#options;
    return overShare(app);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#flushing;
    if (this.#fd >= 0) fs.closeSync(this.#fd);
    this.#fd = -1;
    await this.#options.disk.close?.();
  }

  /** The segments that are no longer written, in order. */
  async closedSegments(): Promise<Segment[]> {
    // Asked before the files are listed: meanwhile another segment may be begun, and this one may have grown.
    const active = this.#segmentFrom;
    return (await listSegments(this.dir)).filter(({ from }) => from < active);
  }

  /** Deletes whole segments. Returns their number. */
  async prune(_partition: number, before: { applied: Position; writtenBeforeMs: number }): Promise<number> {
    const gone = (await this.closedSegments()).filter(
      ({ from, bytes, modifiedAtMs }) => from + bytes <= before.applied && modifiedAtMs < before.writtenBeforeMs,
    );
    // Oldest first, so that the rest stays contiguous even if this is interrupted.
    for (const segment of gone) await unlink(segment.path);
    if (gone.length > 0) await syncFolder(this.dir);
    return gone.length;
  }

  async #flushAll(): Promise<void> {
    for (let group = this.#takeGroup(); group; group = this.#takeGroup()) {
      try {
        await this.#flush(group);
        let until = this.#durable - group.bytes;
        for (const { recordBytes, resolve } of group.waiting) {
          until += recordBytes;
          resolve(until);
        }
      } catch (error) {
        this.#broken = true;
        this.#options.log.error({ reason: messageOf(error) }, "The journal could not be written.");
        for (const { reject } of group.waiting) reject(overloaded("The journal cannot be written at the moment."));
      }
      this.#groups.recycle(group);
    }
    this.#flushing = undefined;
  }

  #takeGroup(): Group | undefined {
    const group = this.#groups.take();
    if (this.#groups.isEmpty) this.#room.giveAll();
    else for (const { app, recordBytes } of group?.waiting ?? []) this.#room.give(app, recordBytes);
    return group;
  }

  async #flush(group: Group): Promise<void> {
    if (this.#broken) await this.#repair();
    const { bytes } = group;
    const segmentBytes = this.#durable - this.#segmentFrom;
    if (segmentBytes > 0 && segmentBytes + bytes > LIMITS.segmentBytes) await this.#startSegment(this.#durable);
    group.complete(this.#durable);
    const startedMs = elapsedMs();
    const { disk } = this.#options;
    await disk.write(this.#fd, group.records, this.#durable - this.#segmentFrom);
    if (!disk.writesAreDurable) await disk.sync(this.#fd);
    this.#durable += bytes;
    const tookMs = elapsedMs() - startedMs;
    const { waiting } = group;
    const { length: records } = waiting;
    this.#options.onAppended?.({ partition: 0, until: this.#durable, records, byApp: bytesByApp(waiting), tookMs });
  }

  /**
   * After a failed write or sync the kernel may have dropped the pages and call the file clean, so nothing after the
   * last durable byte can be trusted. It is cut off, and the journal continues in a new file.
   */
  async #repair(): Promise<void> {
    const { disk } = this.#options;
    await disk.truncate(this.#fd, this.#durable - this.#segmentFrom);
    await disk.sync(this.#fd);
    if (this.#durable > this.#segmentFrom) await this.#startSegment(this.#durable);
    this.#broken = false;
    this.#options.log.info("The journal can be written again.");
  }

  async #startSegment(from: number): Promise<void> {
    const fd = fs.openSync(segmentPath(this.dir, from), O_RDWR | O_CREAT | O_TRUNC | O_DSYNC, 0o600);
    try {
      await this.#options.disk.syncFolder(this.dir);
    } catch (error) {
      fs.closeSync(fd);
      throw error;
    }
    if (this.#fd >= 0) fs.closeSync(this.#fd);
    this.#fd = fd;
    this.#segmentFrom = from;
    this.#durable = from;
  }
}

export type JournalOptions = {
  log: Log;
  disk: Disk;
  pendingBytesMax: number;
  /** The refusal of an app of which more than an even share waits for the disk. */
  overShare?: (app: number) => ApiError;
  /** Called after each flush. */
  onAppended?: (appended: Appended) => void;
};

function bytesByApp(waiting: readonly Waiting[]): Map<number, number> {
  const byApp = new Map<number, number>();
  for (const { app, plainBytes } of waiting) byApp.set(app, (byApp.get(app) ?? 0) + plainBytes);
  return byApp;
}

function overloaded(message: string): ApiError {
  return new ApiError("overloaded", message, { retryAfterS: 5 });
}

function holesOf(segments: readonly Segment[]): { from: number; until: number }[] {
  return segments.flatMap((segment, index) => {
    const next = segments[index + 1];
    const until = segment.from + segment.bytes;
    return next && until !== next.from ? [{ from: until, until: next.from }] : [];
  });
}
