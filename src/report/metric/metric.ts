import type { Caliber, Measure } from "../../domain/cube.ts";

/** The parameters of a report that decide what its metrics mean. */
export type Reading = { caliber: Caliber; roiVersion: 1 | 2 };

/** Sums that are added. With `isShared`, payments count only by the app's own share of them. */
export type Quantity = { measures: readonly Measure[]; isShared?: boolean };

/** `of`, divided by `by` if present, times `times`. */
export type Formula = { of: Quantity; by?: Quantity; times?: number };

/** A count is whole, money is in major units, a rate is a fraction. */
export type MetricUnit = "count" | "money" | "rate";

/** The groups in which the console offers metrics. */
export const METRIC_GROUPS = [
  { name: "cost", label: "Ad cost", cname: "广告消耗" },
  { name: "users", label: "Users", cname: "用户" },
  { name: "payments", label: "Payments", cname: "付费" },
  { name: "ad_revenue", label: "Ad revenue", cname: "广告变现" },
  { name: "revenue", label: "Revenue and ROI", cname: "收入与ROI" },
  { name: "cohort", label: "Cohort payments, revenue, ROI and LTV", cname: "分期付费、收入、ROI与LTV" },
  { name: "retention", label: "Retention", cname: "留存" },
  { name: "postbacks", label: "Postbacks", cname: "回传" },
] as const;
export type MetricGroup = (typeof METRIC_GROUPS)[number]["name"];

export type Metric = {
  name: string;
  group: MetricGroup;
  unit: MetricUnit;
  label: string;
  /** The label in Chinese. */
  cname: string;
  /** The definition, as the report's tips show it. */
  tip: string;
  /** The definition in Chinese. */
  ctip: string;
  formula: (reading: Reading) => Formula;
};
