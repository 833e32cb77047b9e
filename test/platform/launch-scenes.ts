import type { AdIds } from "../../src/domain/attribution/touch.ts";
import type { JsonObject } from "../../src/domain/json.ts";

/** A launch query as a platform really passes it, and the call of the monitoring link for the same click. */
export type LaunchScene = {
  scene: string;
  platform: string;
  query: JsonObject;
  ids: Partial<AdIds>;
  /** Parameters of the link by our names, as its macros deliver them. */
  link: Record<string, string>;
  /** The key with which conversions are reported to the platform. */
  key: string;
};

const CLICK_ID = "B.2riPZxAZiJ0N5wq7wLeOepA8aqSqeRqbcA30YEorzDvyOwtTzxRF2TuURPKHlT41dIH1U57voVQBrFOY3aFfedPZ";
const REQUEST_ID = "20240723144844BD7F17B3B7373EE96724";
const KUAISHOU_TOKEN = "nxu2fsPeJoTQK4p8I_kxWwCVBsSdouvo6BWn-iY35aCxsFYoW6ztHVWYJ5wuntcyx9WqxL15Ur1mUL9S6t6e7v";
const KUAISHOU_IDS = {
  account_id: "27202539",
  campaign_id: "2015512998",
  unit_id: "3920468322",
  creative_id: "44594759820",
};

/** `ad_params` has ids of the older kind beside the promotion's, and `log_extra` its own click id. */
const AD_PARAMS = JSON.stringify({
  cid: 1805249182574777,
  ad_id: 1805249160264720,
  is_soft_ad: 0,
  log_extra: JSON.stringify({ clickid: "ELnRiKLVu5oDGNSSwLPc9bYG", req_id: REQUEST_ID, orit: 40001, rit: 40016 }),
});

const DOUYIN_2 = {
  query: {
    clickid: CLICK_ID,
    projectid: "7394291765869707283",
    promotionid: "7394295222693527561",
    requestid: REQUEST_ID,
    creativetype: "15",
    csite: "40001",
    aid: "1128",
    mid1: "0",
    mid2: "7387317343218139172",
    mid3: "7394040260336975910",
    mid4: "__MID4__",
    mid5: "7337642830293057546",
    mid6: "__MID6__",
    ad_params: AD_PARAMS,
  },
  ids: { gid: "7394291765869707283", aid: "7394295222693527561", cid: "1805249182574777", csite: "40001" },
  link: { callback: CLICK_ID, project_id: "7394291765869707283", promotion_id: "7394295222693527561" },
};

export const SCENES: readonly LaunchScene[] = [
  { scene: "Douyin mini-game, 2.0 ads", platform: "bytedance", ...DOUYIN_2, key: CLICK_ID },
  {
    scene: "Douyin mini-game, 2.0 ads",
    platform: "bytedance",
    // The link has delivered another click id than the query has.
    query: { ...DOUYIN_2.query, ad_params: encodeURIComponent(encodeURIComponent(AD_PARAMS)) },
    ids: DOUYIN_2.ids,
    link: { ...DOUYIN_2.link, callback: "B.3j3heQGQZFEZpXpM6hf9crA8aqSq", req_id: REQUEST_ID },
    key: CLICK_ID,
  },
  {
    scene: "Douyin mini-game, 2.0 ads",
    platform: "bytedance",
    query: {
      aid: "2329",
      scene: "991020",
      ad_params: encodeURIComponent(
        JSON.stringify({ clickid: CLICK_ID, projectid: 7394291765869707283n.toString(), promotionid: "7394" }),
      ),
    },
    ids: { gid: "7394291765869707283", aid: "7394" },
    link: { callback: CLICK_ID, project_id: "7394291765869707283", promotion_id: "7394" },
    key: CLICK_ID,
  },
  {
    scene: "Douyin mini-game, 1.0 ads",
    platform: "bytedance",
    query: {
      clickid: "EIO46PPuuYYDGMfHsOTl9ccE",
      adid: "1717226415200260",
      creativeid: "1717226415201283",
      creativetype: "5",
      requestid: REQUEST_ID,
      aid: "13",
    },
    ids: { aid: "1717226415200260", cid: "1717226415201283" },
    link: { callback: "EIO46PPuuYYDGMfHsOTl9ccE", project_id: "0", promotion_id: "0", aid: "1717226415200260" },
    key: "EIO46PPuuYYDGMfHsOTl9ccE",
  },
  {
    scene: "Kuaishou mini-game",
    platform: "kuaishou",
    query: { gsid: "ab936bc25b40847e6082747cebe9119f", callback: KUAISHOU_TOKEN, ...KUAISHOU_IDS },
    ids: { advertiserId: "27202539", gid: "2015512998", aid: "3920468322", cid: "44594759820" },
    link: { callback: `http://ad.partner.gifshow.com/track/activate?callback=${KUAISHOU_TOKEN}` },
    key: KUAISHOU_TOKEN,
  },
  {
    scene: "Kuaishou mini-game",
    platform: "kuaishou",
    query: { callback: KUAISHOU_TOKEN, ...KUAISHOU_IDS },
    ids: { advertiserId: "27202539", gid: "2015512998", aid: "3920468322", cid: "44594759820" },
    link: { callback: KUAISHOU_TOKEN },
    key: KUAISHOU_TOKEN,
  },
  {
    scene: "WeChat mini-game bought at Kuaishou",
    platform: "kuaishou",
    query: {
      callback: "DHAJASALKFyk1uCKBYCyXp-iIDS",
      ksCampaignId: "501",
      ksUnitId: "601",
      ksCreativeId: "701",
      ksChannel: "kuaishou",
    },
    ids: { gid: "501", aid: "601", cid: "701" },
    link: { callback: "http://ad.partner.gifshow.com/track/activate?callback=DHAJASALKFyk1uCKBYCyXp-iIDS" },
    key: "DHAJASALKFyk1uCKBYCyXp-iIDS",
  },
  {
    scene: "WeChat mini-game bought at Ocean Engine",
    platform: "bytedance",
    query: {
      clue_token: "1779451543470157,1783156862460969",
      ad_id: "1701",
      creative_id: "1702",
      advertiser_id: "1703",
      request_id: REQUEST_ID,
    },
    ids: { advertiserId: "1703", aid: "1701", cid: "1702" },
    link: { clue_token: "1779451543470157,1783156862460969" },
    key: "1779451543470157,1783156862460969",
  },
  {
    scene: "WeChat mini-game bought at Ocean Engine",
    platform: "bytedance",
    query: {
      clue_token: "clue-2",
      advertiser_id: "1703",
      project_id: "7301",
      promotion_id: "7401",
      req_id: REQUEST_ID,
      mid1: "11",
      mid2: "12",
      mid3: "13",
      mid4: "14",
      mid5: "15",
    },
    ids: { advertiserId: "1703", gid: "7301", aid: "7401" },
    link: { callback: "another", promotion_id: "7401", req_id: REQUEST_ID },
    key: "clue-2",
  },
  {
    scene: "WeChat moments and channels",
    platform: "tencent",
    query: { gdt_vid: "wx0trace", weixinadinfo: "601.wx0trace.1.1" },
    ids: { aid: "601" },
    link: { click_id: "c-1", req_id: "wx0trace", aid: "601" },
    key: "wx0trace",
  },
  {
    scene: "Tencent outside WeChat",
    platform: "tencent",
    query: { qz_gdt: "24oi6xq2aaakvagnqu7a" },
    ids: {},
    link: { click_id: "24oi6xq2aaakvagnqu7a" },
    key: "24oi6xq2aaakvagnqu7a",
  },
  {
    scene: "Baidu landing page or mini-game",
    platform: "baidu",
    query: { bd_vid: "uANBIyIxUhNLgvw" },
    ids: {},
    link: { bd_vid: "uANBIyIxUhNLgvw" },
    key: "uANBIyIxUhNLgvw",
  },
];

/** Launches without an ad, though some of their keys look like one. */
export const ORGANIC_QUERIES: readonly (readonly [why: string, query: JsonObject])[] = [
  ["the host app alone", { aid: "1128" }],
  ["another host app, and what else a launch has", { aid: "2329", scene: "991020", creativetype: "15", csite: "0" }],
  ["a session of Kuaishou without an ad", { gsid: "ab936bc25b40847e6082747cebe9119f" }],
  ["an account that could be anybody's", { account_id: "27202539", campaign_id: "2015512998" }],
  ["a request", { requestid: REQUEST_ID, aid: "1128" }],
  ["an id that has many meanings", { adid: "1" }],
  ["unreplaced macros", { clickid: "__CLICKID__", projectid: "__PROJECT_ID__", promotionid: "__PROMOTION_ID__" }],
  ["ad_params without a key of an ad", { ad_params: '{"is_soft_ad":0,"aid":1128,"callback":"x"}' }],
  ["ad_params that is empty", { ad_params: "" }],
];
