import { elapsedMs } from "../../clock.ts";
import { KIB, LIMITS } from "../../limits.ts";
import type { Log } from "../../log.ts";
import { type Judged, judgeOrdinary } from "./judge.ts";
import { type JudgeJob, JudgeThread, refuseAll } from "./judge-thread.ts";
import type { JudgeThreadSettings } from "./judge-worker.ts";
import type { AppOfBody } from "./told-apps.ts";

/** Bodies are handed over together when they have this many bytes: some milliseconds of judging. */
const BATCH_BYTES = 256 * KIB;
/**
 * Fewer bytes at the end of a turn are judged by the main thread, which is not busy then. Measured beside other work: a body
 * of 20 events took 73 µs of the processors here and 86 on a thread, one of 200 events 700 and 765; small batches took more.
 */
const BATCH_BYTES_MIN = 96 * KIB;
/** What a thread may have in hand. While all threads have it, the main thread judges as well. */
const THREAD_BYTES_MAX = 2 * BATCH_BYTES;
/** The pause after the end of a thread, so that a thread that cannot start does not keep the processor busy. */
const RESTART_MS = 1_000;

export type JudgeThreadsOptions = {
  /** The most threads that may run. */
  threads: number;
  settings: JudgeThreadSettings;
  log: Log;
  script?: URL;
  heapMb?: number;
};

/**
 * Threads that judge bodies beside the main thread, so that intake uses more than one core. The main thread keeps the
 * connections and the journal. Bodies that arrive in one turn of the event loop are handed over together; a few are judged
 * at once.
 *
 *   bodies of a turn → gathered ──(one message)──▶ the least busy thread ──(one message)──▶ judged
 *                          └── few: judged here
 *
 * A thread is started when the others are busy, and takes bodies once it is ready. When one ends, its bodies are answered
 * with 503, and another one takes its place.
 */
export class JudgeThreads {
  readonly #options: JudgeThreadsOptions;
  readonly #threads = new Set<JudgeThread>();
  #gathered: JudgeJob[] = [];
  #gatheredBytes = 0;
  #turn: NodeJS.Immediate | undefined;
  #mayStartAtMs = 0;
  #handedOver = 0;

  constructor(options: JudgeThreadsOptions) {
    this.#options = options;
  }

  /** Threads that are ready. */
  get ready(): number {
    return [...this.#threads].filter(({ isReady }) => isReady).length;
  }

  /** Bodies given to threads since the start. */
  get handedOver(): number {
    return this.#handedOver;
  }

  /** Judges a body in this turn of the event loop or elsewhere. Undefined when no thread has room: the caller judges it. */
  judge(sent: JudgeJob["sent"], app: AppOfBody): Promise<Judged> | undefined {
    const thread = this.#leastBusy();
    if (!thread || thread.plainBytes >= BATCH_BYTES) this.#startAnother();
    if (!thread) return undefined;
    return new Promise((resolve, reject) => {
      this.#gathered.push({ sent, app, resolve, reject });
      this.#gatheredBytes += sent.plainBytes;
      if (this.#gatheredBytes >= BATCH_BYTES) this.#handOver();
      else this.#turn ??= setImmediate(() => this.#endTurn());
    });
  }

  async stop(): Promise<void> {
    this.#mayStartAtMs = Number.POSITIVE_INFINITY;
    refuseAll(this.#takeGathered(), "The server is stopping.");
    await Promise.all([...this.#threads].map((thread) => thread.stop()));
  }

  #endTurn(): void {
    if (this.#gatheredBytes >= BATCH_BYTES_MIN) this.#handOver();
    else for (const job of this.#takeGathered()) judgeHere(job, this.#options.settings);
  }

  #handOver(): void {
    const jobs = this.#takeGathered();
    this.#handedOver += jobs.length;
    const thread = this.#leastBusy();
    if (thread) thread.handOver(jobs);
    else refuseAll(jobs, "The body could not be judged; try again.");
  }

  #takeGathered(): JudgeJob[] {
    clearImmediate(this.#turn);
    this.#turn = undefined;
    const jobs = this.#gathered;
    this.#gathered = [];
    this.#gatheredBytes = 0;
    return jobs;
  }

  #leastBusy(): JudgeThread | undefined {
    let least: JudgeThread | undefined;
    for (const thread of this.#threads)
      if (thread.isReady && thread.plainBytes < (least?.plainBytes ?? THREAD_BYTES_MAX)) least = thread;
    return least;
  }

  /** Starts a thread, one after the other. */
  #startAnother(): void {
    const { threads, ...options } = this.#options;
    if (this.#threads.size >= threads || this.ready < this.#threads.size || elapsedMs() < this.#mayStartAtMs) return;
    const thread = new JudgeThread({
      ...options,
      onEnd: () => {
        this.#threads.delete(thread);
        this.#mayStartAtMs = Math.max(this.#mayStartAtMs, elapsedMs() + RESTART_MS);
      },
    });
    this.#threads.add(thread);
  }
}

/** A body may unpack to more than it claims: here, where everybody waits for it, to less than on a thread. */
function judgeHere({ sent, app, resolve, reject }: JudgeJob, settings: JudgeThreadSettings): void {
  const unpackedBytesMax = Math.min(LIMITS.bodyBytesAtOnce, settings.unpackedBytesMax);
  try {
    resolve(judgeOrdinary(sent, { metadata: app.metadata, unpackedBytesMax }));
  } catch (error) {
    reject(error);
  }
}
