import { PLAIN, type Platform } from "../platform.ts";

export const oppo: Platform = {
  ...PLAIN,
  name: "oppo",
  record: { name: "oppo", fields: ["owner_id", "ad_id", "req_id"] },
  click: [
    ["advertiser_id", "__OWNERID__"],
    ["gid", "__PLANID__"],
    ["aid", "__ADID__"],
    ["cid", "__CREATIVEID__"],
    ["req_id", "__REQID__"],
    ["ts", "__TS__"],
    ["imei_md5", "__IMEI__"],
    ["oaid", "__OAID__"],
    ["model", "__MODEL__"],
    ["ip", "__IP__"],
    ["ua", "__UA__"],
  ],
  adData: [
    ["owner_id", "advertiser_id"],
    ["plan_id", "gid"],
    ["ad_id", "aid"],
    ["creative_id", "cid"],
    ["req_id", "req_id"],
    ["oaid", "oaid"],
  ],
  touchClickIds: (field) => [field("req_id"), field("click_id")],
  launchClickIds: (field) => [field("req_id"), field("click_id")],
};
