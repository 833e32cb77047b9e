import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { vivoPostback } from "../../../src/platform/vivo/postback.ts";
import { reads, skips, tells } from "../connector-cases.ts";
import {
  ANDROID,
  AT_MS,
  bodyOf,
  type CodeTable,
  NOBODY,
  NONCE,
  NOW_MS,
  OAID_MD5,
  ODD,
  reply,
  using,
} from "../sample.ts";

const md5 = (text: string) => createHash("md5").update(text).digest("hex");

const ACCOUNT = { access_token: "secret-1", src_id: "ds-1", pkg_name: "com.example.game" };
const CLICK = { click_id: "c-1", request_id: "r-1", creative_id: "701", advertiser_id: "fd18" };
const BY_DEVICE = { user: ANDROID, adData: CLICK };
const V1 = { route: "v1" };
const vivo = using(vivoPostback, ACCOUNT);
const behavior = (...call: Parameters<typeof vivo.request>) => bodyOf(vivo.request(...call)).dataList[0];

const CODES: CodeTable = {
  activate: "ACTIVATION",
  register: "REGISTER",
  pay: "PAY_ONETIME",
  twice: "RETENTION_1",
  key_active: "-",
  withdraw_iaa: "-",
  create_role: "-",
  login: "LOGIN",
  customer_effective: "-",
  wx_launch: "-",
  re_active: "REACTIVATION",
  retention_2d: "RETENTION_2",
  retention_3d: "RETENTION_3",
  retention_4d: "RETENTION_4",
  retention_5d: "RETENTION_5",
  retention_6d: "RETENTION_6",
  retention_7d: "RETENTION_7",
  retention_14d: "RETENTION_14",
  retention_30d: "RETENTION_30",
  service_pay_success: "PAY_ONETIME",
  complete_order: "IN_APP_ORDER",
  first_day_pay: "FIRST_PAY",
  first_pay: "FIRST_PAY",
  ad_quality: "LT_ROI",
  game_action: "-",
  action_valid: "-",
};

tells("vivo", CODES, { ...vivo, by: BY_DEVICE, told: (change) => behavior(change).cvType });

test("an account's own codes take precedence over the table's", () => {
  const codes = '{"key_active":"GAME_FIGHT_TIMES"}';
  expect(behavior({ ...BY_DEVICE, eventType: "key_active" }, { codes }).cvType).toBe("GAME_FIGHT_TIMES");
});

test("a conversion has its time in milliseconds, and its click", () => {
  const request = vivo.request({ ...BY_DEVICE, eventType: "pay", cents: 600 });
  const base = "https://marketing-api.vivo.com.cn/openapi/v2/advertiser/behavior/upload";
  expect(request.url).toBe(
    `${base}?access_token=secret-1&timestamp=${NOW_MS}&nonce=${NONCE}&advertiser_id=${CLICK.advertiser_id}`,
  );
  expect(bodyOf(request)).toEqual({
    srcType: "APP",
    pkgName: "com.example.game",
    srcId: "ds-1",
    dataFrom: "1",
    dataFor: "0",
    dataList: [
      {
        userIdType: "OAID_MD5",
        userId: OAID_MD5,
        cvType: "PAY_ONETIME",
        cvTime: AT_MS,
        clickId: "c-1",
        extParam: { payAmount: "600" },
      },
    ],
  });
});

test("without the click's id, vivo matches the device", () => {
  const body = bodyOf(vivo.request({ user: ANDROID }));
  expect(body).toMatchObject({ dataFrom: "1", dataFor: "1" });
  expect(body.dataList[0]).not.toHaveProperty("clickId");
});

test.each([
  [{ click_id: "c" }, "auto", "/openapi/v2/advertiser/behavior/upload"],
  [{ request_id: "r", creative_id: "7" }, "auto", "/openapi/v1/advertiser/behavior/upload"],
  [{ request_id: "r" }, "auto", "/openapi/v2/advertiser/behavior/upload"],
  [{ request_id: "r", creative_id: "7" }, "v2", "/openapi/v2/advertiser/behavior/upload"],
])("a touch with %j goes, on the route %s, to %s", (adData, route, path) => {
  expect(new URL(vivo.request({ user: ANDROID, adData }, { route }).url).pathname).toBe(path);
});

test("the older version knows the click by its request and creative", () => {
  const request = vivo.request(BY_DEVICE, V1);
  expect(new URL(request.url).pathname).toBe("/openapi/v1/advertiser/behavior/upload");
  const { dataList, ...rest } = bodyOf(request);
  expect(rest).toEqual({ srcType: "APP", pkgName: "com.example.game", srcId: "ds-1" });
  expect(dataList[0]).toMatchObject({ requestId: "r-1", creativeId: "701" });
  expect(dataList[0]).not.toHaveProperty("clickId");
});

test("a web page has an address in place of a package", () => {
  const own = { src_type: "Web", page: "https://game.example/", pkg_name: "" };
  const body = bodyOf(vivo.request(BY_DEVICE, own));
  expect(body).toMatchObject({ srcType: "Web", pageUrl: "https://game.example/" });
  expect(body).not.toHaveProperty("pkgName");
});

const PLAYER = { user: { ...NOBODY, wxOpenid: "o-1" }, adData: CLICK };

test.each([
  ["register", "WECHATGAME_REGISTER"],
  ["pay", "WECHATGAME_PAY"],
  ["twice", "RETENTION_1"],
] as const)("%s of a mini-game's user, known by the open id, is %s", (eventType, cvType) => {
  expect(behavior({ ...PLAYER, eventType })).toMatchObject({ userIdType: "OPENID", userId: "o-1", cvType });
});

test("an amount can be in yuan; without one, none is sent", () => {
  expect(behavior({ ...BY_DEVICE, cents: 1999 }, { value_unit: "yuan" }).extParam).toEqual({ payAmount: "19.99" });
  expect(behavior(BY_DEVICE)).not.toHaveProperty("extParam");
});

test.each([
  ["the device's oaid", ANDROID, {}, { userIdType: "OAID_MD5", userId: OAID_MD5 }],
  ["the click's oaid", NOBODY, { oaid_md5: md5("o") }, { userIdType: "OAID_MD5", userId: md5("o") }],
  ["the click's imei", NOBODY, { imei_md5: md5("i") }, { userIdType: "IMEI_MD5", userId: md5("i") }],
])("the user is named by %s", (_, user, adData, named) => {
  expect(behavior({ user, adData })).toMatchObject(named);
});

test("the click alone names the user if no device is known", () => {
  const { requestId, creativeId, userId } = behavior({ adData: { requestId: ODD, creative_id: "7" } });
  expect([requestId, creativeId, userId]).toEqual([ODD, "7", undefined]);
  expect(behavior({ adData: { clickId: ODD } }).clickId).toBe(ODD);
});

skips(vivo, [
  [{}, {}, "Neither the device's oaid or imei nor the click's id are known."],
  [
    { adData: { request_id: "r" } },
    V1,
    "Neither the device's oaid or imei nor the click's request and creative are known.",
  ],
  [PLAYER, {}, "The platform has no code for activate."],
  [BY_DEVICE, { route: "v3" }, "The account's `route` must be auto, v2 or v1."],
  [BY_DEVICE, { src_type: "web" }, "The account has no `page`."],
  [BY_DEVICE, { access_token: "" }, "The account has no `access_token`."],
  [BY_DEVICE, { src_id: "" }, "The account has no `src_id`."],
  [BY_DEVICE, { pkg_name: "" }, "The account has no `pkg_name`."],
  [BY_DEVICE, { value_unit: "li" }, "The account's `value_unit` is neither fen nor yuan."],
]);

test("vivo does not dedupe", () => {
  expect(vivo.dedupes(BY_DEVICE)).toBe(false);
});

reads(vivoPostback, [
  ["code 0", reply({ code: 0, message: "success" }), "accepted"],
  ["a code whose text names the token", reply({ code: 12101, message: "Token expired" }), "token"],
  ["a wrong parameter", reply({ code: 70100, message: "clickId" }), "permanent"],
  ["another code", reply({ code: 10, message: "busy" }), "retry"],
]);

const OAUTH = { client_id: "7", client_secret: "s&1", refresh_token: "r/1" };

test("a new token is requested with the refresh token", () => {
  const base = "https://marketing-api.vivo.com.cn/openapi/v1/oauth2/refreshToken";
  expect(vivoPostback.tokens!.request(vivo.context(OAUTH))).toEqual({
    method: "GET",
    url: `${base}?client_id=7&client_secret=s%261&refresh_token=r%2F1`,
    headers: {},
  });
});

test.each(Object.keys(OAUTH))("without %s no new token is requested", (name) => {
  expect(vivoPostback.tokens!.request(vivo.context({ ...OAUTH, [name]: "" }))).toBeUndefined();
});

test.each([
  [
    { access_token: "a2", refresh_token: "r2", token_date: NOW_MS + 1000 },
    { values: { access_token: "a2", refresh_token: "r2" }, expiresAtMs: NOW_MS + 1000, refreshExpiresAtMs: null },
  ],
  [
    { access_token: "a2", token_date: 0 },
    { values: { access_token: "a2" }, expiresAtMs: null, refreshExpiresAtMs: null },
  ],
])("the new tokens of %j are read", (data, told) => {
  expect(vivoPostback.tokens!.read(reply({ code: 0, data }), NOW_MS)).toEqual({ kind: "token", ...told });
});

test("an answer without a token is not shown", () => {
  const read = vivoPostback.tokens!.read(reply({ code: 1, message: "secret-1" }), NOW_MS);
  expect(read).toEqual({ kind: "permanent", reason: "No token came: HTTP 200, code 1." });
});
