import { type Clock, systemClock } from "../../src/clock.ts";
import { messageOf } from "../../src/errors.ts";
import type { Catalogue } from "./ads.ts";
import { Market } from "./market.ts";
import { type MarketOptions, marketOptions } from "./options.ts";
import type { Plan } from "./person.ts";
import { Player } from "./player.ts";
import { Truth } from "./truth.ts";

export type LiveOptions = Partial<Pick<MarketOptions, "seed" | "rates" | "haste" | "callbackUrl" | "timeZone">> & {
  url: string;
  app: { appId: number; accessToken: string };
  /** The ads that people see; by default those of the seed, which have no campaigns. */
  catalogue?: Catalogue;
  /** New people per second; each makes about nine calls. */
  peoplePerS: number;
  connections?: number;
  /** How long a call without an answer is sent again; without it, a few times. */
  patienceMs?: number;
  /** The server's clock, if it differs from the real one. */
  serverClock?: Clock;
};

/** A month of a person's life passes in about two minutes. */
const HASTE = 20_000;
const BEAT_MS = 50;
const FAR_AWAY_MS = 4_000_000_000_000;

type Life = { plan: Plan; sent: number; isBusy: boolean };

/**
 * New people arrive at a steady rate on the real clock and live fast, as load for a server run by others. The truth records
 * what the server acknowledges, as usual.
 */
export function startLiveMarket(given: LiveOptions): LiveMarket {
  const live = new LiveMarket(given);
  live.resume();
  return live;
}

/** A market that goes on until it is stopped. */
export class LiveMarket {
  readonly truth = new Truth();
  readonly #market: Market;
  readonly #player: Player;
  readonly #peoplePerS: number;
  readonly #underWay = new Set<Promise<void>>();
  #lives: Life[] = [];
  #arrived = 0;
  /** People still to arrive; the fraction carries over. */
  #dueArrivals = 0;
  #lastBeatMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(given: LiveOptions) {
    const { url, app, catalogue, peoplePerS, connections = 32, patienceMs, ...rest } = given;
    const { serverClock = systemClock, ...wanted } = rest;
    this.#market = new Market(marketOptions({ haste: HASTE, ...wanted, endMs: FAR_AWAY_MS }), catalogue);
    this.#peoplePerS = peoplePerS;
    const patience = patienceMs === undefined ? {} : { patienceMs };
    this.#player = new Player({ url, app, clock: serverClock, truth: this.truth, connections, ...patience });
  }

  resume(): void {
    this.#lastBeatMs = systemClock();
    this.#timer ??= setInterval(() => this.#beat(), BEAT_MS);
  }

  /** Stops all sending until `resume`; resolves when every call under way has its answer. */
  async pause(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await Promise.all(this.#underWay);
  }

  /** Stops new arrivals; resolves when every call under way has its answer. */
  async stop(): Promise<void> {
    await this.pause();
    this.#player.close();
  }

  /** Stops without waiting for a server that may never answer. */
  async abandon(): Promise<void> {
    this.#player.close();
    await this.stop();
  }

  /** These people send nothing more, whatever they had planned. */
  retire(clientIds: ReadonlySet<string>): void {
    this.#lives = this.#lives.filter(({ plan }) => !clientIds.has(plan.truth.clientId));
  }

  #beat(): void {
    const nowMs = systemClock();
    this.#dueArrivals += ((nowMs - this.#lastBeatMs) * this.#peoplePerS) / 1000;
    this.#lastBeatMs = nowMs;
    for (; this.#dueArrivals >= 1; this.#dueArrivals -= 1) {
      this.#lives.push({ plan: this.#market.newcomer(this.#arrived, nowMs), sent: 0, isBusy: false });
      this.#arrived += 1;
    }
    for (const life of this.#lives) if (!life.isBusy) this.#send(life, nowMs);
    this.#lives = this.#lives.filter(({ plan, sent, isBusy }) => isBusy || sent < plan.calls.length);
  }

  #send(life: Life, nowMs: number): void {
    const { plan, sent: from } = life;
    while (life.sent < plan.calls.length && plan.calls[life.sent]!.dueMs <= nowMs) life.sent += 1;
    if (life.sent === from) return;
    life.isBusy = true;
    const playing: Promise<void> = this.#player
      .play([{ plan, calls: plan.calls.slice(from, life.sent) }])
      .catch((error: unknown) => this.truth.complain(messageOf(error)))
      .finally(() => {
        life.isBusy = false;
        this.#underWay.delete(playing);
      });
    this.#underWay.add(playing);
  }
}
