import { ApiError } from "../../../errors.ts";
import { LIMITS } from "../../../limits.ts";

/** `known`: the caller has proved before to belong here, by a session, a one-time link or a known device. */
export type Standing = "known" | "stranger";

const RETRY_AFTER_S = 3;

/**
 * Hashes passwords one at a time, so that they occupy at most one core. Known callers come first and have their own
 * queue: an attacker can send any number of strangers, who only keep each other waiting.
 */
export class PasswordDesk {
  readonly #waiting: Record<Standing, (() => void)[]> = { known: [], stranger: [] };
  #isBusy = false;

  async inTurn<T>(standing: Standing, work: () => Promise<T>): Promise<T> {
    const queue = this.#waiting[standing];
    if (queue.length >= LIMITS.passwordsWaiting) {
      const message = `Too many people are signing in; try again in ${RETRY_AFTER_S} s.`;
      throw new ApiError("rateLimited", message, { retryAfterS: RETRY_AFTER_S });
    }
    if (this.#isBusy) await new Promise<void>((resolve) => queue.push(resolve));
    this.#isBusy = true;
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  /** Hands the desk to the next caller. It stays busy meanwhile, so that no newcomer gets ahead. */
  #next(): void {
    const next = this.#waiting.known.shift() ?? this.#waiting.stranger.shift();
    if (next) next();
    else this.#isBusy = false;
  }
}
