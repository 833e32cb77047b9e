import { writeFileSync } from "node:fs";
import { systemClock } from "../../src/clock.ts";
import { instantOf, readArguments, runProgram, wholeOf } from "../arguments.ts";
import { type Made, madeAt, madeText } from "../made.ts";
import { temporaryFolder } from "../market/data-folder.ts";
import { COMPLETE_RATES, DEFAULT_RATES } from "../market/options.ts";
import { ProgressBar } from "../market/progress-bar.ts";
import { simulate } from "../market/simulation.ts";
import { type Score, scoreMarket, TARGETS } from "./score.ts";
import { scoreTables } from "./table.ts";

const HELP = `npm run score -- [options]

Plays a market whose truth is known, and compares the server's figures with it. Ends with 1 if a target is missed.

  --seed N        which market (1)
  --days N        how many days (45)
  --people N      how many people arrive (3000)
  --tick N        minutes per tick (60)
  --end T         the time at which the market ends (2026-11-15T00:00Z); another one makes another market
  --complete      a market in which nothing is lost, hidden or forged
  --json FILE     write the figures
  --markdown FILE write docs/SCORECARD.md
`;

const OPTIONS = {
  seed: { type: "string", default: "1" },
  days: { type: "string", default: "45" },
  people: { type: "string", default: "3000" },
  tick: { type: "string", default: "60" },
  end: { type: "string", default: "2026-11-15T00:00Z" },
  complete: { type: "boolean" },
  json: { type: "string" },
  markdown: { type: "string" },
} as const;

/** The options that the figures depend on. */
const DECIDING = ["seed", "days", "people", "tick", "end"];

await runProgram(async () => {
  const given = readArguments(OPTIONS, HELP);
  const bar = new ProgressBar();
  const folder = temporaryFolder();
  const made = madeAt(systemClock());
  let score: Score;
  try {
    const played = await simulate({
      seed: wholeOf(given, "seed", { min: 0, max: 2 ** 31 }),
      days: wholeOf(given, "days", { min: 1, max: 365 }),
      people: wholeOf(given, "people", { min: 1, max: 1_000_000 }),
      tickMs: wholeOf(given, "tick", { min: 1, max: 240 }) * 60_000,
      rates: given.complete === true ? COMPLETE_RATES : DEFAULT_RATES,
      endMs: instantOf(given, "end"),
      dataDir: folder.dataDir,
      onStep: (what, share) => bar.step(what, share),
    });
    score = await scoreMarket(played, (what) => bar.step(`score: ${what}`, 1));
    await played.stop();
  } finally {
    folder.remove();
  }
  bar.end();
  console.log(scoreTables(score));
  if (typeof given.json === "string") writeFileSync(given.json, `${JSON.stringify({ made, ...score }, null, 2)}\n`);
  if (typeof given.markdown === "string") writeFileSync(given.markdown, scorecard(score, { made, given }));
  if (TARGETS.some(({ of, holds }) => !holds(of(score)))) process.exitCode = 1;
});

function scorecard(score: Score, { made, given }: { made: Made; given: Record<string, unknown> }): string {
  const options = DECIDING.map((name) => `--${name} ${given[name]}`);
  const shown = [...options, ...(given.complete === true ? ["--complete"] : [])].join(" ");
  const { seed, days, people, calls, touches, lostAnswers } = score.market;
  return `# Scorecard

How accurate the server is, measured on a simulated market whose truth is known. The market sends what clients and ad
platforms send, including late and repeated calls, wrong clocks, unreplaced macros and fraud. Anyone can run it again:

\`\`\`sh
npm run score -- ${shown}
\`\`\`

${madeText(made)}
Market: seed ${seed}, ${days} days, ${people} registered people, ${calls} calls, ${touches} touches, ${lostAnswers} lost answers.

${scoreTables(score)}

## How to read it

- **Right** means that both the platform and the ad are right. A person's source *could be known* if a reported touch, or the
  launch query, shares a key with the registration. Precision is the share of right ones among those attributed by the server,
  recall among those who could be known.
- **Errors of counting** compare every cell of the reports with the definitions of [METRICS.md](METRICS.md), computed from
  the list of acknowledged events without SQL, with people attributed as the server did. **Errors against the truth**
  attribute people to where they really came from, as far as that could be known; they are the errors of attribution, in
  money. With \`--complete\`, where nothing is lost, hidden or forged, they are 0 too.
- **Fraud**: flagged touches cannot win in this market. \`quiet_spam\` is a single forged click with the device's true ids
  shortly before the registration: nothing distinguishes it from a real one.
- **Postbacks** are counted at stand-ins for the platforms, for people whose own touch won. *Calls refused first* met
  an expired token, which was then renewed.
`;
}
