import { Worker } from "node:worker_threads";
import { ApiError } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import type { Log } from "../../log.ts";
import { SharedRoom } from "../../shared-room.ts";
import type { Refusals } from "../refusals.ts";
import { FairQueue } from "./fair-queue.ts";
import type { JudgedLarge, SentLarge } from "./judge.ts";
import type { JudgeReply, JudgeRequest, JudgeSettings } from "./large-body-worker.ts";
import { type AppOfBody, ToldApps } from "./told-apps.ts";
import { transferable } from "./transferable.ts";

const HEAP_MB = 256;
const NURSERY_MB = 16;

type LargeBodiesOptions = JudgeSettings & { refusals: Refusals; log: Log; script?: URL; heapMb?: number };

type Job = {
  sent: SentLarge;
  app: AppOfBody;
  resolve: (judged: JudgedLarge) => void;
  reject: (error: ApiError) => void;
};

/**
 * Judges large bodies on a separate thread, one at a time, so that they delay no other answer. Apps take turns, and
 * each has a share of the waiting places. A thread that ends is replaced: its current body is answered with 503, the
 * others wait for the next thread.
 */
export class LargeBodies {
  readonly #options: LargeBodiesOptions;
  readonly #waiting = new FairQueue<number, Job>();
  readonly #room = new SharedRoom<number>(LIMITS.largeBodiesWaiting);
  readonly #told = new ToldApps();
  #thread: Worker | undefined;
  #running: Job | undefined;
  #handedOver = 0;

  constructor(options: LargeBodiesOptions) {
    this.#options = options;
  }

  /** Bodies that wait or are being judged. */
  get bodies(): number {
    return this.#room.used;
  }

  /** Bodies given to the thread since the start. */
  get handedOver(): number {
    return this.#handedOver;
  }

  /** Takes over the bytes: the caller must not use them afterwards. */
  judge(sent: SentLarge, app: AppOfBody): Promise<JudgedLarge> {
    const taken = this.#room.take(app.appId, 1);
    if (taken === "over_share") return Promise.reject(this.#options.refusals.refuse(app.appId, "large_bodies"));
    if (taken === "full") return Promise.reject(overloaded("Too many large bodies are waiting."));
    return new Promise((resolve, reject) => {
      this.#waiting.add(app.appId, { sent, app, resolve, reject });
      this.#next();
    });
  }

  async stop(): Promise<void> {
    const thread = this.#thread;
    this.#end("The server is stopping.");
    for (let job = this.#waiting.take(); job; job = this.#waiting.take()) {
      this.#room.give(job.app.appId, 1);
      job.reject(overloaded("The server is stopping."));
    }
    await thread?.terminate();
  }

  #next(): void {
    if (this.#running) return;
    const job = this.#waiting.take();
    if (!job) return;
    this.#running = job;
    this.#handedOver += 1;
    this.#thread ??= this.#start();
    const { bytes: sent, ...rest } = job.sent;
    const bytes = transferable(sent);
    this.#thread.postMessage({ ...rest, bytes, ...this.#told.news(job.app) } satisfies JudgeRequest, [bytes.buffer]);
  }

  #start(): Worker {
    const { largeTurn, log, script, heapMb = HEAP_MB } = this.#options;
    const thread = new Worker(script ?? new URL("./large-body-worker.js", import.meta.url), {
      workerData: { largeTurn } satisfies JudgeSettings,
      // A parsed large body lives as long as the body itself, so a large nursery would only cause copying.
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: NURSERY_MB },
    });
    thread.on("message", (reply: JudgeReply) => this.#answer(reply));
    thread.on("error", (error) => log.error({ err: error }, "The thread for large bodies failed."));
    thread.on("exit", () => {
      if (this.#thread === thread) this.#end("The body could not be judged; try again.");
      this.#next();
    });
    return thread;
  }

  #answer(reply: JudgeReply): void {
    const job = this.#finish();
    if (reply.kind === "refused") job?.reject(new ApiError(reply.reason, reply.message));
    else job?.resolve({ ...reply.judged, body: Buffer.from(reply.judged.body.buffer) });
    this.#next();
  }

  #end(message: string): void {
    this.#thread = undefined;
    this.#told.clear();
    this.#finish()?.reject(overloaded(message));
  }

  #finish(): Job | undefined {
    const job = this.#running;
    this.#running = undefined;
    if (job) this.#room.give(job.app.appId, 1);
    return job;
  }
}

function overloaded(message: string): ApiError {
  return new ApiError("overloaded", message, { retryAfterS: 5 });
}
