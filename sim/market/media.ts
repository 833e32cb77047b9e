import { md5 } from "../../src/domain/user/identity.ts";
import type { Ad } from "./ads.ts";
import { browserAgent, type Phone } from "./device.ts";

/** A click on an ad, or an impression. */
export type Touch = {
  ad: Ad;
  /** Whole seconds: platforms report no more. */
  atMs: number;
  /** The platform's own id: click id, callback token or track id. */
  token: string;
  phone: Phone;
  openId: string;
  callbackUrl: (platform: string, token: string) => string;
};

type Macros = Record<string, string>;

const seconds = (ms: number) => String(Math.floor(ms / 1000));
const hashed = (id: string) => (id === "" ? "" : md5(id));
/** Conversions of a mini-game are reported by the click's id; only an app's click brings a callback address. */
const callbackOf = ({ ad, token, callbackUrl }: Touch) => (ad.offer === "app" ? callbackUrl(ad.platform, token) : "");

/** The values with which each platform replaces its macros. Mini-games see no ids of phones. */
export function macrosOf(touch: Touch): Macros {
  const shown = touch.ad.offer === "app" ? touch : { ...touch, phone: hidden(touch.phone) };
  switch (touch.ad.platform) {
    case "tencent":
      return tencent(shown);
    case "kuaishou":
      return kuaishou(shown);
    case "bytedance":
      return bytedance(shown);
    case "baidu":
      return baidu(shown);
    case "bilibili":
      return bilibili(shown);
    case "vivo":
      return vivo(shown);
    default:
      throw new Error(`${touch.ad.platform} calls no links.`);
  }
}

function hidden(phone: Phone): Phone {
  return { ...phone, oaid: "", imei: "", androidId: "", idfa: "", idfv: "", caid: "" };
}

function tencent(touch: Touch): Macros {
  const { ad, phone, token } = touch;
  return {
    __ACCOUNT_ID__: ad.advertiserId,
    __CAMPAIGN_ID__: ad.gid,
    __CAMPAIGN_NAME__: ad.gidName,

    __ADGROUP_ID__: ad.aid,
    __ADGROUP_NAME__: ad.aidName,
    __AD_ID__: ad.cid,
    __AD_NAME__: `${ad.aidName} picture`,
    __DYNAMIC_CREATIVE_ID__: ad.cid,
    __DYNAMIC_CREATIVE_NAME__: `${ad.aidName} picture`,
    __SITE_SET_NAME__: ad.csite,
    __CLICK_TIME__: seconds(touch.atMs),
    __IMPRESSION_TIME__: seconds(touch.atMs),

    __CLICK_ID__: token,
    __IMPRESSION_ID__: token,
    __REQUEST_ID__: `req${token}`,
    __CALLBACK__: callbackOf(touch),
    __WECHAT_OPEN_ID__: touch.openId,
    __DEVICE_OS_TYPE__: phone.os,
    __MODEL__: phone.model,
    __MUID__: hashed(phone.os === "ios" ? phone.idfa : phone.imei),
    __HASH_OAID__: hashed(phone.oaid),
    __HASH_ANDROID_ID__: hashed(phone.androidId),
    __CAID__: phone.caid === "" ? "" : JSON.stringify([{ caid: phone.caid, version: "20220111" }]),
    __IP__: phone.ip,
    __USER_AGENT__: browserAgent(phone),
  };
}

function kuaishou(touch: Touch): Macros {
  const { ad, phone, token } = touch;
  return {
    __ACCOUNTID__: ad.advertiserId,
    __DID__: ad.gid,
    __DNAME__: ad.gidName,
    __AID__: ad.aid,
    __CID__: ad.cid,
    __CSITE__: ad.csite,
    __TS__: String(touch.atMs),
    __LLSID__: `ll${token}`,
    __CALLBACK__: touch.callbackUrl("kuaishou", token),
    __IMEI2__: hashed(phone.imei),
    __OAID__: phone.oaid,
    __OAID2__: hashed(phone.oaid),
    __IDFA2__: hashed(phone.idfa),
    __ANDROIDID2__: hashed(phone.androidId),
    __MAC2__: "",
    __KENYID_CAA__:
      phone.caid === ""
        ? ""
        : JSON.stringify([{ kenyId: phone.caid, kenyId_MD5: md5(phone.caid), version: "20220111" }]),
    __MODEL__: phone.model,
    __IP__: phone.ip,
    __UA__: browserAgent(phone),
  };
}

function bytedance(touch: Touch): Macros {
  const { ad, phone, token } = touch;
  const version2 = { __PROJECT_ID__: ad.gid, __PROJECT_NAME__: ad.gidName, __PROMOTION_ID__: ad.aid };
  const ids =
    ad.version === "2.0"
      ? { ...version2, __PROMOTION_NAME__: ad.aidName, __MID1__: `7${ad.cid}`, __CAMPAIGN_ID__: "0", __AID__: "0" }
      : { __PROJECT_ID__: "0", __PROMOTION_ID__: "0", __CAMPAIGN_ID__: ad.gid, __AID__: ad.aid };
  return {
    ...ids,
    __ADVERTISER_ID__: ad.advertiserId,
    __CID__: ad.cid,
    __CID_NAME__: `${ad.aidName} picture`,
    __CTYPE__: "15",
    __CSITE__: ad.csite,
    __TS__: String(touch.atMs),
    __REQUEST_ID__: `rq${token}`,
    __CALLBACK_PARAM__: token,
    __OS__: phone.os === "ios" ? "1" : "0",
    __IMEI__: hashed(phone.imei),
    __IDFA__: phone.idfa,
    __IDFA_MD5__: hashed(phone.idfa),
    __OAID__: phone.oaid,
    __OAID_MD5__: hashed(phone.oaid),
    __ANDROIDID__: hashed(phone.androidId),
    __MAC1__: "",
    __CAID_MD5__: phone.caid === "" ? "" : JSON.stringify([{ caid_md5: md5(phone.caid), version: "20220111" }]),
    __MODEL__: phone.model,
    __IP__: phone.ip,
    __UA__: browserAgent(phone),
  };
}

function baidu(touch: Touch): Macros {
  const { ad, phone, token } = touch;
  return {
    __USER_ID__: ad.advertiserId,
    __PLAN_ID__: ad.gid,
    __UNIT_ID__: ad.aid,
    __IDEA_ID__: ad.cid,
    __CLICK_ID__: token,
    __BD_VID__: ad.offer === "mini_game" ? token : "",
    __CALLBACK_URL__: callbackOf(touch),
    __EXT_INFO__: "",
    __IMEI_MD5__: hashed(phone.imei),
    __ANDROID_ID_MD5__: hashed(phone.androidId),
    __TS__: String(touch.atMs),
    __OS_TYPE__: phone.os === "ios" ? "1" : "0",
    __IMEI__: hashed(phone.imei),
    __IDFA__: phone.idfa,
    __OAID__: phone.oaid,
    __OAID_MD5__: hashed(phone.oaid),
    __ANDROIDID__: hashed(phone.androidId),
    __CAID__: phone.caid === "" ? "" : JSON.stringify([{ caid: [{ caid: phone.caid, version: "20220111" }] }]),
    __DEVICE_INFO__: phone.model,
    __IP__: phone.ip,
    __UA__: browserAgent(phone),
  };
}

function bilibili(touch: Touch): Macros {
  const { ad, phone, token } = touch;
  return {
    __ACCOUNTID__: ad.advertiserId,
    __CAMPAIGNID__: ad.gid,
    __UNITID__: ad.aid,
    __CREATIVEID__: ad.cid,
    __TRACKID__: token,
    __CALLBACKURL__: "",
    __TS__: String(touch.atMs),
    __OS__: phone.os === "ios" ? "1" : "0",
    __IMEI__: hashed(phone.imei),
    __IDFA__: phone.idfa,
    __OAID__: phone.oaid,
    __ANDROIDID__: hashed(phone.androidId),
    __MAC1__: "",
    __CAID__: phone.caid === "" ? "" : `20220111_${phone.caid}`,
    __MODEL__: phone.model,
    __IP__: phone.ip,
    __UA__: browserAgent(phone),
  };
}

function vivo(touch: Touch): Macros {
  const { ad, phone, token } = touch;
  return {
    __REQUESTID__: token,
    __CREATIVEID__: ad.cid,
    __ADID__: ad.aid,
    __ADVERTISERID__: ad.advertiserId,
    __TS__: String(touch.atMs),
    __OS__: "0",
    __IMEI__: hashed(phone.imei),
    __OAID__: hashed(phone.oaid),
    __UA__: browserAgent(phone),
  };
}

/** Macros that identify the touch and the device. */
const ID_MACROS =
  /^__(?:CLICK_ID|REQUEST_ID|CALLBACK|CALLBACK_PARAM|CALLBACK_URL|BD_VID|TRACKID|REQUESTID|WECHAT_OPEN_ID|MUID|HASH_\w+|CAID\w*|IMEI\w*|OAID\w*|IDFA\w*|ANDROIDID\w*|ANDROID_ID_MD5|KENYID_CAA|LLSID)__$/;
const NAME_MACROS = /^__(?:\w+_NAME|DNAME|MODEL|DEVICE_INFO|MID1|MAC1|MAC2)__$/;

/** Removes values, as if the platform had not replaced those macros. */
export function unreplaced(macros: Macros, which: "names" | "ids"): Macros {
  const pattern = which === "ids" ? ID_MACROS : NAME_MACROS;
  return Object.fromEntries(Object.entries(macros).filter(([name]) => !pattern.test(name)));
}
