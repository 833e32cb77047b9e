import { elapsedMs } from "../clock.ts";

/** While the journal grows faster than this, answering requests has priority. */
const BUSY_BYTES_PER_S = 2 * 1024 * 1024;

/** Tells whether the journal grows fast, from one call to the next. */
export class IntakePace {
  readonly #durable: () => number;
  #seen: { durable: number; atMs: number } | undefined;

  constructor(durable: () => number) {
    this.#durable = durable;
  }

  /** Whether the journal has grown fast since the previous call; false at the first one. */
  isBusy(): boolean {
    const before = this.#seen;
    this.#seen = { durable: this.#durable(), atMs: elapsedMs() };
    if (!before) return false;
    return (this.#seen.durable - before.durable) * 1000 > BUSY_BYTES_PER_S * (this.#seen.atMs - before.atMs);
  }
}
