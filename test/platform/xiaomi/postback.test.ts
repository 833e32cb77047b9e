import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { xiaomiPostback } from "../../../src/platform/xiaomi/postback.ts";
import { reads, skips, tells } from "../connector-cases.ts";
import { ANDROID, AT_MS, type CodeTable, NOBODY, OAID, ODD, queryOf, reply, using } from "../sample.ts";

const md5 = (text: string) => createHash("md5").update(text).digest("hex");

const ACCOUNT = { app_id: "1594987", customer_id: "641982", sign_key: "sign-key", encrypt_key: "kqkYAKhb" };
const BY_DEVICE = { user: ANDROID };
const xiaomi = using(xiaomiPostback, ACCOUNT);

const CODES: CodeTable = {
  activate: "APP_ACTIVE",
  register: "APP_REGISTER",
  pay: "APP_PAY",
  twice: "APP_RETENTION",
  key_active: "APP_ADDICTION",
  withdraw_iaa: "-",
  create_role: "-",
  login: "-",
  customer_effective: "-",
  wx_launch: "-",
  re_active: "-",
  retention_2d: "-",
  retention_3d: "APP_RETENTION_3D",
  retention_4d: "APP_RETENTION_4D",
  retention_5d: "APP_RETENTION_5D",
  retention_6d: "APP_RETENTION_6D",
  retention_7d: "APP_RETENTION_7D",
  retention_14d: "-",
  retention_30d: "-",
  service_pay_success: "APP_PAY",
  complete_order: "APP_COMPLETE_ORDER",
  first_day_pay: "APP_FIRST_PAY",
  first_pay: "APP_FIRST_PAY",
  ad_quality: "-",
  game_action: "APP_ADDICTION",
  action_valid: "-",
};

tells("Xiaomi", CODES, { ...xiaomi, by: BY_DEVICE, told: (change) => queryOf(xiaomi.request(change)).conv_type });

test("an account's own codes take precedence over the table's", () => {
  const codes = '{"activate":"APP_ACTIVE_NEW"}';
  expect(queryOf(xiaomi.request(BY_DEVICE, { codes })).conv_type).toBe("APP_ACTIVE_NEW");
});

/** The sealed text, opened as Xiaomi does. */
function opened(info: string): { text: string; sign: string } {
  const sealed = Buffer.from(info, "base64");
  const bytes = [...sealed].map((byte, index) => byte ^ ACCOUNT.encrypt_key.charCodeAt(index % 8));
  const [, text = "", sign = ""] = /^(.*)&sign=(.*)$/.exec(Buffer.from(bytes).toString("utf8")) ?? [];
  return { text, sign };
}

test("the sealed text has the time in milliseconds and a sign over the encoded text", () => {
  const request = xiaomi.request(BY_DEVICE);
  const { appId, info, customer_id } = queryOf(request);
  expect(request.url.startsWith("https://trail.e.mi.com/global/log?appId=1594987&info=")).toBe(true);
  expect([appId, customer_id]).toEqual(["1594987", "641982"]);
  const { text, sign } = opened(info!);
  expect(text).toBe(`oaid=${OAID}&conv_time=${AT_MS}&client_ip=203.0.113.9`);
  const encoded = text.replaceAll("=", "%3D").replaceAll("&", "%26");
  expect(sign).toBe(md5(`sign-key&${encoded}`));
});

test.each([
  ["a b", "oaid=a+b", "oaid%3Da%2Bb"],
  ["a&b=c~d!", "oaid=a%26b%3Dc%7Ed%21", "oaid%3Da%2526b%253Dc%257Ed%2521"],
  ["中*", "oaid=%E4%B8%AD*", "oaid%3D%25E4%25B8%25AD*"],
])("the oaid %j is form-encoded, and once more for the sign", (oaid, told, encoded) => {
  const { text, sign } = opened(queryOf(xiaomi.request({ adData: { oaid } })).info!);
  expect(text).toBe(`${told}&conv_time=${AT_MS}`);
  expect(sign).toBe(md5(`sign-key&${encoded}%26conv_time%3D${AT_MS}`));
});

test("an IPv6 address is encoded too", () => {
  const user = { ...ANDROID, ip: "2001:db8::9" };
  expect(opened(queryOf(xiaomi.request({ user })).info!).text).toMatch(/&client_ip=2001%3Adb8%3A%3A9$/);
});

test("the click's hashed imei is used if no oaid is known", () => {
  const request = xiaomi.request({ user: NOBODY, adData: { imei_md5: md5("i") } });
  expect(opened(queryOf(request).info!).text).toBe(`imei=${md5("i")}&conv_time=${AT_MS}`);
});

test("a key action says its target count and its current count", () => {
  const change = { ...BY_DEVICE, eventType: "key_active" } as const;
  expect(queryOf(xiaomi.request(change))).toMatchObject({ key_action_target: "1", key_action_reach: "1" });
  const own = { key_action_target: "5", key_action_reach: "5" };
  expect(queryOf(xiaomi.request(change, own))).toMatchObject(own);
  expect(queryOf(xiaomi.request(BY_DEVICE, own))).not.toHaveProperty("key_action_target");
});

test("the touch's own advertiser is used if the account has none", () => {
  const change = { ...BY_DEVICE, adData: { customer_id: "7" } };
  expect(queryOf(xiaomi.request(change, { customer_id: "" })).customer_id).toBe("7");
  expect(queryOf(xiaomi.request(change)).customer_id).toBe("641982");
});

const BY_CALLBACK = { user: ANDROID, adData: { callback: "Fti=+/x" } };

test("a click's callback is answered at its own address, with a sign that leaves out the event", () => {
  const request = xiaomi.request(BY_CALLBACK);
  const signed = `callback=Fti%3D%2B%2Fx&oaid=${OAID}&conv_time=${AT_MS}`;
  expect(request).toEqual({
    method: "GET",
    url: `https://trail.e.mi.com/api/callback?${signed}&convType=APP_ACTIVE&sign=${md5(`${signed}sign-key`)}`,
    headers: {},
  });
});

test("a callback needs the signing key alone, arrives unchanged, and takes the imei of the click", () => {
  const own = { app_id: "", customer_id: "", encrypt_key: "" };
  const change = { user: NOBODY, adData: { callback: ODD, imei_md5: md5("i") } };
  expect(queryOf(xiaomi.request(change, own))).toMatchObject({ callback: ODD.toWellFormed(), imei: md5("i") });
  const key = { ...BY_CALLBACK, eventType: "key_active" } as const;
  expect(queryOf(xiaomi.request(key, own))).toMatchObject({ convType: "APP_ADDICTION", key_action_target: "1" });
});

test.each([
  [{}, "/api/callback"],
  [{ route: "callback" }, "/api/callback"],
  [{ route: "log" }, "/global/log"],
])("a click with a callback is answered with the account's %j at %s", (own, path) => {
  expect(new URL(xiaomi.request(BY_CALLBACK, own).url).pathname).toBe(path);
});

skips(xiaomi, [
  [{}, {}, "Neither the device's oaid nor its imei is known."],
  [BY_DEVICE, { app_id: "" }, "The account has no `app_id`."],
  [BY_DEVICE, { customer_id: "" }, "The account has no `customer_id`."],
  [BY_DEVICE, { sign_key: "" }, "The account has no `sign_key`."],
  [BY_DEVICE, { encrypt_key: "" }, "The account has no `encrypt_key`."],
  [BY_CALLBACK, { sign_key: "" }, "The account has no `sign_key`."],
  [BY_DEVICE, { route: "callback" }, "The touch brought no callback."],
  [BY_DEVICE, { route: "fax" }, "The account's `route` must be auto, callback or log."],
]);

test("Xiaomi does not dedupe", () => {
  expect(xiaomi.dedupes(BY_DEVICE)).toBe(false);
});

reads(
  xiaomiPostback,
  [
    ["code 1 of the log", reply({ code: 1 }), "accepted"],
    ["code 0 of the log", reply({ code: 0 }), "permanent"],
    ["another code of the log", reply({ code: -1, failMsg: "sign" }), "permanent"],
  ],
  xiaomi.request(BY_DEVICE),
);

reads(
  xiaomiPostback,
  [
    ["code 0 of a callback", reply({ code: 0 }), "accepted"],
    ["code 1 of a callback", reply({ code: 1, failMsg: "sign" }), "permanent"],
  ],
  xiaomi.request(BY_CALLBACK),
);
