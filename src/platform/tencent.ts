import { PLAIN, type Platform } from "./platform.ts";

/**
 * WeChat traffic opens with `gdt_vid`, other Tencent traffic with `qz_gdt`; `weixinadinfo` begins with the ad's id.
 * Tencent's adgroup is the ad and its ad the creative. Ads of version 3.0 have no campaign, and a dynamic creative.
 */
export const tencent: Platform = {
  ...PLAIN,
  name: "tencent",
  launchKeys: ["gdt_vid", "qz_gdt", "weixinadinfo"],
  readIds: (field) => ({
    advertiserId: field("account_id"),
    gid: field("campaign_id"),
    aid: field("adgroup_id") || (field("weixinadinfo").split(".")[0] ?? ""),
    cid: field("ad_id"),
    csite: field("site_set_name"),
  }),
  record: {
    name: "tencent",
    fields: ["account_id", "campaign_id", "adgroup_id", "ad_id", "click_id", "req_id", "gdt_vid", "site_set_name"],
  },
  click: [
    ["advertiser_id", "__ACCOUNT_ID__"],
    ["gid", "__CAMPAIGN_ID__"],
    ["gid_name", "__CAMPAIGN_NAME__"],
    ["aid", "__ADGROUP_ID__"],
    ["aid_name", "__ADGROUP_NAME__"],
    ["cid", "__AD_ID__"],
    ["cid_name", "__AD_NAME__"],
    ["dynamic_creative_id", "__DYNAMIC_CREATIVE_ID__"],
    ["csite", "__SITE_SET_NAME__"],
    ["ts", "__CLICK_TIME__"],
    ["click_id", "__CLICK_ID__"],
    ["req_id", "__REQUEST_ID__"],
    ["callback", "__CALLBACK__"],
    ["promoted_object_id", "__PROMOTED_OBJECT_ID__"],
    ["wx_openid", "__WECHAT_OPEN_ID__"],
    ["os", "__DEVICE_OS_TYPE__"],
    ["model", "__MODEL__"],
    ["muid", "__MUID__"],
    ["android_id_md5", "__HASH_ANDROID_ID__"],
    ["oaid_md5", "__HASH_OAID__"],
    ["caid", "__CAID__"],
    ["ip", "__IP__"],
    ["ua", "__USER_AGENT__"],
    ["ele_info", "__ELEMENT_INFO__"],
    ["ctc_info", "__CREATIVE_COMPONENTS_INFO__"],
  ],
  impression: [
    ["impression_id", "__IMPRESSION_ID__"],
    ["ts", "__IMPRESSION_TIME__"],
  ],
  adData: [
    ["account_id", "advertiser_id"],
    ["campaign_id", "gid"],
    ["adgroup_id", "aid"],
    ["ad_id", "cid"],
    ["site_set_name", "csite"],
    ["callback", "callback"],
    ["req_id", "req_id"],
    ["click_id", "click_id"],
  ],
  touchIds: (field) => ({ ...PLAIN.touchIds(field), cid: field("cid") || field("dynamic_creative_id") }),
  touchClickIds: (field) => [field("click_id"), field("req_id")],
  launchClickIds: (field) => [field("gdt_vid"), field("qz_gdt"), field("click_id")],
  reply: { ret: 0 },
};
