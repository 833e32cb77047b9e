import { setImmediate as yieldToLoop } from "node:timers/promises";
import { elapsedMs } from "../clock.ts";
import type { Executor } from "../db/engine/sql.ts";
import { readCursor } from "../db/journal-cursor.ts";
import { collectAfterBody, collectGarbage } from "../garbage.ts";
import { IntakePace } from "../intake/pace.ts";
import type { LogReader, LogSource } from "../journal/entry-log.ts";
import type { LargeTurn } from "../large-turn.ts";
import { isLarge, isLargeEntry, type Stretch } from "./batch.ts";
import { type DecodedEntry, decodeItem, type OpenedItem, openItem } from "./entry/decode.ts";
import type { DecodeThread } from "./entry/decode-thread.ts";
import { TakenEvents } from "./entry/handed-events.ts";
import { SentEvents } from "./entry/sent-events.ts";

/** Decoded stretches that may wait: enough to keep apply busy while there is something to read. */
const AHEAD_MAX = 1;

/** After so many full stretches in a row the backlog is long: nobody waits for the next entries. */
const LONG_BACKLOG = 8;

/** What an entry takes in memory besides its bytes. Without it, stretches of small entries took twice the memory of others. */
const ENTRY_BYTES = 512;

type StretchesOptions = {
  pool: Executor;
  /** Its end is asked for again before each stretch. */
  source: LogSource;
  /** Shared with the thread that judges large bodies, if there is one. */
  largeTurn?: LargeTurn;
  /** The size of a stretch; it ends with the entry that reaches it, or with a large one. */
  bytesMax: (backlog: "long" | "short") => number;
  /** Grows by the bytes that become durable in the journal. */
  writtenBytes: () => number;
  /** Decodes the stretches of a long backlog. Without it, this thread does. */
  decodeThread?: DecodeThread;
};

/** Items that make a stretch. `bytes`: what they take, with the unpacked size of packed bodies. */
type Gathered = { items: OpenedItem[]; bytes: number; hasLarge: boolean };

/** Reads a partition from its cursor on, stretch by stretch, and one stretch ahead when asked to. */
export class Stretches {
  readonly #options: StretchesOptions;
  #reader: LogReader | undefined;
  #ahead: Stretch[] = [];
  #reading: Promise<void> | undefined;
  #holdsLargeTurn = false;
  #fullInARow = 0;
  readonly #pace: IntakePace;

  constructor(options: StretchesOptions) {
    this.#options = options;
    this.#pace = new IntakePace(options.writtenBytes);
  }

  get partition(): number {
    return this.#options.source.partition;
  }

  /** The next stretch, or undefined at the end. */
  async next(): Promise<Stretch | undefined> {
    if (this.#ahead.length === 0) await this.#reading;
    return this.#ahead.shift() ?? (await this.#read());
  }

  /** Gives the turn for large bodies back once none is in memory: the last stretch is done with. */
  release(): void {
    if (!this.#holdsLargeTurn || this.#reading || this.#ahead.some(isLarge)) return;
    collectGarbage();
    this.#options.largeTurn?.give();
    this.#holdsLargeTurn = false;
  }

  /** Decodes the next stretch while the database works on the current one and the thread would otherwise be idle. */
  readAhead(): void {
    if (this.#reading) return;
    const reading = (async () => {
      while (this.#ahead.length < AHEAD_MAX) {
        const stretch = await this.#read();
        if (!stretch) break;
        this.#ahead.push(stretch);
      }
    })();
    this.#reading = reading;
    // `next` meets a failure here, because it awaits #reading when no stretch is ready.
    reading.then(
      () => (this.#reading = undefined),
      () => {},
    );
  }

  /** Whether the cursor is where reading has come to. A crash of the database loses commits that were not on its disk yet. */
  async isAtCursor(): Promise<boolean> {
    const { pool, source } = this.#options;
    return (await readCursor(pool, source)) === this.#reader!.position;
  }

  /** Reads from the cursor again. */
  async forget(): Promise<void> {
    await this.#reading?.catch(() => {});
    await this.#reader?.close().catch(() => {});
    this.#reader = undefined;
    this.#reading = undefined;
    this.#ahead = [];
    // If the decoding thread failed, the next stretches are decoded here.
    this.#fullInARow = 0;
  }

  async close(): Promise<void> {
    await this.#reading?.catch(() => {});
    await this.#reader?.close();
  }

  async #read(): Promise<Stretch | undefined> {
    const { pool, source } = this.#options;
    this.#reader ??= source.read(await readCursor(pool, source));
    const { position: from } = this.#reader;
    // While much arrives, the cores are left to it.
    const isLong = !this.#pace.isBusy() && this.#fullInARow >= LONG_BACKLOG;
    const gathered = await this.#gather(this.#reader, isLong ? "long" : "short");
    if (gathered.items.length === 0) return undefined;
    const { journalId, partition } = source;
    const until = this.#reader.position;
    return { journalId, partition, from, until, entries: await this.#decode(gathered, isLong) };
  }

  async #gather(reader: LogReader, backlog: "long" | "short"): Promise<Gathered> {
    const { source } = this.#options;
    const until = source.end();
    const bytesMax = this.#options.bytesMax(backlog);
    const gathered: Gathered = { items: [], bytes: 0, hasLarge: false };
    const slices = new Slices();
    while (gathered.bytes < bytesMax && !gathered.hasLarge) {
      const item = await reader.next(until);
      if (!item) break;
      const opened = openItem(item);
      const head = opened.entry?.head;
      gathered.items.push(opened);
      // A few packed entries can hold as much as thousands of plain ones.
      gathered.bytes += item.payload.length + (head?.gzip ?? 0) + ENTRY_BYTES;
      if (head && isLargeEntry({ head, payload: item.payload })) gathered.hasLarge = true;
      if (slices.isOver) await slices.next();
    }
    const isAtEnd = gathered.bytes < bytesMax && !gathered.hasLarge;
    this.#fullInARow = isAtEnd ? 0 : this.#fullInARow + 1;
    return gathered;
  }

  async #decode({ items, hasLarge }: Gathered, isLong: boolean): Promise<DecodedEntry[]> {
    const { decodeThread } = this.#options;
    if (hasLarge) await this.#takeLargeTurn();
    const isHandedOver = decodeThread && isLong && !hasLarge;
    const taken = isHandedOver ? new TakenEvents(await decodeThread.decode(items)) : undefined;
    const events = SentEvents.empty(taken ? 0 : items.reduce((sum, { payload }) => sum + payload.length, 0));
    const entries: DecodedEntry[] = [];
    const slices = new Slices();
    for (const item of items) {
      entries.push(taken?.next(item) ?? decodeItem(item, events));
      collectAfterBody(item.entry?.head.gzip ?? 0);
      if (slices.isOver) await slices.next();
    }
    return entries;
  }

  async #takeLargeTurn(): Promise<void> {
    await this.#options.largeTurn?.take();
    this.#holdsLargeTurn = true;
  }
}

/**
 * How long decoding may hold the thread before the database connection gets its turn. A transaction makes some 25
 * round trips, and each of them waits for the current slice.
 */
const SLICE_MS = 1;

class Slices {
  #startedMs = elapsedMs();

  get isOver(): boolean {
    return elapsedMs() - this.#startedMs > SLICE_MS;
  }

  async next(): Promise<void> {
    await yieldToLoop();
    this.#startedMs = elapsedMs();
  }
}
