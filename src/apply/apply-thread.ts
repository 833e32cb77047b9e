import { Worker } from "node:worker_threads";
import type { Terms } from "../db/apply-holder.ts";
import { messageOf } from "../errors.ts";
import type { Position } from "../journal/entry-log.ts";
import type { Log } from "../log.ts";
import type { Applied } from "./applier.ts";
import type { ThreadMessage, WorkerMessage, WorkerSettings } from "./worker.ts";

/** How long a turn may go on in a term that has ended: it cannot commit any more. */
const ENDED_TERM_MS_MAX = 5_000;
const AGAIN_MS = 1_000;

export type ApplyThreadOptions = {
  settings: Omit<WorkerSettings, "written">;
  log: Log;
  onApplied: (applied: Applied) => void;
  /** Why apply is stuck; empty once it works again. */
  onStuck: (reason: string) => void;
  endedTermMsMax?: number;
};

/**
 * The worker thread, which is started again whenever it ends. One that does not go by new terms in time is ended: the
 * machine of its database may have vanished, which a connection with unsent bytes notices only after 15 minutes.
 */
export class ApplyThread {
  readonly #options: ApplyThreadOptions;
  /** See WorkerSettings. */
  readonly #written: BigInt64Array<SharedArrayBuffer>;
  #terms: Terms;
  #changes = 0;
  /** Those who wait for the thread to go by a change of terms. */
  #waiting: { change: number; end: () => void }[] = [];
  #hanging: NodeJS.Timeout | undefined;
  #isStopping = false;
  #worker: Worker;

  constructor(options: ApplyThreadOptions) {
    this.#options = options;
    this.#terms = options.settings.terms;
    this.#written = new BigInt64Array(new SharedArrayBuffer(8 * (2 + this.#terms.length)));
    this.#worker = this.#start();
  }

  /** Tells the thread that a partition has grown. */
  wake({ partition, until, writtenBytes }: { partition: number; until: Position; writtenBytes: number }): void {
    Atomics.store(this.#written, 2 + partition, BigInt(until));
    Atomics.store(this.#written, 1, BigInt(writtenBytes));
    Atomics.add(this.#written, 0, 1n);
    Atomics.notify(this.#written, 0);
  }

  /**
   * The terms in which this process may apply from now on. Resolves once nothing is under way in a term that is gone. "lost":
   * such a term has ended, so that its batch cannot be committed any more; "given": the batch may be finished first.
   */
  async hold(terms: Terms, how: "lost" | "given"): Promise<void> {
    this.#terms = terms;
    // The lock is released last.
    if (this.#isStopping) return;
    this.#changes += 1;
    const change = this.#changes;
    this.#worker.postMessage({ kind: "terms", terms, change } satisfies ThreadMessage);
    if (how === "lost") this.#endUnlessInTime(this.#worker);
    await new Promise<void>((end) => this.#waiting.push({ change, end }));
  }

  /** Finishes the current batch within `graceMs`, or leaves it to the database to undo it, and ends the thread. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#hanging);
    const worker = this.#worker;
    const ended = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
    const isGone = worker.threadId === -1;
    worker.postMessage({ kind: "stop" } satisfies ThreadMessage);
    if (isGone) return this.#goesBy(this.#changes);
    const timer = setTimeout(() => void worker.terminate(), graceMs);
    await ended;
    clearTimeout(timer);
  }

  #start(): Worker {
    const { settings, log, onApplied, onStuck } = this.#options;
    const worker = new Worker(new URL("./worker.js", import.meta.url), {
      workerData: { ...settings, terms: this.#terms, written: this.#written.buffer } satisfies WorkerSettings,
      // A batch lives as long as its transaction. Collecting it is cheap when the young generation has room for it.
      resourceLimits: { maxYoungGenerationSizeMb: 16 },
    });
    worker.on("message", (message: WorkerMessage) => {
      if (message.kind === "applied") onApplied(message.applied);
      if (message.kind === "stuck") onStuck(message.reason);
      if (message.kind === "holds") this.#goesBy(message.change);
    });
    worker.on("error", (error) => {
      log.error({ err: error }, "The apply thread failed.");
      onStuck(`its thread failed: ${messageOf(error)}`);
    });
    worker.on("exit", () => this.#restart());
    return worker;
  }

  #restart(): void {
    this.#goesBy(this.#changes);
    if (this.#isStopping) return;
    this.#options.log.error("The apply thread ended; starting it again.");
    setTimeout(() => {
      if (this.#isStopping) return;
      this.#worker = this.#start();
      // What was told meanwhile reached no thread; the new one goes by it from the start.
      this.#goesBy(this.#changes);
    }, AGAIN_MS);
  }

  #endUnlessInTime(worker: Worker): void {
    const { log, endedTermMsMax = ENDED_TERM_MS_MAX } = this.#options;
    clearTimeout(this.#hanging);
    this.#hanging = setTimeout(() => {
      log.error("Apply hangs in a batch that cannot be committed any more; ending its thread.");
      void worker.terminate();
    }, endedTermMsMax);
  }

  /** Nothing from before this change is under way any more. */
  #goesBy(change: number): void {
    if (change === this.#changes) clearTimeout(this.#hanging);
    for (const one of this.#waiting) if (one.change <= change) one.end();
    this.#waiting = this.#waiting.filter((one) => one.change > change);
  }
}
