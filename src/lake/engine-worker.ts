import { writeFileSync } from "node:fs";
import { setPriority } from "node:os";
import type { DuckDBInstance } from "@duckdb/node-api";
import { messageOf } from "../errors.ts";
import { type AskTask, ask, type Interruptible } from "./ask.ts";
import { Engine, type EngineLimits } from "./engine.ts";
import { makeInstance } from "./instance.ts";

/** A call of the process that has started this one. */
export type EngineCall = { number: number; method: EngineMethod; task: unknown };
export type EngineMethod =
  | "start"
  | "pack"
  | "repack"
  | "merge"
  | "row"
  | "rows"
  | "open"
  | "fetch"
  | "end"
  | "ask"
  | "cancel";
export type EngineAnswer = { number: number } & ({ result: unknown } | { failure: string });

const ENGINE_PRIORITY = 15;

// Requests and apply come first. Where memory runs out, this process is to be ended, and neither the server nor its database.
setPriority(ENGINE_PRIORITY);
try {
  writeFileSync("/proc/self/oom_score_adj", "1000");
} catch {
  // Not on Linux.
}

let limits: EngineLimits;
/** Started by the first call that writes or checks files: a process that only answers questions needs none. */
let engine: Promise<Engine> | undefined;
/** The question that is being answered. */
let asked: Interruptible | undefined;
/** The instance for the next question. Making one takes 15 ms. */
let nextInstance: Promise<DuckDBInstance> | undefined;

process.on("message", (call: EngineCall) => {
  answer(call).then(
    (result) => send({ number: call.number, result }),
    (error: unknown) => send({ number: call.number, failure: messageOf(error) }),
  );
});
// Without the process that asks, there is nothing to do.
process.on("disconnect", () => process.exit());
// A terminal sends it to the whole group; the other process decides when this one ends.
process.on("SIGINT", () => {});

async function answer({ method, task }: EngineCall): Promise<unknown> {
  if (method === "start") {
    limits = task as EngineLimits;
    return undefined;
  }
  if (method === "ask") {
    const onConnection = (connection: Interruptible) => (asked = connection);
    // A connection that is closed must not be interrupted.
    return ask(task as AskTask, { takeInstance, onConnection }).finally(() => (asked = undefined));
  }
  if (method === "cancel") return asked?.interrupt();
  engine ??= Engine.start(limits);
  // One that could not start is tried again by the next call.
  engine.catch(() => (engine = undefined));
  return (await engine)[method](task as never);
}

/** The instance for the next question is made while this one is being answered. */
function takeInstance(): Promise<DuckDBInstance> {
  const taken = nextInstance ?? makeInstance(limits);
  const next = makeInstance(limits);
  nextInstance = next;
  // One that could not be made is tried again by the question that takes it.
  next.catch(() => {
    if (nextInstance === next) nextInstance = undefined;
  });
  return taken;
}

function send(message: EngineAnswer): void {
  process.send?.(message);
}
