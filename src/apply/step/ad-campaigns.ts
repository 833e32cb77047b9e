import type { AdCampaign } from "../../db/ad-campaign.ts";
import type { UserAccount } from "../../db/user-account.ts";
import { LIMITS } from "../../limits.ts";
import type { FreshTouch } from "../touch/fresh-touches.ts";

/** The campaign of each plan and ad that the touches and users of a batch name, each pair once. */
export function adCampaignsOf(touches: readonly FreshTouch[], users: readonly UserAccount[]): AdCampaign[] {
  const seen = new Map<string, AdCampaign>();
  const note = (source: Omit<AdCampaign, "level" | "objectId">, ids: { gid: string; aid: string }) => {
    if (source.adPlatform === "" || !isAdKey(source.campaignId)) return;
    noteObject(source, "plan", ids.gid);
    noteObject(source, "ad", ids.aid);
  };
  const noteObject = (source: Omit<AdCampaign, "level" | "objectId">, level: "plan" | "ad", objectId: string) => {
    if (!isAdKey(objectId)) return;
    const key = `${source.appId}\0${source.adPlatform}\0${source.campaignId}\0${level}\0${objectId}`;
    if (!seen.has(key)) seen.set(key, { ...source, level, objectId });
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
  // A UTF-16 unit has at most three bytes, so most texts need no counting.
  return text !== "" && (text.length * 3 <= LIMITS.dimensionBytes || Buffer.byteLength(text) <= LIMITS.dimensionBytes);
}
