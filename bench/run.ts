import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { systemClock } from "../src/clock.ts";
import { calendarOf } from "../src/domain/calendar.ts";
import { measureApply } from "./apply.ts";
import { makeBodies } from "./bodies.ts";
import { type Child, startChild, watchMemory } from "./children.ts";
import type { Row } from "./database.ts";
import { measureDecisions } from "./decisions.ts";
import { demoApp, registerClients } from "./demo-app.ts";
import { linkRequests } from "./links.ts";
import { type LoadResult, postRequests, type RequestMaker, runLoad } from "./load.ts";
import { measurePostbacks } from "./postbacks.ts";
import { measureReports } from "./reports.ts";

/**
 * `npm run bench -- [--seconds 8] [--touches 10] [--users 1] [--scales 1,2,4] [--events 20] [intake apply latency links decisions postbacks reports]`: Touchpoint against a bare
 * server in the same run, with the same bodies and the same generator. Without names, every step.
 * Absolute figures depend on the machine; the ratios are what is meant.
 */
const CONNECTIONS = 64;
const STEPS = ["intake", "apply", "latency", "links", "decisions", "postbacks", "reports"] as const;

const { values: given, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: "string", default: "8" },
    /** Millions of stored touches against which registrations are decided. */
    touches: { type: "string", default: "10" },
    /** Millions of users on which reports are made, and events for each of the first million. */
    users: { type: "string", default: "1" },
    scales: { type: "string", default: "1,2,4" },
    events: { type: "string", default: "20" },
  },
});
const SECONDS = Number(given.seconds);
const steps = new Set<string>(positionals.length > 0 ? positionals : STEPS);
const WARM_UP_SECONDS = 4;
const ROUNDS = 7;
const SIZES = [1, 20, 200];
const SEQUENCES_PER_PHASE = 100_000_000;

const folder = mkdtempSync(join(tmpdir(), "touchpoint-bench-"));
// Open to pass through, as DATA_DIR is: else, as root, the cluster would be put elsewhere and stay there.
chmodSync(folder, 0o711);
const dataDir = join(folder, "data");
const rows: Row[] = [];
let sequence = 0;
const figures: Record<string, number> = {};

const httpOnly = { DATA_DIR: dataDir, PORT: "0", HOST: "127.0.0.1", LOG_LEVEL: "error", DISK_FREE_BYTES_MIN: "0" };
const READY = /ready at http:\/\/127\.0\.0\.1:(\d+)/;
const serverScript = "../src/main.js";

try {
  let server = await startChild(serverScript, [], httpOnly, READY);
  const app = await demoApp(dataDir);
  const token = app.accessToken;
  await registerClients(server.port, token);
  await server.stop();

  server = await startChild(serverScript, [], { ...httpOnly, ROLES: "http" }, READY);
  figures.ready_ms = Math.round(server.readyMs);
  rows.push({ what: "ready after start, ms", bare: "", ours: figures.ready_ms, ratio: "", target: "< 3000" });
  const memory = watchMemory(server.process);
  if (steps.has("intake") || steps.has("apply")) {
    for (const [phase, eventsPerBody] of SIZES.entries()) await compareEvents(server, token, eventsPerBody, phase);
  }
  figures.http_rss_mb = memory().maxMb;
  rows.push({
    what: "resident memory under full load, MB",
    bare: "",
    ours: figures.http_rss_mb,
    ratio: "",
    target: "< 350",
  });
  await server.stop();

  const setup = { dataDir, serverScript, env: httpOnly, ready: READY };
  if (steps.has("apply")) add(await measureApply(setup));
  if (steps.has("links")) {
    server = await startChild(serverScript, [], { ...httpOnly, ROLES: "http" }, READY);
    await compareLinks(server, app.appId);
    await server.stop();
  }
  if (steps.has("latency")) {
    server = await startChild(serverScript, [], httpOnly, READY);
    await measureHalfLoad(server, token);
    await server.stop();
  }
  if (steps.has("decisions")) {
    const millions = Number(given.touches);
    add(await measureDecisions({ ...setup, appId: app.appId, nowMs: systemClock(), millions }));
  }
  if (steps.has("postbacks")) add(await measurePostbacks({ ...setup, app }));
  if (steps.has("reports")) {
    const path = `/event_center/api/v1/event/collect/?access_token=${token}`;
    add(
      await measureReports({
        ...setup,
        appId: app.appId,
        lastDay: calendarOf(app.timeZone).dayOf(systemClock()),
        millions: Number(given.users),
        scales: given.scales.split(",").map(Number),
        eventsPerUser: Number(given.events),
        connections: CONNECTIONS,
        seconds: SECONDS / 2,
        requests: () =>
          postRequests(
            path,
            makeBodies({
              eventsPerBody: 20,
              firstSequence: 10 * SEQUENCES_PER_PHASE + nextSequence(),
              nowMs: systemClock(),
            }),
          ),
      }),
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

console.table(rows);
console.log(
  JSON.stringify({ cpus: cpus().length, arch: process.arch, node: process.version, seconds: SECONDS, ...figures }),
);

function add(measured: { rows: Row[]; figures: Record<string, number> }): void {
  Object.assign(figures, measured.figures);
  rows.push(...measured.rows);
}

async function compareEvents(server: Child, token: string, eventsPerBody: number, phase: number): Promise<void> {
  const path = `/event_center/api/v1/event/collect/?access_token=${token}`;
  const firstSequence = phase * SEQUENCES_PER_PHASE;
  const requests = () => postRequests(path, makeBodies({ eventsPerBody, firstSequence, nowMs: systemClock() }));
  const target = eventsPerBody === 1 ? "≥ 0.70" : "≥ 0.60";
  const what = `requests/s, ${eventsPerBody} event${eventsPerBody > 1 ? "s" : ""} each`;
  await compare(server, { name: `intake_${eventsPerBody}`, what, target, requests });
}

async function compareLinks(server: Child, appId: number): Promise<void> {
  const requests = () => linkRequests({ appId, nowMs: systemClock() });
  await compare(server, { name: "link", what: "link calls/s", target: "≥ 0.70", requests });
}

type Comparison = { name: string; what: string; target: string; requests: () => RequestMaker };

/** In turns, so that a slow moment of the machine hits both; what runs before the rounds only warms up. */
async function compare(server: Child, { name, what, target, requests }: Comparison): Promise<void> {
  const load = { connections: CONNECTIONS, seconds: SECONDS / ROUNDS };
  const bareServer = await startChild("./bare-server.js", [join(folder, "bare.log")], {}, /port (\d+)/);
  const rounds: { bare: number; ours: number }[] = [];
  await runLoad({ ...load, seconds: WARM_UP_SECONDS, port: bareServer.port, requests: requests() });
  const ourRequests = requests();
  await runLoad({ ...load, seconds: WARM_UP_SECONDS, port: server.port, requests: ourRequests });
  for (let round = 0; round < ROUNDS; round += 1) {
    const bare = await runLoad({ ...load, port: bareServer.port, requests: requests() });
    const ours = await runLoad({ ...load, port: server.port, requests: ourRequests });
    if (ours.failures > 0) throw new Error(`${ours.failures} of ${ours.requests} requests were refused.`);
    rounds.push({ bare: bare.perSecond, ours: ours.perSecond });
  }
  await bareServer.stop();
  const bare = median(rounds.map((round) => round.bare));
  const ours = median(rounds.map((round) => round.ours));
  const ratio = round2(median(rounds.map((round) => round.ours / round.bare)));
  figures[`${name}_per_s`] = Math.round(ours);
  figures[`${name}_ratio`] = ratio;
  rows.push({ what, bare: Math.round(bare), ours: Math.round(ours), ratio, target });
}

async function measureHalfLoad(server: Child, token: string): Promise<void> {
  const path = `/event_center/api/v1/event/collect/?access_token=${token}`;
  const bodies = makeBodies({ eventsPerBody: 20, firstSequence: 9 * SEQUENCES_PER_PHASE, nowMs: systemClock() });
  const load = { port: server.port, requests: postRequests(path, bodies), connections: CONNECTIONS };
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

/** Bodies of another load never repeat those of the one before: repeated events would not be stored. */
function nextSequence(): number {
  sequence += 10_000_000;
  return sequence;
}

function median(values: number[]): number {
  return [...values].sort((left, right) => left - right)[values.length >> 1]!;
}

function round2(value: number): number {
  return Math.round(value * 100) / 100;
}
