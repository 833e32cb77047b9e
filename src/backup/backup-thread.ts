import { rm } from "node:fs/promises";
import { Worker } from "node:worker_threads";
import type { WorkerMessage, WorkerSettings } from "./backup-worker.ts";
import { draftOf } from "./draft.ts";

/**
 * Takes a backup in a thread of its own, so that packing a table never delays an answer. One that takes longer than
 * `msMax` is ended, because the journal is not pruned meanwhile. Returns the size of the backup.
 */
export async function takeInThread(
  settings: WorkerSettings,
  { signal, msMax }: { signal: AbortSignal; msMax: number },
): Promise<number> {
  const worker = new Worker(new URL("./backup-worker.js", import.meta.url), { workerData: settings });
  const end = () => void worker.terminate();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    end();
  }, msMax);
  signal.addEventListener("abort", end, { once: true });
  try {
    return await sizeFrom(worker);
  } catch (error) {
    // A thread that was ended cannot remove what it has begun.
    await rm(draftOf(settings.wish.dir), { recursive: true, force: true });
    throw isLate ? new Error(`It was not done after ${msMax / 3_600_000} hours.`) : error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
}

function sizeFrom(worker: Worker): Promise<number> {
  return new Promise((resolve, reject) => {
    worker.once("message", (message: WorkerMessage) => {
      if (message.kind === "done") resolve(message.bytes);
      else reject(new Error(message.reason));
    });
    worker.once("error", reject);
    worker.once("exit", () => reject(new Error("The thread of the backup ended.")));
  });
}
