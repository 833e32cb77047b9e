import { PLAIN, type Platform } from "../platform.ts";

/** Apple Search Ads has no links. The AdServices payload comes with the registration, or is fetched with its token. */
export const apple: Platform = {
  ...PLAIN,
  name: "asa",
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
  click: undefined,
  impression: undefined,
};

const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?Z$/;

/** When the ad was tapped or seen, which only the detailed payload contains. */
export function appleTouchedAtMs(field: (name: string) => string): number | null {
  const dates = [field("clickDate"), field("impressionDate")].filter((date) => DATE.test(date));
  return dates.map((date) => Date.parse(date)).find((ms) => !Number.isNaN(ms)) ?? null;
}
