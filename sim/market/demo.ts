import { spawn } from "node:child_process";
import { elapsedMs, systemClock } from "../../src/clock.ts";
import { addDays, calendarOf } from "../../src/domain/calendar.ts";
import { portOf, readArguments, runProgram, wholeOf } from "../arguments.ts";
import { builtScript } from "../built-script.ts";
import { freshFolder } from "./data-folder.ts";
import { type LiveMarket, startLiveMarket } from "./live.ts";
import { ProgressBar } from "./progress-bar.ts";
import { plainEnvironment } from "./simulated-server.ts";
import { type Played, simulate } from "./simulation.ts";

const HELP = `npm run demo -- [options]

Plays a market of 60 days, then serves it, with new people arriving, until Ctrl-C.

  --seed N        which market (1)
  --days N        how many days (60)
  --people N      how many people arrive (2000)
  --port N        where to serve it ($PORT, else 8080); 0 picks a free one
  --rate N        how many people arrive per minute while it is served (30)
  --data-dir D    where to keep it (./data-demo); refused if the folder holds anything else
`;

const OPTIONS = {
  seed: { type: "string", default: "1" },
  days: { type: "string", default: "60" },
  people: { type: "string", default: "2000" },
  port: { type: "string" },
  // Enough to keep the live page moving, and little enough for a laptop in use.
  rate: { type: "string", default: "30" },
  "data-dir": { type: "string", default: "./data-demo" },
} as const;

const TICK_MS = 180 * 60_000;

await runProgram(async () => {
  const given = readArguments(OPTIONS, HELP);
  const port = portOf(given, process.env);
  const peoplePerS = wholeOf(given, "rate", { min: 1, max: 60_000 }) / 60;
  const startedMs = elapsedMs();
  const { dataDir } = freshFolder(String(given["data-dir"]));
  const bar = new ProgressBar();
  const played = await simulate({
    seed: wholeOf(given, "seed", { min: 0, max: 2 ** 31 }),
    days: wholeOf(given, "days", { min: 1, max: 365 }),
    people: wholeOf(given, "people", { min: 1, max: 1_000_000 }),
    tickMs: TICK_MS,
    endMs: systemClock(),
    dataDir,
    flaggedMayWin: true,
    onStep: (what, share) => bar.step(what, share),
  });
  bar.end();
  const appKey = await played.operator.developerKey();
  await played.server.stop();
  played.release();
  const took = Math.round((elapsedMs() - startedMs) / 1000);
  const { operator, market, counterparts } = played;
  await serveUntilStopped(played, {
    port,
    onReady: async (url) => {
      greet(played, { url, appKey, took, peoplePerS, setupLink: await operator.setupLink(url) });
      return startLiveMarket({
        url,
        app: operator.app,
        peoplePerS,
        callbackUrl: counterparts.callbackUrl,
        // Other people but the same ads, because only those have campaigns.
        seed: market.options.seed + 1,
        catalogue: market.catalogue,
        timeZone: market.options.timeZone,
      });
    },
  });
  await played.counterparts.close();
});

/** Runs the server as `npm start` does. The market's platforms stay, so that postbacks are still accepted. */
async function serveUntilStopped(
  { server, counterparts }: Played,
  { port, onReady }: { port: number; onReady: (url: string) => Promise<LiveMarket> },
): Promise<void> {
  const child = spawn(process.execPath, [builtScript("bundle/main.js")], {
    env: {
      ...plainEnvironment(),
      DATA_DIR: server.dataDir,
      PORT: String(port),
      LOG_LEVEL: "warn",
      TRUSTED_PROXIES: "127.0.0.1",
      APPLE_ATTRIBUTION_URL: counterparts.appleUrl,
      // The stand-ins for the ad platforms are on this machine.
      PLATFORM_PRIVATE_NETWORKS: "allow",
      // The secrets go to this process, which prints what the user needs.
      PRINT_SECRETS: "always",
    },
    stdio: ["ignore", "pipe", "inherit"],
    // Ctrl-C reaches only this process, which then stops the server in order.
    detached: true,
  });
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  let output = "";
  let live: Promise<LiveMarket> | undefined;
  let failure: unknown;
  child.stdout.on("data", (chunk) => {
    output += String(chunk);
    const [, url] = /ready at (http:\/\/\S+)\s/.exec(output) ?? [];
    if (!url || live) return;
    live = onReady(url);
    live.catch((error: unknown) => {
      failure = error;
      child.kill("SIGTERM");
    });
  });
  const stop = async () => {
    await (await live)?.stop();
    child.kill("SIGTERM");
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void stop());
  process.exitCode = (await exited) ?? 1;
  if (failure !== undefined) throw failure;
}

function greet(
  { operator, market, truth, server }: Played,
  shown: { url: string; setupLink: string; appKey: string; took: number; peoplePerS: number },
): void {
  const { url, setupLink, appKey, took, peoplePerS } = shown;
  const { appId, accessToken } = operator.app;
  const to = calendarOf(market.options.timeZone).dayOf(market.options.endMs);
  const from = addDays(to, -29);
  const { registrations, events, touches } = truth.counts;
  const someone = truth.people.find(({ method }) => method === "device_id")?.clientId ?? truth.people[0]?.clientId;
  const cli = `DATA_DIR=${server.dataDir} npm run -s cli --`;
  const report = `--app ${appId} --app-key ${appKey}`;
  console.log(`
A market of ${market.options.days} days was played in ${took} s: ${touches} touches, ${registrations} registrations, ${events} events.
It is served at ${url} until Ctrl-C and goes on: ${Math.round(peoplePerS * 60)} new people arrive per minute.

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
