import { DAY_MS } from "../../src/domain/calendar.ts";
import { type Ad, type Catalogue, callsLinks, type Host, type Offer } from "./ads.ts";
import type { Mishap } from "./call.ts";
import { homeAddress, makePhone, type Phone, SHARED_ADDRESSES } from "./device.ts";
import type { Touch } from "./media.ts";
import { type MarketOptions, tickAfter } from "./options.ts";
import type { Random } from "./random.ts";

export const HOUR_MS = 3_600_000;
export const MINUTE_MS = 60_000;

/** The parts of the market that a person's life depends on. */
export type Scene = { options: MarketOptions; catalogue: Catalogue };

/** A person in the market, as known before any call is sent. */
export type Someone = {
  index: number;
  clientId: string;
  random: Random;
  offer: Offer;
  host: Host;
  phone: Phone;
  openId: string;
  channel: string;
  version: number;
  /** The error of the client's clock, added to the true time. */
  clockErrorMs: number;
  /** How often such a person comes back, and what that earns. */
  habits: Pick<Ad, "nextDayShare" | "decay" | "payShare" | "ecpmMicros">;
};

/** Hosts in which people find a mini-game by themselves. */
const HOSTS: readonly Host[] = ["wechat", "wechat", "douyin", "kuaishou"];
const HABITS: Someone["habits"] = { nextDayShare: 0.4, decay: 0.6, payShare: 0.06, ecpmMicros: 45_000 };
const CLOCK_ERRORS_MS = [-12 * DAY_MS, -3 * DAY_MS, -26 * HOUR_MS, -2 * HOUR_MS, 30 * MINUTE_MS, 5 * HOUR_MS];

export function makeSomeone(
  scene: Scene,
  { index, random, ad }: { index: number; random: Random; ad: Ad | undefined },
): Someone {
  const { rates } = scene.options;
  const offer: Offer = ad?.offer ?? (random.chance(0.6) ? "mini_game" : "app");
  const os = ad && ad.os !== "any" ? ad.os : random.chance(0.65) ? "android" : "ios";
  const ip = random.chance(rates.sharedAddress) ? random.pick(SHARED_ADDRESSES) : homeAddress(random);
  return {
    index,
    random,
    offer,
    host: ad?.host ?? (offer === "app" ? "phone" : random.pick(HOSTS)),
    clientId: `p${String(index).padStart(6, "0")}${random.hex(6)}`,
    phone: makePhone(random, os, ip),
    openId: offer === "mini_game" ? `o${random.hex(27)}` : "",
    channel: offer === "app" ? (ad?.channel ?? random.pick(["official", "huawei_store"])) : "base_channel",
    version: random.whole(101, 104),
    clockErrorMs: random.chance(rates.wrongClock) ? random.pick(CLOCK_ERRORS_MS) : 0,
    habits: ad ?? HABITS,
  };
}

export function touchAt(
  scene: Scene,
  person: Pick<Someone, "clientId" | "phone" | "openId">,
  { ad, atMs, name }: { ad: Ad; atMs: number; name: string },
): Touch {
  const { callbackUrl } = scene.options;
  return { ad, atMs, token: `${name}${person.clientId}`, phone: person.phone, openId: person.openId, callbackUrl };
}

/** Ads whose clicks are reported and that this person can see: app users never see the mini-game's ads. */
export function adsFor({ catalogue }: Scene, { host, phone }: Pick<Someone, "host" | "phone">): Ad[] {
  return catalogue.ads.filter((ad) => ad.host === host && callsLinks(ad) && (ad.os === "any" || ad.os === phone.os));
}

/** The time by the server's clock, which stands at the next tick. */
export function registeredAt({ options }: Scene, registersMs: number): number {
  return options.haste === 1 ? tickAfter(options, registersMs) : registersMs;
}

export function wholeSecond(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}

export function mishapOf({ random }: Pick<Someone, "random">, { rates }: MarketOptions): Mishap {
  if (random.chance(rates.connectionLost)) return "connection";
  return random.chance(rates.answerLost) ? "answer" : "none";
}
