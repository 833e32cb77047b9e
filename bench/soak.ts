import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { madeAt, madeText } from "../sim/made.ts";
import { elapsedMs, systemClock } from "../src/clock.ts";
import { makeBodies } from "./bodies.ts";
import { type Child, startChild } from "./children.ts";
import { demoApp, registerClients } from "./demo-app.ts";
import { postRequests, type RequestMaker, runLoad } from "./load.ts";
import { chartOf } from "./soak-chart.ts";
import { driftOf, failuresOf } from "./soak-drift.ts";
import { type Sample, Sampler } from "./soak-sample.ts";

/**
 * `npm run soak -- [--minutes 20] [--chart soak.svg] [--json soak.json]`: half of the load that the server takes in and
 * applies for good, for so long, and what becomes of memory, lag, file handles, database size and latency meanwhile.
 * Ends with 1 when one of them drifts.
 */
const { values: given } = parseArgs({
  options: {
    minutes: { type: "string", default: "20" },
    chart: { type: "string", default: "soak.svg" },
    json: { type: "string", default: "soak.json" },
  },
});
const MINUTES = Number(given.minutes);
if (!(MINUTES >= 1 && MINUTES <= 1_440)) throw new Error("--minutes must be a number from 1 to 1440.");

const EVENTS_PER_BODY = 20;
const CONNECTIONS = 32;
const SAMPLES = 120;
/** In the shortest soak every second has one, so that even there the median of a quarter is that of fifteen. */
const SAMPLE_S = Math.max(1, (MINUTES * 60) / SAMPLES);
const TRIAL_S = 8;
/** Memory is level only after every cache has filled once. */
const WARM_UP_SHARE = 0.25;

const made = madeAt(systemClock());
const folder = mkdtempSync(join(tmpdir(), "touchpoint-soak-"));
// Open to pass through, as DATA_DIR is: else, as root, the cluster would be put elsewhere and stay there.
chmodSync(folder, 0o711);
const dataDir = join(folder, "data");
const env = { DATA_DIR: dataDir, PORT: "0", HOST: "127.0.0.1", LOG_LEVEL: "error", JOURNAL_KEEP_DAYS: "0" };

let failures: string[] = [];
try {
  const server = await startChild("../src/main.js", [], env, /ready at http:\/\/127\.0\.0\.1:(\d+)/);
  const app = await demoApp(dataDir);
  await registerClients(server.port, app.accessToken);
  const requests = steadyRequests(app.accessToken);
  const perSecond = (await sustainedPerSecond(server, requests)) / 2;
  const samples = await soak(server, requests, perSecond);
  await server.stop();
  failures = report(samples, perSecond);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
for (const failure of failures) console.error(failure);
process.exitCode = failures.length > 0 ? 1 : 0;

/** Bodies whose times go on with the clock: a server that runs for hours would refuse those of the start. */
function steadyRequests(token: string): RequestMaker {
  const path = `/event_center/api/v1/event/collect/?access_token=${token}`;
  const RENEW = 20_000;
  let made = 0;
  let firstSequence = 0;
  let current: RequestMaker | undefined;
  return () => {
    if (!current || made % RENEW === 0) {
      const bodies = makeBodies({ eventsPerBody: EVENTS_PER_BODY, firstSequence, nowMs: systemClock() });
      current = postRequests(path, bodies);
      firstSequence += RENEW * EVENTS_PER_BODY;
    }
    made += 1;
    return current();
  };
}

/** Requests a second that also reach the tables: as many as were sent, over the time until the last one was applied. */
async function sustainedPerSecond(server: Child, requests: RequestMaker): Promise<number> {
  await runLoad({ port: server.port, requests, connections: CONNECTIONS, seconds: TRIAL_S });
  await untilApplied(server);
  const startedMs = elapsedMs();
  const load = await runLoad({ port: server.port, requests, connections: CONNECTIONS, seconds: TRIAL_S });
  await untilApplied(server);
  return (load.requests * 1000) / (elapsedMs() - startedMs);
}

async function untilApplied(server: Child): Promise<void> {
  for (;;) {
    const { data } = (await (await fetch(`http://127.0.0.1:${server.port}/progress`)).json()) as {
      data: { durable: number; applied: number };
    };
    if (data.applied >= data.durable) return;
    await sleep(100);
  }
}

async function soak(server: Child, requests: RequestMaker, perSecond: number): Promise<Sample[]> {
  const sampler = new Sampler(server, dataDir);
  const samples: Sample[] = [];
  const startedMs = elapsedMs();
  while (elapsedMs() - startedMs < MINUTES * 60_000) {
    const load = await runLoad({ port: server.port, requests, connections: CONNECTIONS, seconds: SAMPLE_S, perSecond });
    samples.push(await sampler.take((elapsedMs() - startedMs) / 60_000, load));
    if (samples.length % 10 === 0) process.stderr.write(`${samples.at(-1)!.minute.toFixed(1)} of ${MINUTES} minutes\n`);
  }
  await sampler.close();
  return samples;
}

function report(samples: readonly Sample[], perSecond: number): string[] {
  const drifts = driftOf(samples, WARM_UP_SHARE);
  const failures = failuresOf(samples, { drifts, wanted: perSecond * SAMPLE_S });
  write(
    given.chart,
    chartOf(samples, { minutes: MINUTES, perSecond: perSecond * EVENTS_PER_BODY, made: madeText(made) }),
  );
  const told = { made, minutes: MINUTES, perSecond, eventsPerRequest: EVENTS_PER_BODY, failures, drifts, samples };
  write(given.json, `${JSON.stringify(told, null, 2)}\n`);
  console.log(
    `${Math.round(perSecond)} requests/s of ${EVENTS_PER_BODY} events for ${MINUTES} minutes: ${given.chart}, ${given.json}`,
  );
  console.table(
    drifts.map(({ what, first, last, change, limit, isOver }) => ({ what, first, last, change, limit, isOver })),
  );
  return failures;
}

function write(file: string, text: string): void {
  mkdirSync(dirname(resolve(file)), { recursive: true });
  writeFileSync(resolve(file), text);
}
