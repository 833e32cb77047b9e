import { systemClock } from "../../src/clock.ts";
import { messageOf } from "../../src/errors.ts";
import { Market } from "./market.ts";
import { type MarketOptions, marketOptions } from "./options.ts";
import type { Plan } from "./person.ts";
import { Player } from "./player.ts";
import { Truth } from "./truth.ts";

export type LiveOptions = Partial<Pick<MarketOptions, "seed" | "rates" | "haste" | "callbackUrl" | "timeZone">> & {
  url: string;
  app: { appId: number; accessToken: string };
  /** How many people turn up in a second; each makes about nine calls. */
  peoplePerS: number;
  connections?: number;
};

/** A market that goes on until it is stopped. */
export type LiveMarket = {
  readonly truth: Truth;
  /** Nobody turns up any more; resolves when every call under way has its answer. */
  stop(): Promise<void>;
};

/** A month of a person's life passes in about two minutes. */
const HASTE = 20_000;
const BEAT_MS = 50;
const FAR_AWAY_MS = 4_000_000_000_000;

/**
 * People turn up at a steady rate on the real clock and live fast, as load for a server that others look after. What the
 * server acknowledges is written down as ever.
 */
export function startLiveMarket(given: LiveOptions): LiveMarket {
  const { url, app, peoplePerS, connections = 32, ...wanted } = given;
  const market = new Market({ ...marketOptions({ haste: HASTE, ...wanted, endMs: FAR_AWAY_MS }) });
  const truth = new Truth();
  const player = new Player({ url, app, clock: systemClock, truth, connections });
  const startedMs = systemClock();
  const lives: { plan: Plan; sent: number; isBusy: boolean }[] = [];
  const underWay = new Set<Promise<void>>();
  let arrived = 0;

  const send = (life: (typeof lives)[number], nowMs: number) => {
    const from = life.sent;
    while (life.sent < life.plan.calls.length && life.plan.calls[life.sent]!.dueMs <= nowMs) life.sent += 1;
    if (life.sent === from) return;
    life.isBusy = true;
    const turn = { plan: life.plan, calls: life.plan.calls.slice(from, life.sent) };
    const playing: Promise<void> = player
      .play([turn])
      .catch((error: unknown) => truth.complain(messageOf(error)))
      .finally(() => {
        life.isBusy = false;
        underWay.delete(playing);
      });
    underWay.add(playing);
  };
  const beat = () => {
    const nowMs = systemClock();
    for (; arrived < ((nowMs - startedMs) * peoplePerS) / 1000; arrived += 1) {
      lives.push({ plan: market.newcomer(arrived, nowMs), sent: 0, isBusy: false });
    }
    for (const life of lives) if (!life.isBusy) send(life, nowMs);
    for (let at = lives.length - 1; at >= 0; at -= 1) {
      const { plan, sent, isBusy } = lives[at]!;
      if (!isBusy && sent >= plan.calls.length) lives.splice(at, 1);
    }
  };
  const timer = setInterval(beat, BEAT_MS);
  return {
    truth,
    async stop() {
      clearInterval(timer);
      await Promise.all(underWay);
      player.close();
    },
  };
}
