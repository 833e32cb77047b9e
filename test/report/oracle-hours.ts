import type { CostRow, HourRow, Market } from "./oracle-market.ts";

/** A cost with its hour; empty where only the day is known. */
type CostOfHour = CostRow & { hour: string };

export const withoutHour = (cost: CostRow): CostOfHour => ({ ...cost, hour: "" });

/** Costs of days have no hour; where hours of an ad are known, these take their parts out of its day. */
export function costsByHour({ costs, hours }: Market): CostOfHour[] {
  const keyOf = (row: HourRow | CostRow) =>
    [row.day, row.ad_platform, row.advertiser_id, row.gid, row.aid].join("\u0000");
  const isOfAdAlone = (cost: CostRow) =>
    [cost.csite, cost.channel, cost.os_platform, cost.turbo_promoted_object_id].every((text) => text === "");
  const fits = (hour: HourRow) =>
    (["impressions", "clicks", "costE4"] as const).every((figure) => {
      const sum = (rows: readonly (HourRow | CostRow)[]) => rows.reduce((total, row) => total + row[figure], 0);
      const own = costs.filter((cost) => isOfAdAlone(cost) && keyOf(cost) === keyOf(hour));
      return own.length > 0 && sum(hours.filter((one) => keyOf(one) === keyOf(hour))) <= sum(own);
    });
  const unknown = { creative: "", csite: "", channel: "", os_platform: "", turbo_promoted_object_id: "" };
  return [
    ...costs.map(withoutHour),
    ...hours.filter(fits).flatMap((hour): CostOfHour[] => {
      const { impressions, clicks, costE4 } = hour;
      const taken = { impressions: -impressions, clicks: -clicks, costE4: -costE4, hour: "" };
      return [
        { ...unknown, ...hour },
        { ...unknown, ...hour, ...taken },
      ];
    }),
  ];
}
