import { Worker } from "node:worker_threads";
import { messageOf } from "../errors.ts";
import type { Position } from "../journal/entry-log.ts";
import type { Log } from "../log.ts";
import type { Applied } from "./applier.ts";
import type { ThreadMessage, WorkerMessage, WorkerSettings } from "./worker.ts";

export type ApplyThread = {
  /** Tells the thread that a partition has grown. */
  wake(grown: { partition: number; until: Position; writtenBytes: number }): void;
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

type ThreadOptions = { partitions: number; log: Log; endedTermMsMax?: number };

/** How long a turn may go on in a term that has ended: it cannot commit any more. */
const ENDED_TERM_MS_MAX = 5_000;

/**
 * Starts the worker thread, and restarts it whenever it ends. A thread that does not go by a new term in time is ended:
 * the machine of its database may have vanished, which a connection with unsent bytes notices only after 15 minutes.
 */
export function startApplyThread(options: Omit<WorkerSettings, "written"> & ApplyEvents & ThreadOptions): ApplyThread {
  const { log, onApplied, onStuck, partitions, endedTermMsMax = ENDED_TERM_MS_MAX, ...settings } = options;
  let { term } = options;
  let hanging: NodeJS.Timeout | undefined;
  const shared = new SharedArrayBuffer(8 * (1 + partitions));
  const written = new BigInt64Array(shared);
  let stopping = false;
  let worker = start();

  function start(): Worker {
    const thread = new Worker(new URL("./worker.js", import.meta.url), {
      workerData: { ...settings, term, written: shared } satisfies WorkerSettings,
      // A batch lives as long as its transaction. Collecting it is cheap when the young generation has room for it.
      resourceLimits: { maxYoungGenerationSizeMb: 32 },
    });
    thread.on("message", (message: WorkerMessage) => {
      if (message.kind === "applied") onApplied(message.applied);
      if (message.kind === "stuck") onStuck(message.reason);
      if (message.kind === "holds" && message.term === term) clearTimeout(hanging);
    });
    thread.on("error", (error) => {
      log.error({ err: error }, "The apply thread failed.");
      onStuck(`its thread failed: ${messageOf(error)}`);
    });
    thread.on("exit", () => {
      clearTimeout(hanging);
      if (stopping) return;
      log.error("The apply thread ended; starting it again.");
      setTimeout(() => {
        if (!stopping) worker = start();
      }, 1_000);
    });
    return thread;
  }

  return {
    wake({ partition, until, writtenBytes }) {
      Atomics.store(written, 1 + partition, BigInt(until));
      Atomics.store(written, 0, BigInt(writtenBytes));
      Atomics.notify(written, 0);
    },
    hold(next) {
      term = next;
      // The lock is released last.
      if (stopping) return;
      const thread = worker;
      thread.postMessage({ kind: "term", term } satisfies ThreadMessage);
      clearTimeout(hanging);
      hanging = setTimeout(() => {
        log.error("Apply hangs in a batch that cannot be committed any more; ending its thread.");
        void thread.terminate();
      }, endedTermMsMax);
    },
    async stop(graceMs) {
      stopping = true;
      clearTimeout(hanging);
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
