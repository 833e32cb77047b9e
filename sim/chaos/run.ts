import { writeFileSync } from "node:fs";
import { systemClock } from "../../src/clock.ts";
import { UsageError } from "../../src/errors.ts";
import { readArguments, runProgram, wholeOf } from "../arguments.ts";
import { madeAt } from "../made.ts";
import { runChaos } from "./chaos.ts";
import type { Fault } from "./fault.ts";
import { FAULTS } from "./faults/faults.ts";
import { PROCESS_KILLS } from "./faults/kills.ts";
import { MACHINE_KILLS } from "./faults/machines.ts";
import { type NodesOptions, type NodesOutcome, runNodesChaos } from "./nodes/nodes-chaos.ts";
import { NODES_FAULTS } from "./nodes/nodes-faults.ts";
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
  --database URL  at an empty database of yours, such as one of a cluster: only kills of the server's processes
  --crash COMMAND with --database: also kills of the cluster's machines. COMMAND HOST PORT must kill PostgreSQL there with
                  SIGKILL and start it again
  --nodes         at an installation of several nodes that share a log; needs a nats-server
  --json FILE     write every round
  --markdown FILE write docs/RELIABILITY.md

Faults:
${listOf(FAULTS)}

Faults of a cluster's machines:
${listOf(MACHINE_KILLS)}

Faults of several nodes:
${listOf(NODES_FAULTS)}
`;

const OPTIONS = {
  rounds: { type: "string", default: "100" },
  faults: { type: "string" },
  seed: { type: "string", default: "1" },
  rate: { type: "string", default: "10" },
  replay: { type: "string", default: "20" },
  short: { type: "boolean" },
  database: { type: "string" },
  crash: { type: "string" },
  nodes: { type: "boolean" },
  json: { type: "string" },
  markdown: { type: "string" },
} as const;

await runProgram(async () => {
  const given = readArguments(OPTIONS, HELP);
  const rounds = wholeOf(given, "rounds", { min: 1, max: 100_000 });
  const stopping = new AbortController();
  process.once("SIGINT", () => stopping.abort());
  process.once("SIGTERM", () => stopping.abort());
  if (given.nodes === true) {
    const isFlawless = await breakNodes({
      rounds,
      faults: namedOf(NODES_FAULTS, given.faults),
      seed: wholeOf(given, "seed", { min: 0, max: 2 ** 31 }),
      replayEvery: wholeOf(given, "replay", { min: 1, max: 100_000 }),
      signal: stopping.signal,
    });
    if (!isFlawless) process.exitCode = 1;
    return;
  }
  const startedMs = systemClock();
  const made = madeAt(startedMs);
  const outcomes = await runChaos({
    rounds,
    faults: namedOf(faultsFor(given), given.faults),
    databaseUrl: typeof given.database === "string" ? given.database : undefined,
    crashCommand: typeof given.crash === "string" ? given.crash : undefined,
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

/** Those that can be inflicted on the database that is to be used. */
function faultsFor({ database, crash }: Readonly<Record<string, unknown>>): readonly Fault[] {
  if (database === undefined) return FAULTS;
  return crash === undefined ? PROCESS_KILLS : [...PROCESS_KILLS, ...MACHINE_KILLS];
}

/** Tells each round. Returns whether nothing was lost, doubled or otherwise wrong. */
async function breakNodes(options: NodesOptions): Promise<boolean> {
  const onRound = ({ number, fault, tookMs, acknowledged, broken }: NodesOutcome) =>
    console.log(
      [
        `${number}/${options.rounds} ${fault}: ${(tookMs / 1_000).toFixed(1)} s, ${acknowledged} events acknowledged`,
        ...broken,
      ].join("\n  "),
    );
  const outcomes = await runNodesChaos({ ...options, onRound });
  const bad = outcomes.filter(({ broken }) => broken.length > 0).length;
  const acknowledged = outcomes.at(-1)?.acknowledged ?? 0;
  console.log(`\n${outcomes.length} rounds, ${acknowledged} events acknowledged, ${bad} rounds with something wrong.`);
  return bad === 0;
}

function namedOf<T extends { name: string }>(faults: readonly T[], names: unknown): readonly T[] {
  if (typeof names !== "string") return faults;
  return names.split(",").map((given) => {
    const fault = faults.find(({ name }) => name === given.trim());
    if (!fault) throw new UsageError(`--faults: there is no ${JSON.stringify(given)}; see --help.`);
    return fault;
  });
}

function listOf(faults: readonly { name: string; what: string }[]): string {
  return faults.map(({ name, what }) => `  ${name.padEnd(19)} ${what}`).join("\n");
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
