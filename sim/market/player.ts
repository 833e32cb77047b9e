import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { type Clock, elapsedMs } from "../../src/clock.ts";
import { campaignLinks } from "../../src/platform/campaign-link.ts";
import type { CollectCall, LinkCall, MarketCall, RegisterCall } from "./call.ts";
import { Lines, type Reply } from "./line.ts";
import type { Turn } from "./market.ts";
import type { PersonTruth, Truth } from "./truth.ts";

export type PlayerOptions = {
  url: string;
  app: { appId: number; accessToken: string };
  /** The server's clock, as far as it can be known. */
  clock: Clock;
  truth: Truth;
  connections: number;
  /** How long the same bytes are sent again without an answer, or after "try again"; otherwise a few times. */
  patienceMs?: number;
};

const BASE = "/event_center/api/v1/";
const TRIES = 4;
const PAUSE_MS_MAX = 400;
const NOT_REGISTERED = 2000;

/** Sends the market's calls as clients and ad platforms would, and records what was acknowledged. */
export class Player {
  readonly #options: PlayerOptions;
  readonly #lines: Lines;
  readonly #links = new Map<string, string>();
  #isClosed = false;

  constructor(options: PlayerOptions) {
    this.#options = options;
    this.#lines = new Lines(options.url, options.connections);
  }

  /** Plays all turns at once, but each person's calls in order. */
  async play(turns: readonly Turn[]): Promise<void> {
    await Promise.all(turns.map((turn) => this.#playTurn(turn)));
  }

  /** Stops repeating calls that have no answer yet. */
  close(): void {
    this.#isClosed = true;
    this.#lines.close();
  }

  async #playTurn({ plan, calls }: Turn): Promise<void> {
    // Link calls do not wait for one another; the person's own calls wait for all calls before them.
    let links: Promise<void>[] = [];
    for (const call of calls) {
      if (call.kind === "link") {
        links.push(this.#send(call, plan?.truth));
        continue;
      }
      await Promise.all(links);
      links = [];
      await this.#send(call, plan?.truth);
    }
    await Promise.all(links);
  }

  async #send(call: MarketCall, person: PersonTruth | undefined): Promise<void> {
    const { truth } = this.#options;
    const request = this.#requestOf(call);
    truth.counts.calls += 1;
    if (call.kind === "collect") truth.counts.sent += call.events.length;
    if (call.mishap !== "none") {
      truth.counts.lostAnswers += 1;
      if (call.mishap === "connection") await this.#lines.sendAndBreak(request);
      else await this.#lines.send(request);
    }
    const reply = await this.#sendUntilAnswered(request);
    if (reply?.status === 200) this.#note(call, person, JSON.parse(reply.body) as Answer);
    else truth.complain(`${call.kind} was answered ${reply?.status ?? "by nobody"}.`);
  }

  async #sendUntilAnswered(request: Buffer): Promise<Reply | undefined> {
    const { truth, patienceMs } = this.#options;
    const startedMs = elapsedMs();
    for (let tries = 1; ; tries += 1) {
      const reply = await this.#lines.send(request);
      if (reply?.status === 200) return reply;
      truth.counts[reply ? "putOff" : "unanswered"] += 1;
      const isOver = patienceMs === undefined ? tries >= TRIES : elapsedMs() - startedMs > patienceMs;
      if (isOver || this.#isClosed) return reply;
      await sleep(Math.min(25 * 2 ** tries, PAUSE_MS_MAX));
    }
  }

  #note(call: MarketCall, person: PersonTruth | undefined, answer: Answer): void {
    const { truth, clock } = this.#options;
    switch (call.kind) {
      case "link":
        if (answer.code === 0) truth.touched(person?.clientId ?? "", call);
        else truth.complain(`A link was answered ${answer.code}: ${answer.msg}`);
        return;
      case "register":
        if (answer.code === 0) truth.registered(person!, clock());
        else truth.complain(`A registration was answered ${answer.code}: ${answer.msg}`);
        return;
      case "collect":
        this.#noteEvents(call, person!, answer);
    }
  }

  #noteEvents(call: CollectCall, person: PersonTruth, answer: Answer): void {
    const { truth, clock } = this.#options;
    const isEarly = answer.code === NOT_REGISTERED && !truth.isRegistered(person.clientId);
    if (isEarly) truth.counts.tooEarly += 1;
    else if (answer.code !== 0) truth.complain(`Events were answered ${answer.code}: ${answer.msg}`);
    if (answer.code !== 0) return;
    const errors = (answer.extra.errors ?? []).filter(({ reason }) => reason !== "bad_property");
    const refused = new Map(errors.map(({ index, reason }) => [index, reason]));
    for (const [index, event] of call.events.entries()) {
      const reason = refused.get(index);
      if (reason === undefined) truth.acknowledged(person.clientId, event, clock());
      else truth.refused(event, { reason, nowMs: clock() });
    }
  }

  #requestOf(call: MarketCall): Buffer {
    const head = (method: string, path: string, rest: string) =>
      `${method} ${path} HTTP/1.1\r\nhost: ${this.#lines.host}\r\nx-forwarded-for: ${call.ip}\r\nuser-agent: ${call.ua}\r\n${rest}\r\n`;
    if (call.kind === "link") return Buffer.from(head("GET", this.#pathOf(call), ""));
    const body = bodyOf(call);
    const headers = call.kind === "collect" ? call.headers : { "content-type": "application/json" };
    const rest = Object.entries({ ...headers, "content-length": String(body.length) });
    const path = `${BASE}${call.path}?access_token=${this.#options.app.accessToken}`;
    return Buffer.concat([
      Buffer.from(head("POST", path, rest.map(([name, value]) => `${name}: ${value}\r\n`).join(""))),
      body,
    ]);
  }

  /** The campaign's own link, with the platform's macros replaced. */
  #pathOf(call: LinkCall): string {
    return this.#linkOf(call).replace(/=(__\w+__)(?=&|$)/g, (whole, macro: string) => {
      const value = call.macros[macro];
      return value === undefined ? whole : `=${encodeURIComponent(value)}`;
    });
  }

  #linkOf({ platform, touch, campaignId, channel }: LinkCall): string {
    const key = `${campaignId} ${touch}`;
    const known = this.#links.get(key);
    if (known !== undefined) return known;
    const campaign = {
      appId: this.#options.app.appId,
      campaignId,
      adPlatform: platform,
      channel,
    };
    const link = campaignLinks(campaign, { baseUrl: "", macros: {} }).find(({ kind }) => kind === touch);
    if (!link) throw new Error(`${platform} has no link for a ${touch}.`);
    this.#links.set(key, link.url);
    return link.url;
  }
}

type Answer = {
  code: number;
  msg: string;
  extra: { errors?: { index: number; reason: string }[] };
};

function bodyOf(call: CollectCall | RegisterCall): Buffer {
  const plain = Buffer.from(call.body);
  return call.kind === "collect" && call.isGzip ? gzipSync(plain) : plain;
}
