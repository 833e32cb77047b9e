import { likely, PLAIN, type Platform } from "../platform.ts";

/**
 * OPPO's two kinds of link have their own macros: `$ad$` in feeds, `__ADID__` in the store. One link has both; whichever is
 * replaced counts. Neither kind knows the account or the plan.
 */
export const oppo: Platform = {
  ...PLAIN,
  name: "oppo",
  record: { name: "oppo", fields: ["owner_id", "ad_id", "req_id"] },
  click: likely([
    ["aid", "__ADID__"],
    ["aid_2", "$ad$"],
    ["aid_name", "$an$"],
    ["req_id", "$req$"],
    ["ts", "__TS__"],
    ["imei_md5", "__IMEI__"],
    ["imei_md5_2", "$im$"],
    ["oaid", "__OAID__"],
    ["android_id_md5", "__ANDROIDID__"],
    ["model", "$m$"],
    ["ip", "__IP__"],
    ["ua", "__UA__"],
    ["ua_2", "$ua$"],
  ]),
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
