import type { Played } from "../market/simulation.ts";
import type { FraudKind } from "../market/truth.ts";
import { isRight } from "./attribution-score.ts";
import type { Pair } from "./findings.ts";

/** `met`: victims of the fraud. `caught`: those of them whom the forged touch did not win. */
export type Caught = { met: number; caught: number };

export type FraudScore = {
  byKind: Record<FraudKind, Caught>;
  /** Farm users whose device is flagged as shared by many, and other users wrongly flagged so. */
  sharedDevices: Caught;
  wronglyShared: number;
  /** People whose genuine touch was flagged and therefore did not win. */
  wronglyFlagged: number;
  genuine: number;
};

const KINDS: readonly FraudKind[] = ["spam", "quiet_spam", "injection", "farm", "flood"];

export function scoreFraud(played: Played, pairs: readonly Pair[]): FraudScore {
  const byKind = Object.fromEntries(KINDS.map((kind) => [kind, { met: 0, caught: 0 }])) as FraudScore["byKind"];
  for (const pair of pairs) {
    for (const { kind, platform, aid } of forgedFor(played, pair)) {
      byKind[kind].met += 1;
      const isGiven = pair.found.platform === platform && pair.found.aid === aid && (kind === "farm" || !isRight(pair));
      if (!isGiven) byKind[kind].caught += 1;
    }
  }
  const genuine = pairs.filter(({ person }) => person.kind === "paid" && person.method !== "none");
  const farmed = pairs.filter(({ person }) => person.kind === "farm");
  const isShared = ({ found }: Pair) => found.flags.includes("many_clients");
  return {
    byKind,
    sharedDevices: { met: farmed.length, caught: farmed.filter(isShared).length },
    wronglyShared: pairs.filter((pair) => pair.person.kind !== "farm" && isShared(pair)).length,
    wronglyFlagged: genuine.filter(isWronglyFlagged).length,
    genuine: genuine.length,
  };
}

/** A flood affects everyone for whom one of its clicks is a candidate, flagged or not. */
function forgedFor({ market }: Played, { person, found }: Pair) {
  const flooded = market.floods.filter(({ platform, aid, calls }) => {
    const instants = new Set(calls.map(({ touchedAtMs }) => touchedAtMs));
    return found.candidates.some(
      (one) => one.platform === platform && one.aid === aid && instants.has(one.touched_at_ms),
    );
  });
  return [...person.fraud, ...flooded.map(({ platform, aid }) => ({ kind: "flood" as const, platform, aid }))];
}

function isWronglyFlagged(pair: Pair): boolean {
  const { source } = pair.person;
  if (isRight(pair) || !source) return false;
  return pair.found.candidates.some(
    (one) => one.outcome === "flagged" && one.platform === source.platform && one.aid === source.aid,
  );
}
