import type { Platform } from "./platform.ts";

/** WeChat traffic opens with `gdt_vid`, other Tencent traffic with `qz_gdt`; `weixinadinfo` begins with the ad's id. */
export const tencent: Platform = {
  name: "tencent",
  launchKeys: ["gdt_vid", "qz_gdt", "weixinadinfo"],
  readIds: (field) => ({
    advertiserId: field("account_id"),
    gid: field("campaign_id"),
    // Tencent's adgroup is the ad, its ad the creative.
    aid: field("adgroup_id") || (field("weixinadinfo").split(".")[0] ?? ""),
    cid: field("ad_id"),
    csite: field("site_set_name"),
  }),
  record: {
    name: "tencent",
    fields: ["account_id", "campaign_id", "adgroup_id", "ad_id", "click_id", "req_id", "gdt_vid", "site_set_name"],
  },
};
