import { writeFileSync } from "node:fs";
import { systemClock } from "../../src/clock.ts";
import { UsageError } from "../../src/errors.ts";
import { readArguments, runProgram, wholeOf } from "../arguments.ts";
import { madeAt } from "../made.ts";
import { runChaos } from "./chaos.ts";
import type { Fault } from "./fault.ts";
import { FAULTS, faultNamed } from "./faults/faults.ts";
import { reliabilityPage } from "./reliability-page.ts";
import type { RoundOutcome } from "./round.ts";
import { isFlawless, tallyOf, tallyTables } from "./tally.ts";

const HELP = `npm run chaos -- [options]

Inflicts one fault after another on a server under the simulator's load. After each, checks all ten promises of
docs/ARCHITECTURE.md against what was acknowledged. Ends with 1 if one is broken.

  --rounds N      how many rounds (100, about 25 minutes); from ${FAULTS.length} on, every fault occurs
  --faults a,b    only these faults
  --seed N        which faults, and when (1)
  --rate N        people who arrive per second (10)
  --replay N      replay the journal every N rounds, and after the last one (20)
  --short         faults last only long enough to show their effect
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
    rounds,
    faults: faultsOf(given.faults),
    seed: wholeOf(given, "seed", { min: 0, max: 2 ** 31 }),
    form: given.short === true ? "short" : "long",
    peoplePerS: wholeOf(given, "rate", { min: 1, max: 500 }),
    replayEvery: wholeOf(given, "replay", { min: 1, max: 100_000 }),
    onStep: (what) => process.stderr.isTTY && process.stderr.write(`\r${what} … `),
    onRound: (outcome) => console.log(lineOf(outcome, rounds)),
    signal: stopping.signal,
  });
  const tally = tallyOf(outcomes);
  console.log(`\n${tallyTables(tally)}`);
  if (typeof given.json === "string")
    writeFileSync(given.json, `${JSON.stringify({ made, tally, outcomes }, null, 2)}\n`);
  if (typeof given.markdown === "string") {
    const minutes = Math.round((systemClock() - startedMs) / 60_000);
    writeFileSync(given.markdown, reliabilityPage(tally, { given, minutes, made }));
  }
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
