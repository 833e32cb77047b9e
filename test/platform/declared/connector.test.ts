import { createHash, createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/domain/json.ts";
import type { ReplyVerdict } from "../../../src/platform/connector/connector.ts";
import { declaredConnector } from "../../../src/platform/declared/connector.ts";
import { readDeclaration } from "../../../src/platform/declared/declaration.ts";
import {
  ANDROID,
  ASKED,
  AT_MS,
  AT_SECONDS,
  DEDUPE_ID,
  forgedCallbacks,
  NOW_MS,
  OAID,
  ODD,
  oddCallbacks,
  queryOf,
  reply,
  using,
} from "../sample.ts";
import { workedExample } from "./worked-examples.ts";

const connectorOf = (given: JsonObject) => declaredConnector(readDeclaration(given, { mayCallPrivate: false }));

const PLAIN = {
  url: "https://platform.example/conv?v=2",
  query: { click: "{click_id}", type: "{code}" },
  success: { kind: "status" },
  codes: { activate: "1", pay: "3" },
} as const;
const CLICK = { adData: { click_id: "c-1" } };
const plain = (change: JsonObject, account: Record<string, string> = {}) =>
  using(connectorOf({ ...PLAIN, ...change }), account);

describe("the worked example of UC", () => {
  const uc = using(connectorOf(workedExample("uc")), {});
  const DELIVERED = "https://huichuan.uc.cn/callback/appapi?click_id=17&event_type=0&uctrackid=cz%2Bx&act_type=&uid=7";

  test("calls the delivered address with what the platform wants added, and the rest unchanged", () => {
    expect(uc.request({ user: ANDROID, adData: { callback: encodeURIComponent(DELIVERED) } })).toEqual({
      method: "GET",
      url: `${DELIVERED}&type=1&event_time=${AT_MS}&oaid=${OAID}`,
      headers: {},
    });
    expect(connectorOf(workedExample("uc")).tellsMoney).toBe("no");
  });

  test.each([...forgedCallbacks("huichuan.uc.cn"), ...oddCallbacks("huichuan.uc.cn")])(
    "%s is not called",
    (callback) => {
      expect(uc.reason({ adData: { callback } })).toMatch(/^The callback/);
    },
  );

  test("sends nothing without a callback, or for an event type without a code", () => {
    expect(uc.reason({})).toBe("The touch brought no callback.");
    expect(uc.reason({ eventType: "pay", adData: { callback: DELIVERED } })).toBe("The platform has no code for pay.");
  });
});

describe("the worked example of Qihoo 360", () => {
  const ACCOUNT = { app_key: "k-1", app_secret: "s-1" };
  const qihoo = using(connectorOf(workedExample("qihu360")), ACCOUNT);

  test("posts signed JSON with numbers, and the amount of a payment in fen", () => {
    const { method, url, headers, body } = qihoo.request({ ...CLICK, eventType: "pay", cents: 648 });
    const detail = { qhclickid: "c-1", trans_id: DEDUPE_ID, event: "PAY", event_time: AT_SECONDS };
    const data = {
      request_time: Math.floor(NOW_MS / 1_000),
      data_industry: "ocpc_ps_convert",
      data_detail: { ...detail, event_param: { value: 648 } },
    };
    expect([method, url, body]).toEqual([
      "POST",
      "https://convert.dop.360.cn/uploadWebConvert",
      JSON.stringify({ data }),
    ]);
    expect(headers).toEqual({
      "Content-Type": "application/json;charset=utf-8",
      "App-Key": "k-1",
      "App-Sign": createHash("md5").update(`s-1${body}`).digest("hex"),
    });
  });

  test("leaves out what has no value, with the object that held it", () => {
    expect(JSON.parse(qihoo.request(CLICK).body!).data.data_detail).not.toHaveProperty("event_param");
  });

  test("sends nothing without the click, or with a signature that could only be wrong", () => {
    expect(qihoo.reason({})).toBe("The conversion has no click_id.");
    expect(qihoo.reason(CLICK, { app_secret: "" })).toBe("The account has no `app_secret`.");
    expect(qihoo.reason(CLICK, { app_key: "" })).toBe("The account has no `app_key`.");
  });
});

/** Shapes of other platforms' calls, from public callers. */
describe("a declaration can express", () => {
  test("Weibo's bearer token and milliseconds", () => {
    const weibo = plain(
      {
        url: "https://api.biz.weibo.com/v3/track/activate",
        query: { time: "{time_ms}", behavior: "{code}", mark_id: "{click_id}", host: "game.example" },
        headers: { Authorization: "Bearer {account.token}" },
        account: { token: "secret" },
      },
      { token: "t-1" },
    );
    const request = weibo.request(CLICK);
    expect(queryOf(request)).toEqual({ time: String(AT_MS), behavior: "1", mark_id: "c-1", host: "game.example" });
    expect(request.headers).toEqual({ Authorization: "Bearer t-1" });
  });

  test("Xiaohongshu's nested JSON with numbers as codes", () => {
    const json = {
      platform: "game",
      scene: 701,
      advertiser_id: "{advertiser_id}",
      click_id: "{click_id}",
      os: "{os_number?:number}",
      timestamp: "{time_ms:number}",
      event_type: "{code:number}",
      context: { properties: { pay: "{amount_fen?:number}" } },
    };
    const xiaohongshu = plain({ method: "POST", query: {}, json, codes: { activate: 411, pay: 402 } });
    const adData = { click_id: "c-1", advertiser_id: "9007199254740993" };
    const { body } = xiaohongshu.request({ eventType: "pay", cents: 600, user: ANDROID, adData });
    expect(body).toBe(
      `{"platform":"game","scene":701,"advertiser_id":"9007199254740993","click_id":"c-1","os":0,"timestamp":${AT_MS},` +
        `"event_type":402,"context":{"properties":{"pay":600}}}`,
    );
    expect(JSON.parse(xiaohongshu.request({ adData }).body!)).not.toHaveProperty("context");
    expect(xiaohongshu.reason({ adData, code: "PAY" })).toBe("The value of code is not a number.");
  });

  test("a delivered address with macros: they are filled in or removed, and nothing else is touched", () => {
    const iqiyi = plain({
      url: "{callback}",
      callback_hosts: "tc.cupid.iqiyi.com",
      query: { event_type: "{code}", pmao: "{amount_fen?}", cst: "{time_s}" },
    });
    const callback =
      "http://tc.cupid.iqiyi.com/cb?ck=a%2Fb&pmao=__PAYMENT_AMOUNT__&cst=__CONVERSION_TIME__&s=6a&x=__V__";
    const base = "http://tc.cupid.iqiyi.com/cb?ck=a%2Fb&s=6a&event_type=";
    expect(iqiyi.request({ adData: { callback } }).url).toBe(`${base}1&cst=${AT_SECONDS}`);
    const paid = { eventType: "pay", cents: 648, adData: { callback } } as const;
    expect(iqiyi.request(paid).url).toBe(`${base}3&pmao=648&cst=${AT_SECONDS}`);
  });

  test("a form with an HMAC in upper case inside it", () => {
    const form = { click: "{click_id}", type: "{code}", yuan: "{amount_yuan?}", sign: "{sign}" };
    const sign = { hash: "hmac_sha256", of: "{click_id}&{time_s}", key: "{account.key}", letters: "upper" };
    const shop = plain({ method: "POST", query: {}, form, sign, account: { key: "secret" } }, { key: "k" });
    const { body, headers } = shop.request({ ...CLICK, eventType: "pay", cents: 5 });
    const expected = createHmac("sha256", "k").update(`c-1&${AT_SECONDS}`).digest("hex").toUpperCase();
    expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
      click: "c-1",
      type: "3",
      yuan: "0.05",
      sign: expected,
    });
    expect(headers).toEqual({ "content-type": "application/x-www-form-urlencoded" });
  });
});

test("odd characters arrive unchanged in query, form and JSON, and never in a header", () => {
  const adData = { click_id: ODD };
  expect(queryOf(plain({}).request({ adData }))).toEqual({ v: "2", click: ODD.toWellFormed(), type: "1" });
  const posted = (change: JsonObject) => plain({ method: "POST", query: {}, ...change }).request({ adData }).body!;
  const form = new URLSearchParams(posted({ form: { click: "{click_id}", type: "{code}" } }));
  expect(form.get("click")).toBe(ODD.toWellFormed());
  expect(JSON.parse(posted({ json: { click: "a {click_id} {{}}", type: "{code}" } })).click).toBe(
    `a ${ODD.toWellFormed()} {}`,
  );
  expect(plain({ headers: { "x-click": "{click_id}" } }).reason({ adData })).toBe(
    "The header x-click would hold signs that a header cannot hold.",
  );
});

test("the rule's own code takes precedence over the account's, and that over the declared one", () => {
  const codes = '{"pay":"33"}';
  const told = (change: object) => queryOf(plain({}, { codes }).request({ ...CLICK, ...change })).type;
  expect([told({}), told({ eventType: "pay" }), told({ eventType: "pay", code: "333" })]).toEqual(["1", "33", "333"]);
});

test("money counts as told only if the declaration sends it, and repeats only if it says so", () => {
  expect(connectorOf(PLAIN).tellsMoney).toBe("no");
  expect(connectorOf({ ...PLAIN, query: { ...PLAIN.query, m: "{amount_fen?}" } }).tellsMoney).toBeUndefined();
  expect(plain({}).dedupes(CLICK)).toBe(false);
  expect(plain({ query: { ...PLAIN.query, id: "{id}" }, repeats: "detected" }).dedupes(CLICK)).toBe(true);
});

test("fields that hold a secret or a signature are named, so that tests hide them", () => {
  const sign = { hash: "md5", of: "{click_id}" };
  const account = { key: "setting", token: "secret" };
  const fields = { a: "{sign}", b: "x {account.token}", c: "{account.key}{click_id}", d: "{code}" };
  expect(connectorOf({ ...PLAIN, query: fields, sign, account }).hiddenNames).toEqual(["a", "b"]);
  const json = { list: [{ inner: fields }], d: "{code}" };
  expect(connectorOf({ ...PLAIN, method: "POST", json, sign, account }).hiddenNames).toEqual(["a", "b"]);
});

test("the signature is named as hidden by the call itself, because it may stand where no name is", () => {
  const sign = { hash: "md5", of: "{click_id}" };
  const { hidden, body } = plain({ method: "POST", json: ["{code}", "{sign}"], query: {}, sign }).request(CLICK);
  const md5 = createHash("md5").update("c-1").digest("hex");
  expect([hidden, body]).toEqual([[md5], JSON.stringify(["1", md5])]);
  expect(plain({}).request(CLICK).hidden).toBeUndefined();
});

describe("a call with a secret or a signature to a delivered address", () => {
  const HOSTS = "cb.example, odd.example:8443, 127.0.0.1, 127.0.0.1:9000";
  const to = (callback: string, change: JsonObject) => {
    const given = { ...PLAIN, url: "{callback}", callback_hosts: HOSTS, ...change };
    const connector = declaredConnector(readDeclaration(given, { mayCallPrivate: true }));
    return using(connector, { key: "k-1" }).prepare({ adData: { callback, click_id: "c-1" } });
  };
  const BY_SECRET = { query: { type: "{code}", key: "{account.key}" }, account: { key: "secret" } };
  const BY_SIGN = { query: { type: "{code}", s: "{sign}" }, sign: { hash: "md5", of: "{click_id}" } };

  test.each([
    "https://cb.example/conv",
    "https://cb.example:443/conv",
    "https://odd.example:8443/conv",
    "http://127.0.0.1:9000/conv",
  ])("goes to %s", (callback) => {
    for (const change of [BY_SECRET, BY_SIGN]) expect(to(callback, change).kind).toBe("request");
  });

  test.each([
    ["http://cb.example/conv", /not an https address/],
    ["http://odd.example:8443/conv", /not an https address/],
    ["https://cb.example:8443/conv", /does not name the callback's port/],
    ["https://odd.example/conv", /host is not one/],
    ["http://127.0.0.1:5432/", /does not name the callback's port/],
  ])("does not go to %s", (callback, reason) => {
    for (const change of [BY_SECRET, BY_SIGN])
      expect(to(callback, change)).toEqual({ kind: "skip", reason: expect.stringMatching(reason) });
  });

  test("may go anywhere on the host when it carries neither", () => {
    expect(to("http://cb.example:8080/conv", {}).kind).toBe("request");
  });
});

test("the fields of the account are those declared, each secret or not", () => {
  const { fields } = connectorOf({ ...PLAIN, account: { app_key: "setting", app_secret: "secret" } });
  expect(fields.map(({ name, isSecret, fallback }) => [name, isSecret === true, fallback])).toEqual([
    ["app_key", false, ""],
    ["app_secret", true, ""],
    ["codes", false, ""],
  ]);
});

test.each<[JsonObject, number, ReplyVerdict]>([
  [{ data: { code: 0 } }, 200, { kind: "accepted" }],
  [{ data: { code: true } }, 200, { kind: "accepted" }],
  [{ data: { code: 400 }, msg: "no" }, 200, { kind: "permanent", reason: "The platform answered 400: no." }],
  [{ data: { code: 7 } }, 200, { kind: "retry", reason: "The platform answered 7." }],
  [{ code: 0 }, 200, { kind: "retry", reason: "The platform's answer cannot be read." }],
  [{ data: { code: 0 } }, 502, { kind: "retry", reason: "The platform answered with HTTP 502." }],
  [{ data: { code: 0 } }, 403, { kind: "permanent", reason: "The platform answered with HTTP 403, 0." }],
])("a field of the answer decides: %j with HTTP %i", (body, status, verdict) => {
  const success = { kind: "field", field: "data.code", accepted: ["0", true], refused: [400], message: "msg" };
  expect(connectorOf({ ...PLAIN, success }).read(reply(body, status), ASKED)).toEqual(verdict);
});

test.each<[JsonObject, string, number, string]>([
  [{ kind: "text", accepted: ["success"] }, " success\n", 200, "accepted"],
  [{ kind: "text", accepted: ["success"] }, "not success", 200, "retry"],
  [{ kind: "text", accepted: ["success"] }, "success", 500, "retry"],
  [{ kind: "status" }, "anything", 204, "accepted"],
  [{ kind: "status" }, "moved", 302, "retry"],
  [{ kind: "status" }, "wait", 429, "retry"],
  [{ kind: "status" }, "no", 404, "permanent"],
])("by %j, %j with HTTP %i is %s", (success, body, status, kind) => {
  expect(connectorOf({ ...PLAIN, success }).read({ status, body }, ASKED).kind).toBe(kind);
});
