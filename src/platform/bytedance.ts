import type { Platform } from "./platform.ts";

/** Version 2.0 ads have a project and a promotion; 1.0 ads a campaign and a plan, which a launch query calls `ad_id`. */
export const bytedance: Platform = {
  name: "bytedance",
  launchKeys: ["clue_token", "ad_id", "creative_id", "request_id", "advertiser_id", "project_id", "promotion_id"],
  readIds: (field) => ({
    advertiserId: field("advertiser_id"),
    gid: field("project_id") || field("campaign_id"),
    aid: field("promotion_id") || field("aid") || field("ad_id"),
    cid: field("cid") || field("creative_id"),
    csite: field("csite"),
  }),
  record: {
    name: "bytedance_v2",
    fields: ["project_id", "promotion_id", "mid1", "mid2", "mid3", "mid4", "mid5"],
  },
};
