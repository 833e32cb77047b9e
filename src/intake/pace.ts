import { elapsedMs } from "../clock.ts";

/** While the journal grows faster than this, answering requests has priority. */
const BUSY_BYTES_PER_S = 2 * 1024 * 1024;

/** Tells whether the journal grows fast, from one call to the next. */
export class IntakePace {
  readonly #writtenBytes: () => number;
  #seen: { bytes: number; atMs: number } | undefined;

  /** `writtenBytes`: a count of the bytes that became durable. */
  constructor(writtenBytes: () => number) {
    this.#writtenBytes = writtenBytes;
  }

  /** Whether the journal has grown fast since the previous call; false at the first one. */
  isBusy(): boolean {
    const before = this.#seen;
    this.#seen = { bytes: this.#writtenBytes(), atMs: elapsedMs() };
    if (!before) return false;
    return (this.#seen.bytes - before.bytes) * 1000 > BUSY_BYTES_PER_S * (this.#seen.atMs - before.atMs);
  }
}
