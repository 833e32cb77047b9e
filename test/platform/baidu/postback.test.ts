import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { baiduPostback } from "../../../src/platform/baidu/postback.ts";
import type { ReplyVerdict } from "../../../src/platform/connector/connector.ts";
import { skips, tells } from "../connector-cases.ts";
import {
  ANDROID,
  ASKED,
  AT_MS,
  AT_SECONDS,
  bodyOf,
  type CodeTable,
  DEDUPE_ID,
  forgedCallbacks,
  IDFA,
  IOS,
  NOBODY,
  NOW_MS,
  OAID,
  OAID_MD5,
  ODD,
  oddCallbacks,
  queryOf,
  reply,
  using,
} from "../sample.ts";

const md5 = (text: string) => createHash("md5").update(text).digest("hex");

const AKEY = "MjE0ODg=";
const ACCOUNT = { token: "secret-token", page: "https://game.example/play", akey: AKEY };
const CALLBACK = "http://ocpc.baidu.com/ocpcapi/cb/actionCb?a_type={{ATYPE}}&a_value={{AVALUE}}&s=1&ext_info=a%2Bb";
const BY_VID = { adData: { bd_vid: "uANBIyIxUhNLgvw" } };
const BY_CALLBACK = { adData: { callback: CALLBACK } };
const baidu = using(baiduPostback, ACCOUNT);
const item = (...call: Parameters<typeof baidu.request>) => bodyOf(baidu.request(...call)).conversionTypes[0];

const CODES: CodeTable = {
  activate: "4",
  register: "25",
  pay: "26",
  twice: "-",
  key_active: "-",
  withdraw_iaa: "-",
  create_role: "-",
  login: "-",
  customer_effective: "18",
  wx_launch: "112",
  re_active: "20",
  retention_2d: "-",
  retention_3d: "-",
  retention_4d: "-",
  retention_5d: "-",
  retention_6d: "-",
  retention_7d: "-",
  retention_14d: "-",
  retention_30d: "-",
  service_pay_success: "10",
  complete_order: "14",
  first_day_pay: "26",
  first_pay: "26",
  ad_quality: "-",
  game_action: "-",
  action_valid: "-",
};

const APP_CODES: CodeTable = {
  activate: "activate",
  register: "register",
  pay: "orders",
  twice: "retain_1day",
  key_active: "key_action",
  withdraw_iaa: "-",
  create_role: "user_defined",
  login: "log_in",
  customer_effective: "-",
  wx_launch: "-",
  re_active: "deep_page_access",
  retention_2d: "retain_2day",
  retention_3d: "retain_3day",
  retention_4d: "retain_4day",
  retention_5d: "retain_5day",
  retention_6d: "retain_6day",
  retention_7d: "retain_7day",
  retention_14d: "retain_14day",
  retention_30d: "-",
  service_pay_success: "orders",
  complete_order: "order_submit_success",
  first_day_pay: "orders",
  first_pay: "orders",
  ad_quality: "key_action",
  game_action: "key_action",
  action_valid: "derived_event",
};

tells("by bd_vid, Baidu", CODES, { ...baidu, by: BY_VID, told: (change) => item(change).newType, as: Number });

tells("by callback, Baidu", APP_CODES, {
  ...baidu,
  by: BY_CALLBACK,
  told: (change) => queryOf(baidu.request(change)).a_type,
});

test("each interface has its own codes of the account", () => {
  const own = { codes: '{"login":"68"}', codes_app: '{"login":"follow_success"}' };
  expect(item({ ...BY_VID, eventType: "login" }, own).newType).toBe(68);
  expect(queryOf(baidu.request({ ...BY_CALLBACK, eventType: "login" }, own)).a_type).toBe("follow_success");
  expect(baidu.reason({ ...BY_VID, eventType: "login" }, { codes: '{"login":"x"}' })).not.toBe("");
});

test("by bd_vid the time is in seconds, the value in fen, and the id is the same in every attempt", () => {
  const request = baidu.request({ ...BY_VID, eventType: "pay", cents: 600 });
  expect(request.url).toBe("https://ocpc.baidu.com/ocpcapi/api/uploadConvertData");
  expect(bodyOf(request)).toEqual({
    token: "secret-token",
    conversionTypes: [
      {
        logidUrl: "https://game.example/play?bd_vid=uANBIyIxUhNLgvw",
        newType: 26,
        convertTime: AT_SECONDS,
        convertValue: 600,
        deviceType: 2,
        outerEventId: DEDUPE_ID,
        outerEventType: "custom_dedup",
      },
    ],
  });
  expect(item(BY_VID)).not.toHaveProperty("convertValue");
});

test.each([
  ["an imei, hashed as it is read", ANDROID, {}, { deviceType: 0, deviceId: md5("A1000055BCDEF0") }],
  ["an idfa", IOS, {}, { deviceType: 1, deviceId: IDFA }],
  ["the click's imei", NOBODY, { os: "android", imei_md5: md5("i") }, { deviceType: 0, deviceId: md5("i") }],
])("by bd_vid the device is identified by %s", (_, user, brought, device) => {
  expect(item({ user, adData: { ...BY_VID.adData, ...brought } })).toMatchObject(device);
});

test.each([
  ["https://g.example/", "https://g.example/?bd_vid=v"],
  ["https://g.example/?a=1", "https://g.example/?a=1&bd_vid=v"],
  ["https://g.example/?a=1#top", "https://g.example/?a=1&bd_vid=v"],
])("the page %s becomes %s", (page, logidUrl) => {
  expect(item({ adData: { bd_vid: "v" } }, { page }).logidUrl).toBe(logidUrl);
});

test("odd characters in a bd_vid arrive unchanged", () => {
  const { logidUrl } = item({ adData: { bd_vid: ODD } });
  expect(new URL(logidUrl).searchParams.get("bd_vid")).toBe(ODD.toWellFormed());
});

test("a page that is too long for Baidu is not sent", () => {
  expect(baidu.reason({ adData: { bd_vid: "v".repeat(1024) } })).toContain("1024");
});

/** The address without its sign, and whether the sign at its end is valid. */
function signedUrl(url: string): { unsigned: string; isSigned: boolean } {
  const [, unsigned = "", sign] = /^(.*)&sign=([0-9a-f]{32})$/.exec(url) ?? [];
  return { unsigned, isSigned: sign === md5(unsigned + AKEY) };
}

test("a callback is filled in, gets the time in seconds, and ends with its sign", () => {
  const { unsigned, isSigned } = signedUrl(baidu.request({ ...BY_CALLBACK, eventType: "pay", cents: 600 }).url);
  const filled = "http://ocpc.baidu.com/ocpcapi/cb/actionCb?a_type=orders&a_value=600&s=1&ext_info=a%2Bb";
  expect(unsigned).toBe(`${filled}&a_time=${AT_SECONDS}&join_type=ip`);
  expect(isSigned).toBe(true);
});

test.each([
  "https://als.baidu.com/cb/actionCb?a_type={{ATYPE}}&a_value={{AVALUE}}&x=1",
  "https://als.baidu.com/cb/actionCb?a_type=%7B%7BATYPE%7D%7D&a_value=%7b%7bAVALUE%7d%7d&x=1",
  encodeURIComponent("https://als.baidu.com/cb/actionCb?a_type={{ATYPE}}&a_value={{AVALUE}}&x=1"),
  "https://als.baidu.com/cb/actionCb?x=1",
  "https://als.baidu.com/cb/actionCb?x=1#top",
  "https://ALS.baidu.com:443/cb/actionCb?x=1&y=中文",
])("the callback %s is filled in and signed as it is sent", (callback) => {
  const { url } = baidu.request({ adData: { callback }, eventType: "register" });
  expect(queryOf({ method: "GET", url, headers: {} })).toMatchObject({ a_type: "register", a_value: "0", x: "1" });
  expect(signedUrl(url).isSigned).toBe(true);
  expect(new URL(url).href).toBe(url);
});

test("Baidu never gets a time in the future", () => {
  const told = queryOf(baidu.request({ ...BY_CALLBACK, atMs: NOW_MS + 3_600_000 }));
  expect(told.a_time).toBe(String(Math.floor(NOW_MS / 1000)));
  expect(queryOf(baidu.request({ ...BY_CALLBACK, atMs: AT_MS })).a_time).toBe(String(AT_SECONDS));
});

test.each([
  ["oaid", ANDROID, { oaid: OAID, imei_md5: md5("A1000055BCDEF0"), bd_vid: "v" }],
  ["oaid", ANDROID, { oaid_md5: OAID_MD5.toUpperCase() }],
  ["imei", ANDROID, { oaid: "other", imei_md5: md5("A1000055BCDEF0") }],
  ["android_id", ANDROID, { android_id_md5: md5("9f3c2a7be1d04586") }],
  ["idfa", IOS, { idfa: IDFA.toLowerCase() }],
  ["bd_vid", ANDROID, { bd_vid: "v" }],
  ["bd_vid", NOBODY, { bd_vid: "v", oaid: OAID }],
  ["ip", ANDROID, { oaid: "other" }],
  ["ip", NOBODY, { oaid: OAID }],
])("the user was found by %s", (joinType, user, brought) => {
  const adData = { ...BY_CALLBACK.adData, ...brought };
  expect(queryOf(baidu.request({ user, adData })).join_type).toBe(joinType);
});

test("the parameter of the matched id can have another name", () => {
  const told = queryOf(baidu.request(BY_CALLBACK, { join_type_name: "cb_join_type" }));
  expect(told).toMatchObject({ cb_join_type: "ip" });
  expect(told).not.toHaveProperty("join_type");
});

test("ad revenue is a key action measured in fen", () => {
  const change = { ...BY_CALLBACK, eventType: "ad_quality" } as const;
  expect(queryOf(baidu.request({ ...change, cents: 31 }))).toMatchObject({ action_type: "2", action_value: "31" });
  expect(queryOf(baidu.request(change))).not.toHaveProperty("action_type");
});

test.each([
  ["app", { callback: CALLBACK, bd_vid: "v" }, {}, "GET", false],
  ["bd_vid", { bd_vid: "v" }, {}, "POST", true],
  ["bd_vid", { callback: CALLBACK, bd_vid: "v" }, { route: "bd_vid" }, "POST", true],
  ["app", { callback: CALLBACK }, { route: "app" }, "GET", false],
] as const)("the route %s is taken with %j and %j", (_, adData, own, method, dedupes) => {
  expect(baidu.request({ adData }, own).method).toBe(method);
  expect(baidu.dedupes({ adData }, own)).toBe(dedupes);
});

skips(baidu, [
  [{}, {}, "The touch brought neither a callback nor a bd_vid."],
  [BY_VID, { token: "" }, "The account has no `token`."],
  [BY_VID, { page: "" }, "The account has no `page`."],
  [BY_CALLBACK, { akey: "" }, "The account has no `akey`."],
  [BY_VID, { route: "app" }, "The touch brought no callback."],
  [BY_VID, { route: "fax" }, "The account's `route` must be auto, bd_vid or app."],
]);

test.each(forgedCallbacks("ocpc.baidu.com"))("the forged callback %s is not called", (callback) => {
  expect(baidu.reason({ adData: { callback } })).toBe("The callback's host is not one of the platform's.");
});

test.each(oddCallbacks("als.baidu.com"))("the callback %j is not called", (callback) => {
  expect(baidu.reason({ adData: { callback } })).toBe("The callback is not an http address.");
});

test.each<[number, ReplyVerdict["kind"]]>([
  [0, "accepted"],
  ...[100, 101, 102, 103, 104, 105, 110].map((code): [number, "permanent"] => [code, "permanent"]),
  [199, "retry"],
])("the callback's error code %i is %s", (error_code, kind) => {
  expect(baiduPostback.read(reply({ error_code, error_msg: "x" }), ASKED).kind).toBe(kind);
});

test.each<[number, ReplyVerdict["kind"]]>([
  [0, "accepted"],
  [1, "permanent"],
  [2, "permanent"],
  [3, "token"],
  [4, "retry"],
  [9, "retry"],
])("the upload's status %i is %s", (status, kind) => {
  const header = { status, desc: "d", errors: [{ code: 2001, message: "bad url", position: "0" }] };
  const verdict = baiduPostback.read(reply({ header }), ASKED);
  expect(verdict.kind).toBe(kind);
  if (verdict.kind !== "accepted") expect(verdict.reason).toBe(`The platform answered ${status}: 2001 bad url.`);
});
