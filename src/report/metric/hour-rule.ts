import { COST_MEASURES, type Measure } from "../../domain/cube.ts";
import type { Metric, Reading } from "./metric.ts";

type Rule = { measures: readonly Measure[]; reason: string };

/**
 * What the second caliber knows by the day only. In the first, everything counts at the hour of the touch. Reasons
 * complete the sentence "… cannot be queried with hour: …".
 */
const BY_DAY: readonly Rule[] = [
  {
    measures: [
      ...(["active_users", "register_users", "ad_users", "ad_count", "ad_micros"] as const),
      ...(["ad_reported_micros", "ad_pulled_micros", "ad_estimated_micros"] as const),
    ],
    reason: "what users do besides paying is counted by the day",
  },
  { measures: ["postbacks", "postback_cents"], reason: "postbacks are counted by the day" },
];

const COSTS: Rule = { measures: COST_MEASURES, reason: "costs are known by creative or by hour, not by both" };

/** Why some of the metrics cannot be queried by the hour, or undefined. */
export function notByHour(
  metrics: readonly Metric[],
  { reading, isByCreative }: { reading: Reading; isByCreative: boolean },
): string | undefined {
  const byDay = reading.caliber === "behavior_occurred_time" ? BY_DAY : [];
  for (const { measures, reason } of [...byDay, ...(isByCreative ? [COSTS] : [])]) {
    const named = metrics.filter(({ formula }) => {
      const { of, by } = formula(reading);
      return [...of.measures, ...(by?.measures ?? [])].some((name) => measures.includes(name));
    });
    if (named.length > 0) return `${named.map(({ name }) => name).join(", ")} cannot be queried with hour: ${reason}.`;
  }
  return undefined;
}
