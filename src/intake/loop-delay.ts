import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Log } from "../log.ts";
import { type Loop, startLoop } from "../loop.ts";

const RESOLUTION_MS = 10;
const WINDOW_MS = 30_000;

/** The longest delay of the event loop within the last 30 to 60 seconds. */
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

  /** Keeps the last window's maximum for one more window, so that a reader every half minute misses nothing. */
  nextWindow(): void {
    this.#longestBeforeMs = this.#longestNowMs();
    this.#seen.reset();
  }

  /** The measured value is the time between two samples, which includes the sampling interval itself. */
  #longestNowMs(): number {
    return Math.max(0, this.#seen.max / 1e6 - RESOLUTION_MS);
  }
}
