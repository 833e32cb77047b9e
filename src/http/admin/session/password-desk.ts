import { ApiError } from "../../../errors.ts";
import { LIMITS } from "../../../limits.ts";

/** `known`: somebody has proved before to belong here, by a session, a one-time link or a device that was signed in. */
export type Standing = "known" | "stranger";

const RETRY_AFTER_S = 3;

/**
 * Where passwords are hashed, one at a time, so that they take one core at most however many there are. Whoever is known
 * comes first and has a queue of their own: strangers, of whom an attacker can send as many as he likes, only keep each
 * other waiting.
 */
export class PasswordDesk {
  readonly #waiting: Record<Standing, (() => void)[]> = { known: [], stranger: [] };
  #isBusy = false;

  async inTurn<T>(standing: Standing, work: () => Promise<T>): Promise<T> {
    const queue = this.#waiting[standing];
    if (queue.length >= LIMITS.passwordsWaiting) {
      const message = `Too many people are signing in: try again in ${RETRY_AFTER_S} s.`;
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

  /** The desk stays busy when it is handed on: nobody who comes in between gets ahead. */
  #next(): void {
    const next = this.#waiting.known.shift() ?? this.#waiting.stranger.shift();
    if (next) next();
    else this.#isBusy = false;
  }
}
