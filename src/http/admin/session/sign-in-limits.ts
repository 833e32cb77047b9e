import { ApiError } from "../../../errors.ts";
import { LIMITS } from "../../../limits.ts";

const WAIT_MS_MIN = 15_000;
const WAIT_MS_MAX = 900_000;
const FORGET_MS = 3_600_000;

/** What failures are counted by. */
export type Counted = {
  key: string;
  /** So many failures cost nothing. */
  free: number;
  /** Whether a success wipes out the failures before it. Where others count by the same key, it makes up for itself alone. */
  onSuccess: "forget" | "give_back";
};

/** An attempt that counts as failed until it turns out otherwise. */
export type Attempt = {
  succeeded(): void;
  /** Nobody has looked at it: as if it had never been made. */
  unchecked(): void;
};

type Failures = { count: number; lastMs: number };

/**
 * After some failures, each further one makes whoever counts by the same key wait twice as long. An attempt counts before it
 * is checked: else all that arrive while the first ones are being checked would be checked, too.
 */
export class SignInLimits {
  readonly #failures = new Map<string, Failures>();

  /** Refuses whoever has to wait. */
  begin(counted: readonly Counted[], nowMs: number): Attempt {
    const waitMs = Math.max(0, ...counted.map((one) => this.#waitMsOf(one, nowMs)));
    if (waitMs > 0) {
      const retryAfterS = Math.ceil(waitMs / 1000);
      throw new ApiError("rateLimited", `Too many failures: try again in ${retryAfterS} s.`, { retryAfterS });
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

  /** Counts one; what is returned takes it back. */
  #count(key: string, nowMs: number): () => void {
    const before = this.#failures.get(key);
    const counted = { count: before && nowMs - before.lastMs < FORGET_MS ? before.count + 1 : 1, lastMs: nowMs };
    this.#put(key, counted);
    return () => {
      const now = this.#failures.get(key);
      // Nobody else has counted since: then the wait before it holds again, too.
      if (now === counted && before) this.#failures.set(key, before);
      else if (now && now.count > 1) this.#failures.set(key, { ...now, count: now.count - 1 });
      else this.#failures.delete(key);
    };
  }

  /** Last in the map is latest: the oldest go first when there are too many. */
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
