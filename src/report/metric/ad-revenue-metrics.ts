import { inGroup, plain, ratio, sum } from "./formula.ts";

const [adRevenue, adViews] = [sum("ad_micros"), sum("ad_count")];

/** Revenue of ads shown inside the app. */
export const AD_REVENUE = inGroup("ad_revenue", [
  {
    name: "AppAdRevenue",
    unit: "money",
    label: "Ad revenue",
    cname: "广告变现收入",
    tip: "What the shown ads earned: reported by the client, else pulled from the ad platform, else estimated by the unit's eCPM.",
    ctip: "应用内广告带来的收入：以客户端上报为准，未上报时取平台数据，平台数据未到时按广告单元的 eCPM 预估。",
    formula: plain(adRevenue),
  },
  {
    name: "AppAdReportedRevenue",
    unit: "money",
    label: "Reported ad revenue",
    cname: "上报广告收入",
    tip: "The part of the ad revenue that the client reported with the ads: eCPM divided by 1,000 for each.",
    ctip: "广告变现收入中由客户端随展示上报的部分：每次展示计 eCPM ÷ 1000。",
    formula: plain(sum("ad_reported_micros")),
  },
  {
    name: "AppAdPulledRevenue",
    unit: "money",
    label: "Pulled ad revenue",
    cname: "平台广告收入",
    tip: "The part of the ad revenue that the platform told, spread evenly over the ads of the day of the unit or of the player.",
    ctip: "广告变现收入中来自平台数据的部分，平均分摊到该广告单元或该用户当日的每次展示。",
    formula: plain(sum("ad_pulled_micros")),
  },
  {
    name: "AppAdEstimatedRevenue",
    unit: "money",
    label: "Estimated ad revenue",
    cname: "预估广告收入",
    tip: "The part of the ad revenue that is estimated by the eCPM set for the ad unit and day, until the platform tells.",
    ctip: "平台数据未到时，广告变现收入中按广告单元当日设定的 eCPM 预估的部分。",
    formula: plain(sum("ad_estimated_micros")),
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
