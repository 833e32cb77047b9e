import { COST_PLATFORMS, PLATFORM_NAMES, PLATFORMS_WITH_LINKS, POSTBACK_PLATFORMS, platformNamed } from "./registry.ts";

/** What can be done with an ad platform, by the names of the interface. */
export type ListedPlatform = {
  name: string;
  click_links: boolean;
  impression_links: boolean;
  /** Its macros are known; else they are those that are common. */
  has_own_macros: boolean;
  postbacks: boolean;
  costs: boolean;
};

/** Those that are known by name; a campaign may name others too. */
export function listPlatforms(): ListedPlatform[] {
  return PLATFORM_NAMES.map((name) => {
    const platform = platformNamed(name)!;
    return {
      name,
      click_links: platform.click !== undefined,
      impression_links: platform.click !== undefined && platform.impression !== undefined,
      has_own_macros: PLATFORMS_WITH_LINKS.includes(platform),
      postbacks: POSTBACK_PLATFORMS.includes(name),
      costs: COST_PLATFORMS.includes(name),
    };
  });
}
