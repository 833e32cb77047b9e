import { PLAIN, type Platform } from "../platform.ts";

export const xiaomi: Platform = {
  ...PLAIN,
  name: "xiaomi",
  record: { name: "xiaomi", fields: ["customer_id", "campaign_id", "ad_id", "callback"] },
  click: [
    ["advertiser_id", "__CUSTOMERID__"],
    ["gid", "__CAMPAIGNID__"],
    ["aid", "__ADID__"],
    ["cid", "__CREATIVEID__"],
    ["callback", "__CALLBACK__"],
    ["ts", "__TS__"],
    ["imei_md5", "__IMEI__"],
    ["oaid", "__OAID__"],
    ["ip", "__IP__"],
    ["ua", "__UA__"],
  ],
  adData: [
    ["customer_id", "advertiser_id"],
    ["campaign_id", "gid"],
    ["ad_id", "aid"],
    ["creative_id", "cid"],
    ["callback", "callback"],
    ["imei_md5", "imei_md5"],
    ["oaid", "oaid"],
  ],
};
