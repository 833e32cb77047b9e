import type { Connectors } from "./connectors.ts";
import { COST_PLATFORMS, PLATFORM_NAMES, PLATFORMS_WITH_LINKS, platformOfLink } from "./registry.ts";

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

/** The platforms known by name, and those with a connector of the app's own; campaigns may name others too. */
export function listPlatforms(connectors: Connectors): ListedPlatform[] {
  const names = new Set([...PLATFORM_NAMES, ...connectors.declaredPlatforms]);
  return [...names].map((name) => {
    const platform = platformOfLink(name)!;
    return {
      name,
      click_links: platform.click !== undefined,
      impression_links: platform.click !== undefined && platform.impression !== undefined,
      has_own_macros: PLATFORMS_WITH_LINKS.includes(platform),
      postbacks: connectors.postbackOf(name) !== undefined,
      costs: COST_PLATFORMS.includes(name),
    };
  });
}
