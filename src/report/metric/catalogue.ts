import { RETENTION_DAYS } from "../../domain/cube.ts";
import { retentionMetrics, WINDOWS, windowMetrics } from "./cohort-metrics.ts";
import type { Metric } from "./metric.ts";
import { PLAIN_METRICS, POSTBACK_METRICS } from "./plain-metrics.ts";

/** Every metric of the ad report, in the order in which they are listed. */
export const METRICS: readonly Metric[] = [
  ...PLAIN_METRICS,
  ...WINDOWS.flatMap(windowMetrics),
  ...RETENTION_DAYS.flatMap(retentionMetrics),
  ...POSTBACK_METRICS,
];

const byName = new Map(METRICS.map((one) => [one.name, one]));

export function metricNamed(name: string): Metric | undefined {
  return byName.get(name);
}
