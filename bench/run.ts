import { join } from "node:path";
import { runProgram } from "../sim/arguments.ts";
import { type Made, madeAt } from "../sim/made.ts";
import { elapsedMs, systemClock } from "../src/clock.ts";
import { measureApply } from "./apply.ts";
import { type Setup, startServer } from "./children.ts";
import { measureDecisions } from "./decisions.ts";
import { demoApp, registerClients } from "./demo-app.ts";
import { documentOf, figureRow, growthRow, type Measured, together } from "./figures.ts";
import type { Generator } from "./generator.ts";
import { measureIntake, measureLinks } from "./intake.ts";
import { measureLake } from "./lake.ts";
import { measureLatency } from "./latency.ts";
import { measureLog } from "./log.ts";
import { type BenchOptions, readOptions, STEPS, type Step } from "./options.ts";
import { inOwnFolder } from "./own-folder.ts";
import { performancePage } from "./performance-page.ts";
import { measurePostbacks } from "./postbacks.ts";
import { measureReady } from "./ready.ts";
import { measureReports } from "./reports.ts";
import { writeOut } from "./write-out.ts";

const LOAD_TEXT: Readonly<Record<Generator, string>> = {
  wrk: "The load is made by wrk.",
  node: "The load is made by a program in Node, which shares the cores with the servers. Debian: apt install wrk",
};

const MEASURES: Readonly<Record<Step, (setup: Setup) => Promise<Measured>>> = {
  intake: measureIntake,
  log: measureLog,
  apply: measureApply,
  latency: measureLatency,
  links: measureLinks,
  decisions: measureDecisions,
  postbacks: measurePostbacks,
  reports: measureReports,
  lake: measureLake,
};

await runProgram(async () => {
  const options = readOptions(process.argv.slice(2));
  const made = madeAt(systemClock());
  await inOwnFolder(async (folder) => {
    process.stderr.write(`${LOAD_TEXT[options.generator]}\n`);
    const measured = together(await measureAll(await prepare(folder, options), options));
    tell(measured, made, options);
  });
});

/** Starts a server once, so that its app and all sending clients exist. */
async function prepare(folder: string, { sizes, scales, generator }: BenchOptions): Promise<Setup> {
  const dataDir = join(folder, "data");
  const env = {
    DATA_DIR: dataDir,
    PORT: "0",
    HOST: "127.0.0.1",
    LOG_LEVEL: "error",
    DISK_FREE_BYTES_MIN: "0",
    // The stand-ins for the ad platforms are on this machine.
    PLATFORM_PRIVATE_NETWORKS: "allow",
  };
  const server = await startServer(env);
  const app = await demoApp(dataDir);
  await registerClients(server.port, app.accessToken, sizes.clients);
  await server.stop();
  return { dataDir, folder, env, app, sizes, scales, generator };
}

async function measureAll(setup: Setup, { steps }: BenchOptions): Promise<Measured[]> {
  const parts = [await measureReady(setup)];
  for (const step of STEPS.filter((name) => steps.has(name))) {
    process.stderr.write(`── ${step}\n`);
    const startedMs = elapsedMs();
    parts.push(await MEASURES[step](setup));
    process.stderr.write(`── ${step}: ${Math.round((elapsedMs() - startedMs) / 1000)} s\n`);
  }
  return parts;
}

function tell(measured: Measured, made: Made, { jsonFile, markdownFile, shown, generator }: BenchOptions): void {
  console.table(measured.figures.map(figureRow));
  if (measured.costs.length > 0) console.table(measured.costs.map(growthRow));
  writeOut(jsonFile, `${JSON.stringify({ load: generator, ...documentOf(measured, made) }, null, 2)}\n`);
  writeOut(markdownFile, performancePage(measured, { made, options: shown, generator }));
}
