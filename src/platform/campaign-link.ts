import type { TouchKind } from "../domain/attribution/touch.ts";
import { TOUCH_KINDS } from "../domain/attribution/touch.ts";
import { type LinkMacro, linkMacros, linkOf } from "./link.ts";
import { PLATFORMS_WITH_LINKS, platformOfLink } from "./registry.ts";

/** The fields of a campaign that its links need. */
type LinkedCampaign = { appId: number; campaignId: string; adPlatform: string; channel: string };

export type CampaignLink = {
  ad_platform: string;
  kind: TouchKind;
  url: string;
  macros: ({ parameter: string } & LinkMacro)[];
};

/** Click and impression links for the campaign's platform, for another one, or (`all`) for each that calls links. */
export function campaignLinks(
  campaign: LinkedCampaign,
  options: { baseUrl: string; macros: Readonly<Record<string, string>>; platform?: string },
): CampaignLink[] {
  const wanted = options.platform ?? campaign.adPlatform;
  const named = wanted === "" ? undefined : platformOfLink(wanted);
  const platforms = wanted === "all" ? PLATFORMS_WITH_LINKS : named ? [named] : [];
  return platforms.flatMap((platform) =>
    TOUCH_KINDS.flatMap((kind) => {
      const url = linkOf(platform, kind, {
        baseUrl: options.baseUrl,
        appId: campaign.appId,
        campaignId: campaign.campaignId,
        channel: campaign.channel,
        macros: options.macros,
      });
      if (url === undefined) return [];
      const macros = [...(linkMacros(platform, kind, options.macros) ?? [])];
      const explained = macros.map(([parameter, macro]) => ({ parameter, ...macro }));
      return [{ ad_platform: platform.name, kind, url, macros: explained }];
    }),
  );
}

/** A campaign with the interface's field names. */
export function shownCampaign(
  campaign: LinkedCampaign & { name: string; osPlatform: string; operator: string; dept: string },
) {
  return {
    turbo_promoted_object_id: campaign.campaignId,
    name: campaign.name,
    ad_platform: campaign.adPlatform,
    channel: campaign.channel,
    os_platform: campaign.osPlatform,
    operator: campaign.operator,
    dept: campaign.dept,
  };
}
