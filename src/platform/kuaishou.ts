import type { Platform } from "./platform.ts";

/** A launch query carries ks… ids; the attributed form the macros' own names, where `did` is the plan. */
export const kuaishou: Platform = {
  name: "kuaishou",
  launchKeys: ["ksUnitId", "ksCampaignId", "ksChannel", "ksCreativeId"],
  readIds: (field) => ({
    advertiserId: field("account_id"),
    gid: field("did") || field("ksCampaignId"),
    aid: field("aid") || field("ksUnitId"),
    cid: field("cid") || field("ksCreativeId"),
    csite: field("csite"),
  }),
  record: {
    name: "kuaishou",
    fields: ["account_id", "did", "aid", "cid", "ksCampaignId", "ksUnitId", "ksCreativeId", "ksChannel", "callback"],
  },
};
