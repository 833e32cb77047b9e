import { likely, PLAIN, type Platform } from "../platform.ts";

/** The track id is the click's, and what a conversion is reported for. */
export const honor: Platform = {
  ...PLAIN,
  name: "honor",
  readIds: (field) => ({
    ...PLAIN.readIds(field),
    aid: field("group_id") || PLAIN.readIds(field).aid,
  }),
  record: { name: "honor", fields: ["advertiser_id", "campaign_id", "group_id", "creative_id", "track_id"] },
  click: likely([
    ["advertiser_id", "__ADVERTISER_ID__"],
    ["gid", "__CAMPAIGNID__"],
    ["aid", "__GROUPID__"],
    ["cid", "__CREATIVE_ID__"],
    ["click_id", "__TRACK_ID__"],
    ["req_id", "__REQUESTID__"],
    ["ts", "__TIME__"],
    ["os", "__OS__"],
    ["oaid", "__OAID__"],
    ["ip", "__IP__"],
    ["ua", "__UA__"],
  ]),
  impression: likely([["impression_id", "__TRACK_ID__"]]),
  adData: [
    ["advertiser_id", "advertiser_id"],
    ["campaign_id", "gid"],
    ["group_id", "aid"],
    ["creative_id", "cid"],
    ["track_id", "impression_id"],
    ["track_id", "click_id"],
    ["oaid", "oaid"],
  ],
  touchClickIds: (field) => [field("click_id"), field("impression_id")],
  launchClickIds: (field) => [field("track_id"), field("click_id")],
};
