import type { Child, Setup } from "./children.ts";
import { CONNECTIONS } from "./comparison.ts";
import { type Figure, median } from "./figures.ts";
import { acceptedLoad } from "./generator.ts";
import { collectRequests } from "./intake.ts";
import type { Sender } from "./sequences.ts";

const EVENTS_PER_BODY = 20;
const ROUNDS = 3;

export type Beside = { sender: Sender; work: () => Promise<unknown> };

/** Requests per second while some work is done over and over, and of the same server without it. */
export async function measureBeside(
  setup: Setup,
  server: Child,
  { sender, work }: Beside,
): Promise<Pick<Figure, "ours" | "bare" | "spread">> {
  const { sizes, generator } = setup;
  const requests = collectRequests(setup, sender, EVENTS_PER_BODY);
  const seconds = sizes.seconds / 2;
  const load = async () =>
    (await acceptedLoad({ generator, server, requests, connections: CONNECTIONS, seconds })).perSecond;
  await load();
  const rounds: { ours: number; bare: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const bare = await load();
    let isOver = false;
    const working = (async () => {
      while (!isOver) await work();
    })();
    // It is awaited below: a failure of the work is to fail the measurement.
    working.catch(() => {});
    const ours = await load();
    isOver = true;
    await working;
    rounds.push({ ours, bare });
  }
  const ratios = rounds.map(({ ours, bare }) => ours / bare);
  const typical = rounds[ratios.indexOf(median(ratios))]!;
  return { ...typical, spread: { least: Math.min(...ratios), most: Math.max(...ratios) } };
}
