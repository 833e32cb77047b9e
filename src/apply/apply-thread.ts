import { Worker } from "node:worker_threads";
import { messageOf } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Applied } from "./applier.ts";
import type { ThreadMessage, WorkerMessage, WorkerSettings } from "./worker.ts";

export type ApplyThread = {
  /** The journal has become longer. */
  wake(durable: number): void;
  /** The term for which this process may apply from now on; undefined: it may not. */
  hold(term: string | undefined): void;
  /** Finishes the batch at hand, then ends. */
  stop(): Promise<void>;
};

export type ApplyEvents = {
  onApplied: (applied: Applied) => void;
  /** Why nothing is applied; the empty text: it is. */
  onStuck: (reason: string) => void;
};

/** Starts the worker thread and keeps it: if it ever ends by itself, it is started again. */
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
      // A batch lives for as long as its transaction: with room for it in the young generation, collecting it is cheap.
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
    async stop() {
      stopping = true;
      const ended = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
      const gone = worker.threadId === -1;
      worker.postMessage({ kind: "stop" } satisfies ThreadMessage);
      if (!gone) await ended;
    },
  };
}
