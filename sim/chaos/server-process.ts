import { syncBuiltinESMExports } from "node:module";
import threads, { type WorkerOptions } from "node:worker_threads";
import { systemClock } from "../../src/clock.ts";
import { configFromEnvironment } from "../../src/config.ts";
import { createLog } from "../../src/log.ts";
import { serve } from "../../src/serve.ts";
import { type Held, LoopMonitor } from "./loop-monitor.ts";

/** Orders to the server that its interface does not offer, and the replies. */
export type Order =
  | { kind: "clock"; aheadMs: number }
  | { kind: "end_thread"; of: ThreadName }
  | { kind: "loop" }
  | { kind: "stop" };
export type Report = { kind: "ready"; url: string } | { kind: "done" } | { kind: "loop"; held: Held };

const THREAD_SCRIPTS = {
  apply: "/apply/worker.js",
  journal: "/journal/disk-worker.js",
  judge: "/intake/body/judge-worker.js",
  large_bodies: "/intake/body/large-body-worker.js",
};
export type ThreadName = keyof typeof THREAD_SCRIPTS;

/**
 * The real server, except that its clock can be shifted and its threads can be ended from outside: neither is possible for
 * another process without affecting the machine.
 */
const config = configFromEnvironment();
const log = createLog(config.logLevel);
let aheadMs = Number(process.argv[2] ?? 0);
/** The newest thread of each script. A thread does not say which script it runs, so its start is intercepted. */
const newest = new Map<string, threads.Worker>();
threads.Worker = class extends threads.Worker {
  constructor(script: URL, options?: WorkerOptions) {
    super(script, options);
    newest.set(script.pathname, this);
  }
};
syncBuiltinESMExports();

const monitor = new LoopMonitor();
const running = await serve(config, log, () => systemClock() + aheadMs);
process.on("unhandledRejection", (error) => log.error({ err: error }, "A failure was not handled."));
monitor.take();
report({ kind: "ready", url: running.address });

process.on("message", async (order: Order) => {
  switch (order.kind) {
    case "clock":
      aheadMs = order.aheadMs;
      return report({ kind: "done" });
    case "end_thread":
      await endThread(order.of);
      return report({ kind: "done" });
    case "loop":
      return report({ kind: "loop", held: monitor.take() });
    case "stop":
      return end();
  }
});
// Ctrl-C is meant for the parent process, without which this server has no use.
process.on("SIGINT", () => {});
process.once("disconnect", () => void end());

function report(message: Report): void {
  process.send?.(message);
}

async function endThread(name: ThreadName): Promise<void> {
  const running = [...newest].find(([script]) => script.endsWith(THREAD_SCRIPTS[name]));
  await running?.[1].terminate();
}

async function end(): Promise<void> {
  await running.stop();
  process.exit(0);
}
