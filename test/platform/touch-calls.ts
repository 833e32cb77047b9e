import type { Touch, TouchKind } from "../../src/domain/attribution/touch.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { md5 } from "../../src/domain/user/identity.ts";

export const AT_MS = Date.UTC(2026, 10, 15, 8, 30);
export const CLICKED_MS = AT_MS - 3_123;
export const MS = String(CLICKED_MS);
export const SECONDS = MS.slice(0, 10);

export const HASH = "5d41402abc4b2a76b9719d911017c592";
export const OAID = "1fe9a970-efbb-29e0-0bdd-f5dbbf751ab5";
export const OAID_MD5 = "83e9158a4fb54c0e1ef0b238639a23ae";
export const ANDROID = { imei: "A1000055BCDEF0", oaid: OAID, android_id: "9F3C2A7BE1D04586", mac: "ac:bc:32:9e:00:11" };
export const IMEI_MD5 = md5("a1000055bcdef0");
export const ANDROID_ID_MD5 = md5("9f3c2a7be1d04586");
const MAC_MD5 = md5("AC:BC:32:9E:00:11");
const IDFA = "AEBE52E7-03EE-455A-B3C4-E57283966239";
const CAID = "c1f0e5a2b7d84639a0b1c2d3e4f50617";
const IOS = { idfa: IDFA.toLowerCase(), caid1_md5: md5(CAID) };
export const IP = "203.0.113.9";
/** The user agents of one phone, from the browser that shows the ad and from the app that registers. */
export const BROWSER =
  "Mozilla/5.0 (Linux; Android 14; 23127PN0CC Build/UKQ1.23; wv) AppleWebKit/537.36 Mobile Safari/537.36";
export const APP = "Dalvik/2.1.0 (Linux; U; Android 14; 23127PN0CC Build/UKQ1.23)";
const IPHONE_BROWSER = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4_1 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148";
export const IPHONE_APP = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4_1 like Mac OS X) MicroMessenger/8.0.47";

const HARMONY_BROWSER =
  "Mozilla/5.0 (Phone; OpenHarmony 5.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/114.0.0.0 Safari/537.36 ArkWeb/4.1.6.1 Mobile";
const HARMONY_APP =
  "Mozilla/5.0 (Phone; OpenHarmony 5.0) AppleWebKit/537.36 ArkWeb/4.1.6.1 Mobile MicroMessenger/1.0.9";

/** The parts of a registration that matter for matching. */
export type Arrival = { adData?: JsonObject; device?: JsonObject; openId?: string; ip?: string; ua?: string };

/** A call of our link as a platform makes it, its meaning, and how a registration finds it. */
export type Call = {
  what: string;
  platform: string;
  kind?: TouchKind;
  values: Record<string, string>;
  /** Account, plan, ad, creative, placement. */
  ids: [string, string, string, string, string];
  details?: Touch["details"];
  arrival: Arrival;
  by: string[];
};

const TENCENT_CALLBACK = "http://tracking.e.qq.com/conv?cb=MTIzYWJj&conv_id=12345678";

export const CALLS: readonly Call[] = [
  {
    what: "an Android app's click at Tencent",
    platform: "tencent",
    values: {
      __ACCOUNT_ID__: "25610",
      __CAMPAIGN_ID__: "501",
      __ADGROUP_ID__: "601",
      __AD_ID__: "701",
      __CLICK_ID__: "24oi6xq2aaakvagnqu7a",
      __CLICK_TIME__: SECONDS,
      __SITE_SET_NAME__: "SITE_SET_MOBILE_UNION",

      __CALLBACK__: TENCENT_CALLBACK,
      __DEVICE_OS_TYPE__: "android",
      __CAMPAIGN_NAME__: "双11 & 更多",
      __IP__: IP,
      __MUID__: IMEI_MD5,
      __HASH_ANDROID_ID__: ANDROID_ID_MD5,
      __HASH_OAID__: OAID_MD5,
      __USER_AGENT__: BROWSER,
    },
    ids: ["25610", "501", "601", "701", "SITE_SET_MOBILE_UNION"],
    details: {
      click_id: "24oi6xq2aaakvagnqu7a",
      callback: TENCENT_CALLBACK,
      gid_name: "双11 & 更多",
      os: "android",
      ua: BROWSER,
      muid: IMEI_MD5,
      android_id_md5: ANDROID_ID_MD5,
      oaid_md5: OAID_MD5,
    },
    arrival: { adData: { gdt_vid: "24oi6xq2aaakvagnqu7a" }, device: ANDROID, ip: IP, ua: APP },
    by: ["click_key", "oaid", "android_id", "imei", "ip_ua"],
  },
  {
    what: "a mini-game's click at Tencent 3.0, which has no campaign",
    platform: "tencent",
    values: {
      __ACCOUNT_ID__: "25610",
      __ADGROUP_ID__: "601",
      __DYNAMIC_CREATIVE_ID__: "801",
      __DYNAMIC_CREATIVE_NAME__: "创意 8",
      __CLICK_TIME__: SECONDS,
      __CLICK_ID__: "wx0c",
      __REQUEST_ID__: "wx0trace",
      __WECHAT_OPEN_ID__: "oUpF8uMuAJO_M2pxb1Q9",
      __MUID__: "",
      __IP__: "",
      __PROMOTED_OBJECT_ID__: "wx8888",
      __CREATIVE_COMPONENTS_INFO__: '[{"id":1}]',
    },
    ids: ["25610", "", "601", "801", ""],
    details: {
      click_id: "wx0c",
      req_id: "wx0trace",
      wx_openid: "oUpF8uMuAJO_M2pxb1Q9",
      dynamic_creative_id: "801",
      cid_name: "创意 8",
      promoted_object_id: "wx8888",
      ctc_info: '[{"id":1}]',
    },
    arrival: { adData: { gdt_vid: "wx0trace" }, openId: "oUpF8uMuAJO_M2pxb1Q9", ip: IP, ua: APP },
    by: ["click_key", "wx_openid"],
  },
  {
    what: "an iOS app's impression at Tencent",
    platform: "tencent",
    kind: "impression",
    values: {
      __IMPRESSION_ID__: "imp-1",
      __IMPRESSION_TIME__: SECONDS,
      __MUID__: md5(IDFA),
      __DEVICE_OS_TYPE__: "ios",
      __ACCOUNT_ID__: "25610",
      __IP__: "2001:db8::9",
      __USER_AGENT__: IPHONE_BROWSER,
      __CAID__: JSON.stringify([{ caid: CAID, hash_caid: md5(CAID), version: "20220111" }]),
    },
    ids: ["25610", "", "", "", ""],
    arrival: { device: IOS, ip: "2001:0db8:0:0:0:0:0:9", ua: IPHONE_APP },
    by: ["idfa", "caid", "ip_ua"],
  },
  {
    what: "a click at Tencent from a phone with HarmonyOS and an IPv6 address",
    platform: "tencent",
    values: {
      __ACCOUNT_ID__: "25610",
      __CLICK_ID__: "c-6",
      __CLICK_TIME__: SECONDS,
      __DEVICE_OS_TYPE__: "harmony",
      __DEVICE_OS_VERSION__: "5.0",
      __IP__: "",
      __IPV6__: "2001:db8:1:2:aaaa::1",
      __USER_AGENT__: HARMONY_BROWSER,
    },
    ids: ["25610", "", "", "", ""],
    details: {
      click_id: "c-6",
      os: "harmony",
      os_version: "5.0",
      ipv6: "2001:db8:1:2:aaaa::1",
      ua: HARMONY_BROWSER,
    },
    // The phone has changed the second half of its address.
    arrival: { ip: "2001:db8:1:2:bbbb::2", ua: HARMONY_APP },
    by: ["ip_ua"],
  },
  {
    what: "a click at Kuaishou, whose callback is a whole address",
    platform: "kuaishou",
    values: {
      __ACCOUNTID__: "70127674",
      __DID__: "501",
      __AID__: "601",
      __CID__: "90071992547409931",
      __CSITE__: "5",
      __TS__: MS,
      __IMEI2__: IMEI_MD5.toUpperCase(),
      __OAID__: OAID,
      __OAID2__: OAID_MD5,
      __IDFA2__: "",
      __ANDROIDID2__: ANDROID_ID_MD5,
      __MAC2__: MAC_MD5,
      __IP__: IP,
      __CALLBACK__: "http://ad.partner.gifshow.com/track/activate?callback=DHAJASALKFyk1uCKBYCyXp-iIDS-uHDd",
    },
    ids: ["70127674", "501", "601", "90071992547409931", "5"],
    arrival: { adData: { callback: "DHAJASALKFyk1uCKBYCyXp-iIDS-uHDd", ksUnitId: "1" }, device: ANDROID },
    by: ["click_key", "imei", "oaid", "android_id", "mac"],
  },
  {
    what: "a click at ByteDance 2.0, with project and promotion",
    platform: "bytedance",
    values: {
      __ADVERTISER_ID__: "1701",
      __PROJECT_ID__: "7301",
      __PROMOTION_ID__: "7401",
      __PROJECT_NAME__: "项目",
      __MID1__: "11",
      __MID3__: "13",
      __TS__: MS,
      __CSITE__: "40001",
      __OS__: "0",
      __IP__: IP,
      __UA__: BROWSER,
      __CALLBACK_PARAM__: "B.a1_b2",
      __REQUEST_ID__: "20261115R",
      __IMEI__: IMEI_MD5,
      __OAID__: OAID,
      __ANDROIDID__: ANDROID_ID_MD5,
      __MAC1__: MAC_MD5,
      __CAMPAIGN_ID__: "501",
      __AID__: "601",
    },
    ids: ["1701", "7301", "7401", "", "40001"],
    details: {
      callback: "B.a1_b2",
      req_id: "20261115R",
      gid_name: "项目",
      project_id: "7301",
      promotion_id: "7401",
      mid1: "11",
      mid3: "13",
      os: "android",
      ua: BROWSER,
      oaid: OAID,
      imei_md5: IMEI_MD5,
      android_id_md5: ANDROID_ID_MD5,
      mac_md5: MAC_MD5,
    },
    arrival: { adData: { clue_token: "B.a1_b2" }, device: ANDROID, ip: IP, ua: APP },
    by: ["click_key", "imei", "oaid", "android_id", "mac", "ip_ua"],
  },
  {
    what: "a click at ByteDance 1.0, with campaign and plan",
    platform: "bytedance",
    values: {
      __ADVERTISER_ID__: "1701",
      __CAMPAIGN_ID__: "501",
      __AID__: "601",
      __CID__: "701",
      __TS__: MS,
      __OS__: "1",
      __IDFA__: IDFA,
      __CAID_MD5__: JSON.stringify([{ caid_md5: md5(CAID), version: "20220111" }]),
    },
    ids: ["1701", "501", "601", "701", ""],
    arrival: { device: IOS },
    by: ["idfa", "caid"],
  },
  {
    what: "a click at ByteDance with both addresses of a phone with HarmonyOS",
    platform: "bytedance",
    values: {
      __ADVERTISER_ID__: "1701",
      __PROMOTION_ID__: "7401",
      __CID__: "701",
      __CID_NAME__: "创意",
      __CTYPE__: "5",
      __UNION_SITE__: "900",
      __TS__: MS,
      __OS__: "2",
      __OAID__: OAID,
      __IP__: IP,
      __IPV4__: IP,
      __IPV6__: "2001:db8::9",
      __UA__: HARMONY_BROWSER,
    },
    ids: ["1701", "", "7401", "701", ""],
    details: {
      promotion_id: "7401",
      cid_name: "创意",
      ctype: "5",
      union_site: "900",
      os: "harmony",
      oaid: OAID,
      ipv4: IP,
      ipv6: "2001:db8::9",
      ua: HARMONY_BROWSER,
    },
    arrival: { device: { oaid: OAID }, ip: "2001:db8::1", ua: HARMONY_APP },
    by: ["oaid", "ip_ua"],
  },
  {
    what: "an app's click at Baidu",
    platform: "baidu",
    values: {
      __USER_ID__: "30412345",
      __PLAN_ID__: "501",
      __UNIT_ID__: "601",
      __IDEA_ID__: "701",
      __TS__: MS,
      __CLICK_ID__: "8f3a",
      __BD_VID__: "uANBIyIxUhNLgvw",
      __EXT_INFO__: "e".repeat(3072),
      __SIGN__: HASH,
      __IMEI_MD5__: md5(ANDROID.imei),
      __ANDROID_ID_MD5__: ANDROID_ID_MD5,
      __OAID__: OAID,
      __OAID_MD5__: OAID_MD5,
      __IP__: IP,
      __UA__: BROWSER,
    },
    ids: ["30412345", "501", "601", "701", ""],
    arrival: { adData: { bd_vid: "uANBIyIxUhNLgvw" }, device: ANDROID, ip: IP, ua: APP },
    by: ["click_key", "imei", "oaid", "android_id", "ip_ua"],
  },
  {
    what: "a click at Bilibili",
    platform: "bilibili",
    values: {
      __ACCOUNTID__: "1",
      __CAMPAIGNID__: "501",
      __UNITID__: "601",
      __CREATIVEID__: "701",
      __TS__: MS,
      __OS__: "1",
      __TRACKID__: `pbaes.${"a".repeat(480)}`,
      __IDFA__: IDFA,
      __MAC1__: MAC_MD5,
      __IP__: IP,
      __CAID__: `20211207_${HASH},20220111_${CAID}`,
    },
    ids: ["1", "501", "601", "701", ""],
    arrival: { adData: { track_id: `pbaes.${"a".repeat(480)}` }, device: { ...IOS, mac: ANDROID.mac } },
    by: ["click_key", "idfa", "mac", "caid"],
  },
  {
    what: "a click at a platform that has no file of its own",
    platform: "my_network",
    values: {
      __ADVERTISER_ID__: "1",
      __CAMPAIGN_ID__: "501",
      __AD_ID__: "601",
      __CREATIVE_ID__: "701",
      __OS__: "iOS",
      __CLICK_ID__: "c-5",
      __TS__: SECONDS,
      __IDFA__: IDFA,
      __IP__: IP,
      __UA__: IPHONE_BROWSER,
    },
    ids: ["1", "501", "601", "701", ""],
    arrival: { adData: { click_id: "c-5" }, device: IOS, ip: IP, ua: IPHONE_APP },
    by: ["click_key", "idfa", "ip_ua"],
  },
];
