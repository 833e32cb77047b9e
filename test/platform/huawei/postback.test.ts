import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { huaweiPostback } from "../../../src/platform/huawei/postback.ts";
import { reads, skips, tells } from "../connector-cases.ts";
import { ANDROID, AT_SECONDS, bodyOf, type CodeTable, NOW_MS, OAID, ODD, reply, using } from "../sample.ts";

const ACCOUNT = { secret_key: "Wpjr1==" };
const BY_CALLBACK = { adData: { callback: "cb-4", content_id: "701", campaign_id: "501" } };
const huawei = using(huaweiPostback, ACCOUNT);

const CODES: CodeTable = {
  activate: "activate",
  register: "register",
  pay: "paid",
  twice: "retain",
  key_active: "custom",
  withdraw_iaa: "-",
  create_role: "createRole",
  login: "login",
  customer_effective: "custom_acquisit",
  wx_launch: "-",
  re_active: "reEngage",
  retention_2d: "-",
  retention_3d: "threeDayRetain",
  retention_4d: "-",
  retention_5d: "-",
  retention_6d: "-",
  retention_7d: "sevenDayRetain",
  retention_14d: "-",
  retention_30d: "-",
  service_pay_success: "paid",
  complete_order: "preOrder",
  first_day_pay: "paid",
  first_pay: "firstPurchase",
  ad_quality: "-",
  game_action: "custom",
  action_valid: "-",
};

tells("Huawei", CODES, {
  ...huawei,
  by: BY_CALLBACK,
  told: (change) => bodyOf(huawei.request(change)).conversion_type,
});

test("an account's own codes take precedence over the table's", () => {
  const codes = '{"re_active":"browse"}';
  expect(bodyOf(huawei.request({ ...BY_CALLBACK, eventType: "re_active" }, { codes })).conversion_type).toBe("browse");
});

test("a conversion has its time in seconds, its price in yuan, and every value as a text", () => {
  const request = huawei.request({ ...BY_CALLBACK, eventType: "pay", cents: 1999, user: ANDROID });
  expect(request.url).toBe("https://ppscrowd-drcn.op.cloud.huawei.com/action-lib-track/hiad/v2/actionupload");
  expect(bodyOf(request)).toEqual({
    callback: "cb-4",
    conversion_type: "paid",
    conversion_time: String(AT_SECONDS),
    timestamp: String(NOW_MS),
    content_id: "701",
    campaign_id: "501",
    oaid: OAID,
    tracking_enabled: "",
    ip: "203.0.113.9",
    conversion_price: "19.99",
  });
});

test("unknown values are not sent but for the oaid and the tracking, and odd characters arrive unchanged", () => {
  expect(bodyOf(huawei.request({ adData: { callback: ODD, tracking_enabled: "1" } }))).toEqual({
    callback: ODD,
    oaid: "",
    tracking_enabled: "1",
    conversion_type: "activate",
    conversion_time: String(AT_SECONDS),
    timestamp: String(NOW_MS),
  });
});

test("an account of another region has its own address", () => {
  const url = "https://upload.example/hiad/v2/actionupload";
  expect(huawei.request(BY_CALLBACK, { url }).url).toBe(url);
});

test("the header signs the body as it is sent", () => {
  const { body, headers } = huawei.request({ adData: { callback: "中文" } });
  const response = createHmac("sha256", "Wpjr1==").update(body!, "utf8").digest("hex");
  expect(headers.authorization).toBe(`Digest validTime="${NOW_MS}", response="${response}"`);
});

skips(huawei, [
  [BY_CALLBACK, { secret_key: "" }, "The account has no `secret_key`."],
  [{}, {}, "The touch brought no callback."],
]);

test("Huawei does not dedupe", () => {
  expect(huawei.dedupes(BY_CALLBACK)).toBe(false);
});

reads(huaweiPostback, [
  ["result code 0", reply({ resultCode: 0, resultMessage: "success" }), "accepted"],
  ["another result code", reply({ resultCode: 206, resultMessage: "callback" }), "retry"],
]);
