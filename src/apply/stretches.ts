import { setImmediate as yieldToLoop } from "node:timers/promises";
import { elapsedMs } from "../clock.ts";
import type { Executor } from "../db/engine/sql.ts";
import { readCursor } from "../db/journal-cursor.ts";
import { collectAfterBody, collectGarbage } from "../garbage.ts";
import type { LogReader, LogSource } from "../journal/entry-log.ts";
import type { LargeTurn } from "../large-turn.ts";
import { isLarge, isLargeItem, type Stretch } from "./batch.ts";
import { type DecodedEntry, decodeItem } from "./entry/decode.ts";

/** Decoded stretches that may wait: enough to keep apply busy while there is something to read. */
const AHEAD_MAX = 1;

/**
 * How long decoding may hold the thread before the database connection gets its turn. A transaction makes about fifteen
 * round trips, and each of them waits for the current slice.
 */
const SLICE_MS = 1;

type StretchesOptions = {
  pool: Executor;
  /** Its end is asked for again before each stretch. */
  source: LogSource;
  /** Shared with the thread that judges large bodies, if there is one. */
  largeTurn?: LargeTurn;
  /** The size of a stretch; it ends with the entry that reaches it. */
  bytesMax: () => number;
};

/** Reads a partition from its cursor on, stretch by stretch, and one stretch ahead when asked to. */
export class Stretches {
  readonly #options: StretchesOptions;
  #reader: LogReader | undefined;
  #ahead: Stretch[] = [];
  #reading: Promise<void> | undefined;
  #holdsLargeTurn = false;

  constructor(options: StretchesOptions) {
    this.#options = options;
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
  }

  async close(): Promise<void> {
    await this.#reading?.catch(() => {});
    await this.#reader?.close();
  }

  async #read(): Promise<Stretch | undefined> {
    const { pool, source, bytesMax } = this.#options;
    this.#reader ??= source.read(await readCursor(pool, source));
    const { position: from } = this.#reader;
    const until = source.end();
    const entries: DecodedEntry[] = [];
    let sliceStartedMs = elapsedMs();
    // Counts unpacked bytes: a few packed entries can hold as much as thousands of plain ones.
    for (let bytes = 0; bytes < bytesMax(); ) {
      const item = await this.#reader.next(until);
      if (!item) break;
      if (isLargeItem(item)) await this.#takeLargeTurn();
      const entry = decodeItem(item);
      collectAfterBody(entry.head?.gzip ?? 0);
      entries.push(entry);
      bytes += item.payload.length + (entry.head?.gzip ?? 0);
      if (elapsedMs() - sliceStartedMs > SLICE_MS) {
        await yieldToLoop();
        sliceStartedMs = elapsedMs();
      }
    }
    if (entries.length === 0) return undefined;
    const { journalId, partition } = source;
    return { journalId, partition, from, until: this.#reader.position, entries };
  }

  async #takeLargeTurn(): Promise<void> {
    await this.#options.largeTurn?.take();
    this.#holdsLargeTurn = true;
  }
}
