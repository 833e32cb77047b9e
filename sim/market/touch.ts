import { callsLinks } from "./ads.ts";
import type { LinkCall } from "./call.ts";
import { browserAgent } from "./device.ts";
import { macrosOf, type Touch, unreplaced } from "./media.ts";
import type { MarketOptions } from "./options.ts";
import type { Random } from "./random.ts";

/** How the platform calls the link. */
export type Manner = {
  arrival: "at_once" | "late" | "never";
  lateMs: number;
  isTwice: boolean;
  lacks: "nothing" | "names" | "ids";
};

const HOUR_MS = 3_600_000;

export function mannerOf(
  random: Random,
  { rates, haste }: MarketOptions,
  { touch, endMs }: { touch: Touch; endMs: number },
): Manner {
  const isLost = random.chance(rates.touchLost);
  const lateMs = (random.between(0.2, 20) * HOUR_MS) / haste;
  // A call that would be late beyond the end of the market comes at once: the truth holds only what the server could know.
  const isLate = random.chance(rates.touchLate) && touch.atMs + lateMs <= endMs - HOUR_MS / haste;
  const isTwice = random.chance(rates.touchTwice);
  const lacks = random.chance(rates.macroIds) ? "ids" : random.chance(rates.macroNames) ? "names" : "nothing";
  if (!callsLinks(touch.ad) || isLost) return { arrival: "never", lateMs: 0, isTwice: false, lacks: "nothing" };
  return { arrival: isLate ? "late" : "at_once", lateMs: isLate ? lateMs : 0, isTwice, lacks };
}

/** Platforms that have a link for impressions and report them. */
const SHOWS_IMPRESSIONS: ReadonlySet<string> = new Set(["tencent", "kuaishou", "bytedance", "bilibili"]);
const SEEN_SHARE = 0.25;

export function touchCalls(touch: Touch, manner: Manner, random: Random): LinkCall[] {
  const isSeen = random.chance(SEEN_SHARE);
  const againMs = random.between(200, 90_000);
  if (manner.arrival === "never") return [];
  const { ad, phone } = touch;
  const whole = macrosOf(touch);
  const macros = manner.lacks === "nothing" ? whole : unreplaced(whole, manner.lacks);
  const arrivesMs = touch.atMs + 500 + manner.lateMs;
  const call = (kind: LinkCall["touch"], of: Touch, dueMs: number, values: LinkCall["macros"]): LinkCall => ({
    kind: "link",
    touch: kind,
    platform: ad.platform,
    campaignId: ad.campaignId,
    channel: ad.channel,
    token: of.token,
    touchedAtMs: of.atMs,
    macros: values,
    dueMs,
    ip: phone.ip,
    ua: browserAgent(phone),
    mishap: "none",
  });
  const glimpse = { ...touch, atMs: touch.atMs - 4_000, token: `i${touch.token}` };
  const seen = isSeen && SHOWS_IMPRESSIONS.has(ad.platform) && manner.lacks === "nothing";
  return [
    ...(seen ? [call("impression", glimpse, glimpse.atMs, macrosOf(glimpse))] : []),
    call("click", touch, arrivesMs, macros),
    ...(manner.isTwice ? [call("click", touch, arrivesMs + againMs, macros)] : []),
  ];
}
