import { Worker } from "node:worker_threads";
import { ApiError } from "../../errors.ts";
import type { Log } from "../../log.ts";
import type { Judged, SentOrdinary } from "./judge.ts";
import type { HandedBody, JudgeBatch, JudgeMessage, JudgeOutcome, JudgeThreadSettings } from "./judge-worker.ts";
import { type AppOfBody, ToldApps } from "./told-apps.ts";

const HEAP_MB = 128;
const NURSERY_MB = 16;

/** A body that waits for its judgement. `plainBytes`: the size that it claims to have once it is unpacked. */
export type JudgeJob = {
  sent: SentOrdinary & { plainBytes: number };
  app: AppOfBody;
  resolve: (judged: Judged) => void;
  reject: (error: unknown) => void;
};

export type JudgeThreadOptions = {
  settings: JudgeThreadSettings;
  log: Log;
  onEnd: () => void;
  script?: URL | undefined;
  heapMb?: number | undefined;
};

/** A thread that judges batches of bodies, one after the other. If it ends, what it has in hand is refused. */
export class JudgeThread {
  readonly #worker: Worker;
  readonly #told = new ToldApps();
  /** The batches in the thread's hands, the oldest first. */
  readonly #batches: (readonly JudgeJob[])[] = [];
  #isReady = false;
  #plainBytes = 0;

  constructor({ settings, log, onEnd, script, heapMb = HEAP_MB }: JudgeThreadOptions) {
    this.#worker = new Worker(script ?? new URL("./judge-worker.js", import.meta.url), {
      workerData: settings,
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: NURSERY_MB },
    });
    this.#worker.on("message", (message: JudgeMessage) => {
      if (message.kind === "ready") this.#isReady = true;
      else this.#answer(message.outcomes);
    });
    this.#worker.on("error", (error) => log.error({ err: error }, "A thread that judges bodies failed."));
    this.#worker.on("exit", () => {
      this.#abandon("The body could not be judged; try again.");
      onEnd();
    });
  }

  /** Whether the thread has started and can take bodies. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** The bytes in the thread's hands, unpacked. */
  get plainBytes(): number {
    return this.#plainBytes;
  }

  /** Hands bodies over in one message: a message for each would cost more than judging a small body. */
  handOver(jobs: readonly JudgeJob[]): void {
    const bytes = copyOf(jobs);
    const bodies = jobs.map(({ sent, app }): HandedBody => {
      const { form, isPacked, nowMs } = sent;
      return { form, isPacked, nowMs, length: sent.bytes.length, ...this.#told.news(app) };
    });
    this.#batches.push(jobs);
    for (const { sent } of jobs) this.#plainBytes += sent.plainBytes;
    this.#worker.postMessage({ bodies, bytes } satisfies JudgeBatch, [bytes.buffer]);
  }

  async stop(): Promise<void> {
    this.#abandon("The server is stopping.");
    await this.#worker.terminate();
  }

  #answer(outcomes: readonly JudgeOutcome[]): void {
    // None is left when the thread is being stopped.
    const jobs = this.#batches.shift() ?? [];
    for (const [index, job] of jobs.entries()) {
      this.#plainBytes -= job.sent.plainBytes;
      settle(job, outcomes[index]!);
    }
  }

  #abandon(message: string): void {
    this.#isReady = false;
    for (const jobs of this.#batches.splice(0)) refuseAll(jobs, message);
  }
}

function settle({ resolve, reject }: JudgeJob, outcome: JudgeOutcome): void {
  switch (outcome.kind) {
    case "judged":
      resolve(outcome.judged);
      break;
    case "refused":
      reject(new ApiError(outcome.reason, outcome.message));
      break;
    case "failed":
      reject(outcome.error);
      break;
  }
}

/** Answers bodies that no thread judges with 503, so that they are sent again. */
export function refuseAll(jobs: readonly JudgeJob[], message: string): void {
  for (const { reject } of jobs) reject(new ApiError("overloaded", message, { retryAfterS: 5 }));
}

/** The bodies in memory of their own, which goes to the thread. The main thread keeps theirs for the journal. */
function copyOf(jobs: readonly JudgeJob[]): Buffer<ArrayBuffer> {
  const copy = Buffer.allocUnsafeSlow(jobs.reduce((sum, { sent }) => sum + sent.bytes.length, 0));
  let at = 0;
  for (const { sent } of jobs) at += sent.bytes.copy(copy, at);
  return copy;
}
