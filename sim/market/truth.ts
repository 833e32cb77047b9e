import type { Method } from "../../src/domain/attribution/method.ts";
import { calendarOf, DAY_MS } from "../../src/domain/calendar.ts";
import { NEWEST_MS, OLDEST_MS } from "../../src/domain/event/admission.ts";
import { callsLinks, type Offer } from "./ads.ts";
import type { LinkCall, SentEvent } from "./call.ts";
import { namedByLaunch } from "./launch.ts";
import type { Touch } from "./media.ts";
import type { Manner } from "./touch.ts";

/** What really brought a person, in the server's terms. */
export type TrueSource = {
  platform: string;
  advertiserId: string;
  gid: string;
  aid: string;
  campaignId: string;
  csite: string;
  /** Null if no touch was reported: then the time cannot be known. */
  touchedAtMs: number | null;
};

export type FraudKind = "spam" | "quiet_spam" | "injection" | "farm" | "flood";
export type FraudTouch = { kind: FraudKind; platform: string; aid: string };

/** The truth about a person, whatever the server makes of it. */
export type PersonTruth = {
  clientId: string;
  offer: Offer;
  os: "android" | "ios";
  channel: string;
  version: number;
  kind: "paid" | "organic" | "migrated" | "farm";
  /** Null for organic people. */
  source: TrueSource | null;
  /** The surest method by which the source can be known, or none. */
  method: Method | "none";
  /** The platform's id of the click; empty if it was never reported. */
  token: string;
  fraud: FraudTouch[];
  /** When another system registered the person; null if this one did. */
  createdAtMs: number | null;
};

const IP_UA_WINDOW_MS = DAY_MS;

type Known = {
  touch: Touch;
  manner: Manner;
  opens: "by_ad" | "later";
  /** The time from the touch to the registration, by the server's clock. */
  ageMs: number;
  hasMoved: boolean;
};

/** The best method by which the source could be found. */
export function knownBy({ touch, manner, opens, ageMs, hasMoved }: Known): PersonTruth["method"] {
  const { ad, phone } = touch;
  if (!callsLinks(ad)) return "launch_query";
  const isTold = manner.arrival !== "never";
  const isNamed = isTold && manner.lacks !== "ids";
  if (ad.offer === "mini_game" && opens === "by_ad") return isNamed ? "click_key" : "launch_query";
  if (ad.offer === "mini_game" && isNamed) return "open_id";
  const ids =
    ad.platform === "vivo"
      ? [phone.oaid, phone.imei]
      : [phone.oaid, phone.imei, phone.androidId, phone.idfa, phone.caid];
  if (ad.offer === "app" && isNamed && ids.some((id) => id !== "")) return "device_id";
  const isSeen = isTold && !hasMoved && ad.platform !== "vivo";
  return isSeen && ageMs < IP_UA_WINDOW_MS ? "ip_ua" : "none";
}

const MINUTE_MS = 60_000;

/** `isLaunchOnly`: known only from the launch query, which names a part of the ad and no time, except for Apple. */
export function sourceOf({ ad, atMs }: Touch, isLaunchOnly: boolean): TrueSource {
  const { platform, advertiserId, gid, aid, campaignId, csite } = ad;
  if (!isLaunchOnly) return { platform, advertiserId, gid, aid, campaignId, csite, touchedAtMs: atMs };
  const nothing = { advertiserId: "", gid: "", aid: "", campaignId: "", csite: "" };
  const touchedAtMs = platform === "asa" ? Math.floor(atMs / MINUTE_MS) * MINUTE_MS : null;
  return { platform, ...nothing, ...namedByLaunch(ad), touchedAtMs };
}

/** An event that was acknowledged with code 0. */
export type Acknowledged = SentEvent & { receivedAtMs: number };

/** A touch of the person's own that the server acknowledged. */
export type OwnTouch = Pick<LinkCall, "touch" | "platform" | "token" | "touchedAtMs">;

/** A person, and what the server acknowledged. */
export type Person = PersonTruth & { registeredAtMs: number; events: Acknowledged[]; touches: OwnTouch[] };

export type Counts = {
  calls: number;
  touches: number;
  registrations: number;
  /** Events sent, and those of them acknowledged. */
  sent: number;
  events: number;
  refusedEvents: number;
  /** Events refused because the client was not yet registered, as they should be. */
  tooEarly: number;
  lostAnswers: number;
  /** Calls sent again because no answer came, or one that says to try again. */
  unanswered: number;
  putOff: number;
};

/** The record beside the server of who exists and what was acknowledged. */
export class Truth {
  readonly counts: Counts = {
    calls: 0,
    touches: 0,
    registrations: 0,
    sent: 0,
    events: 0,
    refusedEvents: 0,
    tooEarly: 0,
    lostAnswers: 0,
    unanswered: 0,
    putOff: 0,
  };
  /** Answers that must never come. */
  readonly complaints: string[] = [];
  readonly #people = new Map<string, Person>();
  readonly #serials = new Set<string>();
  /** Touches by client: a platform may report one before the person is registered. */
  readonly #touches = new Map<string, OwnTouch[]>();

  get people(): Person[] {
    return [...this.#people.values()];
  }

  isRegistered(clientId: string): boolean {
    return this.#people.has(clientId);
  }

  /** The first registration counts; migrated people were registered long ago. */
  registered(truth: PersonTruth, atMs: number): void {
    this.counts.registrations += 1;
    if (this.#people.has(truth.clientId)) return;
    const touches = this.#touchesOf(truth.clientId);
    this.#people.set(truth.clientId, { ...truth, registeredAtMs: truth.createdAtMs ?? atMs, events: [], touches });
  }

  /** Other people's touches have tokens with a prefix before the person's. */
  touched(clientId: string, { touch, platform, token, touchedAtMs }: LinkCall): void {
    this.counts.touches += 1;
    const touches = this.#touchesOf(clientId);
    const isOwn = /^(?:i?[ce]|old)p/.test(token) && token.endsWith(clientId);
    const isKnown = touches.some((one) => one.token === token && one.platform === platform);
    if (isOwn && !isKnown) touches.push({ touch, platform, token, touchedAtMs });
  }

  /**
   * A server that cannot look up an unregistered client accepts its events and may refuse them later, in the order of
   * arrival: nothing was promised.
   */
  acknowledged(clientId: string, event: SentEvent, receivedAtMs: number): void {
    if (this.#serials.has(event.serial)) return;
    const person = this.#people.get(clientId);
    if (!person) {
      this.counts.tooEarly += 1;
      return;
    }
    this.#serials.add(event.serial);
    this.counts.events += 1;
    person.events.push({ ...event, receivedAtMs });
  }

  /** A refusal is right if the time lies outside the accepted range; any other is a loss. */
  refused(event: SentEvent, { reason, nowMs }: { reason: string; nowMs: number }): void {
    const aheadMs = event.happening.atMs - nowMs;
    const expected = aheadMs > NEWEST_MS ? "too_new" : aheadMs < -OLDEST_MS ? "too_old" : "";
    this.counts.refusedEvents += 1;
    if (reason !== expected) this.complain(`An event was refused as ${reason}.`);
  }

  complain(text: string): void {
    if (this.complaints.length < 100) this.complaints.push(text);
  }

  #touchesOf(clientId: string): OwnTouch[] {
    const touches = this.#touches.get(clientId) ?? [];
    this.#touches.set(clientId, touches);
    return touches;
  }
}

/** One line of the file that `--truth` writes. */
export function truthLine(person: Person, timeZone: string): string {
  const { events, registeredAtMs, touches: _, ...rest } = person;
  const track = events.filter(({ type }) => type === "track").map(({ happening }) => happening);
  // A refund is not an activity.
  const doings = track.filter(({ kind }) => kind !== "refund");
  const days = [registeredAtMs, ...doings.map(({ atMs }) => atMs)].map((ms) => calendarOf(timeZone).dayOf(ms));
  const orders = new Map(track.flatMap((one) => (one.kind === "pay" ? [[one.orderId, one.cents] as const] : [])));
  return `${JSON.stringify({
    ...rest,
    registeredAtMs,
    activeDays: [...new Set(days)].sort(),
    orders: [...orders].map(([orderId, cents]) => ({ orderId, cents })),
    refunds: track.flatMap((one) => (one.kind === "refund" ? [{ orderId: one.orderId, cents: one.cents }] : [])),
    adRevenueMicros: track.reduce((sum, one) => sum + (one.kind === "ad" ? one.micros : 0), 0),
    events: events.map(({ serial, event, happening, receivedAtMs }) => ({
      serial,
      event,
      atMs: happening.atMs,
      receivedAtMs,
    })),
  })}\n`;
}
