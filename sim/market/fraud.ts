import { DAY_MS } from "../../src/domain/calendar.ts";
import type { Ad } from "./ads.ts";
import type { LinkCall } from "./call.ts";
import { browserAgent, makePhone, SHARED_ADDRESSES } from "./device.ts";
import { macrosOf } from "./media.ts";
import { Random } from "./random.ts";
import { adsFor, HOUR_MS, registeredAt, type Scene, type Someone, touchAt, wholeSecond } from "./someone.ts";
import type { FraudTouch } from "./truth.ts";

/** Above the number that a new app's rules flag. */
const SPAM_CLICKS = 40;
const FLOOD_CLICKS = 320;

/** Forged clicks in the name of one person's phone. Only for apps: a mini-game is opened with the click itself. */
export function fraudAgainst(
  scene: Scene,
  person: Someone,
  { registersMs }: { registersMs: number },
): { calls: LinkCall[]; touches: FraudTouch[] } {
  const { rates, haste } = scene.options;
  const { random, phone } = person;
  const fate = random.next();
  if (person.offer !== "app" || `${phone.oaid}${phone.imei}${phone.idfa}${phone.caid}` === "") return NO_FRAUD;
  const kinds = [
    { kind: "spam", until: rates.spam },
    { kind: "quiet_spam", until: rates.spam + rates.quietSpam },
    { kind: "injection", until: rates.spam + rates.quietSpam + rates.injection },
  ] as const;
  const chosen = kinds.find(({ until }) => fate < until);
  if (!chosen) return NO_FRAUD;
  const ad = random.pick(adsFor(scene, person).filter(({ platform }) => platform !== "vivo"));
  const registeredMs = registeredAt(scene, registersMs);
  const atMs = {
    spam: () => registersMs - (random.between(2, 20) * HOUR_MS) / haste,
    quiet_spam: () => registersMs - (random.between(0.2, 1) * HOUR_MS) / haste,
    injection: () => registeredMs - random.whole(2, 7) * 1000,
  }[chosen.kind]();
  const count = chosen.kind === "spam" ? SPAM_CLICKS : 1;
  const calls = Array.from({ length: count }, (_, index) =>
    forged(scene, {
      person,
      ad,
      atMs: wholeSecond(atMs) - index * 20_000,
      index,
      dueMs: Math.min(atMs, registersMs - 1),
    }),
  );
  return { calls, touches: [{ kind: chosen.kind, platform: ad.platform, aid: ad.aid }] };
}

const NO_FRAUD: { calls: LinkCall[]; touches: FraudTouch[] } = { calls: [], touches: [] };

type Forged = {
  person: Pick<Someone, "clientId" | "phone" | "openId">;
  ad: Ad;
  atMs: number;
  index: number;
  dueMs: number;
};

export function forged(scene: Scene, { person, ad, atMs, index, dueMs }: Forged): LinkCall {
  const touch = touchAt(scene, person, { ad, atMs, name: `f${index}` });
  const { phone } = person;
  return {
    kind: "link",
    touch: "click",
    platform: ad.platform,
    campaignId: ad.campaignId,
    channel: ad.channel,
    token: touch.token,
    touchedAtMs: touch.atMs,
    macros: macrosOf(touch),
    dueMs,
    ip: phone.ip,
    ua: browserAgent(phone),
    mishap: "none",
  };
}

/** A flood: one shared address clicks without end, in the hope that someone behind it installs. */
export type Flood = { ip: string; platform: string; aid: string; fromMs: number; untilMs: number; calls: LinkCall[] };

export function planFlood(scene: Scene, number: number, atMs: number): Flood {
  const random = new Random(scene.options.seed, "flood", number);
  const ip = random.pick(SHARED_ADDRESSES);
  const ads = scene.catalogue.ads.filter((ad) => ad.offer === "app" && ad.os === "any");
  const ad = random.pick(ads);
  const calls = Array.from({ length: FLOOD_CLICKS }, (_, index) => {
    const phone = makePhone(random, random.chance(0.5) ? "android" : "ios", ip);
    const clickedMs = wholeSecond(atMs + (index * 0.4 * HOUR_MS) / FLOOD_CLICKS);
    const person = { clientId: `flood${number}-${index}`, phone, openId: "" };
    return forged(scene, { person, ad, atMs: clickedMs, index: 0, dueMs: clickedMs + 500 });
  });
  return { ip, platform: ad.platform, aid: ad.aid, fromMs: atMs, untilMs: atMs + DAY_MS, calls };
}
