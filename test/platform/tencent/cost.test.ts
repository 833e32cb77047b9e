import { expect, test } from "vitest";
import { daysOf } from "../../../src/domain/cost-schedule.ts";
import type { CostQuestion } from "../../../src/platform/connector/cost-connector.ts";
import { tencentCosts } from "../../../src/platform/tencent/cost.ts";
import { contextOf, NONCE, NOW_MS, ok, pullAll, queryOf } from "../../support/cost-pull.ts";

const ACCOUNT = {
  advertiser_id: "25610",
  access_token: "at-1",
  refresh_token: "rt-1",
  client_id: "1110",
  client_secret: "cs-1",
};
const context = contextOf(tencentCosts, ACCOUNT);
const REPORT = { list: "report", from: "2026-11-01", to: "2026-11-14", page: 1 };
const TOTALS = { ...REPORT, list: "totals" };
const SIGNED = { access_token: "at-1", timestamp: "1794715200", nonce: NONCE };

const row = (over: object = {}) => ({
  date: "2026-11-01",
  adgroup_id: 7001,
  view_count: 1200,
  valid_click_count: 30,
  cost: 123_456,
  ...over,
});
const report = (list: object[], pages = 1) =>
  ok({ code: 0, message: "", data: { list, page_info: { page: 1, page_size: 1000, total_page: pages } } });
const read = (body: ReturnType<typeof ok>, question: Record<string, string | number> = REPORT, given = context) =>
  tencentCosts.read(question, body, given);

test("the first requests are the report of the days, the account's totals and the account", () => {
  expect(tencentCosts.start({ fromDay: "2026-11-01", toDay: "2026-11-14" }, context)).toEqual([
    REPORT,
    TOTALS,
    { list: "account" },
  ]);
  expect([REPORT, TOTALS, { list: "account" }].map(tencentCosts.subjectOf)).toEqual(["costs", "totals", "names"]);
  expect(tencentCosts.spans).toEqual([{ reachDays: 365, daysMax: 90 }]);
});

test("the account's totals are requested by day alone", () => {
  expect(queryOf(tencentCosts.request(TOTALS, context).url)).toMatchObject({
    level: "REPORT_LEVEL_ADVERTISER",
    group_by: '["date"]',
    fields: '["date","view_count","valid_click_count","cost"]',
  });
  const total = {
    day: "2026-11-01",
    gid: "",
    aid: "",
    impressions: 1200,
    clicks: 30,
    costE4: 12_345_600,
    currency: "CNY",
  };
  expect(read(report([row({ adgroup_id: undefined })], 2), TOTALS)).toEqual({
    kind: "page",
    costs: [],
    totals: [total],
    names: [],
    next: [{ ...TOTALS, page: 2 }],
  });
});

test("a report of more rows than Tencent shows is requested in halves, and its first page is not counted", () => {
  expect(read(report([row()], 21))).toEqual({
    kind: "page",
    costs: [],
    names: [],
    next: [
      { ...REPORT, to: "2026-11-07" },
      { ...REPORT, from: "2026-11-08" },
    ],
  });
  expect(read(report([row()], 20))).toMatchObject({ costs: [{ aid: "7001" }], next: [{ page: 2 }, { list: "ads" }] });
});

test("halves cover every day once", () => {
  const days: string[] = [];
  const open = [{ ...REPORT, from: "2026-08-17", to: "2026-11-14" } as CostQuestion];
  for (let question = open.shift(); question; question = open.shift()) {
    const page = read(report([row()], 21), question as typeof REPORT);
    if (page.kind !== "page") throw new Error(page.reason);
    days.push(...(page.cut ?? []).map(({ day }) => day));
    open.push(...page.next);
  }
  expect(days.sort()).toEqual(daysOf({ fromDay: "2026-08-17", toDay: "2026-11-14" }).reverse());
});

test("a single day of more rows than Tencent shows is told, and not stored in part", () => {
  const page = read(report([row()], 21), { ...REPORT, to: REPORT.from });
  const reason =
    "Tencent has more than 20000 rows for 2026-11-01 and shows no more, so that nothing was stored for it.";
  expect(page).toEqual({ kind: "page", costs: [], names: [], cut: [{ day: "2026-11-01", reason }], next: [] });
});

test("a report that grows beyond what Tencent shows while it is read is requested again", () => {
  const reason = "Tencent's report of 2026-11-01 to 2026-11-14 grew while it was read.";
  expect(read(report([row()], 21), { ...REPORT, page: 20 })).toEqual({ kind: "retry", reason });
});

test("the report is requested by day and ad", () => {
  const { method, url, headers, body } = tencentCosts.request({ ...REPORT, page: 3 }, context);
  expect([method, headers, body]).toEqual(["GET", {}, undefined]);
  expect(url.split("?")[0]).toBe("https://api.e.qq.com/v3.0/daily_reports/get");
  expect(queryOf(url)).toEqual({
    ...SIGNED,
    account_id: "25610",
    level: "REPORT_LEVEL_ADGROUP",
    date_range: '{"start_date":"2026-11-01","end_date":"2026-11-14"}',
    group_by: '["date","adgroup_id"]',
    fields: '["date","adgroup_id","view_count","valid_click_count","cost"]',
    page: "3",
    page_size: "1000",
  });
});

test("ads are requested by their ids", () => {
  const { url } = tencentCosts.request({ list: "ads", ids: "7001,9007199254740993" }, context);
  expect(url.split("?")[0]).toBe("https://api.e.qq.com/v3.0/adgroups/get");
  expect(queryOf(url)).toEqual({
    ...SIGNED,
    account_id: "25610",
    filtering: '[{"field":"adgroup_id","operator":"IN","values":["7001","9007199254740993"]}]',
    fields: '["adgroup_id","adgroup_name","configured_status","system_status"]',
    page: "1",
    page_size: "100",
  });
});

test("the account is requested at its configured address", () => {
  const there = contextOf(tencentCosts, { ...ACCOUNT, base_url: "http://localhost:9" });
  const { url } = tencentCosts.request({ list: "account" }, there);
  expect(url.split("?")[0]).toBe("http://localhost:9/v3.0/advertiser/get");
  expect(queryOf(url)).toEqual({
    ...SIGNED,
    account_id: "25610",
    fields: '["account_id","corporation_name","memo","system_status"]',
  });
});

test("all pages are requested, and then the names of all ads in them", () => {
  const pages = [
    [row(), row({ date: "2026-11-02", cost: 1 })],
    [row({ adgroup_id: 7002 })],
    [row({ adgroup_id: 7002, date: "2026-11-02" })],
  ];
  const pull = pullAll(tencentCosts, context, {
    fromDay: "2026-11-01",
    toDay: "2026-11-02",
    answer: (question) => {
      if (question.list === "report") return report(pages[Number(question.page) - 1]!, 3);
      if (question.list === "totals") return report([row({ cost: 370_369 })]);
      if (question.list === "account") {
        const other = { account_id: 1, corporation_name: "Another" };
        const own = { account_id: 25610, corporation_name: "Example Games", system_status: "CUSTOMER_STATUS_NORMAL" };
        return ok({ code: 0, data: { list: [other, own] } });
      }
      const list = String(question.ids)
        .split(",")
        .map((id) => ({ adgroup_id: Number(id), adgroup_name: `Ad ${id}`, system_status: "ADGROUP_STATUS_ACTIVE" }));
      return ok({ code: 0, data: { list } });
    },
  });
  expect(pull.questions.map(({ list, page, ids }) => [list, page ?? ids ?? ""].join(" ").trim())).toEqual([
    ...["report 1", "totals 1", "account", "report 2", "ads 7001", "report 3", "ads 7002", "ads 7002"],
  ]);
  expect(pull.costs.map(({ day, gid, aid, costE4 }) => [day, gid, aid, costE4])).toEqual([
    ["2026-11-01", "", "7001", 12_345_600],
    ["2026-11-02", "", "7001", 100],
    ["2026-11-01", "", "7002", 12_345_600],
    ["2026-11-02", "", "7002", 12_345_600],
  ]);
  expect(pull.names).toEqual([
    { level: "account", id: "25610", name: "Example Games", status: "CUSTOMER_STATUS_NORMAL" },
    { level: "ad", id: "7001", name: "Ad 7001", status: "ADGROUP_STATUS_ACTIVE" },
    { level: "ad", id: "7002", name: "Ad 7002", status: "ADGROUP_STATUS_ACTIVE" },
    { level: "ad", id: "7002", name: "Ad 7002", status: "ADGROUP_STATUS_ACTIVE" },
  ]);
});

test("names are requested for a hundred ads at once", () => {
  const page = read(report(Array.from({ length: 201 }, (_, at) => row({ adgroup_id: at + 1 }))));
  const next = page.kind === "page" ? page.next : [];
  expect(next.map(({ ids }) => String(ids).split(",").length)).toEqual([100, 100, 1]);
});

test("a page without rows is the last one, whatever the count says", () => {
  expect(read(report([], 9))).toEqual({ kind: "page", costs: [], names: [], next: [] });
  expect(read(ok({ code: 0, message: "" }))).toEqual({ kind: "page", costs: [], names: [], next: [] });
});

test("an id beyond 2^53 keeps its digits, and unknown fields are ignored", () => {
  const body = `{"code":0,"trace":{"x":[1]},"data":{"list":[{"date":"2026-11-01","adgroup_id":90071992547409931,
    "view_count":"12","valid_click_count":3.0,"cost":"250","roi":0.1}],"page_info":{"total_page":1}}}`;
  const cost = { day: "2026-11-01", gid: "", aid: "90071992547409931", impressions: 12, clicks: 3 };
  expect(read(ok(body))).toEqual({
    kind: "page",
    costs: [{ ...cost, costE4: 25_000, currency: "CNY" }],
    names: [],
    next: [{ list: "ads", ids: "90071992547409931" }],
  });
});

test.each<[object, object]>([
  [
    { view_count: undefined, valid_click_count: null },
    { impressions: 0, clicks: 0 },
  ],
  [
    { view_count: -5, valid_click_count: "many" },
    { impressions: 0, clicks: 0 },
  ],
  [{ cost: undefined }, { costE4: 0 }],
  [{ cost: null }, { costE4: 0 }],
  [{ cost: "-" }, { costE4: 0 }],
  [{ cost: -250 }, { costE4: -25_000 }],
  [{ cost: 90_071_992_547_409 }, { costE4: 9_007_199_254_740_900 }],
  [{ date: "20261101" }, { day: "2026-11-01" }],
  [{ date: 20261101 }, { day: "2026-11-01" }],
  [{ date: "2026-11-01 00:00:00" }, { day: "2026-11-01" }],
  [{ adgroup_id: 0 }, { aid: "" }],
  [{ adgroup_id: undefined }, { aid: "" }],
])("a row with %j is read as %j", (over, expected) => {
  expect(read(report([row(over)]))).toMatchObject({ kind: "page", costs: [expected] });
});

test.each([
  [{ date: undefined }],
  [{ date: "2026-02-30" }],
  [{ date: "all" }],
  [{ cost: "12,5" }],
  [{ cost: "90071992547409931" }],
])("a row with %j fails the page instead of being lost", (over) => {
  const reason = "Tencent sent a row whose day or cost cannot be read.";
  expect(read(report([row(), row(over)]))).toEqual({ kind: "permanent", reason });
});

test("rows without an ad on one day are one row", () => {
  const page = read(report([row({ adgroup_id: 0, cost: 5 }), row({ adgroup_id: "", cost: 6 }), row()]));
  expect(page.kind === "page" && page.costs).toEqual([
    { day: "2026-11-01", gid: "", aid: "", impressions: 2400, clicks: 60, costE4: 1_100, currency: "CNY" },
    { day: "2026-11-01", gid: "", aid: "7001", impressions: 1200, clicks: 30, costE4: 12_345_600, currency: "CNY" },
  ]);
});

test.each<[string, number | undefined]>([
  ["", 12_345_600],
  ["fen", 12_345_600],
  ["Fen", 12_345_600],
  ["yuan", 1_234_560_000],
  ["cents", undefined],
])("in the unit %j, 123456 is %s", (cost_unit, expected) => {
  const page = read(report([row()]), REPORT, contextOf(tencentCosts, { ...ACCOUNT, cost_unit }));
  if (expected !== undefined) expect(page).toMatchObject({ kind: "page", costs: [{ costE4: expected }] });
  else expect(page).toEqual({ kind: "permanent", reason: "The account's cost_unit is neither fen nor yuan." });
});

test.each<[number, string]>([
  ...[10000, 10001, 11008, 11016, 11017, 11018, 11019].map((code): [number, string] => [code, "retry"]),
  ...[11000, 11002, 11004, 11005].map((code): [number, string] => [code, "token"]),
  [31033, "permanent"],
  [18001, "permanent"],
])("code %d is %s", (code, kind) => {
  const reason = `Tencent answered ${code}: it went wrong.`;
  expect(read(ok({ code, message: "it went wrong." }))).toEqual({ kind, reason });
  expect(read(ok({ code, message: "it went wrong" }), { list: "account" })).toEqual({ kind, reason });
});

test.each<[number, string, string, string]>([
  [200, "<html>", "retry", "Tencent answered something unexpected."],
  [200, "[]", "retry", "Tencent answered something unexpected."],
  [200, "{}", "retry", "Tencent answered something unexpected."],
  [502, "<html>", "retry", "Tencent answered HTTP status 502."],
  [429, "", "retry", "Tencent answered HTTP status 429."],
  [401, "", "token", "Tencent answered HTTP status 401."],
  [404, "not here", "permanent", "Tencent answered HTTP status 404."],
  [500, '{"code":0}', "retry", "Tencent answered HTTP status 500."],
  [500, '{"code":99,"message":"oh"}', "retry", "Tencent answered 99: oh."],
  [400, '{"code":11000,"message":""}', "token", "Tencent answered 11000."],
])("HTTP status %d with %j is %s", (status, body, kind, reason) => {
  expect(tencentCosts.read(REPORT, { status, body }, context)).toEqual({ kind, reason });
});

test("a reason is one short line and repeats no token", () => {
  const token = "0123456789abcdef0123456789abcdef";
  const message = `access_token ${token} expired,\n trace_id: a7afca14bb571095be3914645d3ec905. ${"more ".repeat(100)}`;
  const page = read(ok({ code: 11000, message }));
  const reason = page.kind === "token" ? page.reason : "";
  expect(reason).toMatch(/^Tencent answered 11000: access_token … expired, trace_id: … more [^\n]*\.$/);
  expect(reason.length).toBeLessThan(250);
});

test("a reason keeps the ids that it names", () => {
  const message = "No permission for account 1700000000000001 in unsupported_grant_type";
  expect(read(ok({ code: 1, message }))).toEqual({ kind: "permanent", reason: `Tencent answered 1: ${message}.` });
});

test("a new token is requested with the refresh token", () => {
  const request = tencentCosts.tokens!.request(context)!;
  expect([request.method, request.url.split("?")[0]]).toEqual(["GET", "https://api.e.qq.com/oauth/token"]);
  expect(queryOf(request.url)).toEqual({
    client_id: "1110",
    client_secret: "cs-1",
    grant_type: "refresh_token",
    refresh_token: "rt-1",
  });
  const data = { access_token: "at-2", refresh_token: "rt-2", access_token_expires_in: 86_400 };
  expect(tencentCosts.tokens!.read(ok({ code: 0, data }), NOW_MS)).toEqual({
    kind: "token",
    values: { access_token: "at-2", refresh_token: "rt-2" },
    expiresAtMs: NOW_MS + 86_400_000,
    refreshExpiresAtMs: NOW_MS + 30 * 86_400_000,
  });
});

test.each(["client_id", "client_secret", "refresh_token"])("without %s no token can be requested", (name) => {
  expect(tencentCosts.tokens!.request(contextOf(tencentCosts, { ...ACCOUNT, [name]: "" }))).toBeUndefined();
});

test.each<[unknown, object]>([
  [
    { code: 0, data: { access_token: "at-2" } },
    {
      kind: "token",
      values: { access_token: "at-2" },
      expiresAtMs: null,
      refreshExpiresAtMs: NOW_MS + 30 * 86_400_000,
    },
  ],
  [
    { code: 0, data: {} },
    { kind: "retry", reason: "Tencent answered without an access token." },
  ],
  [
    { code: 10000, message: "busy" },
    { kind: "retry", reason: "Tencent answered 10000: busy." },
  ],
  [
    { code: 11005, message: "invalid" },
    { kind: "permanent", reason: "Tencent answered 11005: invalid." },
  ],
])("the answer %j to a refresh is read", (body, expected) => {
  expect(tencentCosts.tokens!.read(ok(body), NOW_MS)).toEqual(expected);
});
