import { PLAIN, type Platform } from "../platform.ts";

/** Huawei writes macros in braces. */
export const huawei: Platform = {
  ...PLAIN,
  name: "huawei",
  record: { name: "huawei", fields: ["corp_id", "campaign_id", "adgroup_id", "content_id", "callback"] },
  click: [
    ["advertiser_id", "{corp_id}"],
    ["gid", "{campaign_id}"],
    ["aid", "{adgroup_id}"],
    ["cid", "{content_id}"],
    ["callback", "{callback}"],
    ["ts", "{trace_time}"],
    ["oaid", "{oaid}"],
    ["ip", "{ip}"],
    ["ua", "{user_agent}"],
  ],
  adData: [
    ["corp_id", "advertiser_id"],
    ["campaign_id", "gid"],
    ["adgroup_id", "aid"],
    ["content_id", "cid"],
    ["callback", "callback"],
    ["oaid", "oaid"],
  ],
};
