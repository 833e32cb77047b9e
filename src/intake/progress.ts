import { elapsedMs } from "../clock.ts";

/** How long apply may be silent while somebody waits for it. Longer than any batch that is merely slow. */
const HANG_MS = 5_000;

/** How far apply has come, as the HTTP side knows it. */
export class Progress {
  #applied: number;
  #receivedAtMs = 0;
  #waiting: { position: number; end: (isApplied: boolean) => void }[] = [];
  #isStalled = false;
  /** Since when somebody has been waiting while nothing was applied. */
  #quietSinceMs: number | undefined;
  readonly #now: () => number;

  constructor(applied: number, now: () => number = elapsedMs) {
    this.#applied = applied;
    this.#now = now;
  }

  get applied(): number {
    return this.#applied;
  }

  /** Server time at which the newest applied entry was received. */
  get receivedAtMs(): number {
    return this.#receivedAtMs;
  }

  advance(position: number, receivedAtMs: number): void {
    this.#applied = position;
    this.#receivedAtMs = receivedAtMs;
    this.#isStalled = false;
    this.#quietSinceMs = undefined;
    if (this.#waiting.length === 0) return;
    const due = this.#waiting.filter((waiting) => waiting.position <= position);
    this.#waiting = this.#waiting.filter((waiting) => waiting.position > position);
    for (const { end } of due) end(true);
  }

  /** Notes that apply is stuck, or goes on. Nobody waits for it meanwhile. */
  stall(isStalled: boolean): void {
    this.#isStalled = isStalled;
    if (isStalled) for (const { end } of this.#waiting.splice(0)) end(false);
  }

  /** Resolves with true once everything before `position` has been applied, or with false after `timeoutMs`. */
  async waitFor(position: number, timeoutMs: number): Promise<boolean> {
    if (this.#applied >= position) return true;
    if (this.#isStalled || this.#hangs()) return false;
    return new Promise((done) => {
      const end = (isApplied: boolean) => {
        clearTimeout(timer);
        done(isApplied);
      };
      const timer = setTimeout(() => {
        this.#waiting = this.#waiting.filter((other) => other.end !== end);
        done(false);
      }, timeoutMs);
      this.#waiting.push({ position, end });
    });
  }

  /** Whether callers have waited for long without anything being applied: apply hangs without being able to say so. */
  #hangs(): boolean {
    this.#quietSinceMs ??= this.#now();
    return this.#now() - this.#quietSinceMs > HANG_MS;
  }
}
