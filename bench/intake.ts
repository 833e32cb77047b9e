import { systemClock } from "../src/clock.ts";
import { collectBody, postRequest } from "./bodies.ts";
import { type Child, type Setup, watchMemory } from "./children.ts";
import { BESIDE, CONNECTIONS, type Comparison, compare, ROUNDS, startSides, stopSides } from "./comparison.ts";
import { syncFigure } from "./disk.ts";
import type { Cost, Figure, Measured } from "./figures.ts";
import { acceptedLoad } from "./generator.ts";
import { linkRequest } from "./links.ts";
import { firstSequenceOf, type Sender } from "./sequences.ts";
import { Requests } from "./template.ts";

const EVENTS_PER_BODY = [1, 20, 200] as const;
/** The number of events per request whose growth is measured. */
const USUAL = 20;

/**
 * How the server runs: with the role that takes requests only, or with all of them. The processor time of the first two tells
 * what a request costs more when other threads judge it.
 */
const MANNERS = [
  { name: "", manner: "", roles: "http", threads: undefined, target: "≥ 0.80", memoryTarget: "< 300" },
  {
    name: "_one_thread",
    manner: ", judged on the main thread",
    roles: "http",
    threads: 0,
    target: "",
    memoryTarget: "",
  },
  {
    name: "_all_roles",
    manner: ", all roles",
    roles: undefined,
    threads: undefined,
    target: "≥ 0.65",
    memoryTarget: "< 300",
  },
] as const;

/** Requests per second with 1, 20 and 200 events each, and the memory that they take. */
export async function measureIntake(setup: Setup): Promise<Measured> {
  const figures: Figure[] = [syncFigure(setup.folder)];
  const costs: Cost[] = [];
  for (const { name, manner, roles, threads, target, memoryTarget } of MANNERS) {
    const INTAKE_THREADS = String(threads ?? "");
    const sides = await startSides({ ...setup, env: { ...setup.env, INTAKE_THREADS } }, roles);
    const memory = { bare: watchMemory(sides.bare.process), ours: watchMemory(sides.ours.process) };
    for (const eventsPerBody of EVENTS_PER_BODY) {
      const comparison: Comparison = {
        name: `intake_${eventsPerBody}${name}`,
        what: `requests of ${countedEvents(eventsPerBody)}${manner}`,
        unit: "requests/s",
        target,
        ours: collectRequests(setup, `intake ${eventsPerBody}${manner}`, eventsPerBody),
        bare: collectRequests(setup, `intake ${eventsPerBody}${manner}`, eventsPerBody),
      };
      figures.push(...(await compare(setup, sides, comparison)));
      if (eventsPerBody === USUAL && name === "") costs.push(await growth(setup, sides.ours, comparison));
    }
    figures.push({
      name: `intake_memory${name}`,
      what: `resident memory under full load${manner}`,
      unit: "MB",
      ours: memory.ours().maxMb,
      bare: memory.bare().maxMb,
      beside: BESIDE,
      target: memoryTarget,
    });
    await stopSides(sides);
  }
  return { figures, costs };
}

/** Link calls per second. */
export async function measureLinks(setup: Setup): Promise<Measured> {
  const sides = await startSides(setup, "http");
  const requests = () => new Requests(linkRequest({ appId: setup.app.appId, nowMs: systemClock() }));
  const about = { name: "links", what: "link calls", unit: "calls/s", target: "≥ 0.70" };
  const comparison: Comparison = { ...about, ours: requests(), bare: requests() };
  const figures = await compare(setup, sides, comparison);
  const cost = await growth(setup, sides.ours, comparison);
  await stopSides(sides);
  return { figures, costs: [cost] };
}

/** Requests of events that no other sender sends. */
export function collectRequests({ app, sizes }: Setup, sender: Sender, eventsPerBody: number): Requests {
  const firstSequence = firstSequenceOf(sender);
  const body = collectBody({ eventsPerBody, firstSequence, nowMs: systemClock(), clients: sizes.clients });
  return new Requests(postRequest(`/event_center/api/v1/event/collect/?access_token=${app.accessToken}`, body));
}

export function countedEvents(count: number): string {
  return `${count} event${count > 1 ? "s" : ""}`;
}

/** Sends growing numbers of requests, each in one go. */
async function growth({ sizes, scales, generator }: Setup, server: Child, comparison: Comparison): Promise<Cost> {
  const { name, what, ours: requests } = comparison;
  const points: Cost["points"][number][] = [];
  for (const scale of scales) {
    const seconds = (scale * sizes.seconds) / ROUNDS;
    const load = { generator, server, connections: CONNECTIONS, seconds, requests };
    points.push({ scale, perUnit: 1_000_000 / (await acceptedLoad(load)).perSecond });
  }
  return { name, what: `${what}, by requests sent`, unit: "µs/request", points };
}
