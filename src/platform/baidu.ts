import type { Platform } from "./platform.ts";

export const baidu: Platform = {
  name: "baidu",
  launchKeys: ["bd_vid"],
  readIds: (field) => ({
    advertiserId: field("advertiser_id") || field("user_id"),
    gid: field("gid") || field("plan_id"),
    aid: field("aid") || field("unit_id"),
    cid: field("cid") || field("idea_id"),
    csite: field("csite"),
  }),
  record: { name: "baidu", fields: ["bd_vid"] },
};
