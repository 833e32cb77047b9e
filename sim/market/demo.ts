import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { elapsedMs, systemClock } from "../../src/clock.ts";
import { addDays, calendarOf } from "../../src/domain/calendar.ts";
import { readArguments, runProgram, wholeOf } from "../arguments.ts";
import { type LiveMarket, startLiveMarket } from "./live.ts";
import { freshPlace } from "./place.ts";
import { ProgressBar } from "./progress-bar.ts";
import { plainEnvironment } from "./simulated-server.ts";
import { type Played, simulate } from "./simulation.ts";

const HELP = `npm run demo -- [options]

Plays a market of 60 days, then serves it, with new people turning up, until Ctrl-C.

  --seed N        which market (1)
  --days N        how many days (60)
  --people N      how many people turn up (2000)
  --port N        where to serve it (8080)
  --data-dir D    where to keep it (./data-demo); refused where something else is kept there
`;

const OPTIONS = {
  seed: { type: "string", default: "1" },
  days: { type: "string", default: "60" },
  people: { type: "string", default: "2000" },
  port: { type: "string", default: "8080" },
  "data-dir": { type: "string", default: "./data-demo" },
} as const;

const TICK_MS = 180 * 60_000;
/** Enough that the live page moves, little enough for a laptop that does something else. */
const NEWCOMERS_PER_S = 0.5;

await runProgram(async () => {
  const given = readArguments(OPTIONS, HELP);
  const startedMs = elapsedMs();
  const { dataDir } = freshPlace(String(given["data-dir"]));
  const bar = new ProgressBar();
  const played = await simulate({
    ...{ seed: wholeOf(given, "seed", { min: 0, max: 2 ** 31 }), days: wholeOf(given, "days", { min: 1, max: 365 }) },
    ...{ people: wholeOf(given, "people", { min: 1, max: 1_000_000 }), tickMs: TICK_MS, endMs: systemClock(), dataDir },
    ...{ flaggedMayWin: true, onStep: (what, share) => bar.step(what, share) },
  });
  bar.end();
  const appKey = await played.operator.developerKey();
  await played.server.stop();
  played.release();
  const took = Math.round((elapsedMs() - startedMs) / 1000);
  await serveUntilStopped(played, {
    port: wholeOf(given, "port", { min: 0, max: 65_535 }),
    onReady: (url, setupLink) => {
      greet(played, { url, appKey, took, setupLink });
      const { app, market } = { app: played.operator.app, market: played.market };
      return startLiveMarket({ url, app, seed: market.options.seed + 1, peoplePerS: NEWCOMERS_PER_S });
    },
  });
  await played.counterparts.close();
});

/** The server as `npm start` runs it. The platforms of the market stay, so that postbacks go on being accepted. */
async function serveUntilStopped(
  { server, counterparts }: Played,
  { port, onReady }: { port: number; onReady: (url: string, setupLink: string) => LiveMarket },
): Promise<void> {
  const script = fileURLToPath(new URL("../../src/main.js", import.meta.url));
  const child = spawn(process.execPath, [script], {
    env: {
      ...{ ...plainEnvironment(), DATA_DIR: server.dataDir, PORT: String(port), LOG_LEVEL: "warn" },
      ...{ TRUSTED_PROXIES: "127.0.0.1", APPLE_ATTRIBUTION_URL: counterparts.appleUrl },
      // The stand-ins for the ad platforms are on this machine.
      PLATFORM_PRIVATE_NETWORKS: "allow",
    },
    stdio: ["ignore", "pipe", "inherit"],
    // Ctrl-C reaches only this process, which stops the server in its own time.
    detached: true,
  });
  let output = "";
  let live: LiveMarket | undefined;
  child.stdout.on("data", (chunk) => {
    output += String(chunk);
    const [, url, setupLink] = /ready at (http:\/\/\S+)[\s\S]*?(http\S+\/console\/setup#\S+)/.exec(output) ?? [];
    if (url && setupLink && !live) live = onReady(url, setupLink);
  });
  const stop = async () => {
    await live?.stop();
    child.kill("SIGTERM");
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void stop());
  await new Promise<void>((resolve) => child.once("exit", () => resolve()));
}

function greet(
  { operator, market, truth, server }: Played,
  shown: { url: string; setupLink: string; appKey: string; took: number },
): void {
  const { url, setupLink, appKey, took } = shown;
  const { appId, accessToken } = operator.app;
  const to = calendarOf(market.options.timeZone).dayOf(market.options.endMs);
  const from = addDays(to, -29);
  const { registrations, events, touches } = truth.counts;
  const someone = truth.people.find(({ method }) => method === "device_id")?.clientId ?? truth.people[0]?.clientId;
  const cli = `DATA_DIR=${server.dataDir} npm run -s cli --`;
  const report = `--app ${appId} --app-key ${appKey}`;
  console.log(`
A market of ${market.options.days} days was played in ${took} s: ${touches} touches, ${registrations} registrations, ${events} events.
It is served at ${url} until Ctrl-C, and goes on: somebody new turns up every other second.

The console; choose the admin's password first (one use):
  ${setupLink}

  app_id        ${appId}
  access_token  ${accessToken}
  app_key       ${appKey}   (of a developer application that may pull reports)

Try, in another terminal:
  ${cli} report ad ${report} --from ${from} --to ${to} --dims ad_platform --metrics AdCost,AppActivateStandard,AppROI,App7DayROI,AppRetention1d
  ${cli} report orders ${report} --sort Amount:desc
  ${cli} report users ${report}
  ${cli} why --app ${appId} ${someone}
  ${cli} fraud --app ${appId} --from ${from} --to ${to}
`);
}
