import { systemClock } from "../src/clock.ts";
import { makeBodies } from "./bodies.ts";
import { type Child, type Setup, startBareServer, startServer } from "./children.ts";
import { type Cost, type Measured, median } from "./figures.ts";
import { CONNECTIONS, collectPath } from "./intake.ts";
import { acceptedLoad, type LoadResult, postRequests, type RequestMaker } from "./load.ts";
import { firstSequenceOf } from "./sequences.ts";

const ROUNDS = 7;
const BESIDE = "a server that parses, fsyncs and answers, as many a second";

/** The latency at half of the load that the server can handle with all its roles. */
export async function measureLatency(setup: Setup): Promise<Measured> {
  const { app, sizes, folder, env } = setup;
  const nowMs = systemClock();
  const firstSequence = firstSequenceOf("latency");
  const bodies = makeBodies({ eventsPerBody: 20, firstSequence, nowMs, clients: sizes.clients });
  const requests = postRequests(collectPath(app.accessToken), bodies);
  const sides = { bare: await startBareServer(folder), ours: await startServer(env) };
  const full = { bare: await fullLoad(setup, sides.bare, requests), ours: await fullLoad(setup, sides.ours, requests) };
  // The backlog of the full load is still there, so apply works at its limit throughout these rounds.
  const half = { connections: CONNECTIONS, requests, perSecond: full.ours.perSecond / 2 };
  const rounds: { bare: LoadResult; ours: LoadResult }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const load = { ...half, seconds: sizes.seconds / ROUNDS };
    rounds.push({
      bare: await acceptedLoad({ ...load, port: sides.bare.port }),
      ours: await acceptedLoad({ ...load, port: sides.ours.port }),
    });
  }
  const cost = await growth(setup, sides.ours, half);
  await sides.bare.stop();
  await sides.ours.stop();
  const of = (side: "bare" | "ours", figure: "p50Ms" | "p99Ms") => median(rounds.map((round) => round[side][figure]));
  return {
    figures: [
      {
        name: "all_roles",
        what: "requests of 20 events, all roles",
        unit: "requests/s",
        ours: full.ours.perSecond,
        bare: full.bare.perSecond,
        beside: "a server that parses, fsyncs and answers",
        target: "",
      },
      {
        name: "half_load_p50",
        what: "p50 at half of that",
        unit: "ms",
        target: "",
        ours: of("ours", "p50Ms"),
        bare: of("bare", "p50Ms"),
        beside: BESIDE,
      },
      {
        name: "half_load_p99",
        what: "p99 at half of that",
        unit: "ms",
        target: "< 25",
        ours: of("ours", "p99Ms"),
        bare: of("bare", "p99Ms"),
        beside: BESIDE,
      },
    ],
    costs: [cost],
  };
}

async function fullLoad({ sizes }: Setup, server: Child, requests: RequestMaker): Promise<LoadResult> {
  const load = { port: server.port, requests, connections: CONNECTIONS };
  await acceptedLoad({ ...load, seconds: sizes.warmUpSeconds });
  return acceptedLoad({ ...load, seconds: sizes.seconds / 2 });
}

/** Sends growing numbers of requests, each in one go while apply works on the earlier ones. */
async function growth(
  { sizes, scales }: Setup,
  server: Child,
  half: { connections: number; requests: RequestMaker; perSecond: number },
): Promise<Cost> {
  const points: Cost["points"][number][] = [];
  for (const scale of scales) {
    const seconds = (scale * sizes.seconds) / ROUNDS;
    points.push({ scale, perUnit: (await acceptedLoad({ ...half, port: server.port, seconds })).p50Ms });
  }
  return { name: "half_load_p50", what: "p50 at half load, by requests sent", unit: "ms", points };
}
