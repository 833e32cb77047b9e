import { type ChildProcess, fork } from "node:child_process";
import type { AskAnswer, AskTask } from "./ask.ts";
import type { Engine, EngineLimits, MergeTask, Packed, PackTask, RepackTask, Rows } from "./engine.ts";
import type { EngineAnswer, EngineCall, EngineMethod } from "./engine-worker.ts";

/** What the lake asks of the engine, wherever that runs. */
export type EngineCalls = Pick<Engine, "pack" | "repack" | "merge" | "row">;

/** What readers of cold events ask of it. */
export type EngineReads = Pick<Engine, "rows" | "open" | "fetch" | "end" | "rest">;

type Waiting = { resolve: (result: never) => void; reject: (error: Error) => void; child: ChildProcess };

/**
 * The engine in a process of its own: native code that fails, or a system that runs out of memory, ends that process and
 * never collection. It starts with the first call, and again after it has ended.
 */
export class EngineProcess implements EngineCalls, EngineReads {
  readonly #limits: EngineLimits;
  readonly #waiting = new Map<number, Waiting>();
  /** Those that are open in the process. They end with it. */
  readonly #cursors = new Set<string>();
  #child: ChildProcess | undefined;
  /** Calls wait for it. */
  #started: Promise<void> | undefined;
  #calls = 0;
  #isClosed = false;

  constructor(limits: EngineLimits) {
    this.#limits = limits;
  }

  pack(task: PackTask): Promise<Packed[]> {
    return this.#call("pack", task);
  }

  repack(task: RepackTask): Promise<Packed> {
    return this.#call("repack", task);
  }

  merge(task: MergeTask): Promise<Packed> {
    return this.#call("merge", task);
  }

  row(statement: string): Promise<string[]> {
    return this.#call("row", statement);
  }

  rows(statement: string): Promise<Rows> {
    return this.#call("rows", statement);
  }

  async open(statement: string): Promise<string> {
    const cursor = await this.#call<string>("open", statement);
    this.#cursors.add(cursor);
    return cursor;
  }

  async fetch(cursor: string): Promise<Rows> {
    this.#assertOpen(cursor);
    return this.#call("fetch", cursor);
  }

  async end(cursor: string): Promise<void> {
    this.#assertOpen(cursor);
    this.#cursors.delete(cursor);
    await this.#call("end", cursor);
  }

  /** Ends the process while nothing is asked of it and no cursor is open: a slow reader asks again late. */
  rest(): void {
    if (this.#waiting.size === 0 && this.#cursors.size === 0) this.stop();
  }

  #assertOpen(cursor: string): void {
    if (!this.#cursors.has(cursor)) throw new Error("The lake's process ended before all rows were read.");
  }

  /** Answers one question at a time: the caller waits for the end of the one before. */
  ask(task: AskTask): Promise<AskAnswer> {
    return this.#call("ask", task);
  }

  /** Ends the question that is being answered. */
  async cancel(): Promise<void> {
    if (this.#child) await this.#send("cancel", undefined);
  }

  /** Ends the process. The next call starts another one. */
  stop(): void {
    const child = this.#child;
    this.#forget();
    child?.kill("SIGKILL");
  }

  /** A process that is ending is asked nothing more. */
  #forget(): void {
    this.#child = undefined;
    this.#started = undefined;
    this.#cursors.clear();
  }

  /** Ends it for good. */
  close(): void {
    this.#isClosed = true;
    this.stop();
  }

  async #call<Result>(method: EngineMethod, task: unknown): Promise<Result> {
    if (this.#isClosed) throw new Error("The lake's process has ended.");
    this.#started ??= this.#begin();
    await this.#started;
    return this.#send(method, task);
  }

  async #begin(): Promise<void> {
    const child = this.#start();
    this.#child = child;
    try {
      await this.#send("start", this.#limits);
    } catch (error) {
      if (this.#child === child) this.stop();
      throw error;
    }
  }

  #send<Result>(method: EngineMethod, task: unknown): Promise<Result> {
    this.#calls += 1;
    const call: EngineCall = { number: this.#calls, method, task };
    const child = this.#child;
    return new Promise<Result>((resolve, reject) => {
      if (!child) return reject(new Error("The lake's process ended."));
      this.#waiting.set(call.number, { resolve, reject, child });
      child.send(call, (error) => error && this.#settle({ number: call.number, failure: error.message }));
    });
  }

  #start(): ChildProcess {
    const child = fork(new URL("./engine-worker.js", import.meta.url), {
      serialization: "advanced",
      execArgv: [],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    child.on("message", (answer: EngineAnswer) => this.#settle(answer));
    child.on("error", () => {});
    child.on("exit", (code, signal) => {
      if (this.#child === child) this.#forget();
      const reason = new Error(`The lake's process ended (${signal ?? code}).`);
      for (const [number, waiting] of this.#waiting) {
        if (waiting.child !== child) continue;
        this.#waiting.delete(number);
        waiting.reject(reason);
      }
    });
    return child;
  }

  #settle(answer: EngineAnswer): void {
    const waiting = this.#waiting.get(answer.number);
    this.#waiting.delete(answer.number);
    if ("failure" in answer) waiting?.reject(new Error(answer.failure));
    else waiting?.resolve(answer.result as never);
  }
}
