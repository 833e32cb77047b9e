import { DAY_MS } from "../../src/domain/calendar.ts";
import { type Ad, callsLinks, type Offer } from "./ads.ts";
import type { MarketCall } from "./call.ts";
import { datacentreAddress, homeAddress, makePhone, type Phone, SHARED_ADDRESSES, withoutIds } from "./device.ts";
import { forged, fraudAgainst } from "./fraud.ts";
import { isTellable } from "./launch.ts";
import type { Touch } from "./media.ts";
import { Random } from "./random.ts";
import { registrationCalls } from "./registration.ts";
import {
  adsFor,
  HOUR_MS,
  MINUTE_MS,
  makeSomeone,
  registeredAt,
  type Scene,
  type Someone,
  touchAt,
  wholeSecond,
} from "./someone.ts";
import { type Manner, mannerOf, touchCalls } from "./touch.ts";
import { type FraudTouch, knownBy, type PersonTruth, sourceOf } from "./truth.ts";
import { visitCalls } from "./visit.ts";

/** A person's calls in the order of time, and the truth about them. */
export type Plan = { truth: PersonTruth; calls: MarketCall[] };

/** The life of one person who arrives at this time. The same numbers give the same life. */
export function planPerson(scene: Scene, index: number, arrivesMs: number): Plan {
  const { rates } = scene.options;
  const random = new Random(scene.options.seed, "person", index);
  const fate = random.next();
  if (fate < rates.farm) return farmedPlan(scene, makeSomeone(scene, { index, random, ad: undefined }), arrivesMs);
  if (fate < rates.farm + rates.migrated) return migratedPlan(scene, { index, random }, arrivesMs);
  if (random.chance(rates.organic)) return organicPlan(scene, { index, random }, arrivesMs);
  return paidPlan(scene, { index, random }, arrivesMs);
}

type Draw = { index: number; random: Random };

const FARM_DEVICES = 2;

/** A person brought by an ad: sees it, clicks it, installs, registers, comes back, leaves. */
function paidPlan(scene: Scene, { index, random }: Draw, arrivesMs: number): Plan {
  const { rates, haste, endMs } = scene.options;
  const ad = random.weighted(scene.catalogue.ads, (one) => one.weight);
  let person = makeSomeone(scene, { index, random, ad });
  const isBare = person.offer === "app" && ad.platform !== "asa" && random.chance(rates.withoutIds);
  if (isBare) person = { ...person, phone: withoutIds(person.phone) };
  const touch = touchAt(scene, person, { ad, atMs: wholeSecond(arrivesMs), name: "c" });
  const delayMs = installDelayMs(random, person.offer) / haste;
  const registersMs = touch.atMs + delayMs;
  const manner = mannerOf(random, scene.options, { touch, endMs });
  const opens = openingOf(random, ad);
  const hasMoved = isBare && random.chance(rates.networkChanged);
  const there = hasMoved ? { ...person, phone: { ...person.phone, ip: homeAddress(random) } } : person;
  const ageMs = registeredAt(scene, registersMs) - touch.atMs;
  const method = knownBy({ touch, manner, opens, ageMs, hasMoved });
  const isTold = method === "launch_query" ? isTellable(ad) : manner.lacks !== "ids" || opens === "by_ad";
  const fraud = fraudAgainst(scene, there, { registersMs });
  return finished(scene, there, {
    kind: "paid",
    source: sourceOf(touch, method === "launch_query"),
    method,
    token: isTold ? touch.token : "",
    calls: [...earlierClicks(scene, person, touch), ...touchCalls(touch, manner, random), ...fraud.calls],
    fraud: fraud.touches,
    registersMs,
    launch: opens === "by_ad" ? touch : undefined,
  });
}

/** How a person opens a mini-game: through the ad, whose launch query shows it, or later from the desktop. */
function openingOf(random: Random, ad: Ad): "by_ad" | "later" {
  if (!callsLinks(ad)) return "by_ad";
  if (ad.offer === "app") return "later";
  return ad.platform === "tencent" && random.chance(0.1) ? "later" : "by_ad";
}

function organicPlan(scene: Scene, { index, random }: Draw, arrivesMs: number): Plan {
  const { rates, haste } = scene.options;
  const person = makeSomeone(scene, { index, random, ad: undefined });
  const nobody = { kind: "organic", source: null, method: "none", token: "", launch: undefined } as const;
  if (!random.chance(rates.clickedLongAgo)) {
    const fraud = fraudAgainst(scene, person, { registersMs: arrivesMs });
    const made = { ...nobody, calls: fraud.calls, fraud: fraud.touches, registersMs: arrivesMs };
    return finished(scene, person, made);
  }
  const ad = random.pick(adsFor(scene, person));
  const touch = touchAt(scene, person, { ad, atMs: wholeSecond(arrivesMs), name: "old" });
  const calls = touchCalls(touch, { arrival: "at_once", lateMs: 0, isTwice: false, lacks: "nothing" }, random);
  const registersMs = arrivesMs + (random.between(7.5, 20) * DAY_MS) / haste;
  return finished(scene, person, { ...nobody, calls, fraud: [], registersMs });
}

/** A person known to another system for long; the platform is reported, the ad is not. */
function migratedPlan(scene: Scene, { index, random }: Draw, arrivesMs: number): Plan {
  const person = makeSomeone(scene, { index, random, ad: undefined });
  const company = random.pick(["", "tencent", "kuaishou"]);
  const createdMs = wholeSecond(arrivesMs - random.between(30, 200) * DAY_MS);
  const past = { createdMs, company };
  const method = company === "" ? "none" : "reported";
  const source = company === "" ? null : { platform: company, ...NO_IDS, touchedAtMs: null };
  const made = { kind: "migrated", source, method, token: "", launch: undefined, fraud: [], calls: [] } as const;
  return finished(scene, person, { ...made, registersMs: arrivesMs, past });
}

const NO_IDS = { advertiserId: "", gid: "", aid: "", campaignId: "", csite: "" };

type Ending = Pick<PersonTruth, "kind" | "source" | "method" | "token"> & {
  fraud: readonly FraudTouch[];
  calls: readonly MarketCall[];
  registersMs: number;
  launch: Touch | undefined;
  past?: { createdMs: number; company: string };
};

/** Adds registration and visits to the earlier calls, and leaves out what lies beyond the market's end. */
function finished(scene: Scene, person: Someone, ending: Ending): Plan {
  const { endMs } = scene.options;
  const { registersMs, launch, past, kind, source, method, token, fraud } = ending;
  const calls = [
    ...ending.calls,
    ...registrationCalls(person, { atMs: registersMs, launch, past, endMs }),
    // The client opens once it has its answer.
    ...visitCalls(scene, person, { opensMs: registersMs, registersMs: registeredAt(scene, registersMs), past, kind }),
  ]
    .filter((call) => call.dueMs <= endMs)
    .sort((left, right) => left.dueMs - right.dueMs);
  const { clientId, offer, channel, version, phone } = person;
  const truth = { clientId, offer, channel, version, os: phone.os, kind, source, method, token };
  return { truth: { ...truth, fraud: [...fraud], createdAtMs: past?.createdMs ?? null }, calls };
}

/** A person who does not exist: one of a few phones in a data centre that register again and again. */
function farmedPlan(scene: Scene, person: Someone, arrivesMs: number): Plan {
  const { random } = person;
  const number = random.whole(1, FARM_DEVICES);
  const phone: Phone = {
    ...makePhone(new Random(scene.options.seed, "farm", number), "android", ""),
    ip: datacentreAddress(random),
  };
  const farmed: Someone = {
    ...person,
    offer: "app",
    host: "phone",
    openId: "",
    channel: "official",
    phone,
    clockErrorMs: 0,
  };
  const ad = random.pick(adsFor(scene, farmed).filter(({ platform }) => platform !== "vivo"));
  const touch = touchAt(scene, farmed, { ad, atMs: wholeSecond(arrivesMs), name: "b" });
  const click = forged(scene, { person: farmed, ad, atMs: touch.atMs, index: 0, dueMs: arrivesMs });
  return finished(scene, farmed, {
    // An ad cannot have brought a person who does not exist.
    kind: "farm",
    source: null,
    method: "none",
    token: touch.token,
    launch: undefined,
    calls: [click],
    fraud: [{ kind: "farm", platform: ad.platform, aid: ad.aid }],
    registersMs: arrivesMs + random.between(60_000, 600_000) / scene.options.haste,
  });
}

/** Clicks before the last one, which brought the person. Each ad also had clicks by other people. */
function earlierClicks(scene: Scene, person: Someone, last: Touch): MarketCall[] {
  const { random } = person;
  const plain: Manner = { arrival: "at_once", lateMs: 0, isTwice: false, lacks: "nothing" };
  const calls: MarketCall[] = [];
  if (callsLinks(last.ad) && random.chance(0.15)) {
    const ad = random.pick(adsFor(scene, person));
    const atMs = wholeSecond(last.atMs - (random.between(0.2, 40) * HOUR_MS) / scene.options.haste);
    calls.push(...touchCalls(touchAt(scene, person, { ad, atMs, name: "e" }), plain, random));
  }
  for (let passer = 1; passer < last.ad.clicksPerInstall && callsLinks(last.ad); passer += 1) {
    const ip = random.chance(scene.options.rates.sharedAddress) ? random.pick(SHARED_ADDRESSES) : homeAddress(random);
    const phone = makePhone(random, last.ad.os === "any" ? person.phone.os : last.ad.os, ip);
    const other = { clientId: `${passer}${person.clientId}`, phone, openId: `o${random.hex(27)}` };
    const atMs = wholeSecond(last.atMs + random.between(-1, 1) * (HOUR_MS / scene.options.haste));
    const touch = touchAt(scene, other, { ad: last.ad, atMs, name: "x" });
    calls.push(...touchCalls(touch, plain, random));
  }
  return calls;
}

function installDelayMs(random: Random, offer: Offer): number {
  if (offer === "mini_game") return random.between(3_000, 40_000);
  return Math.min(Math.max(random.skewed(40 * MINUTE_MS, 1.6), 2 * MINUTE_MS), 6.5 * DAY_MS);
}
