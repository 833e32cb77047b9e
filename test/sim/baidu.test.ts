import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type BaiduStandIn, startBaidu } from "../../sim/platforms/baidu.ts";
import { but, expectRefused, get, NOW_MS, NOW_SECONDS, post } from "./calls.ts";
import { someCosts } from "./costs.ts";

let baidu: BaiduStandIn;
let nowMs: number;

beforeEach(async () => {
  nowMs = NOW_MS;
  baidu = await startBaidu({ clock: () => nowMs, costs: someCosts("300"), pageRows: 2 });
});
afterEach(() => baidu.close());

describe("conversions by bd_vid", () => {
  const PAY = {
    logidUrl: "https://game.example.com/?bd_vid=vid-1",
    newType: 26,
    convertTime: NOW_SECONDS,
    convertValue: 600,
    outerEventId: "e-1",
    outerEventType: "custom_dedup",
  };
  const send = (items: unknown, token = baidu.token) =>
    post(`${baidu.url}/ocpcapi/api/uploadConvertData`, { token, conversionTypes: items });

  test("a payment is accepted, in fen and seconds", async () => {
    expect((await send([PAY])).json.header.status).toBe(0);
    expect(baidu.accepted[0]).toMatchObject({ key: "vid-1", code: "26", dedupeId: "e-1", cents: 600, atMs: NOW_MS });
  });

  test("the same outerEventId is one conversion", async () => {
    await send([PAY, PAY, but(PAY, "outerEventId", "e-2")]);
    expect(baidu.accepted.map(({ isDuplicate }) => isDuplicate)).toEqual([false, true, false]);
  });

  test("the valid items of a call are accepted, and the invalid ones are named", async () => {
    const { header } = (await send([PAY, but(PAY, "newType", 6)])).json;
    expect(header).toMatchObject({ status: 1, errors: [{ position: "conversionTypes[1]" }] });
    expect(baidu.accepted).toHaveLength(1);
  });

  test("a wrong token is status 3", async () => {
    expect((await send([PAY], "guess")).json.header.status).toBe(3);
    expectRefused(baidu, /token is invalid/);
  });

  test("a hundred items are one too many", async () => {
    expect((await send(Array(100).fill(PAY))).json.header.status).toBe(2);
    expectRefused(baidu, /more than 99 items/);
  });

  test.each<[string, string, unknown, RegExp]>([
    ["no landing page", "logidUrl", undefined, /logidUrl/],
    ["a landing page without bd_vid", "logidUrl", "https://game.example.com/?vid=1", /no bd_vid/],
    ["a bare bd_vid", "logidUrl", "vid-1", /not a URL/],
    ["a very long page", "logidUrl", `https://a.example/?bd_vid=${"v".repeat(1010)}`, /1024/],
    ["an unknown type", "newType", 6, /newType 6 is unknown/],
    ["a type as a text", "newType", "26", /newType is not a whole number/],
    ["time in milliseconds", "convertTime", NOW_MS, /convertTime is not between/],
    ["money in yuan", "convertValue", 6.5, /convertValue is not a whole number/],
    ["an id of 256 bytes", "outerEventId", "e".repeat(256), /255 bytes/],
    ["an unknown way to dedupe", "outerEventType", "dedup", /outerEventType dedup/],
  ])("refused: %s", async (_, path, value, reason) => {
    expect((await send([but(PAY, path, value)])).json.header.status).toBe(2);
    expectRefused(baidu, reason);
  });
});

describe("conversions of apps", () => {
  const unmatched = (type: string, value: string | number) =>
    baidu.callbackUrl("ext-1").replace("{{ATYPE}}", type).replace("{{AVALUE}}", String(value));
  const filled = (type: string, value: string | number) => `${unmatched(type, value)}&join_type=oaid`;
  const signed = (url: string) => `${url}&sign=${createHash("md5").update(`${url}${baidu.akey}`).digest("hex")}`;

  test("a delivered callback is accepted once it is filled in and signed", async () => {
    const url = signed(`${filled("orders", 600)}&a_time=${NOW_SECONDS}`);
    expect((await get(url)).json).toEqual({ error_code: 0, error_msg: "success" });
    expect(baidu.accepted[0]).toMatchObject({ key: "ext-1", code: "orders", cents: 600, atMs: NOW_MS });
  });

  test("a value of 0 means that there is no money", async () => {
    await get(signed(filled("activate", 0)));
    expect(baidu.accepted[0]?.cents).toBeNull();
  });

  test.each<[string, () => string, number]>([
    ["no sign", () => filled("orders", 600), 100],
    ["a sign with another key", () => `${filled("orders", 600)}&sign=${"0".repeat(32)}`, 100],
    ["a sign that is not last", () => `${signed(filled("orders", 600))}&a_time=${NOW_SECONDS}`, 100],
    ["no ext_info", () => signed(`${baidu.url}/ocpcapi/cb/actionCb?a_type=orders&a_value=1`), 101],
    ["macros that were not replaced", () => signed(baidu.callbackUrl("ext-1")), 102],
    ["an unknown type", () => signed(filled("pay", 600)), 102],
    ["money in yuan", () => signed(filled("orders", "6.00")), 102],
    ["an unknown join", () => signed(`${unmatched("orders", 1)}&join_type=gaid`), 105],
    ["no join", () => signed(unmatched("orders", 1)), 105],
    ["a time in milliseconds", () => signed(`${filled("orders", 1)}&a_time=${NOW_MS}`), 110],
    ["a time in the future", () => signed(`${filled("orders", 1)}&a_time=${NOW_SECONDS + 1}`), 110],
    ["a key action of no kind", () => signed(`${filled("key_action", 0)}&action_type=11&action_value=1`), 102],
    ["two kinds with one value", () => signed(`${filled("key_action", 0)}&action_type=1,2&action_value=1`), 102],
  ])("refused: %s", async (_, url, code) => {
    expect((await get(url())).json.error_code).toBe(code);
    expect(baidu.accepted).toEqual([]);
  });
});

describe("reports", () => {
  const BODY = {
    reportType: 2330652,
    timeUnit: "DAY",
    startDate: "2025-10-01",
    endDate: "2025-10-02",
    columns: [
      "date",
      "userName",
      "campaignId",
      "campaignName",
      "adGroupId",
      "adGroupName",
      "impression",
      "click",
      "cost",
    ],
    startRow: 0,
    rowCount: 1000,
  };
  const ask = (body: object, accessToken = baidu.tokens.accessToken) =>
    post(`${baidu.url}/json/sms/service/OpenApiReportService/getReportData`, {
      header: { userName: baidu.userName, accessToken },
      body,
    });

  test("rows start at the requested offset, in yuan", async () => {
    const first = (await ask(BODY)).json;
    expect(first.header.status).toBe(0);
    expect(first.body.data).toMatchObject({ rowCount: 2, totalRowCount: 5 });
    expect(first.body.data.rows[0]).toMatchObject({ date: "2025-10-01", cost: 12.34, impression: 12_340 });
    expect((await ask({ ...BODY, startRow: 4 })).json.body.data.rows).toHaveLength(1);
  });

  test.each<[string, string, unknown, RegExp]>([
    ["an unknown report", "reportType", 1, /reportType/],
    ["another unit of time", "timeUnit", "HOUR", /timeUnit/],
    ["an unknown column", "columns", ["spend"], /column spend is unknown/],
    ["a column below the level", "reportType", 2276038, /adGroupId is below/],
    ["invalid days", "startDate", "20251001", /is not a day/],
  ])("refused: %s", async (_, path, value, reason) => {
    const { json } = await ask(but(BODY, path, value));
    expect(json.header.failures[0].message).toMatch(reason);
  });

  test("a token expires after a day; a refresh replaces both", async () => {
    nowMs += 86_400_000;
    expect((await ask(BODY)).json.header.failures[0].message).toMatch(/expired/);
    const { appId, secretKey, tokens } = baidu;
    const body = { appId, secretKey, userId: 300, refreshToken: tokens.refreshToken };
    const { json } = await post(`${baidu.url}/oauth/refreshToken`, body);
    expect(json.data).toMatchObject({ accessToken: tokens.accessToken, refreshToken: tokens.refreshToken });
    expect((await ask(BODY)).json.header.status).toBe(0);
    expect((await post(`${baidu.url}/oauth/refreshToken`, body)).json.code).not.toBe(0);
  });
});
