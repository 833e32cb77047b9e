import { createDecipheriv, createHash } from "node:crypto";
import { expect, test } from "vitest";
import { oppoPostback } from "../../../src/platform/oppo/postback.ts";
import { reads, skips, tells } from "../connector-cases.ts";
import { ANDROID, AT_MS, bodyOf, type CodeTable, IOS, NOBODY, NOW_MS, OAID, ODD, reply, using } from "../sample.ts";

const KEY = Buffer.from("0123456789abcdef");
const ACCOUNT = { key: KEY.toString("base64"), salt: "e0u6", pkg: "com.example.game" };
const BY_DEVICE = { user: ANDROID, adData: { ad_id: "101097648" } };
const oppo = using(oppoPostback, ACCOUNT);

const CODES: CodeTable = {
  activate: "1",
  register: "2",
  pay: "3",
  twice: "4",
  key_active: "20",
  withdraw_iaa: "-",
  create_role: "-",
  login: "-",
  customer_effective: "-",
  wx_launch: "-",
  re_active: "15",
  retention_2d: "-",
  retention_3d: "9",
  retention_4d: "10",
  retention_5d: "11",
  retention_6d: "12",
  retention_7d: "13",
  retention_14d: "-",
  retention_30d: "-",
  service_pay_success: "7",
  complete_order: "-",
  first_day_pay: "3",
  first_pay: "3",
  ad_quality: "-",
  game_action: "20",
  action_valid: "8",
};

tells("OPPO", CODES, { ...oppo, by: BY_DEVICE, told: (change) => bodyOf(oppo.request(change)).dataType, as: Number });

test("an account's own codes take precedence over the table's, and are whole numbers", () => {
  expect(bodyOf(oppo.request({ ...BY_DEVICE, eventType: "pay" }, { codes: '{"pay":7}' })).dataType).toBe(7);
  expect(oppo.reason(BY_DEVICE, { codes: '{"activate":"x"}' })).toBe("OPPO's codes must be whole numbers.");
});

function decrypted(text: string): string {
  const decipher = createDecipheriv("aes-128-ecb", KEY, null);
  return Buffer.concat([decipher.update(text, "base64"), decipher.final()]).toString("utf8");
}

test("a conversion has its time in milliseconds, and the oaid encrypted", () => {
  const request = oppo.request(BY_DEVICE);
  const { ouId, ...rest } = bodyOf(request);
  expect(request.url).toBe("https://api.ads.heytapmobi.com/api/uploadActiveData");
  expect(decrypted(ouId)).toBe(OAID);
  expect(rest).toEqual({
    pkg: "com.example.game",
    dataType: 1,
    timestamp: AT_MS,
    channel: 1,
    type: 2,
    appType: 2,
    ascribeType: 1,
    adId: 101097648,
    clientIp: "203.0.113.9",
  });
});

test("an amount is in fen, with the order that it pays", () => {
  const paid = bodyOf(oppo.request({ ...BY_DEVICE, eventType: "pay", cents: 600, orderId: "order-1" }));
  expect(paid).toMatchObject({ dataType: 3, payAmount: 600, payId: "order-1" });
  expect(bodyOf(oppo.request(BY_DEVICE))).not.toHaveProperty("payAmount");
  expect(oppoPostback.tellsMoney).toBeUndefined();
});

test("the account says what kind of app it is", () => {
  expect(bodyOf(oppo.request(BY_DEVICE, { app_type: "3" })).appType).toBe(3);
});

test("the signature covers the body as it is sent, the time of the call and the salt", () => {
  const { body, headers } = oppo.request({ ...BY_DEVICE, eventType: "pay" });
  const signature = createHash("md5").update(`${body}${NOW_MS}e0u6`).digest("hex");
  expect(headers).toEqual({ "content-type": "application/json", timestamp: String(NOW_MS), signature });
});

test.each([OAID, ODD.toWellFormed().trim()])("the click's oaid %j is used instead of the device's", (oaid) => {
  expect(decrypted(bodyOf(oppo.request({ user: NOBODY, adData: { oaid } })).ouId)).toBe(oaid);
});

test.each([
  ["90071992547409931", { ascribeType: 1, adId: "90071992547409931" }],
  ["", {}],
  ["0", {}],
  ["x", {}],
])("the ad %j is sent as %j", (ad_id, told) => {
  const { ascribeType, adId } = bodyOf(oppo.request({ ...BY_DEVICE, adData: { ad_id } }));
  expect({ ascribeType, adId }).toEqual({ ascribeType: undefined, adId: undefined, ...told });
});

skips(oppo, [
  [{}, {}, "The device's oaid is not known."],
  [{ user: IOS }, {}, "The device's oaid is not known."],
  [BY_DEVICE, { key: "" }, "The account has no `key`."],
  [BY_DEVICE, { salt: "" }, "The account has no `salt`."],
  [BY_DEVICE, { pkg: "" }, "The account has no `pkg`."],
  [BY_DEVICE, { app_type: "game" }, "The account's `app_type` must be one digit."],
  [BY_DEVICE, { key: "c2hvcnQ=" }, "The account's `key` must be 16 bytes in base64."],
]);

test("OPPO does not dedupe", () => {
  expect(oppo.dedupes(BY_DEVICE)).toBe(false);
});

reads(oppoPostback, [
  ["ret 0", reply({ ret: 0, msg: "" }), "accepted"],
  ["another ret", reply({ ret: 1001, msg: "sign" }), "retry"],
]);
