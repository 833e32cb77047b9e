import { likely, PLAIN, type Platform } from "../platform.ts";

/** What Xiaomi calls an ad is the creative; it has no level between that and the plan. */
export const xiaomi: Platform = {
  ...PLAIN,
  name: "xiaomi",
  record: { name: "xiaomi", fields: ["customer_id", "campaign_id", "ad_id", "callback"] },
  click: likely([
    // Otherwise Xiaomi judges a call by the content of its answer.
    ["response_validate", "false"],
    ["advertiser_id", "__CUSTOMERID__"],
    ["gid", "__CAMPAIGNID__"],
    ["cid", "__ADID__"],
    ["cid_name", "__ADNAME__"],
    ["promoted_object_id", "__APPID__"],
    ["callback", "__CALLBACK__"],
    ["ts", "__TS__"],
    ["imei_md5", "__IMEI__"],
    ["oaid", "__OAID__"],
    ["android_id", "__ANDROIDID__"],
    ["ip", "__IP__"],
    ["ua", "__UA__"],
    ["sign", "__SIGN__"],
  ]),
  adData: [
    ["customer_id", "advertiser_id"],
    ["campaign_id", "gid"],
    ["ad_id", "cid"],
    ["callback", "callback"],
    ["imei_md5", "imei_md5"],
    ["oaid", "oaid"],
  ],
};
