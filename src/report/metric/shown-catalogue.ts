import type { ShownCatalogue, ShownFormula } from "../../contract/admin/console-report.ts";
import { METRICS } from "./catalogue.ts";
import { ASSOCIATED, DIMENSIONS, incompatiblePair, incompatibleText, isFilterDimension } from "./dimension.ts";
import { labelOf, MEASURES } from "./measure-label.ts";
import { METRIC_GROUPS, type Metric, type Reading } from "./metric.ts";
import { unitOf } from "./metric-value.ts";

/** Everything that an ad report offers, for the console to pick from. Formulas depend on the reading. */
export function shownCatalogue(reading: Reading): ShownCatalogue {
  return {
    groups: METRIC_GROUPS.map((group) => ({ ...group })),
    metrics: METRICS.map((metric) => {
      const { name, group, unit, label, cname, tip, ctip } = metric;
      return { name, group, unit, label, cname, tip, ctip, formula: shownFormula(metric, reading) };
    }),
    measures: MEASURES.map((name) => ({ name, unit: unitOf(name), ...labelOf(name) })),
    dimensions: DIMENSIONS.map(({ name, label, cname }) => ({
      name,
      label,
      cname,
      has_filter: isFilterDimension(name),
      // Computed with the rule itself, pair by pair, so that the console and the refusals cannot differ.
      incompatible: DIMENSIONS.flatMap((other) => {
        const pair = incompatiblePair([name, other.name]);
        return pair ? [{ name: other.name, reason: incompatibleText(pair) }] : [];
      }),
    })),
    associated: Object.entries(ASSOCIATED).map(([name, { dimension, label, cname }]) => ({
      name,
      dimension,
      label,
      cname,
    })),
  };
}

export function shownFormula({ formula }: Metric, reading: Reading): ShownFormula {
  const { of, by, times = 1 } = formula(reading);
  return { of: [...of.measures], by: [...(by?.measures ?? [])], times, has_pay_share: of.isShared ?? false };
}
