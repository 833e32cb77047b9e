import { COST_MEASURES, type Measure } from "../../domain/cube.ts";
import type { Metric, Reading } from "./metric.ts";

type Rule = { measures: readonly Measure[]; reason: string };

/**
 * What the second caliber knows by the day only. In the first, everything counts at the hour of the touch. Reasons
 * complete the sentence "… cannot be queried with hour: …".
 */
const BY_DAY: readonly Rule[] = [
  {
    measures: ["postbacks", "postback_cents"],
    reason:
      "only the day is kept on which a platform accepted a postback. Ask for them by date, or with statistics_caliber user_activated_time",
  },
];

const COSTS: Rule = {
  measures: COST_MEASURES,
  reason: "costs are known by creative or by hour, not by both. Ask for them without creative or without hour",
};

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
