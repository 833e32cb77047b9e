import type { Caliber, Measure, RetentionDays, WindowDays } from "../domain/cube.ts";
import { RETENTION_DAYS } from "../domain/cube.ts";

/** How a report was asked for, as far as the meaning of its metrics depends on it. */
export type Reading = { caliber: Caliber; roiVersion: 1 | 2 };

/** Sums that are added; `isShared`: payments count only by the app's own share of them. */
export type Quantity = { measures: readonly Measure[]; isShared?: boolean };

/** `of`, divided by `by` where there is one, times `times`. */
export type Formula = { of: Quantity; by?: Quantity; times?: number };

/** A count is whole, money is in major units, a rate is a fraction. */
export type MetricUnit = "count" | "money" | "rate";

export type Metric = {
  name: string;
  label: string;
  /** The label in Chinese. */
  cname: string;
  unit: MetricUnit;
  /** The definition, as the report's tips show it. */
  tip: string;
  formula: (reading: Reading) => Formula;
};

const sum = (...measures: Measure[]): Quantity => ({ measures });
const cost = sum("cost_e4");
const users = sum("users");
const payments = sum("pay_cents");
const adRevenue = sum("ad_micros");
const revenue = sum("pay_cents", "ad_micros");

const plain = (of: Quantity) => (): Formula => ({ of });
const ratio = (of: Quantity, by: Quantity, times?: number) => (): Formula => ({ of, by, ...(times && { times }) });

/** In the first caliber by the users who came, in the second by those who were there. */
const perUser =
  (of: Quantity) =>
  ({ caliber }: Reading): Formula => ({ of, by: caliber === "user_activated_time" ? users : sum("active_users") });

const isPrecise = ({ roiVersion }: Reading) => roiVersion === 2;

type Window = { name: string; label: string; cname: string; days: WindowDays; isSpan: boolean; tip: string };

const WINDOWS: readonly Window[] = [
  {
    ...{ name: "FirstDay", label: "First-day", cname: "首日", days: 1, isSpan: false },
    tip: "on the first day",
  },
  { name: "24h", label: "24-hour", cname: "24小时", days: 1, isSpan: true, tip: "within 24 hours" },
  ...([3, 7, 14, 30] as const).map((days) => ({
    ...{ name: `${days}Day`, label: `${days}-day`, cname: `${days}日`, days, isSpan: false },
    tip: `within ${days} days`,
  })),
];

const FROM = "from the touch (first caliber) or the registration (second)";
const MODEL = "roi_version 1 counts calendar days, 2 spans of 24 hours and payments by the app's share.";

/** Spans of 24 hours where the model asks for them, or the metric itself. */
function within(window: Window, what: readonly ("pay" | "ad")[], reading: Reading): Quantity {
  const model = window.isSpan || isPrecise(reading) ? "s" : "d";
  return { measures: what.map((one): Measure => `${one}_${model}${window.days}`), isShared: isPrecise(reading) };
}

function windowMetrics(window: Window): Metric[] {
  const { name, label, cname, tip } = window;
  const model = window.isSpan ? "roi_version 2 counts payments by the app's share." : MODEL;
  const both = (reading: Reading) => within(window, ["pay", "ad"], reading);
  return [
    {
      ...{ name: `App${name}PayAmount`, label: `${label} payments`, cname: `${cname}付费金额`, unit: "money" },
      tip: `Payments ${tip}, ${FROM}. ${model}`,
      formula: (reading) => ({ of: within(window, ["pay"], reading) }),
    },
    {
      ...{ name: `App${name}AdRevenue`, label: `${label} ad revenue`, cname: `${cname}广告变现收入`, unit: "money" },
      tip: `Ad revenue ${tip}, ${FROM}.${window.isSpan ? "" : " roi_version 1 counts calendar days, 2 spans of 24 hours."}`,
      formula: (reading) => ({ of: within(window, ["ad"], reading) }),
    },
    {
      ...{ name: `App${name}ROI`, label: `${label} ROI`, cname: `${cname}ROI`, unit: "rate" },
      tip: `Payments and ad revenue ${tip}, divided by the ad cost. ${model}`,
      formula: (reading) => ({ of: both(reading), by: cost }),
    },
    {
      ...{ name: `App${name}LTV`, label: `${label} LTV`, cname: `${cname}LTV`, unit: "money" },
      tip: `Payments and ad revenue ${tip}, divided by the activations. ${model}`,
      formula: (reading) => ({ of: both(reading), by: users }),
    },
  ];
}

function retentionMetrics(days: RetentionDays): Metric[] {
  const when = days === 1 ? "on the day after the registration" : `on day ${days} after the registration`;
  const cname = days === 1 ? "次日留存" : `${days}日留存`;
  const kept = sum(`kept_${days}`);
  return [
    {
      ...{ name: `AppRetention${days}dCnt`, label: `Day-${days} retained users`, cname: `${cname}人数`, unit: "count" },
      tip: `Users placed here who were active ${when}.`,
      formula: plain(kept),
    },
    {
      ...{ name: `AppRetention${days}d`, label: `Day-${days} retention`, cname: `${cname}率`, unit: "rate" },
      tip: `Users placed here who were active ${when}, divided by the activations.`,
      formula: ratio(kept, users),
    },
  ];
}

/** Every metric of the ad report, in the order in which they are listed. */
export const METRICS: readonly Metric[] = [
  metric("AdCost", "Ad cost", "消耗", "money", "What the ads cost, on the day of the cost.", plain(cost)),
  metric("AdShow", "Ad impressions", "展示数", "count", "Impressions of the ads.", plain(sum("impressions"))),
  metric("AdClick", "Ad clicks", "点击数", "count", "Clicks on the ads.", plain(sum("clicks"))),
  metric(
    "AdCpm",
    "Cost per 1,000 impressions",
    "千次展示成本",
    "money",
    "Ad cost divided by impressions, times 1,000.",
    ratio(cost, sum("impressions"), 1000),
  ),
  metric("AdCpc", "Cost per click", "点击成本", "money", "Ad cost divided by clicks.", ratio(cost, sum("clicks"))),
  metric(
    "AdCtr",
    "Click rate",
    "点击率",
    "rate",
    "Clicks divided by impressions.",
    ratio(sum("clicks"), sum("impressions")),
  ),
  metric(
    "AppActivateStandard",
    "Activations",
    "激活数",
    "count",
    "Users, on the day of their touch (first caliber) or of their registration (second).",
    plain(users),
  ),
  metric(
    "AppRealRegisterCnt",
    "Real registrations",
    "真实注册数",
    "count",
    "Activations without users brought in from history.",
    plain(sum("real_users")),
  ),
  metric(
    "AppRegisterStandard",
    "Registrations",
    "注册数",
    "count",
    "Users with a registration event; in the second caliber on the day of the first one.",
    plain(sum("register_users")),
  ),
  metric(
    "AppActivateCost",
    "Cost per activation",
    "激活成本",
    "money",
    "Ad cost divided by activations.",
    ratio(cost, users),
  ),
  metric(
    "AppRegisterCost",
    "Cost per registration",
    "注册成本",
    "money",
    "Ad cost divided by registrations.",
    ratio(cost, sum("register_users")),
  ),
  metric(
    "AppDAU",
    "Active users",
    "活跃用户数",
    "count",
    "Users placed here who were ever active (first caliber); users active on the days of the row (second).",
    plain(sum("active_users")),
  ),
  metric(
    "AppNewUserRate",
    "Share of new users",
    "新增占比",
    "rate",
    "Activations divided by active users.",
    ratio(users, sum("active_users")),
  ),
  metric("AppGamePayAmountStandard", "Payments", "付费金额", "money", "Sum of the orders.", plain(payments)),
  metric("AppGamePayCntStandard", "Orders", "付费次数", "count", "Number of orders.", plain(sum("pay_count"))),
  metric("AppGamePayUserCntStandard", "Payers", "付费人数", "count", "Users with an order.", plain(sum("payers"))),
  metric(
    "AppFirstPayUserCnt",
    "First-time payers",
    "首次付费人数",
    "count",
    "Users with an order; in the second caliber on the day of their first one.",
    plain(sum("first_payers")),
  ),
  metric(
    "AppGamePayRate",
    "Pay rate",
    "付费率",
    "rate",
    "Payers divided by activations (first caliber) or by active users (second).",
    perUser(sum("payers")),
  ),
  metric(
    "AppGamePayCost",
    "Cost per payer",
    "付费成本",
    "money",
    "Ad cost divided by payers.",
    ratio(cost, sum("payers")),
  ),
  metric(
    "AppAdRevenue",
    "Ad revenue",
    "广告变现收入",
    "money",
    "What the shown ads earned: eCPM divided by 1,000 for each.",
    plain(adRevenue),
  ),
  metric(
    "AppAdShowCnt",
    "Ad views",
    "变现广告展示次数",
    "count",
    "Number of ads shown in the app.",
    plain(sum("ad_count")),
  ),
  metric(
    "AppAdUserCnt",
    "Ad viewers",
    "变现广告用户数",
    "count",
    "Users who were shown an ad.",
    plain(sum("ad_users")),
  ),
  metric(
    "AppAdEcpm",
    "eCPM",
    "变现eCPM",
    "money",
    "Ad revenue divided by ad views, times 1,000.",
    ratio(adRevenue, sum("ad_count"), 1000),
  ),
  metric("AppRevenue", "Revenue", "总收入", "money", "Payments and ad revenue.", plain(revenue)),
  metric(
    "AppARPU",
    "Revenue per user",
    "ARPU",
    "money",
    "Revenue divided by activations (first caliber) or by active users (second).",
    perUser(revenue),
  ),
  metric(
    "AppARPPU",
    "Payments per payer",
    "ARPPU",
    "money",
    "Payments divided by payers.",
    ratio(payments, sum("payers")),
  ),
  metric(
    "AppROI",
    "ROI",
    "ROI",
    "rate",
    "Revenue divided by ad cost; roi_version 2 counts payments by the app's share.",
    (reading) => ({
      of: { ...revenue, isShared: isPrecise(reading) },
      by: cost,
    }),
  ),
  ...WINDOWS.flatMap(windowMetrics),
  ...RETENTION_DAYS.flatMap(retentionMetrics),
  metric(
    "AppPostbackCnt",
    "Postbacks",
    "回传数",
    "count",
    "Postbacks that the platform accepted; in the second caliber on the day of acceptance.",
    plain(sum("postbacks")),
  ),
  metric(
    "AppPostbackAmount",
    "Postback amount",
    "回传金额",
    "money",
    "Amounts sent with accepted postbacks.",
    plain(sum("postback_cents")),
  ),
];

const byName = new Map(METRICS.map((one) => [one.name, one]));

export function metricNamed(name: string): Metric | undefined {
  return byName.get(name);
}

function metric(
  name: string,
  label: string,
  cname: string,
  unit: MetricUnit,
  tip: string,
  formula: Metric["formula"],
): Metric {
  return { name, label, cname, unit, tip, formula };
}
