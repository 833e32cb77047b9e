import { expect, test } from "vitest";
import { honorPostback } from "../../../src/platform/honor/postback.ts";
import { reads, skips, tells } from "../connector-cases.ts";
import { ANDROID, AT_MS, type CodeTable, OAID, ODD, queryOf, reply, using } from "../sample.ts";

const BY_TRACK = { user: ANDROID, adData: { track_id: "t-1", advertiser_id: "1001" } };
const honor = using(honorPostback, {});

const CODES: CodeTable = {
  activate: "10001",
  register: "10002",
  pay: "10004",
  twice: "10003",
  key_active: "900101",
  withdraw_iaa: "-",
  create_role: "70003",
  login: "10009",
  customer_effective: "20005",
  wx_launch: "-",
  re_active: "10022",
  retention_2d: "-",
  retention_3d: "10013",
  retention_4d: "-",
  retention_5d: "-",
  retention_6d: "-",
  retention_7d: "10014",
  retention_14d: "-",
  retention_30d: "-",
  service_pay_success: "10004",
  complete_order: "10007",
  first_day_pay: "10025",
  first_pay: "10017",
  ad_quality: "10023",
  game_action: "70008",
  action_valid: "-",
};

tells("Honor", CODES, { ...honor, by: BY_TRACK, told: (change) => queryOf(honor.request(change)).conversionId });

test("an account's own codes take precedence over the table's", () => {
  const change = { ...BY_TRACK, eventType: "game_action" } as const;
  expect(queryOf(honor.request(change, { codes: '{"game_action":70005}' })).conversionId).toBe("70005");
});

test("a conversion names its click, its advertiser and the device, with the time in milliseconds", () => {
  const base = "https://ads-drcn.platform.hihonorcloud.com/api/ad-tracking/v1/conversion";
  expect(honor.request({ ...BY_TRACK, cents: 600 })).toEqual({
    method: "GET",
    url: `${base}?trackId=t-1&conversionId=10001&conversionTime=${AT_MS}&advertiserId=1001&oaid=${OAID}`,
    headers: {},
  });
});

test("the click's oaid is used if the device's is not known, and odd characters arrive unchanged", () => {
  const adData = { click_id: ODD, advertiser_id: "1", oaid: "o-1" };
  expect(queryOf(honor.request({ adData }))).toMatchObject({ trackId: ODD.toWellFormed(), oaid: "o-1" });
});

test("the account's own advertiser is named if the touch names none", () => {
  const change = { ...BY_TRACK, adData: { track_id: "t-1" } };
  expect(queryOf(honor.request(change, { advertiser_id: "7" })).advertiserId).toBe("7");
});

test("a quick app's action names the quick app", () => {
  const change = { ...BY_TRACK, eventType: "key_active", code: "900401" } as const;
  const { extra } = queryOf(honor.request(change, { pkg_name: "com.example.q", app_name: "游戏" }));
  expect(JSON.parse(extra!)).toEqual({ pkgName: "com.example.q", appName: "游戏" });
  expect(queryOf(honor.request(BY_TRACK))).not.toHaveProperty("extra");
});

skips(honor, [
  [{}, {}, "The touch brought no track_id."],
  [{ adData: { track_id: "t" } }, {}, "Neither the touch nor the account names the advertiser."],
]);

test("Honor neither dedupes nor takes amounts", () => {
  expect(honor.dedupes(BY_TRACK)).toBe(false);
  expect(honorPostback.tellsMoney).toBe("no");
});

reads(honorPostback, [
  ["code 0", reply({ code: 0, message: "success" }), "accepted"],
  ["another code", reply({ code: 1, message: "trackId" }), "retry"],
]);
