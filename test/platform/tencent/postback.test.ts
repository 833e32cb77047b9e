import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/domain/json.ts";
import type { ReplyVerdict } from "../../../src/platform/connector/connector.ts";
import { tencentPostback } from "../../../src/platform/tencent/postback.ts";
import { reads } from "../connector-cases.ts";
import {
  ANDROID,
  ASKED,
  AT_SECONDS,
  bodyOf,
  type CodeTable,
  DEDUPE_ID,
  forgedCallbacks,
  IDFA,
  IOS,
  NOBODY,
  NONCE,
  NOW_MS,
  OAID,
  OAID_MD5,
  ODD,
  oddCallbacks,
  reply,
  rowsOf,
  using,
} from "../sample.ts";

const md5 = (text: string) => createHash("md5").update(text).digest("hex");

const CALLBACK = "http://tracking.e.qq.com/conv?cb=MTIzYWJj&conv_id=12345678";
const SIGNED_CALLBACK = "https://api.e.qq.com/conv?cb=MTIz%2BYWJj&conv_id=12345678";
const BY_CALLBACK = { adData: { callback: CALLBACK, click_id: "c-1" } };
const WECHAT = { wechat_access_token: "wx-token", user_action_set_id: "1110" };
const tencent = using(tencentPostback, {});
const action = (...call: Parameters<typeof tencent.request>) => bodyOf(tencent.request(...call)).actions[0];

const CODES: CodeTable = {
  activate: "ACTIVATE_APP",
  register: "REGISTER",
  pay: "PURCHASE",
  twice: "START_APP 1",
  key_active: "CUSTOM key_active",
  withdraw_iaa: "UNSUBSCRIBE_SERVICE",
  create_role: "CREATE_ROLE",
  login: "LOGIN",
  customer_effective: "CONFIRM_EFFECTIVE_LEADS",
  wx_launch: "START_APP",
  re_active: "RE_ACTIVE",
  retention_2d: "START_APP 2",
  retention_3d: "START_APP 3",
  retention_4d: "START_APP 4",
  retention_5d: "START_APP 5",
  retention_6d: "START_APP 6",
  retention_7d: "START_APP 7",
  retention_14d: "-",
  retention_30d: "-",
  service_pay_success: "PURCHASE",
  complete_order: "COMPLETE_ORDER",
  first_day_pay: "PURCHASE",
  first_pay: "PURCHASE",
  ad_quality: "AD_PURCHASE",
  game_action: "QUEST",
  action_valid: "CUSTOM action_valid",
};

test.each(rowsOf(CODES))("Tencent gets %s as %s", (eventType, told) => {
  const change = { ...BY_CALLBACK, eventType };
  if (told === "-") {
    expect(tencent.reason(change)).toBe(`The platform has no code for ${eventType}.`);
    return;
  }
  const { action_type, custom_action, action_param } = action(change);
  const days = action_param?.length_of_stay;
  expect([action_type, custom_action, days].filter((part) => part !== undefined).join(" ")).toBe(told);
  expect(action_param?.claim_type).toBe(days === undefined ? undefined : 4);
});

test.each([
  ['{"key_active":"CUSTOM:level_10"}', { action_type: "CUSTOM", custom_action: "level_10" }],
  ['{"key_active":"UPDATE_LEVEL"}', { action_type: "UPDATE_LEVEL" }],
])("an account's own codes %s take precedence over the table's", (codes, told) => {
  expect(action({ ...BY_CALLBACK, eventType: "key_active" }, { codes })).toMatchObject(told);
  expect(action({ ...BY_CALLBACK, eventType: "register" }, { codes })).toMatchObject({ action_type: "REGISTER" });
});

test("a next day under another name has no length of stay", () => {
  const told = action({ ...BY_CALLBACK, eventType: "twice" }, { codes: '{"twice":"ONE_DAY_LEAVE"}' });
  expect(told).not.toHaveProperty("action_param");
});

test.each<[string, string]>([
  ['{"activate":""}', "The platform has no code for activate."],
  ["{", "The account's `codes` must be a JSON object of texts."],
  ["[]", "The account's `codes` must be a JSON object of texts."],
  ['{"pay":{}}', "The account's `codes` must be a JSON object of texts."],
])("with the codes %s nothing is sent: %s", (codes, reason) => {
  expect(tencent.reason(BY_CALLBACK, { codes })).toBe(reason);
});

test("an action has its time in seconds, its value in fen, and the same id in every attempt", () => {
  const { actions } = bodyOf(tencent.request({ ...BY_CALLBACK, eventType: "pay", cents: 4000 }));
  expect(actions).toEqual([
    {
      outer_action_id: DEDUPE_ID,
      action_time: AT_SECONDS,
      action_type: "PURCHASE",
      action_param: { value: 4000 },
      trace: { click_id: "c-1" },
    },
  ]);
});

test("a value of zero is sent, a missing one is not", () => {
  expect(action({ ...BY_CALLBACK, cents: 0 }).action_param).toEqual({ value: 0 });
  expect(action(BY_CALLBACK)).not.toHaveProperty("action_param");
});

test("ad revenue is the user's arpu as well", () => {
  const change = { ...BY_CALLBACK, eventType: "ad_quality", cents: 35 } as const;
  expect(action(change).action_param).toEqual({ value: 35, arpu: 35 });
  expect(action({ ...change, cents: null })).not.toHaveProperty("action_param");
});

test("the field for deduplication can have another name", () => {
  const told = action(BY_CALLBACK, { dedupe_field: "external_action_id" });
  expect(told).toMatchObject({ external_action_id: DEDUPE_ID });
  expect(told).not.toHaveProperty("outer_action_id");
});

test.each([CALLBACK, SIGNED_CALLBACK, "https://api.e.qq.com/v3.0/user_actions/add?cb=a%3D%3D&link_id=7"])(
  "the delivered callback %s is called as it is",
  (callback) => {
    expect(tencent.request({ adData: { callback } }).url).toBe(callback);
    expect(tencent.request({ adData: { callback: encodeURIComponent(callback) } }).url).toBe(callback);
  },
);

test("a callback that needs a token gets token, time and nonce as headers", () => {
  const adData = { callback: SIGNED_CALLBACK };
  const signed = { "content-type": "application/json", timestamp: String(Math.floor(NOW_MS / 1000)), nonce: NONCE };
  const own = { access_token: "secret-1" };
  expect(tencent.request({ adData }, own).headers).toEqual({ ...signed, "access-token": "secret-1" });
  expect(tencent.request({ adData }, { ...own, token_header: "x-token" }).headers).toEqual({
    ...signed,
    "x-token": "secret-1",
  });
  expect(tencent.request({ adData }).headers).toEqual({ "content-type": "application/json" });
});

test.each([
  ["the delivered callback", SIGNED_CALLBACK, "access-token"],
  ["a callback of the newer path", "https://api.e.qq.com/v3.0/user_actions/add?cb=a&conv_id=7", "access-token"],
  ["the click id", "", "access_token"],
])(
  "by %s, the key of the data source goes before the access token, in the route's own header",
  (_, callback, header) => {
    const change = { adData: { click_id: "c", callback } };
    const tokens = { access_token: "a-1", refresh_token: "r-1" };
    expect(tencent.request(change, { ...tokens, postback_key: "key-1" }).headers).toMatchObject({ [header]: "key-1" });
    const { headers } = tencent.request(change, tokens);
    expect(headers).toMatchObject({ [header]: "a-1" });
    expect(Object.keys(headers).filter((name) => /token/.test(name))).toEqual([header]);
  },
);

test("a token is never sent over plain HTTP", () => {
  expect(JSON.stringify(tencent.request(BY_CALLBACK, { access_token: "secret-1" }))).not.toContain("secret-1");
  expect(JSON.stringify(tencent.request(BY_CALLBACK, { postback_key: "secret-1" }))).not.toContain("secret-1");
});

test.each(forgedCallbacks("api.e.qq.com"))("the forged callback %s is not called", (callback) => {
  expect(tencent.reason({ adData: { callback } })).toBe("The callback's host is not one of the platform's.");
});

test("the token goes to no other server of the platform's company", () => {
  for (const host of ["qq.com", "user.qzone.qq.com", "evil.api.e.qq.com"]) {
    const adData = { callback: `https://${host}/conv?cb=1` };
    expect(tencent.reason({ adData }, { access_token: "secret-1" })).toMatch(/host is not one of the platform's/);
  }
});

test.each(oddCallbacks("api.e.qq.com"))("the callback %j is not called", (callback) => {
  expect(tencent.reason({ adData: { callback } })).toBe("The callback is not an http address.");
});

test("the allowed callback hosts can be set", () => {
  const adData = { callback: "http://127.0.0.1:8099/conv?cb=1" };
  for (const callback_hosts of ["127.0.0.1", "api.e.qq.com, 127.0.0.1:8099"]) {
    expect(tencent.request({ adData }, { callback_hosts }).url).toBe(adData.callback);
  }
  expect(tencent.reason(BY_CALLBACK, { callback_hosts: "127.0.0.1" })).not.toBe("");
});

test.each([
  ["callback", { callback: CALLBACK, gdt_vid: "g" }, WECHAT, "tracking.e.qq.com"],
  ["wechat", { gdt_vid: "g" }, WECHAT, "api.weixin.qq.com"],
  ["click_id", { gdt_vid: "g" }, { wechat_access_token: "t" }, "api.e.qq.com"],
  ["click_id", { gdt_vid: "g" }, { user_action_set_id: "1" }, "api.e.qq.com"],
  ["click_id", { click_id: "c" }, WECHAT, "api.e.qq.com"],
  ["click_id", { qz_gdt: "q" }, {}, "api.e.qq.com"],
  ["click_id", { callback: CALLBACK, click_id: "c" }, { route: "click_id" }, "api.e.qq.com"],
  ["wechat", { callback: CALLBACK, gdt_vid: "g" }, { ...WECHAT, route: "wechat" }, "api.weixin.qq.com"],
] as const)("the route %s is taken with %j and %j", (_, adData, own, host) => {
  expect(new URL(tencent.request({ adData }, own).url).host).toBe(host);
  expect(tencent.dedupes({ adData }, own)).toBe(true);
});

test.each([
  [{}, {}, "The touch brought neither a callback nor a click id."],
  [{}, { route: "callback" }, "The touch brought no callback."],
  [{ click_id: "c" }, { route: "wechat" }, "The account has no `wechat_access_token`."],
  [{ click_id: "c" }, { route: "wechat", wechat_access_token: "t" }, "The account has no `user_action_set_id`."],
  [{ click_id: "c" }, { route: "wechat", ...WECHAT }, "The launch brought no gdt_vid."],
  [{}, { route: "fax" }, "The account's `route` must be auto, callback, click_id or wechat."],
] as const)("with %j and %j nothing is sent: %s", (adData, own, reason) => {
  expect(tencent.reason({ adData }, own)).toBe(reason);
});

test.each([
  [{ click_id: "c", gdt_vid: "g", qz_gdt: "q" }, "c"],
  [{ gdt_vid: "g", qz_gdt: "q" }, "g"],
  [{ qz_gdt: "q" }, "q"],
  [{ click_id: ODD }, ODD.trim()],
])("the click is named by the first id of %j", (adData, clickId) => {
  const request = tencent.request({ adData }, { access_token: "t", page: "https://g.example/" });
  expect(request.url).toBe("https://api.e.qq.com/v3.0/user_actions/add");
  expect(request.headers).toMatchObject({ access_token: "t", nonce: NONCE });
  expect(bodyOf(request).actions).toMatchObject([{ trace: { click_id: clickId }, url: "https://g.example/" }]);
});

test("WeChat is called with its own token, the data source and the launch's gdt_vid", () => {
  const change = { adData: { click_id: "c", gdt_vid: "g" }, eventType: "pay", cents: 600 } as const;
  const request = tencent.request(change, { ...WECHAT, wechat_access_token: "a+b/c=&d" });
  expect(request.url).toBe(
    "https://api.weixin.qq.com/marketing/user_actions/add?version=v1.0&access_token=a%2Bb%2Fc%3D%26d",
  );
  expect(request.headers).toEqual({ "content-type": "application/json" });
  expect(bodyOf(request).actions).toMatchObject([
    { user_action_set_id: 1110, action_type: "PURCHASE", action_param: { value: 600 }, trace: { click_id: "g" } },
  ]);
});

test("the hash of an oaid is that of Tencent's own example", () => {
  expect(action({ ...BY_CALLBACK, user: ANDROID }).user_id.hash_oaid).toBe(OAID_MD5);
  expect(md5(OAID)).toBe(OAID_MD5);
});

test.each([
  [
    "the device's own ids",
    ANDROID,
    { oaid_md5: md5("other"), muid: md5("other") },
    { hash_imei: md5("a1000055bcdef0"), hash_android_id: md5("9f3c2a7be1d04586"), hash_oaid: OAID_MD5 },
  ],
  ["an idfa in upper case", IOS, {}, { hash_idfa: md5(IDFA) }],
  [
    "the hashes that the click brought",
    { ...NOBODY, osPlatform: "android" },
    { muid: md5("i").toUpperCase(), oaid_md5: md5("o"), android_id_md5: md5("a") },
    { hash_imei: md5("i"), hash_oaid: md5("o"), hash_android_id: md5("a") },
  ],
  ["the click's muid on iOS", { ...NOBODY, osPlatform: "ios" }, { muid: md5("i") }, { hash_idfa: md5("i") }],
  ["the system that the click named", NOBODY, { os: "ios", muid: md5("i") }, { hash_idfa: md5("i") }],
  [
    "the newest caid",
    NOBODY,
    { caid: '[{"caid":"old","version":"20220111"},{"caid":"new","version":"20230330"},{"version":"20990101"},7]' },
    { caid: "new", caid_version: 20230330 },
  ],
])("the user is named by %s", (_, user, brought, told) => {
  expect(action({ user, adData: { ...BY_CALLBACK.adData, ...brought } }).user_id).toEqual(told);
});

test.each<JsonObject>([
  { muid: "", oaid_md5: "not a hash", android_id_md5: md5(""), caid: "broken" },
  { oaid_md5: md5("00000000-0000-0000-0000-000000000000"), caid: "20220111_abc" },
])("placeholder ids (%j) are not sent", (brought) => {
  expect(action({ adData: { ...BY_CALLBACK.adData, ...brought } })).not.toHaveProperty("user_id");
});

test("open ids are sent only with their app's id", () => {
  const user = { ...NOBODY, wxOpenid: "o-1", wxUnionid: "n-1" };
  const wechat = { wechat_app_id: "wx8888", wechat_openid: "o-1", wechat_unionid: "n-1" };
  expect(action({ ...BY_CALLBACK, user }, { wechat_app_id: "wx8888" }).user_id).toEqual(wechat);
  expect(action({ ...BY_CALLBACK, user })).not.toHaveProperty("user_id");
  const adData = { ...BY_CALLBACK.adData, wx_openid: "o-2" };
  expect(action({ adData }, { wechat_app_id: "wx8888" }).user_id).toEqual({
    wechat_app_id: "wx8888",
    wechat_openid: "o-2",
  });
  expect(action(BY_CALLBACK, { wechat_app_id: "wx8888" })).not.toHaveProperty("user_id");
});

test.each<[number, ReplyVerdict["kind"]]>([
  [0, "accepted"],
  ...[10000, 10001, 30000, 11008, 11016, 11017, 11018, 11019].map((code): [number, "retry"] => [code, "retry"]),
  ...[11000, 11002, 11004, 11005].map((code): [number, "token"] => [code, "token"]),
  ...[20001, 20002, 20006].map((code): [number, "permanent"] => [code, "permanent"]),
  [31013, "retry"],
])("Tencent's code %i is %s", (code, kind) => {
  const verdict = tencentPostback.read(reply({ code, message: "CB_CONTENT_ERROR" }), ASKED);
  expect(verdict).toEqual(
    kind === "accepted" ? { kind } : { kind, reason: `The platform answered ${code}: CB_CONTENT_ERROR.` },
  );
});

test.each<[number, ReplyVerdict["kind"]]>([
  [0, "accepted"],
  [40001, "retry"],
  [42001, "retry"],
  [40014, "retry"],
  [48001, "permanent"],
  [900351000, "retry"],
  [-1, "retry"],
])("WeChat's code %i is %s", (errcode, kind) => {
  expect(tencentPostback.read(reply({ errcode, errmsg: "no" }), ASKED).kind).toBe(kind);
});

reads(tencentPostback, [
  ["HTTP 401 with a token's code", reply({ code: 11000 }, 401), "token"],
  ["HTTP 400 with an unknown code", reply({ code: 31013 }, 400), "permanent"],
  ["HTTP 400 with the code for success", reply({ code: 0 }, 400), "permanent"],
  ["a code that is the name of something else", reply({ code: "constructor" }), "retry"],
]);

test("a reason never repeats a token from the platform's reply", () => {
  const token = "0a1b2c3d4e5f60718293a4b5c6d7e8f9";
  const verdict = tencentPostback.read(reply({ code: 11000, message: `access_token ${token} is expired` }), ASKED);
  expect(verdict).toEqual({ kind: "token", reason: "The platform answered 11000: access_token … is expired." });
  const long = tencentPostback.read(reply({ code: 20001, message: "长 ".repeat(400) }), ASKED);
  expect(JSON.stringify(long).length).toBeLessThan(300);
});

const OAUTH = { client_id: "7", client_secret: "s&1", refresh_token: "r/1" };

test("a new token is requested with the refresh token", () => {
  expect(tencentPostback.tokens!.request(tencent.context(OAUTH))).toEqual({
    method: "GET",
    url: "https://api.e.qq.com/oauth/token?client_id=7&client_secret=s%261&grant_type=refresh_token&refresh_token=r%2F1",
    headers: {},
  });
});

test.each(Object.keys(OAUTH))("without %s no new token is requested", (name) => {
  expect(tencentPostback.tokens!.request(tencent.context({ ...OAUTH, [name]: "" }))).toBeUndefined();
});

test.each([
  [
    { access_token: "a2", refresh_token: "r2", access_token_expires_in: 86400, refresh_token_expires_in: 2592000 },
    {
      values: { access_token: "a2", refresh_token: "r2" },
      expiresAtMs: NOW_MS + 86_400_000,
      refreshExpiresAtMs: NOW_MS + 30 * 86_400_000,
    },
  ],
  [
    { access_token: "a2" },
    { values: { access_token: "a2" }, expiresAtMs: null, refreshExpiresAtMs: NOW_MS + 30 * 86_400_000 },
  ],
])("the new tokens of %j are read", (data, told) => {
  expect(tencentPostback.tokens!.read(reply({ code: 0, data }), NOW_MS)).toEqual({ kind: "token", ...told });
});

test.each([
  [reply({ code: 11002, message: "bad secret-1" }), "permanent"],
  [reply({ code: 0, data: { refresh_token: "secret-1" } }), "permanent"],
  [reply({ code: 10000, message: "secret-1" }), "retry"],
  [reply({ code: 11017 }), "retry"],
  [reply("secret-1", 502), "retry"],
  [reply("secret-1"), "retry"],
  [reply("secret-1", 403), "permanent"],
] as const)("an answer without a token, %j, is %s, and is not shown", (answer, kind) => {
  const read = tencentPostback.tokens!.read(answer, NOW_MS);
  expect(read.kind).toBe(kind);
  expect(JSON.stringify(read)).not.toContain("secret-1");
});
