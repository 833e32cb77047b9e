import { createCipheriv, createHash } from "node:crypto";
import type { Platforms } from "../../../sim/platforms/platforms.ts";
import { but, changed, NOW_MS, NOW_SECONDS, queryOf } from "../calls.ts";
import { type PlatformCall, posted, type Sent } from "./call.ts";

const md5 = (text: string) => createHash("md5").update(text).digest("hex");

const OPPO_PAGE = "OPPO's document of conversions, v2.6; braid2048/sugar conv/handler/oppoHap";

function oppo(
  { oppo: { url, salt, aesKey } }: Platforms,
  { oaid = "raw-oaid", ...fields }: Record<string, unknown>,
): Sent {
  const cipher = createCipheriv("aes-128-ecb", Buffer.from(aesKey, "base64"), null);
  const ouId = cipher.update(String(oaid), "utf8", "base64") + cipher.final("base64");
  const body = JSON.stringify({ ouId, ...fields });
  const signature = md5(`${body}${NOW_MS}${salt}`);
  const headers = { "content-type": "application/json;charset=UTF-8", signature, timestamp: String(NOW_MS) };
  return { method: "POST", url: `${url}/api/uploadActiveData`, headers, body };
}

const OPPO_PAY = {
  pkg: "com.example.game",
  dataType: 3,
  timestamp: NOW_MS,
  channel: 1,
  type: 2,
  appType: 2,
  ascribeType: 1,
  adId: 101_097_648,
  payAmount: 10_000,
};
/** The platform attributes it by itself: the ad is not known. */
const { ascribeType: _type, adId: _ad, ...OPPO_OWN } = OPPO_PAY;

export const OPPO_CALLS: readonly PlatformCall[] = [
  {
    shows: "a game's payment in fen, with the ad",
    mark: "certain",
    source: OPPO_PAGE,
    send: (platforms) => oppo(platforms, OPPO_PAY),
    answer: { status: 200, json: { ret: 0 } },
    counts: { key: "raw-oaid", code: "3", cents: 10_000, atMs: NOW_MS },
  },
  {
    shows: "a payment that the platform attributes by itself",
    mark: "certain",
    source: OPPO_PAGE,
    send: (platforms) => oppo(platforms, OPPO_OWN),
    answer: { json: { ret: 0 } },
    counts: { cents: 10_000 },
  },
  {
    shows: "a payment without the kind of app",
    mark: "likely",
    source: OPPO_PAGE,
    send: (platforms) => oppo(platforms, but(OPPO_PAY, "appType", undefined)),
    answer: { json: { ret: 1 } },
  },
  {
    shows: "the advertiser's attribution without the ad",
    mark: "certain",
    source: OPPO_PAGE,
    send: (platforms) => oppo(platforms, but(OPPO_PAY, "adId", undefined)),
    answer: { json: { ret: 1 } },
  },
  {
    shows: "an amount in yuan",
    mark: "certain",
    source: OPPO_PAGE,
    send: (platforms) => oppo(platforms, { ...OPPO_PAY, payAmount: 6.5 }),
    answer: { json: { ret: 1 } },
  },
  {
    shows: "a signature over another body",
    mark: "likely",
    source: "a caller of v3.20",
    send: (platforms) => ({ ...oppo(platforms, OPPO_PAY), body: JSON.stringify(OPPO_PAY) }),
    answer: { status: 403, json: { ret: 403 } },
  },
];

const VIVO_CALLER = "three callers of /openapi/v2/advertiser/behavior/upload";
const VIVO_ITEM = { userIdType: "OAID", userId: "raw-oaid", cvType: "ACTIVATION", cvTime: NOW_MS, clickId: "click-1" };
const VIVO = {
  srcType: "app",
  pkgName: "com.example.game",
  srcId: "ds-202600001",
  dataFrom: "1",
  dataFor: "0",
  dataList: [VIVO_ITEM],
};

function vivo({ vivo: { url, tokens } }: Platforms, version: "v1" | "v2", body: object): Sent {
  const query = queryOf({
    access_token: tokens.accessToken,
    timestamp: NOW_MS,
    nonce: "4f2b",
    advertiser_id: "74e9801a",
  });
  return posted(`${url}/openapi/${version}/advertiser/behavior/upload?${query}`, body);
}

const VIVO_REFUSED = { json: { code: 70100 } };

export const VIVO_CALLS: readonly PlatformCall[] = [
  {
    shows: "an activation by its click, second version",
    mark: "likely",
    source: VIVO_CALLER,
    send: (platforms) => vivo(platforms, "v2", VIVO),
    answer: { json: { code: 0 } },
    counts: { key: "click-1", code: "ACTIVATION", cents: null, atMs: NOW_MS },
  },
  {
    shows: "an amount with PAY_ONETIME, as a text in fen",
    mark: "likely",
    source: VIVO_CALLER,
    send: (platforms) => {
      const item = { ...VIVO_ITEM, cvType: "PAY_ONETIME", extParam: { payAmount: "100" } };
      return vivo(platforms, "v2", { ...VIVO, dataList: [item] });
    },
    answer: { json: { code: 0 } },
    counts: { code: "PAY_ONETIME", cents: 100 },
  },
  {
    shows: "a mini-game's player by open id",
    mark: "likely",
    source: VIVO_CALLER,
    send: (platforms) => {
      const item = { ...VIVO_ITEM, userIdType: "OPENID", userId: "o-1", cvType: "WECHATGAME_REGISTER" };
      return vivo(platforms, "v2", { ...VIVO, dataList: [item] });
    },
    answer: { json: { code: 0 } },
    counts: { code: "WECHATGAME_REGISTER" },
  },
  {
    shows: "vivo's own event without its click",
    mark: "likely",
    source: VIVO_CALLER,
    send: (platforms) => vivo(platforms, "v2", but(VIVO, "dataList.0.clickId", undefined)),
    answer: VIVO_REFUSED,
  },
  {
    shows: "a fuzzy match without a click",
    mark: "likely",
    source: VIVO_CALLER,
    send: (platforms) => vivo(platforms, "v2", but({ ...VIVO, dataFor: "1" }, "dataList.0.clickId", undefined)),
    answer: { json: { code: 0 } },
    counts: { key: "raw-oaid" },
  },
  {
    shows: "an activation by its request, first version",
    mark: "certain",
    source: "callers of /openapi/v1/advertiser/behavior/upload",
    send: (platforms) => {
      const { clickId: _, ...item } = VIVO_ITEM;
      const dataList = [{ ...item, requestId: "r-1", creativeId: "77" }];
      return vivo(platforms, "v1", { srcType: "APP", pkgName: VIVO.pkgName, srcId: VIVO.srcId, dataList });
    },
    answer: { json: { code: 0 } },
    counts: { key: "r-1", code: "ACTIVATION" },
  },
  {
    shows: "no items, answered as a caller recorded it",
    mark: "certain",
    source: "a recorded answer: code 70100",
    send: (platforms) => vivo(platforms, "v1", { ...VIVO, dataList: [] }),
    answer: VIVO_REFUSED,
  },
  {
    shows: "a page without its address",
    mark: "certain",
    source: "braid2048/sugar conv/handler/vivo",
    send: (platforms) => vivo(platforms, "v1", { ...VIVO, srcType: "Web" }),
    answer: VIVO_REFUSED,
  },
];

const XIAOMI_LOG_CALLER = "a PHP and a Java caller of /global/log";
const XIAOMI_CALLBACK_CALLER = "a Java and a Lua caller of /api/callback";
const TOLD = `oaid=raw-oaid&conv_time=${NOW_MS}&client_ip=203.0.113.9`;

function xiaomiLog({ xiaomi: { url, appId, customerId, signKey, encryptKey } }: Platforms, conv_type: string): Sent {
  const bytes = Buffer.from(`${TOLD}&sign=${md5(`${signKey}&${encodeURIComponent(TOLD)}`)}`);
  const key = Buffer.from(encryptKey);
  const info = Buffer.from(bytes.map((byte, at) => byte ^ key[at % key.length]!)).toString("base64");
  const query = queryOf({ appId, info, conv_type, customer_id: customerId });
  return { method: "GET", url: `${url}/global/log?${query}` };
}

const ANSWER = { callback: "FqK3xF8W", oaid: "12a7f9dec57adda4", convType: "APP_ACTIVE_NEW", conv_time: NOW_MS };

type Values = Record<string, string | number>;

/** The sign covers callback, device and time; a recorded call of the Lua caller proves it. */
function xiaomiCallback(
  { xiaomi: { url, callbackKey } }: Platforms,
  values: Values,
  { convType, ...signed } = values,
): Sent {
  const sign = md5(queryOf(signed) + callbackKey);
  return { method: "GET", url: `${url}/api/callback?${queryOf({ ...signed, convType: convType! })}&sign=${sign}` };
}

export const XIAOMI_CALLS: readonly PlatformCall[] = [
  {
    shows: "a payment by the device's id, with success 1",
    mark: "certain",
    source: XIAOMI_LOG_CALLER,
    send: (platforms) => xiaomiLog(platforms, "APP_PAY"),
    answer: { json: { code: 1 } },
    counts: { key: "raw-oaid", code: "APP_PAY", atMs: NOW_MS },
  },
  {
    shows: "a new activation by the click's callback, with success 0",
    mark: "likely",
    source: XIAOMI_CALLBACK_CALLER,
    send: (platforms) => xiaomiCallback(platforms, ANSWER),
    answer: { json: { code: 0 } },
    counts: { key: "FqK3xF8W", code: "APP_ACTIVE_NEW", atMs: NOW_MS },
  },
  {
    shows: "a callback without a device",
    mark: "likely",
    source: XIAOMI_CALLBACK_CALLER,
    send: (platforms) => xiaomiCallback(platforms, changed(ANSWER, "oaid", undefined)),
    answer: { json: { code: -1 } },
  },
  {
    shows: "a callback's time in seconds",
    mark: "likely",
    source: XIAOMI_CALLBACK_CALLER,
    send: (platforms) => xiaomiCallback(platforms, { ...ANSWER, conv_time: NOW_SECONDS }),
    answer: { json: { code: -1 } },
  },
  {
    shows: "a sign that covers the event as well",
    mark: "certain",
    source: XIAOMI_CALLBACK_CALLER,
    send: ({ xiaomi: { url, callbackKey } }) => {
      const query = queryOf(ANSWER);
      return { method: "GET", url: `${url}/api/callback?${query}&sign=${md5(query + callbackKey)}` };
    },
    answer: { json: { code: -1 } },
  },
  {
    shows: "a callback that is not signed",
    mark: "likely",
    source: XIAOMI_CALLBACK_CALLER,
    send: ({ xiaomi }) => ({ method: "GET", url: `${xiaomi.url}/api/callback?${queryOf(ANSWER)}` }),
    answer: { json: { code: -1 } },
  },
];
