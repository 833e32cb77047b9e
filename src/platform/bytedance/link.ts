import type { Field } from "../../domain/attribution/touch-key.ts";
import { cleanId } from "../../domain/user/identity.ts";
import { PLAIN, type Platform } from "../platform.ts";

/** ByteDance apps that host mini-games, by the id that they pass as `aid`, as found in their public clients. */
export const HOST_APPS: ReadonlyMap<string, string> = new Map([
  ["13", "Toutiao"],
  ["32", "Xigua"],
  ["35", "Toutiao Lite"],
  ["1112", "Huoshan"],
  ["1128", "Douyin"],
  ["1967", "Fanqie Novel"],
  ["2329", "Douyin Lite"],
  ["3040", "Fanqie FM"],
  ["8662", "Hongguo"],
]);

/**
 * Version 2.0 ads have a project and a promotion; 1.0 ads a campaign and a plan, which a launch query calls `ad_id`. A
 * WeChat mini-game is opened with these names, a Douyin mini-game with the same without underscores.
 */
export const bytedance: Platform = {
  ...PLAIN,
  name: "bytedance",
  launchNames: {
    advertiser_id: ["advertiser_id", "advertiserid"],
    project_id: ["projectid"],
    promotion_id: ["promotionid"],
    ad_id: ["adid"],
    creative_id: ["creativeid"],
    request_id: ["requestid", "request_id", "req_id"],
  },
  readIds: (field) => ({
    advertiserId: field("advertiser_id"),
    // A 1.0 ad has no project; some senders write 0.
    gid: cleanId(field("project_id")) || field("campaign_id"),
    aid: cleanId(field("promotion_id")) || field("ad_id") || adNotHostApp(field),
    cid: field("cid") || field("creative_id"),
    csite: field("csite"),
  }),
  record: {
    name: "bytedance_v2",
    fields: ["project_id", "promotion_id", "mid1", "mid2", "mid3", "mid4", "mid5"],
  },
  click: [
    ["advertiser_id", "__ADVERTISER_ID__"],
    ["project_id", "__PROJECT_ID__"],
    ["gid_name", "__PROJECT_NAME__"],
    ["promotion_id", "__PROMOTION_ID__"],
    ["aid_name", "__PROMOTION_NAME__"],
    ["mid1", "__MID1__"],
    ["mid2", "__MID2__"],
    ["mid3", "__MID3__"],
    ["mid4", "__MID4__"],
    ["mid5", "__MID5__"],
    ["mid6", "__MID6__"],
    ["gid", "__CAMPAIGN_ID__"],
    ["aid", "__AID__"],
    ["cid", "__CID__"],
    ["cid_name", "__CID_NAME__", "likely"],
    ["ctype", "__CTYPE__", "likely"],
    ["csite", "__CSITE__"],
    ["union_site", "__UNION_SITE__", "likely"],
    ["ts", "__TS__"],
    ["req_id", "__REQUEST_ID__"],
    ["callback", "__CALLBACK_PARAM__"],
    ["os", "__OS__"],
    ["imei_md5", "__IMEI__"],
    ["idfa", "__IDFA__"],
    ["idfa_md5", "__IDFA_MD5__"],
    ["oaid", "__OAID__"],
    ["oaid_md5", "__OAID_MD5__"],
    ["android_id_md5", "__ANDROIDID__"],
    ["mac_md5", "__MAC1__"],
    ["caid", "__CAID_MD5__"],
    ["model", "__MODEL__"],
    ["ip", "__IP__"],
    ["ipv4", "__IPV4__", "likely"],
    ["ipv6", "__IPV6__", "likely"],
    ["ua", "__UA__"],
  ],
  impression: [],
  // 2 was Windows Phone, and is HarmonyOS today (likely).
  systems: new Map([...PLAIN.systems, ["2", "harmony"]]),
  adData: [
    ["advertiser_id", "advertiser_id"],
    ["campaign_id", "gid"],
    ["aid", "aid"],
    ["cid", "cid"],
    ["csite", "csite"],
    ["callback", "callback"],
    ["clue_token", "clue_token"],
    ["req_id", "req_id"],
    ["project_id", "project_id"],
    ["promotion_id", "promotion_id"],
    ["mid1", "mid1"],
    ["mid2", "mid2"],
    ["mid3", "mid3"],
    ["mid4", "mid4"],
    ["mid5", "mid5"],
    ["mid6", "mid6"],
    ["os", "os"],
    ["imei_md5", "imei_md5"],
    ["idfa", "idfa"],
    ["oaid", "oaid"],
    ["oaid_md5", "oaid_md5"],
    ["android_id_md5", "android_id_md5"],
  ],
  touchIds: (field) => ({
    ...PLAIN.touchIds(field),
    gid: cleanId(field("project_id")) || field("gid"),
    aid: cleanId(field("promotion_id")) || field("aid"),
  }),
  touchClickIds: (field) => [
    ...[field("clue_token"), field("callback"), field("click_id")],
    requestKey(field("req_id"), bytedance.touchIds(field)),
  ],
  launchClickIds: (field) => [
    ...[field("clue_token"), field("clickid"), field("click_id")],
    requestKey(field("request_id"), bytedance.readIds(field)),
  ],
};

/** The ad in `aid`, unless it is the host app, as in a Douyin mini-game, which is opened with a `clickid`. */
function adNotHostApp(field: Field): string {
  return field("clickid") !== "" || HOST_APPS.has(field("aid")) ? "" : field("aid");
}

/**
 * No document says that the click id of a launch query equals the link's callback parameter, and some queries hold two
 * different texts for one click. Both sides also carry a request id, which is likely the same (seen in one query). One
 * request can bring several ads, so the ad is part of the key.
 */
function requestKey(requestId: string, { aid }: { aid: string }): string {
  const [request, ad] = [cleanId(requestId), cleanId(aid)];
  return request === "" || ad === "" ? "" : `${request}\n${ad}`;
}
