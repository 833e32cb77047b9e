import { systemClock } from "../src/clock.ts";
import { makeBodies } from "./bodies.ts";
import { type Child, type Setup, startBareServer, startServer, watchMemory } from "./children.ts";
import { type Cost, type Figure, type Measured, median } from "./figures.ts";
import { linkRequests } from "./links.ts";
import { acceptedLoad, postRequests, type RequestMaker } from "./load.ts";
import { firstSequenceOf } from "./sequences.ts";

const EVENTS_PER_BODY = [1, 20, 200];
/** The number of events per request whose growth is measured. */
const USUAL = 20;
const ROUNDS = 7;
const BESIDE = "a server that parses, fsyncs and answers";
export const CONNECTIONS = 64;

type Sides = { bare: Child; ours: Child };
type Comparison = { name: string; what: string; unit: string; target: string; requests: () => RequestMaker };

/** Requests per second with 1, 20 and 200 events each, and the memory that they take. */
export async function measureIntake(setup: Setup): Promise<Measured> {
  const sides = await startSides(setup);
  const memory = { bare: watchMemory(sides.bare.process), ours: watchMemory(sides.ours.process) };
  const figures: Figure[] = [];
  const costs: Cost[] = [];
  for (const eventsPerBody of EVENTS_PER_BODY) {
    const comparison = ofBodies(setup, eventsPerBody);
    const ourRequests = comparison.requests();
    figures.push(await compare(setup, sides, { ...comparison, ourRequests }));
    if (eventsPerBody === USUAL) costs.push(await growth(setup, sides.ours, { ...comparison, ourRequests }));
  }
  figures.push({
    name: "intake_memory",
    what: "resident memory under full load",
    unit: "MB",
    ours: memory.ours().maxMb,
    bare: memory.bare().maxMb,
    beside: BESIDE,
    target: "< 350",
  });
  await stopSides(sides);
  return { figures, costs };
}

/** Link calls per second. */
export async function measureLinks(setup: Setup): Promise<Measured> {
  const sides = await startSides(setup);
  const requests = () => linkRequests({ appId: setup.app.appId, nowMs: systemClock() });
  const comparison = { name: "links", what: "link calls", unit: "calls/s", target: "≥ 0.70", requests };
  const ourRequests = requests();
  const figure = await compare(setup, sides, { ...comparison, ourRequests });
  const cost = await growth(setup, sides.ours, { ...comparison, ourRequests });
  await stopSides(sides);
  return { figures: [figure], costs: [cost] };
}

function ofBodies({ app, sizes }: Setup, eventsPerBody: number): Comparison {
  const path = collectPath(app.accessToken);
  const firstSequence = firstSequenceOf(`intake ${eventsPerBody}`);
  return {
    name: `intake_${eventsPerBody}`,
    what: `requests of ${eventsPerBody} event${eventsPerBody > 1 ? "s" : ""}`,
    unit: "requests/s",
    target: eventsPerBody === 1 ? "≥ 0.70" : "≥ 0.60",
    requests: () =>
      postRequests(path, makeBodies({ eventsPerBody, firstSequence, nowMs: systemClock(), clients: sizes.clients })),
  };
}

export function collectPath(accessToken: string): string {
  return `/event_center/api/v1/event/collect/?access_token=${accessToken}`;
}

async function startSides({ folder, env }: Setup): Promise<Sides> {
  return { bare: await startBareServer(folder), ours: await startServer(env, "http") };
}

async function stopSides({ bare, ours }: Sides): Promise<void> {
  await bare.stop();
  await ours.stop();
}

/** Both sides take turns, so that a slow moment of the machine hits both; the first turns only warm up. */
async function compare(
  { sizes }: Setup,
  { bare, ours }: Sides,
  { requests, ourRequests, ...about }: Comparison & { ourRequests: RequestMaker },
): Promise<Figure> {
  const load = { connections: CONNECTIONS, seconds: sizes.seconds / ROUNDS };
  await acceptedLoad({ ...load, seconds: sizes.warmUpSeconds, port: bare.port, requests: requests() });
  await acceptedLoad({ ...load, seconds: sizes.warmUpSeconds, port: ours.port, requests: ourRequests });
  const rounds: { bare: number; ours: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const bareLoad = await acceptedLoad({ ...load, port: bare.port, requests: requests() });
    const ourLoad = await acceptedLoad({ ...load, port: ours.port, requests: ourRequests });
    rounds.push({ bare: bareLoad.perSecond, ours: ourLoad.perSecond });
  }
  // Both figures are from the round with the median ratio, so that they belong to the same moment.
  const ratio = median(rounds.map((round) => round.ours / round.bare));
  const typical = rounds.find((round) => round.ours / round.bare === ratio)!;
  return { ...about, ...typical, beside: BESIDE };
}

/** Sends growing numbers of requests, each in one go. */
async function growth(
  { sizes, scales }: Setup,
  { port }: Child,
  { name, what, ourRequests }: Comparison & { ourRequests: RequestMaker },
): Promise<Cost> {
  const points: Cost["points"][number][] = [];
  for (const scale of scales) {
    const seconds = (scale * sizes.seconds) / ROUNDS;
    const { perSecond } = await acceptedLoad({ port, connections: CONNECTIONS, seconds, requests: ourRequests });
    points.push({ scale, perUnit: 1_000_000 / perSecond });
  }
  return { name, what: `${what}, by requests sent`, unit: "µs/request", points };
}
