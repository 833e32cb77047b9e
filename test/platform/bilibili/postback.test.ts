import { expect, test } from "vitest";
import { bilibiliPostback } from "../../../src/platform/bilibili/postback.ts";
import { reads, skips, tells } from "../connector-cases.ts";
import { ANDROID, AT_MS, type CodeTable, ODD, queryOf, reply, using } from "../sample.ts";

const BY_TRACK = { adData: { track_id: "pbaes.a-b_c" }, user: ANDROID };
const bilibili = using(bilibiliPostback, {});

const CODES: CodeTable = {
  activate: "APP_FIRST_ACTIVE",
  register: "USER_REGISTER",
  pay: "USER_COST",
  twice: "RETENTION",
  key_active: "-",
  withdraw_iaa: "-",
  create_role: "-",
  login: "APP_ACTIVE",
  customer_effective: "-",
  wx_launch: "APP_CALLUP",
  re_active: "-",
  retention_2d: "-",
  retention_3d: "-",
  retention_4d: "-",
  retention_5d: "-",
  retention_6d: "-",
  retention_7d: "-",
  retention_14d: "-",
  retention_30d: "-",
  service_pay_success: "USER_COST",
  complete_order: "ORDER_PLACE",
  first_day_pay: "USER_COST",
  first_pay: "USER_COST",
  ad_quality: "-",
  game_action: "-",
  action_valid: "-",
};

tells("Bilibili", CODES, { ...bilibili, by: BY_TRACK, told: (change) => queryOf(bilibili.request(change)).conv_type });

test("an account's own codes take precedence over the table's", () => {
  const codes = '{"customer_effective":"FORM_SUBMIT"}';
  const change = { ...BY_TRACK, eventType: "customer_effective" } as const;
  expect(queryOf(bilibili.request(change, { codes })).conv_type).toBe("FORM_SUBMIT");
});

test("a conversion has its time in milliseconds", () => {
  const { url } = bilibili.request(BY_TRACK);
  const base = "https://cm.bilibili.com/conv/api/conversion/ad/cb/v1";
  expect(url).toBe(`${base}?conv_type=APP_FIRST_ACTIVE&conv_time=${AT_MS}&track_id=pbaes.a-b_c&client_ip=203.0.113.9`);
});

test.each([
  ["fen", 1999, "1999"],
  ["fen", 0, "0"],
  ["yuan", 1999, "19.99"],
])("in %s, %i cents are sent as %s", (value_unit, cents, told) => {
  expect(queryOf(bilibili.request({ ...BY_TRACK, cents }, { value_unit })).conv_value).toBe(told);
});

test("an amount is in fen unless the account says otherwise", () => {
  expect(queryOf(bilibili.request({ ...BY_TRACK, cents: 600 })).conv_value).toBe("600");
});

test("a track id with odd characters arrives unchanged, from a click id too", () => {
  expect(queryOf(bilibili.request({ ...BY_TRACK, adData: { track_id: ODD } })).track_id).toBe(ODD.toWellFormed());
  expect(queryOf(bilibili.request({ ...BY_TRACK, adData: { click_id: "c" } })).track_id).toBe("c");
});

skips(bilibili, [
  [{}, {}, "The touch brought no track_id."],
  [{ adData: BY_TRACK.adData }, {}, "The user's address is not known."],
  [BY_TRACK, { value_unit: "li" }, "The account's `value_unit` is neither fen nor yuan."],
]);

test("Bilibili does not dedupe", () => {
  expect(bilibili.dedupes(BY_TRACK)).toBe(false);
});

reads(bilibiliPostback, [
  ["code 0", reply({ code: 0, message: "", data: "" }), "accepted"],
  ["code 400", reply({ code: 400, message: "track_id" }), "permanent"],
  ["another code", reply({ code: -500, message: "x" }), "retry"],
]);
