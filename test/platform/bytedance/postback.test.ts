import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { bytedancePostback } from "../../../src/platform/bytedance/postback.ts";
import { reads, skips, tells } from "../connector-cases.ts";
import {
  ANDROID,
  AT_MS,
  AT_SECONDS,
  bodyOf,
  type CodeTable,
  DEDUPE_ID,
  IDFA,
  IOS,
  NOBODY,
  NONCE,
  NOW_MS,
  OAID,
  OAID_MD5,
  ODD,
  queryOf,
  reply,
  rowsOf,
  using,
} from "../sample.ts";

const md5 = (text: string) => createHash("md5").update(text).digest("hex");
const IMEI_MD5 = md5("a1000055bcdef0");
const ANDROID_ID_MD5 = md5("9f3c2a7be1d04586");

const BY_CALLBACK = { adData: { callback: "B.a1_b2" } };
const PLAYER = { ...NOBODY, wxOpenid: "o-1" };
const BY_CLUE = { adData: { clue_token: "1779451543470157,1783156862460969" }, user: PLAYER };
const GATEWAY = { gateway_id: "1760312311655437", gateway_token: "52F118BF" };
const V1 = { route: "v1" };
const bytedance = using(bytedancePostback, {});

const CODES: CodeTable = {
  activate: "active",
  register: "active_register",
  pay: "active_pay",
  twice: "next_day_open",
  key_active: "game_addiction",
  withdraw_iaa: "withdraw_iaa",
  create_role: "create_gamerole",
  login: "login",
  customer_effective: "customer_effective",
  wx_launch: "in_wechat_login",
  re_active: "page_view",
  retention_2d: "retention_2d",
  retention_3d: "retention_3d",
  retention_4d: "retention_4d",
  retention_5d: "retention_5d",
  retention_6d: "retention_6d",
  retention_7d: "retention_7d",
  retention_14d: "retention_14d",
  retention_30d: "retention_30d",
  service_pay_success: "shopping",
  complete_order: "in_app_order",
  first_day_pay: "active_pay",
  first_pay: "first_pay",
  ad_quality: "lt_roi",
  game_action: "quest",
  action_valid: "-",
};

const V1_CODES: CodeTable = {
  ...CODES,
  activate: "0",
  register: "1",
  pay: "2",
  twice: "6",
  key_active: "25",
  withdraw_iaa: "-",
  create_role: "-",
  login: "-",
  customer_effective: "19",
  wx_launch: "-",
  re_active: "7",
  retention_2d: "-",
  retention_3d: "-",
  retention_4d: "-",
  retention_5d: "-",
  retention_6d: "-",
  retention_7d: "-",
  retention_14d: "-",
  retention_30d: "-",
  service_pay_success: "23",
  complete_order: "20",
  first_day_pay: "2",
  first_pay: "2",
  ad_quality: "-",
  game_action: "25",
};

tells("v2", CODES, { ...bytedance, by: BY_CALLBACK, told: (change) => bodyOf(bytedance.request(change)).event_type });

test.each(rowsOf(V1_CODES))("v1 and the gateway get %s as %s", (eventType, told) => {
  const [v1, clue] = [
    { ...BY_CALLBACK, eventType },
    { ...BY_CLUE, eventType },
  ];
  if (told === "-") {
    expect(bytedance.reason(v1, V1)).toBe(`The platform has no code for ${eventType}.`);
    expect(bytedance.reason(clue, GATEWAY)).toBe(`The platform has no code for ${eventType}.`);
  } else {
    expect(queryOf(bytedance.request(v1, V1)).event_type).toBe(told);
    expect(bodyOf(bytedance.request(clue, GATEWAY)).event_type).toBe(told);
  }
});

test("a rule's own code takes precedence over the account's", () => {
  const change = { ...BY_CALLBACK, eventType: "game_action", code: "update_level" } as const;
  expect(bodyOf(bytedance.request(change, { codes: '{"game_action":"login"}' })).event_type).toBe("update_level");
});

const IN_MINI_GAME = { adData: { clickid: "k-1" }, eventType: "ad_quality", cents: 6 } as const;

test("a mini-game's ad revenue is sent one ad at a time", () => {
  const told = bodyOf(bytedance.request({ ...IN_MINI_GAME, moment: "each_ad" }));
  expect(told).toMatchObject({ event_type: "micro_game_ltv", properties: { pay_amount: 6 } });
  const reason = "Ocean Engine takes a mini-game's ad revenue one ad at a time: the rule's moment must be each_ad.";
  expect(bytedance.reason({ ...IN_MINI_GAME, moment: "ad_view" })).toBe(reason);
  expect(bytedance.reason({ ...BY_CALLBACK, eventType: "ad_quality", code: "micro_game_ltv" })).toBe(reason);
});

test("an app's ad revenue is sent as a whole", () => {
  for (const moment of ["ad_view", "each_ad"]) {
    const change = { ...BY_CALLBACK, eventType: "ad_quality", cents: 6, moment } as const;
    expect(bodyOf(bytedance.request(change)).event_type).toBe("lt_roi");
  }
});

test("each version has its own codes of the account", () => {
  const own = { codes: '{"login":"in_app_uv"}', codes_v1: '{"login":21}' };
  const change = { ...BY_CALLBACK, eventType: "login" } as const;
  expect(bodyOf(bytedance.request(change, own)).event_type).toBe("in_app_uv");
  expect(queryOf(bytedance.request(change, { ...own, ...V1 })).event_type).toBe("21");
  expect(bodyOf(bytedance.request({ ...BY_CLUE, eventType: "login" }, { ...own, ...GATEWAY })).event_type).toBe("21");
});

test("v2 has its time in milliseconds, its amount in fen, and the same id in every attempt", () => {
  const change = { ...BY_CALLBACK, eventType: "pay", cents: 600, orderId: "order-1", user: ANDROID } as const;
  const request = bytedance.request(change);
  expect(request.url).toBe("https://analytics.oceanengine.com/api/v2/conversion");
  expect(bodyOf(request)).toEqual({
    event_type: "active_pay",
    timestamp: AT_MS,
    outer_event_id: DEDUPE_ID,
    context: {
      ad: { callback: "B.a1_b2", match_type: 0 },
      device: { platform: "android", imei: IMEI_MD5, oaid: OAID, android_id_md5: ANDROID_ID_MD5 },
    },
    properties: { pay_amount: 600, order_id: "order-1" },
  });
});

test("v2 gets no fields for unknown values", () => {
  expect(bodyOf(bytedance.request(BY_CALLBACK))).toEqual({
    event_type: "active",
    timestamp: AT_MS,
    outer_event_id: DEDUPE_ID,
    context: { ad: { callback: "B.a1_b2", match_type: 0 } },
  });
});

test.each([
  ["the device's idfa, raw", IOS, {}, { platform: "ios", idfa: IDFA }],
  [
    "what the click brought",
    NOBODY,
    { os: "android", imei_md5: IMEI_MD5, oaid: OAID, android_id_md5: ANDROID_ID_MD5 },
    { platform: "android", imei: IMEI_MD5, oaid: OAID, android_id_md5: ANDROID_ID_MD5 },
  ],
  ["the click's idfa", NOBODY, { os: "ios", idfa: IDFA }, { platform: "ios", idfa: IDFA }],
])("v2 identifies the device by %s", (_, user, brought, device) => {
  const adData = { ...BY_CALLBACK.adData, ...brought };
  expect(bodyOf(bytedance.request({ user, adData })).context.device).toEqual(device);
});

test.each([
  ["click", 0],
  ["impression", 1],
] as const)("a %s has the match type %i", (touchKind, matchType) => {
  const change = { ...BY_CALLBACK, touchKind };
  expect(bodyOf(bytedance.request(change)).context.ad.match_type).toBe(matchType);
  expect(queryOf(bytedance.request(change, V1)).match_type).toBe(String(matchType));
});

test.each([
  [{ callback: "a", clickid: "b", click_id: "c" }, "b"],
  [{ callback: "a", click_id: "c" }, "a"],
  [{ click_id: "c" }, "c"],
  [{ callback: "https://ad.oceanengine.com/track/activate/?callback=a%2Bb&os=0" }, "a+b"],
  [{ callback: ODD }, ODD.trim()],
])("the callback of %j is its token", (adData, callback) => {
  expect(bodyOf(bytedance.request({ adData })).context.ad.callback).toBe(callback);
  expect(queryOf(bytedance.request({ adData }, V1)).callback).toBe(callback.toWellFormed());
});

test("v1 has its time in seconds and its amount in fen", () => {
  const request = bytedance.request({ ...BY_CALLBACK, eventType: "pay", cents: 600, user: ANDROID }, V1);
  expect(request.url.startsWith("https://ad.oceanengine.com/track/activate/?callback=")).toBe(true);
  expect(queryOf(request)).toEqual({
    callback: "B.a1_b2",
    event_type: "2",
    conv_time: String(AT_SECONDS),
    os: "0",
    match_type: "0",
    imei: IMEI_MD5,
    oaid: OAID,
    oaid_md5: OAID_MD5,
    props: '{"pay_amount":600}',
  });
  expect(queryOf(bytedance.request({ ...BY_CALLBACK, user: IOS }, V1))).toMatchObject({ os: "1", idfa: IDFA });
});

function clueSignature(timestamp: string): string {
  const sorted = [GATEWAY.gateway_token, timestamp, NONCE].sort();
  return createHash("sha1").update(sorted.join("")).digest("hex");
}

test("the gateway is called with a signature of token, time and nonce", () => {
  const { url } = bytedance.request(BY_CLUE, GATEWAY);
  const timestamp = String(Math.floor(NOW_MS / 1000));
  const query = `timestamp=${timestamp}&nonce=${NONCE}&signature=${clueSignature(timestamp)}`;
  expect(url).toBe(`https://clue.oceanengine.com/outer/wechat/applet/token/1760312311655437?${query}`);
  expect(url).not.toContain(GATEWAY.gateway_token);
});

test("the gateway gets the clue token, the open id, the event as a text, and an amount in fen", () => {
  expect(bodyOf(bytedance.request(BY_CLUE, GATEWAY))).toEqual({
    clue_token: BY_CLUE.adData.clue_token,
    open_id: "o-1",
    event_type: "0",
  });
  const user = { ...PLAYER, wxUnionid: "n-1" };
  expect(bodyOf(bytedance.request({ ...BY_CLUE, user, eventType: "pay", cents: 1 }, GATEWAY))).toEqual({
    clue_token: BY_CLUE.adData.clue_token,
    open_id: "o-1",
    union_id: "n-1",
    event_type: "2",
    props: { pay_amount: 1 },
  });
});

const BOTH = { adData: { clue_token: "t", callback: "c" }, user: PLAYER };

test.each([
  ["clue", BOTH, GATEWAY, "clue.oceanengine.com", false],
  ["v2", BOTH, {}, "analytics.oceanengine.com", true],
  ["v2", BOTH, { gateway_id: "1" }, "analytics.oceanengine.com", true],
  ["v2", BY_CALLBACK, GATEWAY, "analytics.oceanengine.com", true],
  ["v2", BOTH, { ...GATEWAY, route: "v2" }, "analytics.oceanengine.com", true],
  ["v1", BOTH, { ...GATEWAY, route: "v1" }, "ad.oceanengine.com", true],
  ["clue", BOTH, { ...GATEWAY, route: "clue" }, "clue.oceanengine.com", false],
] as const)("the route %s is taken with %j and %j", (_, change, own, host, dedupes) => {
  expect(new URL(bytedance.request(change, own).url).host).toBe(host);
  expect(bytedance.dedupes(change, own)).toBe(dedupes);
});

skips(bytedance, [
  [{}, {}, "The touch brought no callback."],
  [{}, V1, "The touch brought no callback."],
  [BY_CLUE, {}, "The touch brought no callback."],
  [{ ...BY_CLUE, user: NOBODY }, GATEWAY, "The user's open id is not known."],
  [BOTH, { route: "clue" }, "The account has no `gateway_id`."],
  [BOTH, { route: "clue", gateway_id: "1" }, "The account has no `gateway_token`."],
  [BY_CALLBACK, { route: "clue", ...GATEWAY }, "The launch brought no clue_token."],
  [BOTH, { route: "fax" }, "The account's `route` must be auto, v2, v1 or clue."],
]);

reads(bytedancePostback, [
  ["code 0 of v2", reply({ code: 0, message: "success" }), "accepted"],
  ["code 128 of v2", reply({ code: 128, message: "x" }), "accepted"],
  ["another code of v2", reply({ code: 3, message: "x" }), "retry"],
  ["code 0 of v1", reply({ code: 0, ret: 0, msg: "success" }), "accepted"],
  ["ret 0 of v1", reply({ ret: 0, msg: "success" }), "accepted"],
  ["ret 1 of v1", reply({ ret: 1, msg: "no" }), "retry"],
  ["status 0 of the gateway", reply({ status: 0, message: "", data: "" }), "accepted"],
  ["status 200 of the gateway", reply({ status: 200, message: "ok", data: "" }), "accepted"],
  ["a success of the gateway", reply({ status: 7, message: "success", data: "" }), "accepted"],
  ["another status of the gateway", reply({ status: 401, message: "bad signature", data: "" }), "permanent"],
]);
