import type { LogItem, LogReader, LogSource, Position } from "./entry-log.ts";
import { findRecord, RECORD_HEADER_BYTES, scanRecord } from "./record.ts";
import { listSegments, type Segment, unlessGone } from "./segment.ts";
import { openSegment, type SegmentContent } from "./segment-content.ts";

const READ_BYTES = 4 * 1024 * 1024;

/** A journal on this machine, which another process may be writing, up to `end`. */
export function fileSource({ id, dir }: { id: string; dir: string }, end: () => Position): LogSource {
  return { journalId: id, partition: 0, end, read: (from) => new JournalReader(dir, from) };
}

/**
 * Reads the journal in order from a position, never past `until` (the last durable byte, given with each call).
 * Memory is bounded by one read plus the largest record, plus the file of a packed segment; after damage, by the rest of
 * that segment.
 */
export class JournalReader implements LogReader {
  readonly #dir: string;
  #position: Position;
  #segment: Segment | undefined;
  #content: SegmentContent | undefined;
  /** Bytes read but not yet returned; the first one is at #position. */
  #buffer: Buffer = Buffer.alloc(0);

  constructor(dir: string, from: Position) {
    this.#dir = dir;
    this.#position = from;
  }

  get position(): Position {
    return this.#position;
  }

  /** The next items, as many as fit into `bytesMax` but at least one. Empty when it has caught up with `until`. */
  async read(options: { until: Position; bytesMax: number }): Promise<LogItem[]> {
    const items: LogItem[] = [];
    let taken = 0;
    while (taken < options.bytesMax) {
      const item = await this.next(options.until);
      if (!item) break;
      items.push(item);
      taken += item.until - item.from;
    }
    return items;
  }

  /** The next item, or undefined when it has caught up with `until`. */
  async next(until: Position): Promise<LogItem | undefined> {
    while (this.#position < until) {
      const scan = scanRecord(this.#buffer, 0, this.#position);
      if (scan.kind === "record") return this.#take("record", scan.bytes, RECORD_HEADER_BYTES);
      if (await this.#fill(until)) continue;
      if (this.#buffer.length > 0) return this.#takeDamage();
      const opened = await this.#openSegment();
      if (opened === "caught_up") return undefined;
      if (opened !== "opened") return opened;
    }
    return undefined;
  }

  async close(): Promise<void> {
    await this.#content?.close();
    this.#content = undefined;
    this.#segment = undefined;
  }

  #take(kind: LogItem["kind"], bytes: number, headerBytes: number): LogItem {
    const from = this.#position;
    const payload = this.#buffer.subarray(headerBytes, bytes);
    this.#buffer = this.#buffer.subarray(bytes);
    this.#position += bytes;
    return { kind, from, until: from + bytes, payload };
  }

  /** Everything up to the next valid record, or all readable bytes when there is none. */
  #takeDamage(): LogItem {
    const next = findRecord(this.#buffer, 1, this.#position);
    return this.#take("damage", next ?? this.#buffer.length, 0);
  }

  /** Reads more of the open segment; false when it holds no more durable bytes. */
  async #fill(until: number): Promise<boolean> {
    if (!this.#content || !this.#segment) return false;
    const at = this.#position + this.#buffer.length;
    const wanted = Math.min(READ_BYTES, until - at);
    if (wanted <= 0) return false;
    const fresh = await this.#content.read(at - this.#segment.from, wanted);
    if (fresh.length === 0) return false;
    this.#buffer = this.#buffer.length === 0 ? fresh : Buffer.concat([this.#buffer, fresh]);
    return true;
  }

  /** Opens the segment that holds #position. A stretch that no file holds is reported as damage too. */
  async #openSegment(): Promise<"opened" | "caught_up" | LogItem> {
    const segments = await listSegments(this.#dir);
    const wanted = segments.findLast((segment) => segment.from <= this.#position);
    if (wanted && wanted.path !== this.#segment?.path) {
      await this.close();
      this.#content = await openSegment(wanted).catch(unlessGone);
      if (!this.#content) return this.#openSegment();
      this.#segment = wanted;
      return "opened";
    }
    const next = segments.find((segment) => segment.from > this.#position);
    if (!next) return "caught_up";
    const from = this.#position;
    this.#position = next.from;
    return { kind: "damage", from, until: next.from, payload: Buffer.alloc(0) };
  }
}
