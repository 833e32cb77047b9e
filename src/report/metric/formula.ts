import type { Measure } from "../../domain/cube.ts";
import type { Formula, Quantity, Reading } from "./metric.ts";

/** Pieces from which the formulas of the metrics are made. */
export const sum = (...measures: Measure[]): Quantity => ({ measures });
export const cost = sum("cost_e4");
export const realCost = sum("real_cost_e4");
export const users = sum("users");

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
