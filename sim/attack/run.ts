import { writeFileSync } from "node:fs";
import { systemClock } from "../../src/clock.ts";
import { UsageError } from "../../src/errors.ts";
import { readArguments, runProgram, wholeOf } from "../arguments.ts";
import { madeAt } from "../made.ts";
import type { Attack } from "./attack.ts";
import { ATTACKS, attackNamed } from "./attacks/attacks.ts";
import { figuresText, writeFigures } from "./security-page.ts";
import { besiege, type Phase } from "./siege.ts";
import { Stage } from "./stage.ts";
import { holdsOf, ms, seconds } from "./verdict.ts";

const HELP = `npm run attack -- [options]

Attacks a server in every way that docs/SECURITY.md names while it serves the ordinary clients of one app. The attacks come
from outsiders, from the owner of another app and from an insider: first one after another, then all together. Ends with 1
if a condition does not hold.

  --minutes N     how long, including the quiet time before (5)
  --only a,b      only these attacks, and not all together
  --seed N        seed of everything sent (1)
  --json FILE     write all measurements
  --markdown FILE write the figures into docs/SECURITY.md, between their marks

Attacks:
${ATTACKS.map(({ name, point, what }) => `  ${name.padEnd(17)} ${`(${point})`.padEnd(6)} ${what}`).join("\n")}
`;

const OPTIONS = {
  minutes: { type: "string", default: "5" },
  only: { type: "string" },
  seed: { type: "string", default: "1" },
  json: { type: "string" },
  markdown: { type: "string" },
} as const;

const QUIET_SHARE = 0.1;
const TOGETHER_SHARE = 0.2;
const EACH_S_MIN = 5;

await runProgram(async () => {
  const given = readArguments(OPTIONS, HELP);
  const attacks = attacksOf(given.only);
  const minutes = wholeOf(given, "minutes", { min: 1, max: 1_440 });
  const seed = wholeOf(given, "seed", { min: 0, max: 2 ** 31 });
  const stopping = new AbortController();
  process.once("SIGINT", () => stopping.abort());
  process.once("SIGTERM", () => stopping.abort());
  const made = madeAt(systemClock());
  const stage = await Stage.open();
  try {
    const siege = await besiege(stage, {
      attacks,
      seed,
      signal: stopping.signal,
      seconds: secondsOf(minutes, attacks.length, given.only),
      onPhase: (phase) => console.log(lineOf(phase)),
    });
    const run = { siege, attacks, made, command: commandOf(given) };
    console.log(`\n${figuresText(run)}`);
    if (typeof given.json === "string") writeFileSync(given.json, `${JSON.stringify({ made, siege }, null, 2)}\n`);
    if (typeof given.markdown === "string") writeFigures(given.markdown, run);
    if (!holdsOf(siege).every(({ isKept }) => isKept)) process.exitCode = 1;
  } finally {
    await stage.remove();
  }
});

function attacksOf(names: unknown): readonly Attack[] {
  if (typeof names !== "string") return ATTACKS;
  return names.split(",").map((name) => {
    const attack = attackNamed(name.trim());
    if (!attack) throw new UsageError(`--only: there is no ${JSON.stringify(name)}; see --help.`);
    return attack;
  });
}

function secondsOf(minutes: number, attacks: number, only: unknown): { quiet: number; each: number; together: number } {
  const all = minutes * 60;
  const quiet = Math.max(10, all * QUIET_SHARE);
  const together = typeof only === "string" ? 0 : all * TOGETHER_SHARE;
  return { quiet, together, each: Math.max(EACH_S_MIN, (all - quiet - together) / attacks) };
}

function commandOf(given: Readonly<Record<string, unknown>>): string {
  const only = typeof given.only === "string" ? ` --only ${given.only}` : "";
  return `npm run attack -- --minutes ${given.minutes} --seed ${given.seed}${only}`;
}

function lineOf(phase: Phase): string {
  const { name, calls, worstP99Ms, residentMb, heldMs, backAfterMs, reports } = phase;
  const faults = reports.flatMap((report) => report.faults.map((fault) => `    ${report.name}: ${fault}`));
  const line = [
    name.padEnd(17),
    `${reports.reduce((sum, report) => sum + report.calls, 0)} calls`.padStart(13),
    `ordinary ${calls}, p99 ${ms(worstP99Ms)}`.padEnd(26),
    `${Math.round(residentMb)} MB`.padStart(7),
    `loop ${ms(heldMs)}`.padEnd(13),
    `back after ${backAfterMs === null ? "more than a minute" : seconds(backAfterMs)}`,
  ].join("  ");
  return [line, ...faults].join("\n");
}
