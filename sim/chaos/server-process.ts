import type { Worker } from "node:worker_threads";
import { systemClock } from "../../src/clock.ts";
import { configFromEnvironment } from "../../src/config.ts";
import { createLog } from "../../src/log.ts";
import { serve } from "../../src/serve.ts";
import { type Held, LoopMonitor } from "./loop-monitor.ts";

/** What whoever makes trouble asks of the server, beyond what its interface offers, and what comes back. */
export type Order =
  | { kind: "clock"; aheadMs: number }
  | { kind: "end_apply_thread" }
  | { kind: "loop" }
  | { kind: "stop" };
export type Report = { kind: "ready"; url: string } | { kind: "done" } | { kind: "loop"; held: Held };

/**
 * The server as it is, but its clock can be set off, and the thread that applies can be ended from outside: neither can
 * be done to a process without touching the machine it runs on.
 */
const config = configFromEnvironment();
const log = createLog(config.logLevel);
let aheadMs = Number(process.argv[2] ?? 0);
const threads: Worker[] = [];
process.on("worker", (thread) => threads.push(thread));

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
    case "end_apply_thread":
      await threads.at(-1)?.terminate();
      return report({ kind: "done" });
    case "loop":
      return report({ kind: "loop", held: monitor.take() });
    case "stop":
      return end();
  }
});
// Ctrl-C is meant for whoever makes the trouble; without them nobody needs this server.
process.on("SIGINT", () => {});
process.once("disconnect", () => void end());

function report(message: Report): void {
  process.send?.(message);
}

async function end(): Promise<void> {
  await running.stop();
  process.exit(0);
}
