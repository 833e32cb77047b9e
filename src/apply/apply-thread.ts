import { Worker } from "node:worker_threads";
import { messageOf } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Applied } from "./applier.ts";
import type { ThreadMessage, WorkerMessage, WorkerSettings } from "./worker.ts";

export type ApplyThread = {
  /** Tells the thread that the journal has grown. */
  wake(durable: number): void;
  /** The term in which this process may apply from now on, or undefined when it may not. */
  hold(term: string | undefined): void;
  /** Finishes the current batch within `graceMs`, or leaves it to the database to undo it, and ends the thread. */
  stop(graceMs: number): Promise<void>;
};

export type ApplyEvents = {
  onApplied: (applied: Applied) => void;
  /** Why apply is stuck; empty once it works again. */
  onStuck: (reason: string) => void;
};

/** Starts the worker thread, and restarts it whenever it ends by itself. */
export function startApplyThread(options: Omit<WorkerSettings, "durable"> & ApplyEvents & { log: Log }): ApplyThread {
  const { log, onApplied, onStuck, ...settings } = options;
  let { term } = options;
  const shared = new SharedArrayBuffer(8);
  const durable = new BigInt64Array(shared);
  let stopping = false;
  let worker = start();

  function start(): Worker {
    const thread = new Worker(new URL("./worker.js", import.meta.url), {
      workerData: { ...settings, term, durable: shared } satisfies WorkerSettings,
      // A batch lives as long as its transaction. Collecting it is cheap when the young generation has room for it.
      resourceLimits: { maxYoungGenerationSizeMb: 32 },
    });
    thread.on("message", (message: WorkerMessage) => {
      if (message.kind === "applied") onApplied(message.applied);
      if (message.kind === "stuck") onStuck(message.reason);
    });
    thread.on("error", (error) => {
      log.error({ err: error }, "The apply thread failed.");
      onStuck(`its thread failed: ${messageOf(error)}`);
    });
    thread.on("exit", () => {
      if (stopping) return;
      log.error("The apply thread ended; starting it again.");
      setTimeout(() => {
        if (!stopping) worker = start();
      }, 1_000);
    });
    return thread;
  }

  return {
    wake(position) {
      Atomics.store(durable, 0, BigInt(position));
      Atomics.notify(durable, 0);
    },
    hold(next) {
      term = next;
      worker.postMessage({ kind: "term", term } satisfies ThreadMessage);
    },
    async stop(graceMs) {
      stopping = true;
      const ended = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
      const gone = worker.threadId === -1;
      worker.postMessage({ kind: "stop" } satisfies ThreadMessage);
      if (gone) return;
      const timer = setTimeout(() => void worker.terminate(), graceMs);
      await ended;
      clearTimeout(timer);
    },
  };
}
