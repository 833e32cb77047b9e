import { messageOf } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Journal } from "./journal.ts";
import { BLOCK_BYTES, packSegment } from "./packed-segment.ts";
import type { Segment } from "./segment.ts";

/** While requests keep the processor busy, this many applied segments may wait. */
const WAITING_MAX = 16;

/** Packs the segments that are applied: they are read again only by a replay, and take about a fifth of the disk. */
export class Packing {
  readonly #journal: Journal;
  readonly #log: Log;
  /** Segments that could not be packed, by their first position. They stay as they are until the next start. */
  readonly #failed = new Set<number>();

  constructor(journal: Journal, log: Log) {
    this.#journal = journal;
    this.#log = log;
  }

  /** Packs the oldest segment that is worth it. False when none is, or when the processor is needed elsewhere. */
  async packOne(options: { applied: number; isBusy: boolean; signal?: AbortSignal }): Promise<boolean> {
    const waiting = await this.#waiting(options.applied);
    const [oldest] = waiting;
    if (!oldest || waiting.length <= (options.isBusy ? WAITING_MAX : 0)) return false;
    try {
      return await packSegment(oldest, options.signal);
    } catch (error) {
      this.#failed.add(oldest.from);
      this.#log.warn({ segment: oldest.path, reason: messageOf(error) }, "A journal segment could not be packed.");
      return true;
    }
  }

  /** Less than a block is not worth it. */
  async #waiting(applied: number): Promise<Segment[]> {
    const closed = await this.#journal.closedSegments();
    return closed.filter(
      ({ isPacked, from, bytes }) =>
        !isPacked && bytes >= BLOCK_BYTES && from + bytes <= applied && !this.#failed.has(from),
    );
  }
}
