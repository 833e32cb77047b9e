import { writeFileSync } from "node:fs";
import { systemClock } from "../../src/clock.ts";
import { UsageError } from "../../src/errors.ts";
import { type Made, madeAt, madeText } from "../made.ts";
import { readArguments, runProgram, wholeOf } from "../market/arguments.ts";
import { runChaos } from "./chaos.ts";
import type { Fault } from "./fault.ts";
import { FAULTS, faultNamed } from "./faults/faults.ts";
import type { RoundOutcome } from "./round.ts";
import { isFlawless, type Tally, tallyOf, tallyTables } from "./tally.ts";

const HELP = `npm run chaos -- [options]

Under the simulator's load, one fault after the other is done to a server; after each, all ten promises of
docs/ARCHITECTURE.md are held against the truth of what was acknowledged. Ends with 1 where one is broken.

  --rounds N      how many (100, about 25 minutes); from ${FAULTS.length} on, every fault occurs
  --faults a,b    only these
  --seed N        which faults, and when (1)
  --rate N        people who turn up in a second (10)
  --replay N      after so many rounds the journal is applied anew, and after the last one (20)
  --short         faults last only as long as it takes to see the point
  --json FILE     write every round
  --markdown FILE write docs/RELIABILITY.md

Faults:
${FAULTS.map(({ name, what }) => `  ${name.padEnd(15)} ${what}`).join("\n")}
`;

const OPTIONS = {
  rounds: { type: "string", default: "100" },
  faults: { type: "string" },
  seed: { type: "string", default: "1" },
  rate: { type: "string", default: "10" },
  replay: { type: "string", default: "20" },
  short: { type: "boolean" },
  json: { type: "string" },
  markdown: { type: "string" },
} as const;

await runProgram(async () => {
  const given = readArguments(OPTIONS, HELP);
  const rounds = wholeOf(given, "rounds", { min: 1, max: 100_000 });
  const stopping = new AbortController();
  process.once("SIGINT", () => stopping.abort());
  process.once("SIGTERM", () => stopping.abort());
  const startedMs = systemClock();
  const made = madeAt(startedMs);
  const outcomes = await runChaos({
    ...{ rounds, faults: faultsOf(given.faults), seed: wholeOf(given, "seed", { min: 0, max: 2 ** 31 }) },
    ...{ form: given.short === true ? "short" : "long", peoplePerS: wholeOf(given, "rate", { min: 1, max: 500 }) },
    replayEvery: wholeOf(given, "replay", { min: 1, max: 100_000 }),
    onStep: (what) => process.stderr.isTTY && process.stderr.write(`\r${what} … `),
    onRound: (outcome) => console.log(lineOf(outcome, rounds)),
    signal: stopping.signal,
  });
  const tally = tallyOf(outcomes);
  console.log(`\n${tallyTables(tally)}`);
  if (typeof given.json === "string")
    writeFileSync(given.json, `${JSON.stringify({ made, tally, outcomes }, null, 2)}\n`);
  if (typeof given.markdown === "string") writeFileSync(given.markdown, reliability(tally, { given, startedMs, made }));
  if (!isFlawless(tally)) process.exitCode = 1;
});

function faultsOf(names: unknown): readonly Fault[] {
  if (typeof names !== "string") return FAULTS;
  return names.split(",").map((name) => {
    const fault = faultNamed(name.trim());
    if (!fault) throw new UsageError(`--faults: there is no ${JSON.stringify(name)}; see --help.`);
    return fault;
  });
}

function lineOf(outcome: RoundOutcome, rounds: number): string {
  const { number, fault, tookMs, acknowledged, lost, doubled, violations, notes, failure } = outcome;
  const isFine = violations.length === 0 && failure === undefined;
  const line = [
    `${process.stderr.isTTY ? "\r" : ""}${String(number).padStart(String(rounds).length)}/${rounds}`,
    fault.padEnd(15),
    `${(tookMs / 1000).toFixed(1)} s`.padStart(8),
    `${acknowledged} events acknowledged, ${lost} lost, ${doubled} doubled`,
    isFine ? "all promises kept" : "BROKEN",
  ].join("  ");
  const broken = violations.map(({ promise, text }) => `    promise ${promise}: ${text}`);
  return [
    line,
    ...notes.map((note) => `    ${note}`),
    ...broken,
    ...(failure === undefined ? [] : [`    ${failure}`]),
  ].join("\n");
}

type Run = { given: Readonly<Record<string, unknown>>; startedMs: number; made: Made };

function reliability(tally: Tally, { given, startedMs, made }: Run): string {
  const named = ["rounds", "seed", "rate", "replay"].map((name) => `--${name} ${given[name]}`);
  const some = typeof given.faults === "string" ? [`--faults ${given.faults}`] : [];
  const command = [...named, ...some, ...(given.short === true ? ["--short"] : [])].join(" ");
  const minutes = Math.round((systemClock() - startedMs) / 60_000);
  const { killRounds, events } = tally;
  return `# Reliability

What becomes of acknowledged data when everything around the server breaks. People of a simulated market register, click,
play and pay without a pause; meanwhile one thing after the other is killed, frozen, filled, cut or slowed down. After each
round everything is drained, and all ten promises of [ARCHITECTURE.md](ARCHITECTURE.md) are held against what the market
was told. Anyone can run it again:

\`\`\`sh
npm run chaos -- ${command}
\`\`\`

${madeText(made)} It took ${minutes} minutes.

**${events.lost} of ${events.acknowledged} acknowledged events were lost and ${events.doubled} doubled, in ${tally.rounds} rounds, ${killRounds} of them kills.**

${tallyTables(tally)}

## How to read it

- **Acknowledged** is what was answered with code 0. A client that gets no answer sends the same bytes again, as SDKs do.
- **Destroyed on purpose** are acknowledged events in records of the journal that a fault has damaged or cut off before
  anybody had applied them. Which records those are is written down before, exactly these may be missing, and each must be
  set aside, or its end be reported as torn.
- **Lost** and **doubled** are counted in the tables after each round, over everything that was ever acknowledged there.
- **Postbacks** go to stand-ins for six platforms. Where the sender dies with a call under way to a platform that does not
  know repeats, the postback is given up and says so: ${tally.postbacksGivenUp} were.
- **The same journal, the same tables** is checked every ${given.replay} rounds and after the last one: the whole journal is applied to an
  empty database with the same settings, and every row compared.
- Faults that wait for a database or a platform last as long as they would in life; a database is away for a minute.
`;
}
