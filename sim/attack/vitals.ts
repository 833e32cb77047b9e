import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { elapsedMs } from "../../src/clock.ts";
import type { ServerChild } from "../chaos/server-child.ts";

/** The state of the server in the interval up to `atMs`. */
export type Vital = {
  atMs: number;
  residentMb: number;
  /** The longest that its main thread computed without a turn of the event loop. */
  heldMs: number;
  /** How long the oldest acknowledged entry has waited to be applied. */
  lagMs: number;
  /** The size of the journal in bytes. */
  durable: number;
};

const LOOK_MS = 250;
const ANSWER_MS_MAX = 10_000;

/** Observes a server continuously from outside. */
export class Vitals {
  readonly seen: Vital[] = [];
  readonly #server: ServerChild;
  /** Ends of the journal with their times, as far as they are not applied. */
  #marks: { atMs: number; durable: number }[] = [];
  #looking: Promise<void> | undefined;
  #isStopping = false;
  #durable = 0;

  constructor(server: ServerChild) {
    this.#server = server;
  }

  start(): void {
    this.#looking = this.#look();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#looking;
  }

  /** The newest observation. */
  get now(): Vital | undefined {
    return this.seen.at(-1);
  }

  between(fromMs: number, untilMs: number): Vital[] {
    return this.seen.filter(({ atMs }) => atMs >= fromMs && atMs < untilMs);
  }

  async #look(): Promise<void> {
    while (!this.#isStopping) {
      const [held, lagMs] = await Promise.all([
        this.#server.loopHeld().catch(() => ({ computedMs: Number.NaN })),
        this.#lagMs(),
      ]);
      const vital = { atMs: elapsedMs(), residentMb: residentMb(this.#server.pid), heldMs: held.computedMs, lagMs };
      this.seen.push({ ...vital, durable: this.#durable });
      await sleep(LOOK_MS);
    }
  }

  async #lagMs(): Promise<number> {
    const nowMs = elapsedMs();
    try {
      const answer = await fetch(`${this.#server.url}/progress`, { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
      const { data } = (await answer.json()) as { data: { durable: number; applied: number } };
      this.#durable = data.durable;
      if (data.durable > (this.#marks.at(-1)?.durable ?? 0)) this.#marks.push({ atMs: nowMs, durable: data.durable });
      this.#marks = this.#marks.filter(({ durable }) => durable > data.applied);
    } catch {
      // Without an answer, the oldest mark simply gets older.
      if (this.#marks.length === 0) this.#marks.push({ atMs: nowMs, durable: this.#durable + 1 });
    }
    return this.#marks.length === 0 ? 0 : elapsedMs() - this.#marks[0]!.atMs;
  }
}

/** The peak memory of a process since the last call, if the system tells; else the current one. */
function residentMb(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/status`, "utf8");
    const most = Number(/VmHWM:\s+(\d+)/.exec(text)?.[1]) / 1024;
    writeFileSync(`/proc/${pid}/clear_refs`, "5");
    return most;
  } catch {
    return 0;
  }
}
