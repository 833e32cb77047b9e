import type { Setup } from "./children.ts";
import { CONNECTIONS, ROUNDS, type Sides, startSides, stopSides } from "./comparison.ts";
import { type Cost, type Figure, type Measured, median } from "./figures.ts";
import { acceptedLoad, type Load } from "./generator.ts";
import { collectRequests, countedEvents } from "./intake.ts";
import type { LoadResult } from "./load.ts";

const EVENTS_PER_BODY = [1, 20] as const;
const BESIDE = "a server that parses, fsyncs and answers, as many a second";

/** The latency at half of the load that the server can handle with all its roles. */
export async function measureLatency(setup: Setup): Promise<Measured> {
  const sides = await startSides(setup);
  const parts: Measured[] = [];
  for (const eventsPerBody of EVENTS_PER_BODY) parts.push(await latencyOf(setup, sides, eventsPerBody));
  await stopSides(sides);
  return { figures: parts.flatMap(({ figures }) => figures), costs: parts.flatMap(({ costs }) => costs) };
}

async function latencyOf(setup: Setup, { bare, ours }: Sides, eventsPerBody: 1 | 20): Promise<Measured> {
  const { sizes, generator } = setup;
  const requests = collectRequests(setup, `latency ${eventsPerBody}`, eventsPerBody);
  const full = { generator, requests, connections: CONNECTIONS };
  await acceptedLoad({ ...full, server: ours, seconds: sizes.warmUpSeconds });
  const { perSecond } = await acceptedLoad({ ...full, server: ours, seconds: sizes.seconds / 2 });
  // The backlog of the full load is still there, so apply works at its limit throughout these rounds.
  const half = { ...full, perSecond: perSecond / 2 };
  const rounds: { bare: LoadResult; ours: LoadResult }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const load = { ...half, seconds: sizes.seconds / ROUNDS };
    rounds.push({
      bare: await acceptedLoad({ ...load, server: bare }),
      ours: await acceptedLoad({ ...load, server: ours }),
    });
  }
  const figure = (percent: 50 | 99, target: string): Figure => {
    const of = (side: keyof Sides) => median(rounds.map((round) => round[side][`p${percent}Ms`]));
    const name = `half_load_p${percent}_${eventsPerBody}`;
    const what = `p${percent} at half load, requests of ${countedEvents(eventsPerBody)}`;
    return { name, what, unit: "ms", target, ours: of("ours"), bare: of("bare"), beside: BESIDE };
  };
  const cost = await growth(setup, { ...half, server: ours }, eventsPerBody);
  return { figures: [figure(50, ""), figure(99, "≤ 2")], costs: [cost] };
}

/** Sends growing numbers of requests, each in one go while apply works on the earlier ones. */
async function growth({ sizes, scales }: Setup, half: Omit<Load, "seconds">, eventsPerBody: number): Promise<Cost> {
  const points: Cost["points"][number][] = [];
  for (const scale of scales) {
    const seconds = (scale * sizes.seconds) / ROUNDS;
    points.push({ scale, perUnit: (await acceptedLoad({ ...half, seconds })).p50Ms });
  }
  const what = `p50 at half load, requests of ${countedEvents(eventsPerBody)}, by requests sent`;
  return { name: `half_load_p50_${eventsPerBody}`, what, unit: "ms", points };
}
