import { ApiError } from "../../../errors.ts";
import { LIMITS } from "../../../limits.ts";

const WAIT_MS_MIN = 15_000;
const WAIT_MS_MAX = 900_000;
const FORGET_MS = 3_600_000;

/** What failures are counted by. */
export type Counted = {
  key: string;
  /** Failures before the first wait. */
  free: number;
  /** `forget`: a success clears all failures. `give_back`: only its own attempt, for keys that several people share. */
  onSuccess: "forget" | "give_back";
};

/** An attempt that counts as failed until it turns out otherwise. */
export type Attempt = {
  succeeded(): void;
  /** The attempt was never checked, and counts as if it had not been made. */
  unchecked(): void;
};

type Failures = { count: number; lastMs: number };

/**
 * After the free failures, each further one doubles the wait for its key. An attempt counts before it is checked:
 * otherwise all attempts that arrive while the first ones are being checked would be checked, too.
 */
export class SignInLimits {
  readonly #failures = new Map<string, Failures>();

  /** Begins an attempt, or refuses it while one of its keys has to wait. */
  begin(counted: readonly Counted[], nowMs: number): Attempt {
    const waitMs = Math.max(0, ...counted.map((one) => this.#waitMsOf(one, nowMs)));
    if (waitMs > 0) {
      const retryAfterS = Math.ceil(waitMs / 1000);
      throw new ApiError("rateLimited", `Too many failed attempts; try again in ${retryAfterS} s.`, { retryAfterS });
    }
    const undos = counted.map(({ key }) => this.#count(key, nowMs));
    this.#keepNewest();
    return {
      unchecked: () => {
        for (const undo of undos) undo();
      },
      succeeded: () => {
        for (const [index, { key, onSuccess }] of counted.entries()) {
          if (onSuccess === "forget") this.#failures.delete(key);
          else undos[index]!();
        }
      },
    };
  }

  #waitMsOf({ key, free }: Counted, nowMs: number): number {
    const known = this.#failures.get(key);
    if (!known || known.count < free) return 0;
    const waitMs = Math.min(WAIT_MS_MAX, WAIT_MS_MIN * 2 ** (known.count - free));
    return Math.max(0, known.lastMs + waitMs - nowMs);
  }

  /** Counts one failure and returns a function that takes it back. */
  #count(key: string, nowMs: number): () => void {
    const before = this.#failures.get(key);
    const counted = { count: before && nowMs - before.lastMs < FORGET_MS ? before.count + 1 : 1, lastMs: nowMs };
    this.#put(key, counted);
    return () => {
      const now = this.#failures.get(key);
      // No other attempt was counted since: the earlier wait applies again, too.
      if (now === counted && before) this.#failures.set(key, before);
      else if (now && now.count > 1) this.#failures.set(key, { ...now, count: now.count - 1 });
      else this.#failures.delete(key);
    };
  }

  /** Keeps the map ordered from oldest to newest: the oldest go first when there are too many. */
  #put(key: string, failures: Failures): void {
    this.#failures.delete(key);
    this.#failures.set(key, failures);
  }

  #keepNewest(): void {
    for (const key of this.#failures.keys()) {
      if (this.#failures.size <= LIMITS.signInFailures) break;
      this.#failures.delete(key);
    }
  }
}
