import type { Ad, Host } from "./ads.ts";
import type { Touch } from "./media.ts";

type Query = Record<string, string>;

/** The part of an ad that a launch query names. */
type Named = Partial<Pick<Ad, "advertiserId" | "gid" | "aid" | "csite" | "campaignId">>;

/** The query with which a mini-game is opened, exactly as the ad's platform passes it to the host app. */
export function launchQuery(touch: Touch): Query {
  const { ad, token } = touch;
  switch (ad.platform) {
    case "tencent":
      return { gdt_vid: token, weixinadinfo: `${ad.aid}.${token}.1.1` };
    case "kuaishou":
      return ad.host === "wechat" ? kuaishouInWechat(touch) : kuaishouMiniGame(touch);
    case "bytedance":
      return ad.host === "wechat" ? oceanEngineInWechat(touch) : douyinMiniGame(touch);
    case "baidu":
      return { bd_vid: token };
    case "bilibili":
      // The platform adds nothing of its own: the campaign is in the address that the ad leads to.
      return { turbo_promoted_object_id: ad.campaignId };
    default:
      throw new Error(`${ad.platform} opens no mini-games.`);
  }
}

/** What the launch query alone says about the ad; for an app, what Apple answers. */
export function namedByLaunch(ad: Ad): Named {
  const { advertiserId, gid, aid, csite, campaignId } = ad;
  const isFirstVersion = ad.version === "1.0";
  switch (ad.platform) {
    case "asa":
      return { advertiserId, gid, aid };
    case "tencent":
      return { aid };
    case "kuaishou":
      return ad.host === "wechat" ? { gid, aid } : { advertiserId, gid, aid };
    case "bytedance":
      if (ad.host === "wechat") return isFirstVersion ? { advertiserId, aid } : { advertiserId, gid, aid };
      return isFirstVersion ? { aid } : { gid, aid, csite };
    case "bilibili":
      return { campaignId };
    default:
      return {};
  }
}

/** Whether the launch query itself carries the key for reporting conversions. */
export function isTellable({ platform, host }: Pick<Ad, "platform" | "host">): boolean {
  // WeChat's clue token goes to a gateway that the market's operator has not set up.
  return platform !== "bilibili" && !(platform === "bytedance" && host === "wechat");
}

/** The launch query of a mini-game without an ad. */
export function plainQuery(host: Host, clientId: string): Query {
  switch (host) {
    case "douyin":
      return { aid: "1128" };
    case "kuaishou":
      return { gsid: `${clientId}gs` };
    default:
      return {};
  }
}

function kuaishouInWechat({ ad, token }: Touch): Query {
  return { callback: token, ksCampaignId: ad.gid, ksUnitId: ad.aid, ksCreativeId: ad.cid, ksChannel: "kuaishou" };
}

function kuaishouMiniGame({ ad, token }: Touch): Query {
  const { advertiserId: account_id, gid: campaign_id, aid: unit_id, cid: creative_id } = ad;
  // The session is not always there.
  const session: Query = Number.parseInt(token.slice(-1), 16) % 2 === 0 ? { gsid: `gs${token}` } : {};
  return { ...session, callback: token, account_id, campaign_id, unit_id, creative_id };
}

function oceanEngineInWechat({ ad, token }: Touch): Query {
  const { advertiserId: advertiser_id, gid: project_id, aid, cid: creative_id } = ad;
  return ad.version === "1.0"
    ? { clue_token: token, advertiser_id, ad_id: aid, creative_id, request_id: `rq${token}` }
    : { clue_token: token, advertiser_id, project_id, promotion_id: aid, mid1: `7${ad.cid}` };
}

/** `ad_params` repeats a part, with ids of the older kind and its own click id. */
function douyinMiniGame({ ad, token }: Touch): Query {
  const request = { clickid: token, requestid: `rq${token}`, creativetype: "15" };
  if (ad.version === "1.0") return { ...request, adid: ad.aid, creativeid: ad.cid };
  const log_extra = JSON.stringify({ clickid: `log${token}`, req_id: `rq${token}`, rit: 40_016 });
  const ad_params = JSON.stringify({ cid: Number(ad.cid), ad_id: Number(`1${ad.aid}`), log_extra });
  return {
    ...request,
    projectid: ad.gid,
    promotionid: ad.aid,
    csite: ad.csite,
    aid: "1128",
    mid1: `7${ad.cid}`,
    mid4: "__MID4__",
    ad_params: encodeURIComponent(ad_params),
  };
}
