import { messageOf } from "../../src/errors.ts";
import type { Fault, Trouble } from "./fault.ts";
import { type RoundOutcome, runRound } from "./round.ts";
import { scheduleOf } from "./schedule.ts";
import { Site, type SiteKind } from "./site.ts";

export type ChaosOptions = {
  rounds: number;
  faults: readonly Fault[];
  seed: number;
  form: Trouble["form"];
  peoplePerS: number;
  /** A site's journal is replayed after this many rounds there, and after its last one. */
  replayEvery: number;
  /** An empty database for all rounds, instead of those that the faults name. */
  databaseUrl?: string | undefined;
  /** See SiteOptions. */
  crashCommand?: string | undefined;
  onStep?: (what: string) => void;
  onRound?: (outcome: RoundOutcome) => void;
  signal?: AbortSignal;
};

/** Runs round after round at the sites that the faults need; each site keeps its people and tables throughout. */
export async function runChaos(options: ChaosOptions): Promise<RoundOutcome[]> {
  const { faults, form, seed, replayEvery, onStep = () => {}, onRound = () => {}, signal } = options;
  const schedule = scheduleOf(
    faults.map((fault) => (options.databaseUrl === undefined ? fault : { ...fault, at: "given" as const })),
    options,
  );
  const sites = new Map<SiteKind, Site>();
  const roundsAt = new Map<SiteKind, number>();
  const outcomes: RoundOutcome[] = [];
  // A failed clean-up must not lose the findings.
  const leave = (site: Site) => site.remove().catch((error) => onStep(messageOf(error)));
  try {
    for (const [index, fault] of schedule.entries()) {
      if (signal?.aborted) break;
      const number = index + 1;
      onStep(`${number} ${fault.name}`);
      const site = sites.get(fault.at) ?? (await Site.open({ kind: fault.at, ...options, seed: seed + number }));
      sites.set(fault.at, site);
      const rounds = (roundsAt.get(fault.at) ?? 0) + 1;
      roundsAt.set(fault.at, rounds);
      const isLast = !schedule.slice(number).some(({ at }) => at === fault.at);
      const replays = isLast || rounds % replayEvery === 0 ? "yes" : "no";
      const outcome = await runRound(fault, site, { number, seed, form, replays });
      outcomes.push(outcome);
      onRound(outcome);
      if (isLast || outcome.failure !== undefined) {
        sites.delete(fault.at);
        await leave(site);
        // The database that was given is not empty any more.
        if (fault.at === "given") break;
      }
    }
  } finally {
    for (const site of sites.values()) await leave(site);
  }
  return outcomes;
}
