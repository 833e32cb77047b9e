import { elapsedMs } from "../clock.ts";

/** While the journal grows faster than this, the cores belong to the answers. */
const BUSY_BYTES_PER_S = 2 * 1024 * 1024;

/** How fast the journal grows, from one look to the next. */
export class IntakePace {
  readonly #durable: () => number;
  #seen: { durable: number; atMs: number } | undefined;

  constructor(durable: () => number) {
    this.#durable = durable;
  }

  /** Since the look before; at the first one nothing is known yet. */
  isBusy(): boolean {
    const before = this.#seen;
    this.#seen = { durable: this.#durable(), atMs: elapsedMs() };
    if (!before) return false;
    return (this.#seen.durable - before.durable) * 1000 > BUSY_BYTES_PER_S * (this.#seen.atMs - before.atMs);
  }
}
