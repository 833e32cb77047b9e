import { describe, expect, test } from "vitest";
import { settingsOf } from "../../src/platform/connector/connector.ts";
import { wechatRevenue } from "../../src/platform/wechat/revenue.ts";

const context = {
  account: settingsOf(wechatRevenue.fields, { advertiser_id: "wx1", app_secret: "s", access_token: "t" }),
  nowMs: 0,
  nonce: "n",
};
const question = { list: "report", from: "2026-11-01", to: "2026-11-02", page: 1 };
const read = (body: object, asked = question) =>
  wechatRevenue.read(asked, { status: 200, body: JSON.stringify(body) }, context);
const row = (stat: object) => ({ ad_unit_id: "adunit-1", ad_unit_name: "u", stat_item: stat });
const told = (list: object[], total_num = list.length) =>
  read({ base_resp: { ret: 0, err_msg: "ok" }, list, total_num });

test("the report by ad unit is asked for, 90 rows at a time, and then the mini-game's own total", () => {
  const totals = { ...question, list: "totals" };
  expect(wechatRevenue.start({ fromDay: "2026-11-01", toDay: "2026-11-02" }, context)).toEqual([question, totals]);
  expect(wechatRevenue.request(totals, context).url).toContain("?action=publisher_adpos_general&");
  expect(wechatRevenue.request(question, context)).toEqual({
    method: "GET",
    headers: {},
    url: "https://api.weixin.qq.com/publisher/stat?action=publisher_adunit_general&access_token=t&page=1&page_size=90&start_date=2026-11-01&end_date=2026-11-02",
  });
});

describe("an answer", () => {
  test("holds what a unit earned on a day, in fen", () => {
    const stat = { date: "2026-11-01", exposure_count: 10, click_count: 1, income: 1234, ecpm: 123_400 };
    expect(told([row(stat)])).toEqual({
      kind: "page",
      costs: [
        { day: "2026-11-01", gid: "", aid: "adunit-1", impressions: 10, clicks: 1, costE4: 123_400, currency: "CNY" },
      ],
      names: [],
      next: [],
    });
  });

  test("about kinds of ads is the total of a day", () => {
    const list = [7, 5].map((income) => ({ ad_slot: `s${income}`, date: "2026-11-01", exposure_count: 1, income }));
    const page = read({ base_resp: { ret: 0 }, list, total_num: 2 }, { ...question, list: "totals" });
    expect(page).toMatchObject({ costs: [], totals: [{ day: "2026-11-01", aid: "", impressions: 2, costE4: 1_200 }] });
  });

  test("with more rows than one page asks for the next page", () => {
    expect(told([row({ date: "2026-11-01", income: 1 })], 91)).toMatchObject({ next: [{ ...question, page: 2 }] });
    expect(told([], 91)).toMatchObject({ next: [] });
  });

  test.each<[string, object, string]>([
    ["a token that has ended", { errcode: 42001, errmsg: "access_token expired" }, "token"],
    ["an unknown token", { errcode: 40001, errmsg: "invalid credential" }, "token"],
    ["a used-up quota", { base_resp: { ret: 45009, err_msg: "quota" } }, "retry"],
    ["a game that shows no ads", { base_resp: { ret: 2009, err_msg: "invalid publisher" } }, "permanent"],
    ["a row without a day", { base_resp: { ret: 0 }, list: [row({ income: 1 })], total_num: 1 }, "permanent"],
    ["something else", { hello: "world" }, "retry"],
  ])("that is %s", (_, body, kind) => {
    expect(read(body)).toMatchObject({ kind });
  });
});

test("a token is asked for with the game's id and secret, and without them not at all", () => {
  const { request, read: readToken } = wechatRevenue.tokens!;
  expect(request(context)).toMatchObject({
    url: "https://api.weixin.qq.com/cgi-bin/stable_token",
    body: JSON.stringify({ grant_type: "client_credential", appid: "wx1", secret: "s" }),
  });
  expect(request({ ...context, account: settingsOf(wechatRevenue.fields, {}) })).toBeUndefined();
  expect(readToken({ status: 200, body: '{"access_token":"t2","expires_in":7200}' }, 1_000)).toEqual({
    kind: "token",
    values: { access_token: "t2" },
    expiresAtMs: 7_201_000,
    refreshExpiresAtMs: null,
  });
  expect(readToken({ status: 200, body: '{"errcode":40125,"errmsg":"invalid appsecret"}' }, 0)).toMatchObject({
    kind: "permanent",
  });
});
