import { COST_PLATFORMS, PLATFORM_NAMES, PLATFORMS_WITH_LINKS, POSTBACK_PLATFORMS, platformNamed } from "./registry.ts";

/** What an ad platform supports, with the interface's field names. */
export type ListedPlatform = {
  name: string;
  click_links: boolean;
  impression_links: boolean;
  /** Whether the platform's macros are known; otherwise common ones are used. */
  has_own_macros: boolean;
  postbacks: boolean;
  costs: boolean;
};

/** The platforms known by name; campaigns may name others too. */
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
