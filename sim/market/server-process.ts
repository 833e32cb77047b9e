import { setTimeout as sleep } from "node:timers/promises";
import { elapsedMs } from "../../src/clock.ts";
import { configFromEnvironment } from "../../src/config.ts";
import { openPool } from "../../src/db/engine/pool.ts";
import { query, sql } from "../../src/db/engine/sql.ts";
import { LIMITS } from "../../src/limits.ts";
import { createLog } from "../../src/log.ts";
import { PostbackWorker } from "../../src/postback/worker.ts";
import { refreshOnce } from "../../src/refresh/refresh.ts";
import { serve } from "../../src/serve.ts";

/** Orders of the market to its server, and the replies. */
export type Order = { kind: "clock"; atMs: number } | { kind: "postbacks" } | { kind: "reports" } | { kind: "stop" };
export type Report =
  | { kind: "ready"; url: string }
  | { kind: "done" }
  /** When the next postback that failed temporarily is due; null when none is waiting. */
  | { kind: "sent"; dueAtMs: number | null };

/**
 * The real server on a clock that the market sets. Postbacks are sent on the market's order, while time stands still: with
 * days passing in seconds, each lease would end in the middle of its call. The cube is refreshed on its order too: otherwise
 * every day would be counted again for each hour that flies past.
 */
const config = configFromEnvironment();
const log = createLog(config.logLevel);
let nowMs = 0;
const clock = () => nowMs;

const report = (message: Report) => process.send!(message);
const started = await new Promise<number>((resolve) =>
  process.once("message", (order: Order) => resolve(order.kind === "clock" ? order.atMs : 0)),
);
nowMs = started;
const roles = new Set(["http", "apply"] as const);
const running = await serve({ ...config, roles }, log, clock);
const pool = openPool(running.database.direct, { log, connectionsMax: 4, name: "postback" });
report({ kind: "ready", url: running.address });

process.on("message", async (order: Order) => {
  switch (order.kind) {
    case "clock":
      nowMs = order.atMs;
      return report({ kind: "done" });
    case "postbacks":
      return report({ kind: "sent", dueAtMs: await sendPostbacks() });
    case "reports":
      while ((await refreshOnce(pool)) > 0);
      return report({ kind: "done" });
    case "stop":
      return end();
  }
});
// Ctrl-C is meant for the market, which then decides what to do.
process.on("SIGINT", () => {});
process.once("disconnect", () => void end());

const AGAIN_MS = 100;
const SENT_MS_MAX = 600_000;

/**
 * Sends until nothing is due: on a slow machine a lane may end early, or pause after calls without an answer, by the real
 * clock. Returns when the next one is due.
 */
async function sendPostbacks(): Promise<number | null> {
  const worker = new PostbackWorker({
    pool,
    vault: running.vault,
    log,
    clock,
    connectionsMax: LIMITS.postbacksInFlight,
    backOffMs: config.postbackRetryMs,
    deadlineMs: config.postbackDeadlineMs,
    mayCallPrivate: { platforms: config.platformPrivateNetworks, callbacks: config.callbackPrivateNetworks },
  });
  const untilMs = elapsedMs() + SENT_MS_MAX;
  for (;;) {
    await worker.turn(new AbortController().signal);
    await worker.rest();
    const dueAtMs = await nextDueMs();
    if (dueAtMs === null || dueAtMs > nowMs || elapsedMs() > untilMs) {
      await worker.finish();
      return dueAtMs;
    }
    await sleep(AGAIN_MS);
  }
}

async function nextDueMs(): Promise<number | null> {
  const [row] = await query<{ dueAtMs: number | null }>(pool, sql`select min(due_at_ms) as due_at_ms from outbox`);
  return row!.dueAtMs;
}

async function end(): Promise<void> {
  await pool.end();
  await running.stop();
  process.exit(0);
}
