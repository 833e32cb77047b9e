import { Worker } from "node:worker_threads";
import { type Disk, O_DSYNC } from "./disk.ts";

/** A task for the thread. */
export type DiskTask =
  | { kind: "write"; fd: number; bytes: Uint8Array; at: number }
  | { kind: "sync"; fd: number }
  | { kind: "truncate"; fd: number; length: number }
  | { kind: "sync_folder"; dir: string };

export type DiskOutcome = { kind: "done" } | { kind: "failed"; message: string };

type Waiting = { resolve: () => void; reject: (error: Error) => void };

/**
 * The disk through a dedicated thread. Node's pool also hashes, unpacks, reads files and looks up names: the journal's
 * writes must never wait behind that, however much of it there is or however long it hangs. As measured, the thread
 * costs no more than the pool.
 */
export class DiskThread implements Disk {
  readonly writesAreDurable = O_DSYNC !== 0;
  readonly #waiting: Waiting[] = [];
  #worker: Worker | undefined;

  constructor() {
    this.#worker = this.#start();
  }

  /** Bytes in shared memory are not copied. */
  write(fd: number, bytes: Buffer, at: number): Promise<void> {
    return this.#ask({ kind: "write", fd, bytes, at });
  }

  sync(fd: number): Promise<void> {
    return this.#ask({ kind: "sync", fd });
  }

  truncate(fd: number, length: number): Promise<void> {
    return this.#ask({ kind: "truncate", fd, length });
  }

  syncFolder(dir: string): Promise<void> {
    return this.#ask({ kind: "sync_folder", dir });
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #ask(task: DiskTask): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#worker ??= this.#start();
      this.#worker.postMessage(task);
      this.#waiting.push({ resolve, reject });
    });
  }

  #start(): Worker {
    const worker = new Worker(new URL("./disk-worker.js", import.meta.url));
    // An idle thread must not keep the process alive; callers that wait for an answer do.
    worker.unref();
    // Outcomes come in the order of the tasks.
    worker.on("message", (outcome: DiskOutcome) => {
      const { resolve, reject } = this.#waiting.shift()!;
      if (outcome.kind === "done") resolve();
      else reject(new Error(outcome.message));
    });
    let reason = new Error("The journal's thread ended.");
    worker.on("error", (error) => {
      reason = error;
    });
    // The outcome of the current tasks is unknown, so they count as failed; the next task starts another thread.
    worker.on("exit", () => {
      this.#worker = undefined;
      for (const { reject } of this.#waiting.splice(0)) reject(reason);
    });
    return worker;
  }
}
