import { signedRequest } from "../../src/client/report-client.ts";
import { elapsedMs, systemClock } from "../../src/clock.ts";
import { Lines } from "../market/line.ts";
import { Random } from "../market/random.ts";
import { ORDINARY_CHANNEL, ORDINARY_CLIENT } from "./attacks/forgery/other-app.ts";
import { Book } from "./book.ts";
import type { Victim } from "./stage.ts";

export type CallKind = "collect" | "register" | "click" | "user_get" | "report";

/** The duration of a call, from the moment at which it was due. */
export type Sample = { kind: CallKind; atMs: number; tookMs: number };

/** Calls per second. */
const RATES: Readonly<Record<CallKind, number>> = { collect: 40, register: 3, click: 5, user_get: 2, report: 1 };
const CONNECTIONS = 64;
const BEAT_MS = 10;
const FIRST_USERS = 200;
const EVENTS = 3;
/** The address from which the reports are pulled. */
const ANALYST = "203.0.113.200";
/** The delay after which a call without an answer is sent again, with the same bytes, as SDKs do. */
const AGAIN_MS = 1_000;
const TRIES_MAX = 90;

type Step = { bytes: Buffer; sent: () => void; acknowledged: () => void };

/** Clients of one app that make ordinary calls at a steady rate, whatever happens to the server. */
export class OrdinaryClients {
  readonly book = new Book();
  readonly #samples: Sample[] = [];
  readonly #waiting = new Set<Omit<Sample, "tookMs">>();
  readonly #victim: Victim;
  readonly #lines: Lines;
  readonly #random: Random;
  readonly #users: string[] = [];
  readonly #clicks: string[] = [];
  readonly #underWay = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #serial = 0;
  #triesMax = TRIES_MAX;

  constructor(url: string, victim: Victim, seed: number) {
    this.#victim = victim;
    this.#lines = new Lines(url, CONNECTIONS);
    this.#random = new Random(seed, "ordinary");
  }

  /** Registers some users, so that events have senders. */
  async begin(): Promise<void> {
    for (let number = 0; number < FIRST_USERS; number += 20)
      await Promise.all(Array.from({ length: 20 }, () => this.#play("register", elapsedMs())));
    this.#samples.length = 0;
  }

  /** The calls that were due in a span of time. A call without an answer counts with the time it has waited so far. */
  samplesBetween(fromMs: number, untilMs: number): Sample[] {
    const nowMs = elapsedMs();
    const waiting = [...this.#waiting].map((call) => ({ ...call, tookMs: nowMs - call.atMs }));
    return [...this.#samples, ...waiting].filter(({ atMs }) => atMs >= fromMs && atMs < untilMs);
  }

  start(): void {
    const startedMs = elapsedMs();
    const due: Record<CallKind, number> = { collect: 0, register: 0, click: 0, user_get: 0, report: 0 };
    this.#timer = setInterval(() => {
      const nowMs = elapsedMs();
      for (const kind of Object.keys(RATES) as CallKind[]) {
        for (let dueMs = startedMs + (due[kind] * 1000) / RATES[kind]; dueMs <= nowMs; ) {
          this.#begin(kind, dueMs);
          due[kind] += 1;
          dueMs = startedMs + (due[kind] * 1000) / RATES[kind];
        }
      }
    }, BEAT_MS);
  }

  /** Stops new calls; resolves when every call has its answer or has run out of time. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#underWay);
    this.#lines.close();
  }

  /** Stops without waiting for a server that may never answer. */
  async abandon(): Promise<void> {
    this.#triesMax = 0;
    this.#lines.close();
    await this.stop();
  }

  #begin(kind: CallKind, dueMs: number): void {
    const playing: Promise<void> = this.#play(kind, dueMs).finally(() => this.#underWay.delete(playing));
    this.#underWay.add(playing);
  }

  async #play(kind: CallKind, dueMs: number): Promise<void> {
    const step = this.#stepOf(kind);
    step.sent();
    const call = { kind, atMs: dueMs };
    this.#waiting.add(call);
    for (let tries = 0; tries < this.#triesMax; tries += 1) {
      this.book.calls += 1;
      const reply = await this.#lines.send(step.bytes);
      if (this.#waiting.delete(call)) this.#samples.push({ ...call, tookMs: elapsedMs() - dueMs });
      const code = reply === undefined ? "none" : (/^\{[^{]*"code":(-?\d+)/.exec(reply.body)?.[1] ?? "no envelope");
      if (code === "0" && reply?.status === 200) {
        this.book.acknowledged += 1;
        return step.acknowledged();
      }
      this.book.refused(`${kind}: ${reply === undefined ? "no answer" : `${reply.status} ${code}`}`);
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }

  #stepOf(kind: CallKind): Step {
    switch (kind) {
      case "collect":
        return this.#collect();
      case "register":
        return this.#register();
      case "click":
        return this.#click();
      case "user_get":
        return this.#look(this.#post("user/get/", { user_list: [this.#random.pick(this.#users)] }));
      case "report":
        return this.#look(this.#report());
    }
  }

  #collect(): Step {
    const { book } = this;
    const clientId = this.#random.pick(this.#users);
    const serials = Array.from({ length: EVENTS }, () => this.#nextSerial());
    const order = this.#random.chance(0.1)
      ? { id: `order-${serials[0]}`, cents: this.#random.whole(1, 9_999) }
      : undefined;
    const events = serials.map((serial, index) => ({
      type: "track",
      event: order && index === 0 ? "$PayEvent" : "level_up",
      time: systemClock(),
      properties: {
        serial,
        level: index,
        ...(order && index === 0 && { $order_id: order.id, $pay_amount: order.cents }),
      },
    }));
    return {
      bytes: this.#post("event/collect/", { client_id: clientId, event_list: events }),
      sent() {
        for (const serial of serials) book.sentEvents.add(serial);
        if (order) book.sentOrders.add(order.id);
      },
      acknowledged() {
        for (const serial of serials) book.events.add(serial);
        if (order) book.orders.set(order.id, order.cents);
      },
    };
  }

  #register(): Step {
    const { book } = this;
    const clientId = `${ORDINARY_CLIENT}${book.sentUsers.size + 1}`;
    const ad_data =
      this.#clicks.length > 0 && this.#random.chance(0.5) ? { gdt_vid: this.#random.pick(this.#clicks) } : {};
    return {
      bytes: this.#post("user/register/", {
        client_id: clientId,
        name: "Ada",
        channel: ORDINARY_CHANNEL,
        version: 1,
        ad_data,
      }),
      sent: () => book.sentUsers.add(clientId),
      acknowledged: () => {
        book.users.add(clientId);
        this.#users.push(clientId);
      },
    };
  }

  #click(): Step {
    const { book } = this;
    const clickId = `click-${this.#nextSerial()}`;
    const query = `app_id=${this.#victim.appId}&company=tencent&click_id=${clickId}&aid=7${this.#random.whole(1, 9)}&ts=${systemClock()}`;
    const address = `203.0.113.${this.#random.whole(1, 4)}`;
    return {
      bytes: this.#bytes(`GET /event_center/api/v1/event/click/?${query}`, "", { "x-forwarded-for": address }),
      sent: () => book.sentClicks.add(clickId),
      acknowledged: () => {
        book.clicks.add(clickId);
        this.#clicks.push(clickId);
      },
    };
  }

  #look(bytes: Buffer): Step {
    return { bytes, sent() {}, acknowledged() {} };
  }

  #report(): Buffer {
    const { appId: app_id, developerKey } = this.#victim;
    const signed = signedRequest({ app_id, user_filtering: {}, event_filtering: {}, page_size: 20 }, developerKey);
    const path = `/openapi/api/v1/report/${this.#random.pick(["order", "user"])}/list/`;
    const headers = { authorization: signed.authorization, "x-forwarded-for": ANALYST };
    return this.#bytes(`POST ${path}`, signed.body, headers);
  }

  #post(path: string, body: object): Buffer {
    const address = `100.64.${this.#random.whole(0, 255)}.${this.#random.whole(1, 254)}`;
    const target = `POST /event_center/api/v1/${path}?access_token=${this.#victim.accessToken}`;
    return this.#bytes(target, JSON.stringify(body), { "x-forwarded-for": address });
  }

  #bytes(target: string, body: string, headers: Record<string, string>): Buffer {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const length =
      body === "" ? "" : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
    return Buffer.from(`${target} HTTP/1.1\r\nhost: ${this.#lines.host}\r\n${lines.join("")}${length}\r\n${body}`);
  }

  #nextSerial(): string {
    this.#serial += 1;
    return `s${this.#serial}`;
  }
}
