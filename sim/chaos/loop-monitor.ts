import { openSync, readSync } from "node:fs";
import { elapsedMs } from "../../src/clock.ts";

/** The longest time between two turns of the event loop: computing time of the thread, and time that passed. */
export type Held = { computedMs: number; passedMs: number };

const TICK_MS = 5;

/**
 * Watches the event loop of the thread that creates it. What counts between two turns is how long the thread had a core: on
 * a shared machine, time passes without anyone holding the loop.
 */
export class LoopMonitor {
  #longest: Held = { computedMs: 0, passedMs: 0 };
  readonly #computedMs = computedMsOf(process.pid);

  constructor() {
    let [passedMs, computedMs] = [elapsedMs(), this.#computedMs()];
    const timer = setInterval(() => {
      const [nowMs, nowComputedMs] = [elapsedMs(), this.#computedMs()];
      this.#longest = {
        passedMs: Math.max(this.#longest.passedMs, nowMs - passedMs - TICK_MS),
        computedMs: Math.max(this.#longest.computedMs, Math.min(nowMs - passedMs, nowComputedMs - computedMs)),
      };
      [passedMs, computedMs] = [nowMs, nowComputedMs];
    }, TICK_MS);
    timer.unref();
  }

  /** The longest time since the last call. */
  take(): Held {
    const longest = this.#longest;
    this.#longest = { computedMs: 0, passedMs: 0 };
    return longest;
  }
}

/** How long the main thread has had a core so far; if the system does not tell, simply how late the loop is. */
function computedMsOf(pid: number): () => number {
  try {
    const file = openSync(`/proc/self/task/${pid}/schedstat`, "r");
    const bytes = Buffer.alloc(64);
    return () => Number(bytes.toString("latin1", 0, readSync(file, bytes, 0, bytes.length, 0)).split(" ")[0]) / 1e6;
  } catch {
    return elapsedMs;
  }
}
