import type { AdCampaign } from "../../db/ad-campaign.ts";
import type { UserAccount } from "../../db/user-account.ts";
import { LIMITS } from "../../limits.ts";
import type { FreshTouch } from "../touch/fresh-touches.ts";

/** The campaign of each plan and ad that the touches and users of a batch name, each pair once. */
export function adCampaignsOf(touches: readonly FreshTouch[], users: readonly UserAccount[]): AdCampaign[] {
  const seen = new Map<string, AdCampaign>();
  const note = (source: Omit<AdCampaign, "level" | "objectId">, ids: { gid: string; aid: string }) => {
    if (source.adPlatform === "" || !isAdKey(source.campaignId)) return;
    for (const [level, objectId] of [["plan", ids.gid] as const, ["ad", ids.aid] as const]) {
      if (!isAdKey(objectId)) continue;
      const one = { ...source, level, objectId };
      seen.set(Object.values(one).join("\u0000"), one);
    }
  };
  for (const { appId, touch } of touches) {
    note({ appId, adPlatform: touch.platform, campaignId: touch.campaignId }, touch);
  }
  for (const user of users) {
    const { appId, adPlatform, campaignId } = user;
    note({ appId, adPlatform, campaignId }, user);
  }
  return [...seen.values()];
}

/** Whether a text can be an ad id. Junk sent in its place can be longer than an index entry allows. */
export function isAdKey(text: string): boolean {
  return text !== "" && Buffer.byteLength(text) <= LIMITS.dimensionBytes;
}
