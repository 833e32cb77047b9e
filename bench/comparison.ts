import { type Child, type Setup, startBareServer, startServer } from "./children.ts";
import { type Figure, median } from "./figures.ts";
import { acceptedLoad } from "./generator.ts";
import { processorSeconds } from "./processor-time.ts";
import type { Requests } from "./template.ts";

export const ROUNDS = 7;
export const CONNECTIONS = 64;
export const BESIDE = "a server that parses, fsyncs and answers";
const PER_REQUESTS = 100_000;

export type Sides = { bare: Child; ours: Child };

/** `ours`: the requests to our server, which continue over all comparisons, because a repeated event is not stored. */
export type Comparison = { name: string; what: string; unit: string; target: string; ours: Requests; bare: Requests };

/** `roles`: those of our server, all if not given. */
export async function startSides({ folder, env }: Setup, roles?: string): Promise<Sides> {
  return { bare: await startBareServer(folder), ours: await startServer(env, roles) };
}

export async function stopSides({ bare, ours }: Sides): Promise<void> {
  await bare.stop();
  await ours.stop();
}

type Side = { perSecond: number; requests: number; processorS: number };

/**
 * Requests per second of both sides, and the processor time of a request, which says more where the machine is shared.
 * The sides take turns, so that a slow moment hits both; the first turns only warm up.
 */
export async function compare(setup: Setup, sides: Sides, comparison: Comparison): Promise<Figure[]> {
  const { sizes, generator } = setup;
  const load = async (side: keyof Sides, seconds: number): Promise<Side> => {
    const server = sides[side];
    const before = processorSeconds(server.process.pid!);
    const requests = comparison[side];
    const done = await acceptedLoad({ generator, server, requests, connections: CONNECTIONS, seconds });
    return { ...done, processorS: processorSeconds(server.process.pid!) - before };
  };
  await load("bare", sizes.warmUpSeconds);
  await load("ours", sizes.warmUpSeconds);
  const rounds: Record<keyof Sides, Side>[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const seconds = sizes.seconds / ROUNDS;
    rounds.push({ bare: await load("bare", seconds), ours: await load("ours", seconds) });
  }
  const { name, what, unit, target } = comparison;
  // Both figures are from the round with the median ratio, so that they belong to the same moment.
  const ratios = rounds.map(({ ours, bare }) => ours.perSecond / bare.perSecond);
  const typical = rounds[ratios.indexOf(median(ratios))]!;
  const spread = { least: Math.min(...ratios), most: Math.max(...ratios) };
  return [
    {
      name,
      what,
      unit,
      target,
      spread,
      ours: typical.ours.perSecond,
      bare: typical.bare.perSecond,
      beside: BESIDE,
    },
    {
      name: `${name}_processor`,
      what: `processor time, ${what}`,
      unit: `s/${PER_REQUESTS}`,
      ours: processorTime(rounds.map(({ ours }) => ours)),
      bare: processorTime(rounds.map(({ bare }) => bare)),
      beside: BESIDE,
      target: "",
    },
  ];
}

function processorTime(rounds: readonly Side[]): number {
  const sum = (of: (round: Side) => number) => rounds.reduce((total, round) => total + of(round), 0);
  return (PER_REQUESTS * sum(({ processorS }) => processorS)) / sum(({ requests }) => requests);
}
