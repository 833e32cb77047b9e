import type { Clock } from "../clock.ts";
import type { Refusal } from "../domain/refusal.ts";
import { ApiError } from "../errors.ts";

const SENTENCES: Record<Refusal, string> = {
  entries: "This app sends more calls than its budget allows.",
  bytes: "This app sends more bytes than its budget allows.",
  address: "This address calls more often than its budget allows.",
  bodies: "This sender has more bodies in flight than an even share; try again.",
  large_bodies: "This app has more large bodies waiting than an even share; try again.",
  memory: "This app has more data waiting for the disk than an even share; try again.",
  backlog: "This app has more data waiting for the database than an even share; try again.",
  disk: "Disk space is getting short, and this app writes more than an even share; try again later.",
};

/** The default time after which a retry makes sense. */
const RETRY_AFTER_S = 5;

export type Counted = { appId: number; refusal: Refusal; calls: number; lastAtMs: number };

/**
 * Calls refused because an app or an address exceeded its budget or its share, by app, since the start of this process.
 * App 0 stands for calls without an app.
 */
export class Refusals {
  readonly #clock: Clock;
  readonly #counted = new Map<number, Map<Refusal, Counted>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts a refusal and returns the error for the caller. */
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
