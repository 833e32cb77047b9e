import { tableOf } from "../table.ts";
import { FAULTS as OWN_FAULTS } from "./faults/faults.ts";
import { MACHINE_KILLS } from "./faults/machines.ts";
import { PROMISE_NUMBERS, PROMISES, type PromiseNumber } from "./findings.ts";
import type { RoundOutcome } from "./round.ts";

const FAULTS = [...OWN_FAULTS, ...MACHINE_KILLS];

/** The totals of all rounds. */
export type Tally = {
  rounds: number;
  killRounds: number;
  /** Rounds that ended early. */
  failures: number;
  faults: Record<string, number>;
  calls: number;
  events: { sent: number; acknowledged: number; unaudited: number; destroyed: number; lost: number; doubled: number };
  postbacksGivenUp: number;
  promises: Record<PromiseNumber, { rounds: number; checks: number; violated: number }>;
  /** What the system did not allow. */
  notes: string[];
  /** One line for each broken promise and each round that ended early. */
  broken: string[];
};

export function tallyOf(outcomes: readonly RoundOutcome[]): Tally {
  const sum = (of: (outcome: RoundOutcome) => number) => outcomes.reduce((total, outcome) => total + of(outcome), 0);
  const kills = new Set(FAULTS.filter(({ kind }) => kind === "kill").map(({ name }) => name));
  const promises = Object.fromEntries(
    PROMISE_NUMBERS.map((promise) => [
      promise,
      {
        rounds: outcomes.filter(({ checked }) => (checked[promise] ?? 0) > 0).length,
        checks: sum(({ checked }) => checked[promise] ?? 0),
        violated: sum(({ violations }) => violations.filter((one) => one.promise === promise).length),
      },
    ]),
  ) as Tally["promises"];
  return {
    rounds: outcomes.length,
    killRounds: outcomes.filter(({ fault }) => kills.has(fault)).length,
    failures: outcomes.filter(({ failure }) => failure !== undefined).length,
    faults: Object.fromEntries(FAULTS.map(({ name }) => [name, outcomes.filter(({ fault }) => fault === name).length])),
    calls: sum(({ calls }) => calls),
    events: {
      sent: sum(({ sent }) => sent),
      acknowledged: sum(({ acknowledged }) => acknowledged),
      destroyed: sum(({ destroyed }) => destroyed),
      lost: sum(({ lost }) => lost),
      doubled: sum(({ doubled }) => doubled),
      unaudited: sum(({ unaudited }) => unaudited),
    },
    postbacksGivenUp: sum(({ givenUp }) => givenUp),
    promises,
    notes: [...new Set(outcomes.flatMap(({ notes }) => notes))],
    broken: outcomes.flatMap(brokenIn),
  };
}

function brokenIn({ number, fault, violations, failure }: RoundOutcome): string[] {
  const told = violations.map(({ promise, text }) => `promise ${promise}: ${text}`);
  const end = failure === undefined ? [] : [`did not come to its end: ${failure}`];
  return [...told, ...end].map((text) => `Round ${number}, ${fault}, ${text.split("\n")[0]}`);
}

export function isFlawless({ failures, promises }: Tally): boolean {
  return failures === 0 && Object.values(promises).every(({ violated }) => violated === 0);
}

/** The figures, as the terminal and docs/RELIABILITY.md show them. */
export function tallyTables(tally: Tally): string {
  const { events } = tally;
  return [
    "## Rounds",
    tableOf(
      ["rounds", "of them kills", "calls", "events sent", "acknowledged", "destroyed on purpose", "lost", "doubled"],
      [
        [
          ...[tally.rounds, tally.killRounds, tally.calls, events.sent, events.acknowledged, events.destroyed],
          ...[events.lost, events.doubled],
        ],
      ],
    ),
    ...(tally.failures > 0
      ? [
          `${tally.failures} rounds did not come to their end; ${events.unaudited} events that were acknowledged in them were never looked for and are not counted as acknowledged.`,
        ]
      : []),
    ...(tally.broken.length > 0 ? ["## Broken", tally.broken.map((line) => `- ${line}`).join("\n")] : []),
    "## Faults",
    tableOf(
      ["fault", "rounds", "what is done"],
      FAULTS.filter(({ name }) => tally.faults[name]! > 0).map(({ name, what }) => [name, tally.faults[name]!, what]),
    ),
    ...tally.notes,
    "## Promises",
    tableOf(
      ["", "promise", "rounds", "checks", "violated"],
      PROMISE_NUMBERS.map((promise) => {
        const { rounds, checks, violated } = tally.promises[promise];
        return [promise, PROMISES[promise], rounds, checks, violated];
      }),
    ),
  ].join("\n\n");
}
