import type { Platform } from "./platform.ts";

/** Apple Search Ads: the payload of the AdServices attribution. */
export const apple: Platform = {
  name: "asa",
  launchKeys: ["orgId"],
  readIds: (field) => ({
    advertiserId: field("orgId"),
    gid: field("campaignId"),
    aid: field("adId"),
    cid: field("keywordId"),
    csite: "",
  }),
  record: {
    name: "asa",
    fields: [
      "attribution",
      "orgId",
      "campaignId",
      "conversionType",
      "clickDate",
      "adGroupId",
      "countryOrRegion",
      "keywordId",
      "adId",
    ],
  },
};
