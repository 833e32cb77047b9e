import { Worker } from "node:worker_threads";
import type { AppMetadata } from "../../domain/event/metadata.ts";
import { ApiError } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import type { Log } from "../../log.ts";
import { SharedRoom } from "../../shared-room.ts";
import type { Refusals } from "../refusals.ts";
import { FairQueue } from "./fair-queue.ts";
import type { JudgedLarge, SentLarge } from "./judge.ts";
import type { JudgeReply, JudgeRequest } from "./large-body-worker.ts";
import { transferable } from "./transferable.ts";

type AppOfBody = { appId: number; metadata: AppMetadata };

type Job = {
  sent: SentLarge;
  app: AppOfBody;
  resolve: (judged: JudgedLarge) => void;
  reject: (error: ApiError) => void;
};

/**
 * Large bodies are judged on a thread of their own, one at a time: what takes long there delays no other answer. Apps
 * take turns, and each may have its share of places waiting. A thread that ends is replaced; the body that it was at is
 * answered with 503, the others wait for the next one.
 */
export class LargeBodies {
  readonly #options: { refusals: Refusals; log: Log; script?: URL; heapMb?: number };
  readonly #waiting = new FairQueue<number, Job>();
  readonly #places = new SharedRoom<number>(LIMITS.largeBodiesWaiting);
  /** What the thread knows of each app. */
  readonly #told = new Map<number, AppMetadata>();
  #thread: Worker | undefined;
  #running: Job | undefined;
  #handedOver = 0;

  constructor(options: { refusals: Refusals; log: Log; script?: URL; heapMb?: number }) {
    this.#options = options;
  }

  /** Bodies that wait or are being judged. */
  get bodies(): number {
    return this.#places.used;
  }

  /** Bodies that the thread was given, since the start. */
  get handedOver(): number {
    return this.#handedOver;
  }

  /** The bytes are handed over: whoever calls must not look at them any more. */
  judge(sent: SentLarge, app: AppOfBody): Promise<JudgedLarge> {
    const place = this.#places.take(app.appId, 1);
    if (place === "over_share") return Promise.reject(this.#options.refusals.refuse(app.appId, "large_bodies"));
    if (place === "full") return Promise.reject(overloaded("Too many large bodies are waiting."));
    return new Promise((resolve, reject) => {
      this.#waiting.add(app.appId, { sent, app, resolve, reject });
      this.#next();
    });
  }

  async stop(): Promise<void> {
    const thread = this.#thread;
    this.#end("The server is stopping.");
    for (let job = this.#waiting.take(); job; job = this.#waiting.take()) {
      this.#places.give(job.app.appId, 1);
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
    this.#thread.postMessage({ ...rest, bytes, ...this.#news(job.app) } satisfies JudgeRequest, [bytes.buffer]);
  }

  /** What the thread has to be told of an app. */
  #news({ appId, metadata }: AppOfBody): Pick<JudgeRequest, "appId" | "metadata" | "forget"> {
    if (this.#told.get(appId) === metadata) return { appId, metadata: undefined, forget: false };
    const forget = this.#told.size >= LIMITS.largeBodyApps;
    if (forget) this.#told.clear();
    this.#told.set(appId, metadata);
    return { appId, metadata, forget };
  }

  #start(): Worker {
    const { log, script, heapMb = LIMITS.largeBodyHeapMb } = this.#options;
    const thread = new Worker(script ?? new URL("./large-body-worker.js", import.meta.url), {
      // What a large body is parsed to lives as long as the body: a large nursery would only be copied to and fro.
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: LIMITS.largeBodyNurseryMb },
    });
    thread.on("message", (reply: JudgeReply) => this.#answer(reply));
    thread.on("error", (error) => log.error({ err: error }, "The thread of large bodies failed."));
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
    if (job) this.#places.give(job.app.appId, 1);
    return job;
  }
}

function overloaded(message: string): ApiError {
  return new ApiError("overloaded", message, { retryAfterS: 5 });
}
