import { readdirSync, readFileSync } from "node:fs";
import type pg from "pg";
import { embeddedConnection } from "../src/db/engine/embedded-role.ts";
import { openPool } from "../src/db/engine/pool.ts";
import { createLog } from "../src/log.ts";
import { type Child, residentMb } from "./children.ts";
import type { LoadResult } from "./load.ts";

/** The state of the server at one moment of the soak. */
export type Sample = {
  minute: number;
  serverMb: number;
  databaseMb: number;
  lagMs: number;
  handles: number;
  databaseSizeMb: number;
  p50Ms: number;
  p99Ms: number;
  requests: number;
  failures: number;
};

/** Observes a running server from outside: /proc, /metrics and the size of its database. */
export class Sampler {
  readonly #server: Child;
  readonly #pool: pg.Pool;

  constructor(server: Child, dataDir: string) {
    this.#server = server;
    const log = createLog("error");
    this.#pool = openPool(embeddedConnection(dataDir)!, { log, connectionsMax: 1, name: "soak" });
  }

  async take(minute: number, load: LoadResult): Promise<Sample> {
    const pid = this.#server.process.pid!;
    const metrics = await (await fetch(`http://127.0.0.1:${this.#server.port}/metrics`)).text();
    const { rows } = await this.#pool.query("select pg_database_size(current_database()) as bytes");
    return {
      minute,
      p50Ms: load.p50Ms,
      p99Ms: load.p99Ms,
      requests: load.requests,
      failures: load.failures,
      serverMb: residentMb(pid),
      databaseMb: privateMbBelow(pid),
      lagMs: figureOf(metrics, "touchpoint_apply_lag_ms"),
      handles: readdirSync(`/proc/${pid}/fd`).length,
      databaseSizeMb: Number(rows[0].bytes) / 1024 / 1024,
    };
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}

/** Throws if the figure is missing, so that it cannot pass for a stable one. */
export function figureOf(metrics: string, name: string): number {
  const text = new RegExp(`^${name} (\\S+)$`, "m").exec(metrics)?.[1];
  if (text === undefined) throw new Error(`/metrics has no ${name}.`);
  return Number(text);
}

/** The private memory of the processes below this one; shared memory would be counted once per process. */
function privateMbBelow(pid: number): number {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const parent = statusOf(Number(name), "PPid");
    if (parent !== undefined) parents.set(Number(name), parent);
  }
  const isBelow = (child: number): boolean => {
    const parent = parents.get(child);
    return parent !== undefined && (parent === pid || isBelow(parent));
  };
  return [...parents.keys()].filter(isBelow).reduce((sum, child) => sum + (statusOf(child, "RssAnon") ?? 0) / 1024, 0);
}

function statusOf(pid: number, field: string): number | undefined {
  try {
    const match = new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"));
    return match ? Number(match[1]) : undefined;
  } catch {
    // The process has ended meanwhile.
    return undefined;
  }
}
