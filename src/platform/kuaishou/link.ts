import { PLAIN, type Platform } from "../platform.ts";

/**
 * The attributed form uses the macros' names, where `did` is the plan. A WeChat mini-game advertised on Kuaishou is
 * opened with ks… ids, a Kuaishou mini-game with campaign, unit and creative.
 */
export const kuaishou: Platform = {
  ...PLAIN,
  name: "kuaishou",
  launchNames: { did: ["campaign_id"], aid: ["unit_id"], cid: ["creative_id"] },
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
  click: [
    ["advertiser_id", "__ACCOUNTID__"],
    ["gid", "__DID__"],
    ["gid_name", "__DNAME__"],
    ["aid", "__AID__"],
    ["cid", "__CID__"],
    ["csite", "__CSITE__", "likely"],
    ["ts", "__TS__", "likely"],
    ["req_id", "__LLSID__", "likely"],
    ["callback", "__CALLBACK__"],
    ["imei_md5", "__IMEI2__"],
    ["oaid", "__OAID__"],
    ["oaid_md5", "__OAID2__"],
    ["idfa_md5", "__IDFA2__"],
    ["android_id_md5", "__ANDROIDID2__"],
    ["mac_md5", "__MAC2__"],
    ["caid", "__KENYID_CAA__", "likely"],
    ["model", "__MODEL__", "likely"],
    ["ip", "__IP__"],
    ["ua", "__UA__"],
  ],
  impression: [],
  adData: [
    ["account_id", "advertiser_id"],
    ["did", "gid"],
    ["aid", "aid"],
    ["cid", "cid"],
    ["csite", "csite"],
    ["callback", "callback"],
  ],
  touchClickIds: (field) => [tokenOf(field("callback"))],
  launchClickIds: (field) => [tokenOf(field("callback"))],
};

/** The callback's token; monitoring links deliver it inside a whole address. */
function tokenOf(callback: string): string {
  if (!/^https?:/i.test(callback) || !URL.canParse(callback)) return callback;
  return new URL(callback).searchParams.get("callback") || callback;
}
