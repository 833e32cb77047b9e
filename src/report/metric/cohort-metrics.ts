import type { Measure, RetentionDays, WindowDays } from "../../domain/cube.ts";
import { afterShare, cost, isPrecise, plain, ratio, realCost, sum, users } from "./formula.ts";
import type { Metric, Quantity, Reading } from "./metric.ts";

/** A span of time that begins at the touch or the registration. */
type Window = {
  name: string;
  days: WindowDays;
  isSpan: boolean;
  label: string;
  cname: string;
  tip: string;
  ctip: string;
};

export const WINDOWS: readonly Window[] = [
  {
    name: "FirstDay",
    days: 1,
    isSpan: false,
    label: "First-day",
    cname: "首日",
    tip: "on the first day",
    ctip: "首日内",
  },
  {
    name: "24h",
    days: 1,
    isSpan: true,
    label: "24-hour",
    cname: "24小时",
    tip: "within 24 hours",
    ctip: "24小时内",
  },
  ...([3, 7, 14, 30] as const).map((days) => ({
    name: `${days}Day`,
    days,
    isSpan: false,
    label: `${days}-day`,
    cname: `${days}日`,
    tip: `within ${days} days`,
    ctip: `${days}日内`,
  })),
];

const FROM = "from the touch (first caliber) or the registration (second)";
const MODEL = "roi_version 1 counts calendar days, 2 spans of 24 hours and payments by the app's share.";
const FROM_ZH = "（第一口径自触点起，第二口径自注册起）";
const MODEL_ZH = "roi_version 1 按自然日计算，2 按24小时计算，且付费按应用分成比例计入。";

/** The measures within a window: in spans of 24 hours when the model or the metric asks for them, else in days. */
function within(window: Window, what: readonly ("pay" | "ad")[], reading: Reading): Quantity {
  const model = window.isSpan || isPrecise(reading) ? "s" : "d";
  const measures = what.map((one): Measure => `${one}_${model}${window.days}`);
  return isPrecise(reading) ? afterShare(...measures) : sum(...measures);
}

export function windowMetrics(window: Window): Metric[] {
  const { name, label, cname, tip, ctip } = window;
  const model = window.isSpan ? "roi_version 2 counts payments by the app's share." : MODEL;
  const cmodel = window.isSpan ? "roi_version 2 时付费按应用分成比例计入。" : MODEL_ZH;
  const days = window.isSpan ? "" : " roi_version 1 counts calendar days, 2 spans of 24 hours.";
  const cdays = window.isSpan ? "" : "roi_version 1 按自然日计算，2 按24小时计算。";
  const both = (reading: Reading) => within(window, ["pay", "ad"], reading);
  return [
    {
      name: `App${name}PayAmount`,
      group: "cohort",
      unit: "money",
      label: `${label} payments`,
      cname: `${cname}付费金额`,
      tip: `Payments ${tip}, ${FROM}. ${model}`,
      ctip: `${ctip}的付费金额${FROM_ZH}。${cmodel}`,
      formula: (reading) => ({ of: within(window, ["pay"], reading) }),
    },
    {
      name: `App${name}AdRevenue`,
      group: "cohort",
      unit: "money",
      label: `${label} ad revenue`,
      cname: `${cname}广告变现收入`,
      tip: `Ad revenue ${tip}, ${FROM}.${days}`,
      ctip: `${ctip}的广告变现收入${FROM_ZH}。${cdays}`,
      formula: (reading) => ({ of: within(window, ["ad"], reading) }),
    },
    {
      name: `App${name}ROI`,
      group: "cohort",
      unit: "rate",
      label: `${label} ROI`,
      cname: `${cname}ROI`,
      tip: `Payments and ad revenue ${tip}, divided by the ad cost. ${model}`,
      ctip: `${ctip}的付费金额与广告变现收入之和 ÷ 消耗。${cmodel}`,
      formula: (reading) => ({ of: both(reading), by: cost }),
    },
    {
      name: `AppReal${name}ROI`,
      group: "cohort",
      unit: "rate",
      label: `${label} real ROI`,
      cname: `${cname}实际ROI`,
      tip: `Payments and ad revenue ${tip}, divided by the real ad cost. ${model}`,
      ctip: `${ctip}的付费金额与广告变现收入之和 ÷ 实际消耗。${cmodel}`,
      formula: (reading) => ({ of: both(reading), by: realCost }),
    },
    {
      name: `App${name}LTV`,
      group: "cohort",
      unit: "money",
      label: `${label} LTV`,
      cname: `${cname}LTV`,
      tip: `Payments and ad revenue ${tip}, divided by the activations. ${model}`,
      ctip: `${ctip}的付费金额与广告变现收入之和 ÷ 激活数。${cmodel}`,
      formula: (reading) => ({ of: both(reading), by: users }),
    },
  ];
}

export function retentionMetrics(days: RetentionDays): Metric[] {
  const when = days === 1 ? "on the day after the registration" : `on day ${days} after the registration`;
  const cname = days === 1 ? "次日留存" : `${days}日留存`;
  const cwhen = days === 1 ? "注册次日" : `注册后第${days}日`;
  const kept = sum(`kept_${days}`);
  return [
    {
      name: `AppRetention${days}dCnt`,
      group: "retention",
      unit: "count",
      label: `Day-${days} retained users`,
      cname: `${cname}人数`,
      tip: `Users placed here who were active ${when}.`,
      ctip: `归于此处、${cwhen}仍活跃的用户数。`,
      formula: plain(kept),
    },
    {
      name: `AppRetention${days}d`,
      group: "retention",
      unit: "rate",
      label: `Day-${days} retention`,
      cname: `${cname}率`,
      tip: `Users placed here who were active ${when}, divided by the activations.`,
      ctip: `归于此处、${cwhen}仍活跃的用户数 ÷ 激活数。`,
      formula: ratio(kept, users),
    },
  ];
}
