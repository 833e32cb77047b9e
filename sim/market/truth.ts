import type { Method } from "../../src/domain/attribution/method.ts";
import { calendarOf, DAY_MS } from "../../src/domain/calendar.ts";
import { NEWEST_MS, OLDEST_MS } from "../../src/domain/event/admission.ts";
import { callsLinks, type Offer } from "./ads.ts";
import type { LinkCall, SentEvent } from "./call.ts";
import { namedByLaunch } from "./launch.ts";
import type { Touch } from "./media.ts";
import type { Manner } from "./touch.ts";

/** What really brought somebody, in the words in which the server would name it. */
export type TrueSource = {
  platform: string;
  advertiserId: string;
  gid: string;
  aid: string;
  campaignId: string;
  csite: string;
  /** Null where no touch was ever told: then nobody can know when it was. */
  touchedAtMs: number | null;
};

export type FraudKind = "spam" | "quiet_spam" | "injection" | "farm" | "flood";
export type FraudTouch = { kind: FraudKind; platform: string; aid: string };

/** What is true of a person, whatever the server makes of it. */
export type PersonTruth = {
  clientId: string;
  offer: Offer;
  os: "android" | "ios";
  channel: string;
  version: number;
  kind: "paid" | "organic" | "migrated" | "farm";
  /** Null: organic. */
  source: TrueSource | null;
  /** The surest method by which the source can be known; none: it cannot. */
  method: Method | "none";
  /** By which the platform knows the click; the empty text where it has told nobody. */
  token: string;
  fraud: FraudTouch[];
  /** When another system registered the person; null: this one did. */
  createdAtMs: number | null;
};

const IP_UA_WINDOW_MS = DAY_MS;

type Known = {
  touch: Touch;
  manner: Manner;
  opens: "by_ad" | "later";
  /** From the touch to the registration, by the server's clock. */
  ageMs: number;
  hasMoved: boolean;
};

/** By which method, at best, anybody could find out. */
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

/** `isLaunchOnly`: known by the launch query alone, which names only a part, and no instant but Apple's. */
export function sourceOf({ ad, atMs }: Touch, isLaunchOnly: boolean): TrueSource {
  const { platform, advertiserId, gid, aid, campaignId, csite } = ad;
  if (!isLaunchOnly) return { platform, advertiserId, gid, aid, campaignId, csite, touchedAtMs: atMs };
  const nothing = { advertiserId: "", gid: "", aid: "", campaignId: "", csite: "" };
  const touchedAtMs = platform === "asa" ? Math.floor(atMs / MINUTE_MS) * MINUTE_MS : null;
  return { platform, ...nothing, ...namedByLaunch(ad), touchedAtMs };
}

/** An event that an answer with code 0 took in. */
export type Acknowledged = SentEvent & { receivedAtMs: number };

/** A touch of the person's own that the server has said yes to. */
export type OwnTouch = Pick<LinkCall, "touch" | "platform" | "token" | "touchedAtMs">;

/** A person, and what the server has said yes to. */
export type Person = PersonTruth & { registeredAtMs: number; events: Acknowledged[]; touches: OwnTouch[] };

export type Counts = {
  calls: number;
  touches: number;
  registrations: number;
  /** Events that were sent, and those of them that were acknowledged. */
  sent: number;
  events: number;
  refusedEvents: number;
  /** Asked for a registration first, as it should be. */
  tooEarly: number;
  lostAnswers: number;
  /** Sent again, because no answer came, or only one that says to try again. */
  unanswered: number;
  putOff: number;
};

/** Kept beside the server: who is there, and what was acknowledged. */
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
  /** By client: a platform may tell of a touch before the person is registered. */
  readonly #touches = new Map<string, OwnTouch[]>();

  get people(): Person[] {
    return [...this.#people.values()];
  }

  isRegistered(clientId: string): boolean {
    return this.#people.has(clientId);
  }

  /** The first registration counts; who was brought over was registered long ago. */
  registered(truth: PersonTruth, atMs: number): void {
    this.counts.registrations += 1;
    if (this.#people.has(truth.clientId)) return;
    const touches = this.#touchesOf(truth.clientId);
    this.#people.set(truth.clientId, { ...truth, registeredAtMs: truth.createdAtMs ?? atMs, events: [], touches });
  }

  /** Passers-by have tokens with another name in front of the person's. */
  touched(clientId: string, { touch, platform, token, touchedAtMs }: LinkCall): void {
    this.counts.touches += 1;
    const touches = this.#touchesOf(clientId);
    const isOwn = /^(?:i?[ce]|old)p/.test(token) && token.endsWith(clientId);
    const isKnown = touches.some((one) => one.token === token && one.platform === platform);
    if (isOwn && !isKnown) touches.push({ touch, platform, token, touchedAtMs });
  }

  /**
   * Of a client that is not registered, a server that cannot look it up says yes and refuses later, in the order in which
   * things arrived: nothing was promised.
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

  /** Right where the time lies outside of what is taken in; anything else is a loss. */
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
  const days = [registeredAtMs, ...track.map(({ atMs }) => atMs)].map((ms) => calendarOf(timeZone).dayOf(ms));
  const orders = new Map(track.flatMap((one) => (one.kind === "pay" ? [[one.orderId, one.cents] as const] : [])));
  return `${JSON.stringify({
    ...rest,
    registeredAtMs,
    activeDays: [...new Set(days)].sort(),
    orders: [...orders].map(([orderId, cents]) => ({ orderId, cents })),
    adRevenueMicros: track.reduce((sum, one) => sum + (one.kind === "ad" ? one.micros : 0), 0),
    events: events.map(({ serial, event, happening, receivedAtMs }) => ({
      serial,
      event,
      atMs: happening.atMs,
      receivedAtMs,
    })),
  })}\n`;
}
