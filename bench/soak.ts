import { dirname, join, relative, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readArguments, runProgram, wholeOf } from "../sim/arguments.ts";
import { type Made, madeAt, madeText } from "../sim/made.ts";
import { elapsedMs, systemClock } from "../src/clock.ts";
import { collectBody, postRequest } from "./bodies.ts";
import { type Child, startServer } from "./children.ts";
import { demoApp, registerClients } from "./demo-app.ts";
import { type RequestMaker, runLoad } from "./load.ts";
import { inOwnFolder } from "./own-folder.ts";
import { chartOf } from "./soak-chart.ts";
import { driftOf, failuresOf } from "./soak-drift.ts";
import { soakPage } from "./soak-page.ts";
import { type Sample, Sampler } from "./soak-sample.ts";
import { Requests } from "./template.ts";
import { writeOut } from "./write-out.ts";

const HELP = `npm run soak -- [options]

Holds half of the load that the server can take in and apply permanently, and watches memory, lag, file handles, database size
and latency. Ends with 1 if one of them drifts.

  --minutes N     how long (20)
  --chart FILE    the chart (soak.svg)
  --json FILE     every sample (soak.json)
  --markdown FILE write docs/SOAK.md
`;

const OPTIONS = {
  minutes: { type: "string", default: "20" },
  chart: { type: "string", default: "soak.svg" },
  json: { type: "string", default: "soak.json" },
  markdown: { type: "string", default: "" },
} as const;

const EVENTS_PER_BODY = 20;
const CONNECTIONS = 32;
const SAMPLES = 120;
const TRIAL_S = 8;
/** Memory is stable only after every cache has filled once. */
const WARM_UP_SHARE = 0.25;

type Plan = { minutes: number; sampleS: number; chart: string; json: string; markdown: string };

await runProgram(async () => {
  const given = readArguments(OPTIONS, HELP);
  const minutes = wholeOf(given, "minutes", { min: 1, max: 1_440 });
  // The shortest soak takes a sample every second, so that the median of a quarter is over fifteen samples.
  const sampleS = Math.max(1, (minutes * 60) / SAMPLES);
  const files = { chart: String(given.chart), json: String(given.json), markdown: String(given.markdown) };
  await inOwnFolder(async (folder) => {
    const failures = await soak(join(folder, "data"), { minutes, sampleS, ...files });
    for (const failure of failures) console.error(failure);
    process.exitCode = failures.length > 0 ? 1 : 0;
  });
});

async function soak(dataDir: string, plan: Plan): Promise<string[]> {
  const made = madeAt(systemClock());
  const settings = { PORT: "0", HOST: "127.0.0.1", LOG_LEVEL: "error", JOURNAL_KEEP_DAYS: "0" };
  const server = await startServer({ DATA_DIR: dataDir, ...settings });
  const app = await demoApp(dataDir);
  await registerClients(server.port, app.accessToken);
  const requests = steadyRequests(app.accessToken);
  const perSecond = (await sustainedPerSecond(server, requests)) / 2;
  const samples = await watch(new Sampler(server, dataDir), { plan, server, requests, perSecond });
  await server.stop();
  return report(samples, { plan, made, perSecond });
}

/** Bodies with the current time: a server that runs for hours would refuse those of the start. */
function steadyRequests(token: string): RequestMaker {
  const path = `/event_center/api/v1/event/collect/?access_token=${token}`;
  const RENEW = 20_000;
  let made = 0;
  let firstSequence = 0;
  let current: Requests | undefined;
  return () => {
    if (!current || made % RENEW === 0) {
      const body = collectBody({ eventsPerBody: EVENTS_PER_BODY, firstSequence, nowMs: systemClock() });
      current = new Requests(postRequest(path, body));
      firstSequence += RENEW * EVENTS_PER_BODY;
    }
    made += 1;
    return current.next();
  };
}

/** Requests per second that also reach the tables: the number sent over the time until the last one was applied. */
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

type Watched = { plan: Plan; server: Child; requests: RequestMaker; perSecond: number };

async function watch(sampler: Sampler, { plan, server, requests, perSecond }: Watched): Promise<Sample[]> {
  const samples: Sample[] = [];
  const startedMs = elapsedMs();
  const elapsedMinutes = () => (elapsedMs() - startedMs) / 60_000;
  while (elapsedMinutes() < plan.minutes) {
    const load = { port: server.port, requests, connections: CONNECTIONS, seconds: plan.sampleS, perSecond };
    const sent = await runLoad(load);
    samples.push(await sampler.take(elapsedMinutes(), sent));
    if (samples.length % 10 === 0) process.stderr.write(`${elapsedMinutes().toFixed(1)} of ${plan.minutes} minutes\n`);
  }
  await sampler.close();
  return samples;
}

function report(samples: readonly Sample[], of: { plan: Plan; made: Made; perSecond: number }): string[] {
  const { plan, made, perSecond } = of;
  const { minutes, chart, json, markdown } = plan;
  const drifts = driftOf(samples, WARM_UP_SHARE);
  const failures = failuresOf(samples, { drifts, wanted: perSecond * plan.sampleS });
  const soaked = { made, minutes, perSecond, eventsPerRequest: EVENTS_PER_BODY, failures, drifts, samples };
  writeOut(chart, chartOf(samples, { minutes, perSecond: perSecond * EVENTS_PER_BODY, made: madeText(made) }));
  writeOut(json, `${JSON.stringify(soaked, null, 2)}\n`);
  writeOut(markdown, soakPage(soaked, relative(dirname(resolve(markdown)), resolve(chart))));
  console.log(
    `${Math.round(perSecond)} requests/s of ${EVENTS_PER_BODY} events for ${minutes} minutes: ${chart}, ${json}`,
  );
  console.table(drifts);
  return failures;
}
