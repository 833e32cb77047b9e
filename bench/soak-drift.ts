import { median } from "./figures.ts";
import type { Sample } from "./soak-sample.ts";

/** The change of a figure from the quarter after the warm-up to the last quarter. */
export type Drift = { what: string; first: number; last: number; change: string; limit: string; isOver: boolean };

type Rule = {
  what: string;
  of: (sample: Sample) => number;
  /** A drift exceeds both this share and this absolute amount, so that a millisecond more than nothing is not one. */
  shareMax: number;
  slack: number;
};

const RULES: readonly Rule[] = [
  { what: "memory of the server, MB", of: (sample) => sample.serverMb, shareMax: 0.05, slack: 0 },
  // The slack allows for one maintenance process of PostgreSQL more or less.
  { what: "memory of the database, MB", of: (sample) => sample.databaseMb, shareMax: 0.05, slack: 8 },
  { what: "file handles", of: (sample) => sample.handles, shareMax: 0.05, slack: 4 },
  { what: "apply lag, ms", of: (sample) => sample.lagMs, shareMax: 0.5, slack: 500 },
  { what: "p50, ms", of: (sample) => sample.p50Ms, shareMax: 0.5, slack: 2 },
  { what: "p99, ms", of: (sample) => sample.p99Ms, shareMax: 0.5, slack: 10 },
];

/** Compares medians, so that one slow moment of the machine is no drift. */
export function driftOf(samples: readonly Sample[], warmUpShare: number): Drift[] {
  const warm = samples.slice(Math.floor(samples.length * warmUpShare));
  const part = Math.max(1, Math.floor(warm.length / 3));
  return RULES.map(({ what, of, shareMax, slack }) => {
    const first = median(warm.slice(0, part).map(of));
    const last = median(warm.slice(-part).map(of));
    const change = last - first;
    const isOver = change > slack && change > first * shareMax;
    const percent = first === 0 ? "" : ` (${((change / first) * 100).toFixed(1)} %)`;
    return {
      what,
      first: round(first),
      last: round(last),
      isOver,
      change: `${round(change)}${percent}`,
      limit: `${shareMax * 100} %${slack > 0 ? ` and ${slack}` : ""}`,
    };
  });
}

/** Below this share of the intended load, the soak did not test what it reports. */
const HELD_SHARE_MIN = 0.95;

/** All reasons for which a soak has failed; `wanted` is the intended number of requests per sample. */
export function failuresOf(
  samples: readonly Sample[],
  { drifts, wanted }: { drifts: readonly Drift[]; wanted: number },
): string[] {
  const sum = (of: (sample: Sample) => number) => samples.reduce((total, sample) => total + of(sample), 0);
  const refused = sum(({ failures }) => failures);
  const held = sum(({ requests }) => requests) / (wanted * samples.length);
  return [
    ...(refused > 0 ? [`${refused} requests were refused.`] : []),
    ...(held >= HELD_SHARE_MIN ? [] : [`Only ${(held * 100).toFixed(1)} % of the load were borne.`]),
    ...drifts
      .filter(({ isOver }) => isOver)
      .map(({ what, change, limit }) => `${what} drifts: ${change} (limit ${limit}).`),
  ];
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
