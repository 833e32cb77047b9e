import { type Measure, WINDOW_DAYS } from "../../domain/cube.ts";
import type { Formula, Metric, MetricGroup, Quantity, Reading } from "./metric.ts";

/** Pieces from which the formulas of the metrics are made. */
export const sum = (...measures: Measure[]): Quantity => ({ measures });
export const cost = sum("cost_e4");
export const realCost = sum("real_cost_e4");
export const users = sum("users");

/** Payments by the share that is left of them. What a share rule says about some of them comes beside all payments. */
export function afterShare(...measures: Measure[]): Quantity {
  return { measures: measures.flatMap((one) => [one, ...ruledPartsOf(one)]), isShared: true };
}

function ruledPartsOf(measure: Measure): Measure[] {
  if (measure === "pay_cents") return ["ruled_cents", "share_micros"];
  const days = WINDOW_DAYS.find((one) => measure === `pay_s${one}`);
  return days === undefined ? [] : [`ruled_s${days}`, `share_s${days}`];
}

export const plain = (of: Quantity) => (): Formula => ({ of });
export const ratio = (of: Quantity, by: Quantity, times?: number) => (): Formula => ({
  of,
  by,
  ...(times && { times }),
});

/** Divides by the activations in the first caliber, and by the active users in the second. */
export const perUser =
  (of: Quantity) =>
  ({ caliber }: Reading): Formula => ({ of, by: caliber === "user_activated_time" ? users : sum("active_users") });

export const isPrecise = ({ roiVersion }: Reading) => roiVersion === 2;

export function inGroup(group: MetricGroup, metrics: readonly Omit<Metric, "group">[]): Metric[] {
  return metrics.map((one) => ({ ...one, group }));
}
