import { spawnSync } from "node:child_process";
import { type LoadResult, runLoad } from "./load.ts";
import type { Requests } from "./template.ts";
import { runWrk } from "./wrk.ts";

/** The programs that can make the load. The one in Node takes more of the cores that the servers need. */
export const GENERATORS = ["wrk", "node"] as const;
export type Generator = (typeof GENERATORS)[number];

export type Load = {
  generator: Generator;
  /** `refused`: the number of requests that it has refused so far. */
  server: { port: number; refused(): Promise<number> };
  requests: Requests;
  connections: number;
  seconds: number;
  /** The rate at which requests start. By default each connection sends as soon as it is answered. */
  perSecond?: number;
};

export function installedGenerator(): Generator {
  return spawnSync("wrk", ["--version"]).error === undefined ? "wrk" : "node";
}

/** Runs a load and throws if any request is refused: the figure would mean something else. */
export async function acceptedLoad({ generator, server, requests, ...how }: Load): Promise<LoadResult> {
  const load = { ...how, port: server.port };
  const before = await server.refused();
  const result =
    generator === "wrk"
      ? await runWrk({ ...load, requests })
      : await runLoad({ ...load, requests: () => requests.next() });
  const refused = (await server.refused()) - before;
  const bad = Math.max(refused, result.failures);
  if (bad > 0) throw new Error(`${bad} of ${result.requests} requests were refused.`);
  return result;
}
