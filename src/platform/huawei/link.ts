import { likely, PLAIN, type Platform } from "../platform.ts";

/** Huawei writes macros in braces. `{device_id}` is the md5 of an imei: its only `{id_type}` is 0. */
export const huawei: Platform = {
  ...PLAIN,
  name: "huawei",
  record: { name: "huawei", fields: ["corp_id", "campaign_id", "adgroup_id", "content_id", "callback"] },
  click: likely([
    ["advertiser_id", "{corp_id}"],
    ["gid", "{campaign_id}"],
    ["aid", "{adgroup_id}"],
    ["cid", "{content_id}"],
    ["callback", "{callback}"],
    ["ts", "{trace_time}"],
    ["event_type", "{event_type}"],
    ["oaid", "{oaid}"],
    ["imei_md5", "{device_id}"],
    ["id_type", "{id_type}"],
    ["tracking_enabled", "{tracking_enabled}"],
    ["ip", "{ip}"],
    ["ua", "{user_agent}"],
  ]),
  adData: [
    ["corp_id", "advertiser_id"],
    ["campaign_id", "gid"],
    ["adgroup_id", "aid"],
    ["content_id", "cid"],
    ["callback", "callback"],
    ["oaid", "oaid"],
    ["tracking_enabled", "tracking_enabled"],
  ],
};
