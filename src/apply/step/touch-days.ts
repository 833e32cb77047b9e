import type { TouchDay } from "../../db/touch-day.ts";
import type { AppSettings } from "../facts/app-settings.ts";
import type { FreshTouches } from "../touch/fresh-touches.ts";
import { isAdKey } from "./ad-campaigns.ts";

/** The clicks and impressions that a batch's new touches add to their campaigns' days. */
export function touchDaysOf(fresh: FreshTouches, settings: AppSettings): TouchDay[] {
  const days = new Map<string, TouchDay>();
  for (const { appId, touch } of fresh.list) {
    const { campaignId, kind, touchedAtMs } = touch;
    if (!isAdKey(campaignId)) continue;
    const day = settings.of(appId).calendar.dayOf(touchedAtMs);
    const key = `${appId}\t${day}\t${campaignId}`;
    const known = days.get(key) ?? { appId, campaignId, day, clicks: 0, impressions: 0 };
    if (kind === "click") known.clicks += 1;
    else known.impressions += 1;
    days.set(key, known);
  }
  return [...days.values()];
}
