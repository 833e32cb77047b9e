import { expect, test } from "vitest";
import { kuaishouPostback } from "../../../src/platform/kuaishou/postback.ts";
import { reads, tells } from "../connector-cases.ts";
import { AT_MS, type CodeTable, forgedCallbacks, ODD, oddCallbacks, queryOf, reply, using } from "../sample.ts";

const TOKEN = "DHAJASALKFyk1uCKBYCyXp-iIDS-uHDd_a9SJ9Dbwkqv46";
const BY_TOKEN = { adData: { callback: TOKEN } };
const kuaishou = using(kuaishouPostback, {});

const CODES: CodeTable = {
  activate: "1",
  register: "2",
  pay: "3",
  twice: "7",
  key_active: "143",
  withdraw_iaa: "-",
  create_role: "-",
  login: "5",
  customer_effective: "44",
  wx_launch: "84",
  re_active: "-",
  retention_2d: "102",
  retention_3d: "103",
  retention_4d: "104",
  retention_5d: "105",
  retention_6d: "106",
  retention_7d: "8",
  retention_14d: "107",
  retention_30d: "108",
  service_pay_success: "15",
  complete_order: "14",
  first_day_pay: "3",
  first_pay: "3",
  ad_quality: "85",
  game_action: "144",
  action_valid: "6",
};

tells("Kuaishou", CODES, {
  ...kuaishou,
  by: { ...BY_TOKEN, cents: 600 },
  told: (change) => queryOf(kuaishou.request(change)).event_type,
});

test("an account's own codes take precedence over the table's, as texts and as numbers", () => {
  const codes = '{"create_role":143,"key_active":"144"}';
  expect(queryOf(kuaishou.request({ ...BY_TOKEN, eventType: "create_role" }, { codes })).event_type).toBe("143");
  expect(queryOf(kuaishou.request({ ...BY_TOKEN, eventType: "key_active" }, { codes })).event_type).toBe("144");
  expect(queryOf(kuaishou.request({ ...BY_TOKEN, eventType: "register" }, { codes })).event_type).toBe("2");
});

test.each([
  ["", {}, { event_type: "143" }],
  ["", { key_action_category: "2", key_action_threshold: "10" }, ["2", "10"]],
  ["143:3:5", { key_action_category: "2", key_action_threshold: "10" }, ["3", "5"]],
  ["143:3", { key_action_threshold: "10" }, ["3", "10"]],
] as const)(
  "a key action with the rule's code %j and the account's %j says its category and threshold",
  (code, own, told) => {
    const query = queryOf(kuaishou.request({ ...BY_TOKEN, eventType: "key_active", code }, own));
    if (Array.isArray(told)) {
      expect(query).toMatchObject({ event_type: "143", key_action_category: told[0], key_action_threshold: told[1] });
    } else {
      expect(query).toEqual({ callback: TOKEN, event_time: String(AT_MS), ...told });
    }
  },
);

test("other events have neither category nor threshold", () => {
  const own = { key_action_category: "2", key_action_threshold: "10" };
  expect(queryOf(kuaishou.request(BY_TOKEN, own))).not.toHaveProperty("key_action_category");
});

test("a token becomes an address, with the time in milliseconds", () => {
  expect(kuaishou.request(BY_TOKEN)).toEqual({
    method: "GET",
    url: `https://ad.partner.gifshow.com/track/activate?callback=${TOKEN}&event_type=1&event_time=${AT_MS}`,
    headers: {},
  });
});

test.each([
  "http://ad.partner.gifshow.com/track/activate?callback=a%2Bb",
  "https://ad.partner.gifshow.com/x?callback=a&os=1",
])("the delivered address %s is called as it is, with the event appended", (callback) => {
  const { url } = kuaishou.request({ adData: { callback } });
  expect(url).toBe(`${callback}&event_type=1&event_time=${AT_MS}`);
  expect(kuaishou.request({ adData: { callback: encodeURIComponent(callback) } }).url).toBe(url);
});

test("a fragment does not swallow what is appended to the address", () => {
  const callback = "http://ad.partner.gifshow.com/track/activate?callback=a#x";
  expect(queryOf(kuaishou.request({ adData: { callback } }))).toMatchObject({ callback: "a", event_type: "1" });
});

test("odd characters in a token arrive unchanged", () => {
  const request = kuaishou.request({ adData: { callback: ODD } });
  expect(queryOf(request)).toEqual({ callback: ODD.toWellFormed(), event_type: "1", event_time: String(AT_MS) });
  expect(request.url).toMatch(/^[\x21-\x7e]+$/);
});

test.each([
  [1, "0.01"],
  [0, "0.00"],
  [600, "6.00"],
  [1999, "19.99"],
  [12_345_678_910, "123456789.10"],
])("%i cents are sent as %s yuan", (cents, told) => {
  expect(queryOf(kuaishou.request({ ...BY_TOKEN, eventType: "pay", cents })).purchase_amount).toBe(told);
});

test.each(["pay", "first_pay", "first_day_pay", "complete_order", "service_pay_success"] as const)(
  "%s is not sent without an amount",
  (eventType) => {
    expect(kuaishou.reason({ ...BY_TOKEN, eventType })).toBe(`Kuaishou accepts ${eventType} only with an amount.`);
  },
);

test.each(["12", "13"])("the code %s is not sent without an amount either", (code) => {
  const own = { codes: JSON.stringify({ login: code }) };
  expect(kuaishou.reason({ ...BY_TOKEN, eventType: "login" }, own)).not.toBe("");
  expect(kuaishou.reason({ ...BY_TOKEN, eventType: "login", cents: 1 }, own)).toBe("");
});

test("other events are sent without an amount", () => {
  expect(queryOf(kuaishou.request(BY_TOKEN))).not.toHaveProperty("purchase_amount");
});

test("Kuaishou does not dedupe", () => {
  expect(kuaishou.dedupes(BY_TOKEN)).toBe(false);
});

test("without a callback nothing is sent", () => {
  expect(kuaishou.reason({})).toBe("The touch brought no callback.");
});

test.each(forgedCallbacks("ad.partner.gifshow.com"))("the forged callback %s is not called", (callback) => {
  expect(kuaishou.reason({ adData: { callback } })).toBe("The callback's host is not one of the platform's.");
});

test.each(oddCallbacks("ad.partner.gifshow.com"))("the callback %j is not called", (callback) => {
  expect(kuaishou.reason({ adData: { callback } })).toBe("The callback is not an http address.");
});

reads(kuaishouPostback, [
  ["result 1", reply({ result: 1, "host-name": "h" }), "accepted"],
  ["result 1 as a text", reply({ result: "1" }), "accepted"],
  ["result 0", reply({ result: 0 }), "retry"],
  ["result 2 with a text", reply({ result: 2, error_msg: "busy" }), "retry"],
  ["a callback that cannot be decoded", reply({ result: 3, error_msg: "callbackinfo decoded failure" }), "permanent"],
]);
