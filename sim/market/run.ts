import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../src/clock.ts";
import { UsageError } from "../../src/errors.ts";
import { instantOf, readArguments, runProgram, wholeOf } from "../arguments.ts";
import { freshFolder, temporaryFolder } from "./data-folder.ts";
import { startLiveMarket } from "./live.ts";
import { ProgressBar } from "./progress-bar.ts";
import { simulate } from "./simulation.ts";
import { type Truth, truthLine } from "./truth.ts";

const HELP = `npm run sim -- [options]

Plays a market of people, ads and fraud, whose truth is known. The same seed and end give the same calls.

On simulated time, on a server of its own (the days pass in seconds):
  --seed N        which market (1)
  --days N        how many days (60)
  --people N      how many people arrive (3000)
  --tick N        minutes per tick (60)
  --end T         the time at which it ends, such as 2026-11-15T00:00Z (now)
  --data-dir D    keep the server's data there; by default it is deleted in the end
  --truth FILE    write the truth about each person, one JSON object per line

On the real clock, against a running server:
  --live          people arrive at a steady rate
  --url U         its address
  --app N         the app's id
  --token T       the app's access token
  --rate N        people per second (5)
  --seconds N     how long (60)
`;

const OPTIONS = {
  seed: { type: "string", default: "1" },
  days: { type: "string", default: "60" },
  people: { type: "string", default: "3000" },
  tick: { type: "string", default: "60" },
  end: { type: "string" },
  "data-dir": { type: "string" },
  truth: { type: "string" },
  live: { type: "boolean" },
  url: { type: "string" },
  app: { type: "string" },
  token: { type: "string" },
  rate: { type: "string", default: "5" },
  seconds: { type: "string", default: "60" },
} as const;

await runProgram(async () => {
  const given = readArguments(OPTIONS, HELP);
  const truthFile = typeof given.truth === "string" ? given.truth : undefined;
  const truth = given.live === true ? await playLive(given) : await playSimulated(given);
  const { counts, complaints, people } = truth;
  console.table({ people: people.length, ...counts, "wrong answers": complaints.length });
  for (const complaint of complaints.slice(0, 10)) console.log(complaint);
  if (truthFile !== undefined) await writeTruth(truthFile, truth);
});

type Given = Readonly<Record<string, string | boolean | undefined>>;

async function playSimulated(given: Given): Promise<Truth> {
  const bar = new ProgressBar();
  const folder = given["data-dir"];
  const data = typeof folder === "string" ? freshFolder(folder) : temporaryFolder();
  try {
    const played = await simulate({
      seed: wholeOf(given, "seed", { min: 0, max: 2 ** 31 }),
      days: wholeOf(given, "days", { min: 1, max: 365 }),
      people: wholeOf(given, "people", { min: 1, max: 1_000_000 }),
      tickMs: wholeOf(given, "tick", { min: 1, max: 240 }) * 60_000,

      endMs: given.end === undefined ? systemClock() : instantOf(given, "end"),
      dataDir: data.dataDir,
      onStep: (what, share) => bar.step(what, share),
    });
    await played.stop();
    bar.end();
    return played.truth;
  } finally {
    data.remove();
  }
}

async function playLive(given: Given): Promise<Truth> {
  const { url, token } = given;
  if (typeof url !== "string" || typeof token !== "string" || given.app === undefined)
    throw new UsageError("--live needs --url, --app and --token.");
  const app = { appId: wholeOf(given, "app", { min: 1, max: 2 ** 31 }), accessToken: token };
  const bar = new ProgressBar();
  const seconds = wholeOf(given, "seconds", { min: 1, max: 1_000_000 });
  const seed = wholeOf(given, "seed", { min: 0, max: 2 ** 31 });
  const live = startLiveMarket({ url, app, seed, peoplePerS: wholeOf(given, "rate", { min: 1, max: 1_000 }) });
  let isInterrupted = false;
  process.once("SIGINT", () => {
    isInterrupted = true;
  });
  for (let passed = 0; passed < seconds && !isInterrupted; passed += 1) {
    bar.step(`${live.truth.counts.calls} calls`, passed / seconds);
    await sleep(1_000);
  }
  await live.stop();
  bar.end();
  return live.truth;
}

async function writeTruth(path: string, truth: Truth): Promise<void> {
  const file = createWriteStream(path);
  for (const person of truth.people) if (!file.write(truthLine(person, "Asia/Shanghai"))) await once(file, "drain");
  file.end();
  await once(file, "finish");
}
