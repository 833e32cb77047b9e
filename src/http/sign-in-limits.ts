import { LIMITS } from "../config.ts";

const FREE_FAILURES = 5;
const WAIT_MS_MIN = 15_000;
const WAIT_MS_MAX = 900_000;
const FORGET_MS = 3_600_000;

type Failures = { count: number; lastMs: number };

/** After some failures, each further one makes an address, and a name, wait twice as long. */
export class SignInLimits {
  readonly #failures = new Map<string, Failures>();

  /** How long to wait before the next try, ms; 0: it may be tried. */
  waitMs(keys: readonly string[], nowMs: number): number {
    return Math.max(0, ...keys.map((key) => this.#waitOf(key, nowMs)));
  }

  #waitOf(key: string, nowMs: number): number {
    const known = this.#failures.get(key);
    if (!known || known.count < FREE_FAILURES) return 0;
    const waitMs = Math.min(WAIT_MS_MAX, WAIT_MS_MIN * 2 ** (known.count - FREE_FAILURES));
    return Math.max(0, known.lastMs + waitMs - nowMs);
  }

  failed(keys: readonly string[], nowMs: number): void {
    for (const key of keys) {
      const known = this.#failures.get(key);
      const count = known && nowMs - known.lastMs < FORGET_MS ? known.count + 1 : 1;
      // Last in the map is latest: the oldest go first when there are too many.
      this.#failures.delete(key);
      this.#failures.set(key, { count, lastMs: nowMs });
    }
    for (const key of this.#failures.keys()) {
      if (this.#failures.size <= LIMITS.signInFailures) break;
      this.#failures.delete(key);
    }
  }

  succeeded(keys: readonly string[]): void {
    for (const key of keys) this.#failures.delete(key);
  }
}
