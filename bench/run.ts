import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../src/clock.ts";
import { loadApps } from "../src/db/app.ts";
import { embeddedConnection } from "../src/db/embedded.ts";
import { openPool } from "../src/db/pool.ts";
import { createLog } from "../src/log.ts";
import { openVault } from "../src/vault.ts";
import { measureApply } from "./apply.ts";
import { CLIENTS, clientName, makeBodies } from "./bodies.ts";
import { type Child, startChild, watchMemory } from "./children.ts";
import { type LoadResult, runLoad } from "./load.ts";

/**
 * `npm run bench`: Touchpoint against a bare server in the same run, with the same bodies and the same generator.
 * Absolute figures depend on the machine; the ratios are what is meant.
 */
const CONNECTIONS = 64;
const SECONDS = Number(process.argv[2] ?? 8);
const WARM_UP_SECONDS = 4;
const ROUNDS = 7;
const SIZES = [1, 20, 200];
const SEQUENCES_PER_PHASE = 100_000_000;

type Row = { what: string; bare: number | string; ours: number | string; ratio: number | string; target: string };

const folder = mkdtempSync(join(tmpdir(), "touchpoint-bench-"));
const dataDir = join(folder, "data");
const rows: Row[] = [];
const figures: Record<string, number> = {};

const httpOnly = { DATA_DIR: dataDir, PORT: "0", HOST: "127.0.0.1", LOG_LEVEL: "error", DISK_FREE_BYTES_MIN: "0" };
const READY = /ready at http:\/\/127\.0\.0\.1:(\d+)/;
const serverScript = "../src/main.js";

try {
  let server = await startChild(serverScript, [], httpOnly, READY);
  const token = await accessToken();
  await registerClients(server, token);
  await server.stop();

  server = await startChild(serverScript, [], { ...httpOnly, ROLES: "http" }, READY);
  figures.ready_ms = Math.round(server.readyMs);
  rows.push({ what: "ready after start, ms", bare: "", ours: figures.ready_ms, ratio: "", target: "< 3000" });
  const memory = watchMemory(server.process);
  for (const [phase, eventsPerBody] of SIZES.entries()) await compareIntake(server, token, eventsPerBody, phase);
  figures.http_rss_mb = memory().maxMb;
  rows.push({
    what: "resident memory under full load, MB",
    bare: "",
    ours: figures.http_rss_mb,
    ratio: "",
    target: "< 350",
  });
  await server.stop();

  const apply = await measureApply({ dataDir, serverScript, env: httpOnly, ready: READY });
  Object.assign(figures, apply.figures);
  rows.push(...apply.rows);

  server = await startChild(serverScript, [], httpOnly, READY);
  await measureHalfLoad(server, token);
  await server.stop();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

console.table(rows);
console.log(
  JSON.stringify({ cpus: cpus().length, arch: process.arch, node: process.version, seconds: SECONDS, ...figures }),
);

async function compareIntake(server: Child, token: string, eventsPerBody: number, phase: number): Promise<void> {
  const load = { connections: CONNECTIONS, seconds: SECONDS };
  const bodies = () => makeBodies({ eventsPerBody, firstSequence: phase * SEQUENCES_PER_PHASE, nowMs: systemClock() });
  const path = `/event_center/api/v1/event/collect/?access_token=${token}`;
  const bareServer = await startChild("./bare-server.js", [join(folder, "bare.log")], {}, /port (\d+)/);
  // In turns, so that a slow moment of the machine hits both; the first round only warms up.
  const rounds: { bare: number; ours: number }[] = [];
  await runLoad({ ...load, seconds: WARM_UP_SECONDS, port: bareServer.port, path, bodies: bodies() });
  const ourBodies = bodies();
  await runLoad({ ...load, seconds: WARM_UP_SECONDS, port: server.port, path, bodies: ourBodies });
  for (let round = 0; round < ROUNDS; round += 1) {
    const bare = await runLoad({ ...load, seconds: SECONDS / ROUNDS, port: bareServer.port, path, bodies: bodies() });
    const ours = await runLoad({ ...load, seconds: SECONDS / ROUNDS, port: server.port, path, bodies: ourBodies });
    if (ours.failures > 0) throw new Error(`${ours.failures} of ${ours.requests} requests were refused.`);
    rounds.push({ bare: bare.perSecond, ours: ours.perSecond });
  }
  await bareServer.stop();
  const bare = median(rounds.map((round) => round.bare));
  const ours = median(rounds.map((round) => round.ours));
  const ratio = round2(median(rounds.map((round) => round.ours / round.bare)));
  figures[`intake_${eventsPerBody}_per_s`] = Math.round(ours);
  figures[`intake_${eventsPerBody}_ratio`] = ratio;
  rows.push({
    what: `requests/s, ${eventsPerBody} event${eventsPerBody > 1 ? "s" : ""} each`,
    bare: Math.round(bare),
    ours: Math.round(ours),
    ratio,
    target: eventsPerBody === 1 ? "≥ 0.70" : "≥ 0.60",
  });
}

async function measureHalfLoad(server: Child, token: string): Promise<void> {
  const path = `/event_center/api/v1/event/collect/?access_token=${token}`;
  const bodies = makeBodies({ eventsPerBody: 20, firstSequence: 9 * SEQUENCES_PER_PHASE, nowMs: systemClock() });
  const load = { port: server.port, path, bodies, connections: CONNECTIONS };
  await runLoad({ ...load, seconds: WARM_UP_SECONDS });
  const full = await runLoad({ ...load, seconds: SECONDS / 2 });
  // The backlog of the full load is still there, so apply works at its limit all through these rounds.
  const rounds: LoadResult[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.push(await runLoad({ ...load, seconds: SECONDS / ROUNDS, perSecond: full.perSecond / 2 }));
  }
  figures.all_roles_20_per_s = Math.round(full.perSecond);
  figures.half_load_p50_ms = round2(median(rounds.map((round) => round.p50Ms)));
  figures.half_load_p99_ms = round2(median(rounds.map((round) => round.p99Ms)));
  figures.half_load_p99_ms_worst = round2(Math.max(...rounds.map((round) => round.p99Ms)));
  rows.push({
    what: "requests/s, 20 events each, all roles",
    bare: "",
    ours: figures.all_roles_20_per_s,
    ratio: "",
    target: "",
  });
  rows.push({ what: "p99 at half of that, ms", bare: "", ours: figures.half_load_p99_ms, ratio: "", target: "< 25" });
}

async function accessToken(): Promise<string> {
  const log = createLog("error");
  const pool = openPool(embeddedConnection(dataDir)!, { log, connectionsMax: 1, name: "bench" });
  const [app] = await loadApps(pool, openVault({ dataDir, secretKey: "" }));
  await pool.end();
  return app!.accessToken;
}

async function registerClients(server: Child, token: string): Promise<void> {
  let next = 0;
  const lane = async () => {
    for (let number = next++; number < CLIENTS; number = next++) {
      const body = JSON.stringify({ client_id: clientName(number), name: "n", channel: "bench", version: 1 });
      const url = `http://127.0.0.1:${server.port}/event_center/api/v1/user/register/?access_token=${token}`;
      const answer = (await (await fetch(url, { method: "POST", body })).json()) as { code: number; msg: string };
      if (answer.code !== 0) throw new Error(answer.msg);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, lane));
}

function median(values: number[]): number {
  return [...values].sort((left, right) => left - right)[values.length >> 1]!;
}

function round2(value: number): number {
  return Math.round(value * 100) / 100;
}
