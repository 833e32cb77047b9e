/** Failures in a row after which the receiver counts as down. */
const FAILURES_MAX = 5;
const OPEN_MS_MIN = 10_000;
const OPEN_MS_MAX = 600_000;

/**
 *   closed ──5 failures──▶ open ──its time is over──▶ half open ──success──▶ closed
 *                           ▲                            │
 *                           └────failure, twice as long──┘
 *
 * While a receiver is down, an occasional call finds out when it is back, instead of thousands that fail.
 */
export class Breaker {
  #failures = 0;
  #openMs = 0;
  #openUntilMs = 0;

  /** The number of calls that may be in flight at the same time. */
  room(nowMs: number, max: number): number {
    if (this.#openMs === 0) return max;
    return nowMs < this.#openUntilMs ? 0 : 1;
  }

  isOpen(nowMs: number): boolean {
    return this.room(nowMs, 1) === 0;
  }

  /** While the receiver counts as down: until when nothing is sent to it, and after how many failures. */
  pause(): { untilMs: number; failures: number } | undefined {
    return this.#openMs === 0 ? undefined : { untilMs: this.#openUntilMs, failures: this.#failures };
  }

  succeeded(): void {
    this.#failures = 0;
    this.#openMs = 0;
  }

  failed(nowMs: number): void {
    this.#failures += 1;
    // Calls that were in flight when it opened fail too, which is nothing new.
    const isOpen = this.#openMs > 0 && nowMs < this.#openUntilMs;
    if (this.#failures < FAILURES_MAX || isOpen) return;
    this.#openMs = this.#openMs === 0 ? OPEN_MS_MIN : Math.min(this.#openMs * 2, OPEN_MS_MAX);
    this.#openUntilMs = nowMs + this.#openMs;
  }
}

/** Limits the calls per second, with bursts of at most one second's worth. */
export class Pace {
  readonly #perS: number;
  #allowance: number;
  #seenMs: number | undefined;

  /** 0 means no limit. */
  constructor(perS: number) {
    this.#perS = perS;
    this.#allowance = perS;
  }

  room(nowMs: number, max: number): number {
    if (this.#perS === 0) return max;
    const passedMs = Math.max(0, nowMs - (this.#seenMs ?? nowMs));
    this.#seenMs = nowMs;
    this.#allowance = Math.min(this.#perS, this.#allowance + (passedMs * this.#perS) / 1000);
    return Math.min(max, Math.floor(this.#allowance));
  }

  took(calls: number): void {
    this.#allowance -= calls;
  }
}
