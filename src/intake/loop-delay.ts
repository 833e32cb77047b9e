import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Log } from "../log.ts";
import { type Loop, startLoop } from "../loop.ts";

const RESOLUTION_MS = 10;
const WINDOW_MS = 30_000;

/** The longest that anything kept the event loop from its next turn, in the last half minute to minute. */
export class LoopDelay {
  readonly #seen = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  #longestBeforeMs = 0;
  #windows: Loop | undefined;

  start(log: Log): void {
    this.#seen.enable();
    const turn = async () => {
      this.nextWindow();
      return "idle" as const;
    };
    this.#windows = startLoop({ name: "loop delay", log, idleMs: WINDOW_MS, turn });
  }

  async stop(): Promise<void> {
    this.#seen.disable();
    await this.#windows?.stop();
  }

  get longestMs(): number {
    return Math.max(this.#longestBeforeMs, this.#longestNowMs());
  }

  /** Keeps what was seen for one window more, so that whoever asks once in half a minute misses nothing. */
  nextWindow(): void {
    this.#longestBeforeMs = this.#longestNowMs();
    this.#seen.reset();
  }

  /** What is measured is the time between two looks, which are so far apart anyway. */
  #longestNowMs(): number {
    return Math.max(0, this.#seen.max / 1e6 - RESOLUTION_MS);
  }
}
