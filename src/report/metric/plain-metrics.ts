import { cost, isPrecise, perUser, plain, ratio, realCost, sum, users } from "./formula.ts";
import type { Metric, MetricGroup } from "./metric.ts";

const [shows, clicks] = [sum("impressions"), sum("clicks")];
const [payments, payers] = [sum("pay_cents"), sum("payers")];
const [adRevenue, adViews] = [sum("ad_micros"), sum("ad_count")];
const revenue = sum("pay_cents", "ad_micros");

type Named = Omit<Metric, "group">;
const inGroup = (group: MetricGroup, metrics: readonly Named[]): Metric[] => metrics.map((one) => ({ ...one, group }));

const COST = inGroup("cost", [
  {
    name: "AdCost",
    unit: "money",
    label: "Ad cost",
    cname: "消耗",
    tip: "What the ads cost, on the day of the cost.",
    ctip: "广告消耗，计入消耗发生的当日。",
    formula: plain(cost),
  },
  {
    name: "AdRealCost",
    unit: "money",
    label: "Real ad cost",
    cname: "实际消耗",
    tip: "What was really paid: the ad cost less the account's rebate of that day, in cash and in credit.",
    ctip: "实际支付的金额：消耗扣除账户当日的返点（现金返点与赠款返点）。",
    formula: plain(realCost),
  },
  {
    name: "AdShow",
    unit: "count",
    label: "Ad impressions",
    cname: "曝光数",
    tip: "Impressions of the ads.",
    ctip: "广告的曝光次数。",
    formula: plain(shows),
  },
  {
    name: "AdClick",
    unit: "count",
    label: "Ad clicks",
    cname: "点击数",
    tip: "Clicks on the ads.",
    ctip: "广告的点击次数。",
    formula: plain(clicks),
  },
  {
    name: "AdCpm",
    unit: "money",
    label: "Cost per 1,000 impressions",
    cname: "千次曝光成本",
    tip: "Ad cost divided by impressions, times 1,000.",
    ctip: "消耗 ÷ 曝光数 × 1000。",
    formula: ratio(cost, shows, 1000),
  },
  {
    name: "AdCpc",
    unit: "money",
    label: "Cost per click",
    cname: "点击成本",
    tip: "Ad cost divided by clicks.",
    ctip: "消耗 ÷ 点击数。",
    formula: ratio(cost, clicks),
  },
  {
    name: "AdCtr",
    unit: "rate",
    label: "Click rate",
    cname: "点击率",
    tip: "Clicks divided by impressions.",
    ctip: "点击数 ÷ 曝光数。",
    formula: ratio(clicks, shows),
  },
]);

/** New and active users. */
const USERS = inGroup("users", [
  {
    name: "AppActivateStandard",
    unit: "count",
    label: "Activations",
    cname: "激活数",
    tip: "Users, on the day of their touch (first caliber) or of their registration (second).",
    ctip: "用户数，第一口径计入触点当日，第二口径计入注册当日。",
    formula: plain(users),
  },
  {
    name: "AppRealRegisterCnt",
    unit: "count",
    label: "Real registrations",
    cname: "真实注册数",
    tip: "Activations without users brought in from history.",
    ctip: "激活数中不含历史导入的用户。",
    formula: plain(sum("real_users")),
  },
  {
    name: "AppRegisterStandard",
    unit: "count",
    label: "Registrations",
    cname: "注册数",
    tip: "Users with a registration event; in the second caliber on the day of the first one.",
    ctip: "有注册事件的用户数；第二口径计入首次注册事件当日。",
    formula: plain(sum("register_users")),
  },
  {
    name: "AppActivateCost",
    unit: "money",
    label: "Cost per activation",
    cname: "激活成本",
    tip: "Ad cost divided by activations.",
    ctip: "消耗 ÷ 激活数。",
    formula: ratio(cost, users),
  },
  {
    name: "AppRegisterCost",
    unit: "money",
    label: "Cost per registration",
    cname: "注册成本",
    tip: "Ad cost divided by registrations.",
    ctip: "消耗 ÷ 注册数。",
    formula: ratio(cost, sum("register_users")),
  },
  {
    name: "AppDAU",
    unit: "count",
    label: "Active users",
    cname: "活跃用户数",
    tip: "Users placed here who were ever active (first caliber); users active on the days of the row (second).",
    ctip: "第一口径：归于此处且曾经活跃的用户数；第二口径：在该行日期内活跃的用户数。",
    formula: plain(sum("active_users")),
  },
  {
    name: "AppNewUserRate",
    unit: "rate",
    label: "Share of new users",
    cname: "新增占比",
    tip: "Activations divided by active users.",
    ctip: "激活数 ÷ 活跃用户数。",
    formula: ratio(users, sum("active_users")),
  },
]);

const PAYMENTS = inGroup("payments", [
  {
    name: "AppGamePayAmountStandard",
    unit: "money",
    label: "Payments",
    cname: "付费金额",
    tip: "Sum of the orders, less what was paid back of them.",
    ctip: "订单金额之和，已扣除退款。",
    formula: plain(payments),
  },
  {
    name: "AppGamePayCntStandard",
    unit: "count",
    label: "Orders",
    cname: "付费次数",
    tip: "Number of orders.",
    ctip: "订单数。",
    formula: plain(sum("pay_count")),
  },
  {
    name: "AppGamePayUserCntStandard",
    unit: "count",
    label: "Payers",
    cname: "付费人数",
    tip: "Users with an order.",
    ctip: "有订单的用户数。",
    formula: plain(payers),
  },
  {
    name: "AppFirstPayUserCnt",
    unit: "count",
    label: "First-time payers",
    cname: "首次付费人数",
    tip: "Users with an order; in the second caliber on the day of their first one.",
    ctip: "有订单的用户数；第二口径计入其首个订单当日。",
    formula: plain(sum("first_payers")),
  },
  {
    name: "AppGamePayRate",
    unit: "rate",
    label: "Pay rate",
    cname: "付费率",
    tip: "Payers divided by activations (first caliber) or by active users (second).",
    ctip: "付费人数 ÷ 激活数（第一口径）或活跃用户数（第二口径）。",
    formula: perUser(payers),
  },
  {
    name: "AppRefundAmount",
    unit: "money",
    label: "Refunds",
    cname: "退款金额",
    tip: "What was paid back of orders, on the day of the order or of the refund, as the app has chosen.",
    ctip: "订单的退款金额，按应用的设置计入下单当日或退款当日。",
    formula: plain(sum("refund_cents")),
  },
  {
    name: "AppRefundCnt",
    unit: "count",
    label: "Number of refunds",
    cname: "退款次数",
    tip: "Number of refunds, partial ones included.",
    ctip: "退款次数，包含部分退款。",
    formula: plain(sum("refund_count")),
  },
  {
    name: "AppGamePayCost",
    unit: "money",
    label: "Cost per payer",
    cname: "付费成本",
    tip: "Ad cost divided by payers.",
    ctip: "消耗 ÷ 付费人数。",
    formula: ratio(cost, payers),
  },
]);

/** Revenue of ads shown inside the app. */
const AD_REVENUE = inGroup("ad_revenue", [
  {
    name: "AppAdRevenue",
    unit: "money",
    label: "Ad revenue",
    cname: "广告变现收入",
    tip: "What the shown ads earned: eCPM divided by 1,000 for each.",
    ctip: "应用内广告带来的收入：每次展示计 eCPM ÷ 1000。",
    formula: plain(adRevenue),
  },
  {
    name: "AppAdShowCnt",
    unit: "count",
    label: "Ad views",
    cname: "变现广告展示次数",
    tip: "Number of ads shown in the app.",
    ctip: "应用内广告的展示次数。",
    formula: plain(adViews),
  },
  {
    name: "AppAdUserCnt",
    unit: "count",
    label: "Ad viewers",
    cname: "变现广告用户数",
    tip: "Users who were shown an ad.",
    ctip: "看过应用内广告的用户数。",
    formula: plain(sum("ad_users")),
  },
  {
    name: "AppAdEcpm",
    unit: "money",
    label: "eCPM",
    cname: "变现eCPM",
    tip: "Ad revenue divided by ad views, times 1,000.",
    ctip: "广告变现收入 ÷ 变现广告展示次数 × 1000。",
    formula: ratio(adRevenue, adViews, 1000),
  },
]);

/** Payments and ad revenue together. */
const REVENUE = inGroup("revenue", [
  {
    name: "AppRevenue",
    unit: "money",
    label: "Revenue",
    cname: "总收入",
    tip: "Payments and ad revenue.",
    ctip: "付费金额与广告变现收入之和。",
    formula: plain(revenue),
  },
  {
    name: "AppARPU",
    unit: "money",
    label: "Revenue per user",
    cname: "ARPU",
    tip: "Revenue divided by activations (first caliber) or by active users (second).",
    ctip: "总收入 ÷ 激活数（第一口径）或活跃用户数（第二口径）。",
    formula: perUser(revenue),
  },
  {
    name: "AppARPPU",
    unit: "money",
    label: "Payments per payer",
    cname: "ARPPU",
    tip: "Payments divided by payers.",
    ctip: "付费金额 ÷ 付费人数。",
    formula: ratio(payments, payers),
  },
  {
    name: "AppROI",
    unit: "rate",
    label: "ROI",
    cname: "ROI",
    tip: "Revenue divided by ad cost; roi_version 2 counts payments by the app's share.",
    ctip: "总收入 ÷ 消耗；roi_version 2 时付费按应用分成比例计入。",
    formula: (reading) => ({ of: { ...revenue, isShared: isPrecise(reading) }, by: cost }),
  },
  {
    name: "AppRealROI",
    unit: "rate",
    label: "Real ROI",
    cname: "实际ROI",
    tip: "Revenue divided by the real ad cost; roi_version 2 counts payments by the app's share.",
    ctip: "总收入 ÷ 实际消耗；roi_version 2 时付费按应用分成比例计入。",
    formula: (reading) => ({ of: { ...revenue, isShared: isPrecise(reading) }, by: realCost }),
  },
]);

/** Metrics without a window: they count everything since the user came. */
export const PLAIN_METRICS: readonly Metric[] = [...COST, ...USERS, ...PAYMENTS, ...AD_REVENUE, ...REVENUE];

export const POSTBACK_METRICS = inGroup("postbacks", [
  {
    name: "AppPostbackCnt",
    unit: "count",
    label: "Postbacks",
    cname: "回传数",
    tip: "Postbacks that the platform accepted; in the second caliber on the day of acceptance.",
    ctip: "媒体已接收的回传数；第二口径计入接收当日。",
    formula: plain(sum("postbacks")),
  },
  {
    name: "AppPostbackAmount",
    unit: "money",
    label: "Postback amount",
    cname: "回传金额",
    tip: "Amounts sent with accepted postbacks.",
    ctip: "已接收的回传所带的金额之和。",
    formula: plain(sum("postback_cents")),
  },
]);
