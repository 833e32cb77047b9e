import type { CreativeCost, PulledCost } from "../platform/connector/cost-connector.ts";

/**
 * A day's costs by creative. What an ad cost beyond its creatives is a row without one, so that the rows of an ad still
 * add up to its own figures. An ad whose creatives add up to more stays whole: its own figures are what the account's
 * total was compared with.
 */
export function splitByCreative(costs: readonly PulledCost[], creatives: readonly CreativeCost[]): CreativeCost[] {
  const ofAds = new Map<string, CreativeCost[]>();
  for (const creative of creatives) {
    if (creative.cid === "" || creative.aid === "") continue;
    const own = ofAds.get(keyOf(creative));
    if (own) own.push(creative);
    else ofAds.set(keyOf(creative), [creative]);
  }
  return costs.flatMap((cost) => split(cost, ofAds.get(keyOf(cost)) ?? []));
}

function split(cost: PulledCost, creatives: readonly CreativeCost[]): CreativeCost[] {
  const rest: CreativeCost = { ...cost, cid: "" };
  for (const { impressions, clicks, costE4 } of creatives) {
    rest.impressions -= impressions;
    rest.clicks -= clicks;
    rest.costE4 -= costE4;
  }
  const { impressions, clicks, costE4 } = rest;
  if (Math.min(impressions, clicks, costE4) < 0) return [{ ...cost, cid: "" }];
  const isWhole = creatives.length > 0 && impressions === 0 && clicks === 0 && costE4 === 0;
  return isWhole ? [...creatives] : [...creatives, rest];
}

function keyOf({ gid, aid, currency }: PulledCost): string {
  return JSON.stringify([gid, aid, currency]);
}
