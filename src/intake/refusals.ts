import type { Clock } from "../clock.ts";
import type { Refusal } from "../domain/refusal.ts";
import { ApiError } from "../errors.ts";

const SENTENCES: Record<Refusal, string> = {
  entries: "This app sends more calls than its budget allows.",
  bytes: "This app sends more bytes than its budget allows.",
  address: "This address calls more often than its budget allows.",
  bodies: "More bodies than an even share are being received from here; try again.",
  large_bodies: "More large bodies of this app are waiting than an even share; try again.",
  memory: "More of this app waits for the disk than an even share; try again.",
  backlog: "More of this app waits for the database than an even share; try again.",
  disk: "The disk is getting short, and this app writes more than an even share; try again later.",
};

/** So soon it makes sense to try again, where nothing else says when. */
const RETRY_AFTER_S = 5;

export type Counted = { appId: number; refusal: Refusal; calls: number; lastAtMs: number };

/**
 * Calls that were refused because somebody had too much of what all share, by app. Of this process, since its start. App 0
 * stands for calls that are of no app.
 */
export class Refusals {
  readonly #clock: Clock;
  readonly #counted = new Map<number, Map<Refusal, Counted>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts a refusal and gives what the caller is told. */
  refuse(appId: number, refusal: Refusal, retryAfterS = RETRY_AFTER_S): ApiError {
    let counts = this.#counted.get(appId);
    if (!counts) {
      counts = new Map();
      this.#counted.set(appId, counts);
    }
    const before = counts.get(refusal)?.calls ?? 0;
    counts.set(refusal, { appId, refusal, calls: before + 1, lastAtMs: this.#clock() });
    return new ApiError("overBudget", SENTENCES[refusal], { retryAfterS });
  }

  list(): Counted[] {
    return [...this.#counted.values()].flatMap((counts) => [...counts.values()]);
  }
}
