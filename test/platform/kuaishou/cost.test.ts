import { expect, test } from "vitest";
import { kuaishouCosts } from "../../../src/platform/kuaishou/cost.ts";
import { contextOf, NOW_MS, ok, pullAll } from "../../support/cost-pull.ts";

const ACCOUNT = {
  advertiser_id: "900000001",
  access_token: "at-1",
  refresh_token: "rt-1",
  app_id: "165000001",
  app_secret: "as-1",
};
const context = contextOf(kuaishouCosts, ACCOUNT);
const REPORT = { list: "report", level: "unit", from: "2026-11-09", to: "2026-11-15", page: 1 };
const HEADERS = { "Access-Token": "at-1", "content-type": "application/json" };

const row = (over: object = {}) => ({
  stat_date: "2026-11-08",
  campaign_id: 11,
  campaign_name: "Plan 11",
  unit_id: 22,
  unit_name: "Unit 22",
  charge: 12.34,
  show: 1000,
  photo_click: 40,
  aclick: 900,
  bclick: 70,
  ...over,
});
const report = (details: object[], total = details.length) =>
  ok({ code: 0, message: "OK", data: { total_count: total, details } });
const read = (body: ReturnType<typeof ok>, question: Record<string, string | number> = REPORT, given = context) =>
  kuaishouCosts.read(question, body, given);

test("the last week is requested at once: by unit, by campaign, and of the account", () => {
  const questions = kuaishouCosts.start({ fromDay: "2026-11-09", toDay: "2026-11-15" }, context);
  const levels = ["unit", "campaign", "account"];
  expect(questions).toEqual([...levels.map((level) => ({ ...REPORT, level })), { list: "account" }]);
  expect(questions.map(kuaishouCosts.subjectOf)).toEqual(["costs", "plan_totals", "totals", "names"]);
  expect(kuaishouCosts.spans).toEqual([
    { reachDays: 7, daysMax: 7 },
    { reachDays: 180, daysMax: 30 },
  ]);
});

test.each([
  ["2026-11-08", "2026-11-08", NOW_MS],
  ["2026-11-08", "2026-11-14", NOW_MS],
  // Half past eight in the evening of the 15th in UTC, and already the 16th at Kuaishou.
  ["2026-11-09", "2026-11-15", Date.UTC(2026, 10, 15, 20, 30)],
])("days from %s to %s are beyond the week, and need tasks", (fromDay, toDay, nowMs) => {
  const days = { from: fromDay, to: toDay };
  const questions = kuaishouCosts.start({ fromDay, toDay }, { ...context, nowMs });
  const levels = ["unit", "campaign", "account"];
  expect(questions).toEqual([...levels.map((level) => ({ list: "task", level, ...days })), { list: "account" }]);
  expect(questions.map(kuaishouCosts.subjectOf)).toEqual(["costs", "plan_totals", "totals", "names"]);
});

test.each([
  ["campaign", "planTotals", "11"],
  ["account", "totals", ""],
])("a report by %s tells %s, in which managed campaigns are", (level, list, gid) => {
  const page = read(report([row({ unit_id: undefined })]), { ...REPORT, level });
  const total = { day: "2026-11-08", gid, aid: "", impressions: 1000, clicks: 40, costE4: 123_400, currency: "CNY" };
  expect(page).toMatchObject({ kind: "page", costs: [], [list]: [total] });
  expect(page.kind === "page" && page.names.map(({ level: one }) => one)).toEqual(gid === "" ? [] : ["plan"]);
});

test.each<[Record<string, string | number>, string, string]>([
  [
    { ...REPORT, page: 2 },
    "https://ad.e.kuaishou.com/rest/openapi/v1/report/unit_report",
    '{"advertiser_id":900000001,"start_date":"2026-11-09","end_date":"2026-11-15","temporal_granularity":"DAILY","page":2,"page_size":2000}',
  ],
  [
    { ...REPORT, level: "account" },
    "https://ad.e.kuaishou.com/rest/openapi/v1/report/account_report",
    '{"advertiser_id":900000001,"start_date":"2026-11-09","end_date":"2026-11-15","temporal_granularity":"DAILY","page":1,"page_size":2000}',
  ],
  [
    { list: "plans", ids: "11,9007199254740993" },
    "https://ad.e.kuaishou.com/rest/openapi/gw/dsp/campaign/list",
    '{"advertiser_id":900000001,"campaign_ids":[11,9007199254740993],"page":1,"page_size":100}',
  ],
  [
    { list: "ads", ids: "22" },
    "https://ad.e.kuaishou.com/rest/openapi/gw/dsp/unit/list",
    '{"advertiser_id":900000001,"unit_ids":[22],"page":1,"page_size":100}',
  ],
  [{ list: "account" }, "https://ad.e.kuaishou.com/rest/openapi/v1/advertiser/info", '{"advertiser_id":900000001}'],
])("%j is requested at %s", (question, url, body) => {
  expect(kuaishouCosts.request(question, context)).toEqual({ method: "POST", url, headers: HEADERS, body });
});

test("an account id beyond 2^53, at another address, keeps its digits", () => {
  const there = contextOf(kuaishouCosts, {
    ...ACCOUNT,
    advertiser_id: "90071992547409931",
    base_url: "http://localhost:9",
  });
  const { url, body } = kuaishouCosts.request({ list: "account" }, there);
  expect([url, body]).toEqual(["http://localhost:9/v1/advertiser/info", '{"advertiser_id":90071992547409931}']);
});

test("all pages are requested, then plans and ads, and the account", () => {
  const pull = pullAll(kuaishouCosts, context, {
    fromDay: "2026-11-09",
    toDay: "2026-11-15",
    answer: (question) => {
      if (question.list === "report" && question.level !== "unit") return report([]);
      if (question.list === "report") {
        const unit = question.page === 1 ? 22 : 23;
        return report([row({ unit_id: unit, unit_name: `Unit ${unit}` })], 2);
      }
      if (question.list === "account")
        return ok({ code: 0, data: { user_name: "player", corporation_name: "Example" } });
      if (question.list === "plans") {
        return ok({
          code: 0,
          data: { details: [{ campaign_id: 11, campaign_name: "Plan 11", status: 4, put_status: 1 }] },
        });
      }
      const id = Number(question.ids);
      return ok({
        code: 0,
        data: { details: [{ unit_id: id, unit_name: `Unit ${id}`, status: id === 22 ? 20 : 99 }] },
      });
    },
  });
  expect(pull.questions.map(({ list, page, ids }) => [list, page ?? ids ?? ""].join(" ").trim())).toEqual([
    ...["report 1", "report 1", "report 1", "account", "report 2", "plans 11", "ads 22", "plans 11", "ads 23"],
  ]);
  const day = { day: "2026-11-08", gid: "11", impressions: 1000, clicks: 40, costE4: 123_400, currency: "CNY" };
  expect(pull.costs).toEqual([
    { ...day, aid: "22" },
    { ...day, aid: "23" },
  ]);
  expect(pull.names).toContainEqual({ level: "account", id: "900000001", name: "Example", status: "" });
  expect(pull.names).toContainEqual({ level: "plan", id: "11", name: "Plan 11", status: "valid" });
  expect(pull.names).toContainEqual({ level: "ad", id: "22", name: "Unit 22", status: "" });
  expect(pull.names).toContainEqual({ level: "ad", id: "22", name: "Unit 22", status: "valid" });
  expect(pull.names).toContainEqual({ level: "ad", id: "23", name: "Unit 23", status: "99" });
});

test.each<[unknown, number]>([
  [0, 0],
  [0.005, 50],
  [12.3456, 123_456],
  ["12.3456", 123_456],
  [1e-7, 0],
  [0.00005, 1],
  [1.005, 10_050],
  [12.340000000000002, 123_400],
  [123_456_789.01, 1_234_567_890_100],
  [99_999_999_999.9999, 999_999_999_999_999],
  [undefined, 0],
  [null, 0],
])("a charge of %s yuan is %d ten-thousandths", (charge, costE4) => {
  expect(read(report([row({ charge })]))).toMatchObject({ kind: "page", costs: [{ costE4 }] });
});

test("the account says what counts as impressions and clicks", () => {
  const other = contextOf(kuaishouCosts, { ...ACCOUNT, impressions_field: "aclick", clicks_field: "bclick" });
  expect(read(report([row()]), REPORT, other)).toMatchObject({ costs: [{ impressions: 900, clicks: 70 }] });
});

test("ids beyond 2^53 keep their digits, and missing ones are empty", () => {
  const body = `{"code":0,"data":{"total_count":1,"extra":1,"details":[{"stat_date":"2026-11-08 00:00:00",
    "campaign_id":90071992547409931,"unit_id":90071992547409935,"charge":"1"}]}}`;
  expect(read(ok(body))).toEqual({
    kind: "page",
    costs: [
      {
        day: "2026-11-08",
        gid: "90071992547409931",
        aid: "90071992547409935",
        impressions: 0,
        clicks: 0,
        costE4: 10_000,
        currency: "CNY",
      },
    ],
    names: [
      { level: "plan", id: "90071992547409931", name: "", status: "" },
      { level: "ad", id: "90071992547409935", name: "", status: "" },
    ],
    next: [
      { list: "plans", ids: "90071992547409931" },
      { list: "ads", ids: "90071992547409935" },
    ],
  });
});

test("an account without a name has none", () => {
  expect(read(ok({ code: 0, data: {} }), { list: "account" })).toEqual({
    kind: "page",
    costs: [],
    names: [],
    next: [],
  });
});

test("a row without a day fails the page instead of being lost", () => {
  const reason = "Kuaishou sent a row whose day or cost cannot be read.";
  expect(read(report([row({ stat_date: null })]))).toEqual({ kind: "permanent", reason });
});

test.each<[number, string, string]>([
  [402005, "授权失效", "token"],
  [401000, "access_token 已过期", "token"],
  [1, "invalid access token", "token"],
  [400001, "请求过于频繁", "retry"],
  [2, "too many requests", "retry"],
  [500, "系统错误", "retry"],
  [400002, "参数错误", "permanent"],
])("code %d, %j, is %s", (code, message, kind) => {
  expect(read(ok({ code, message }))).toEqual({ kind, reason: `Kuaishou answered ${code}: ${message}.` });
});

test("a network failure is reported by its status", () => {
  const page = kuaishouCosts.read(REPORT, { status: 503, body: "" }, context);
  expect(page).toEqual({ kind: "retry", reason: "Kuaishou answered HTTP status 503." });
});

test("a new token is requested with the refresh token", () => {
  expect(kuaishouCosts.tokens!.request(context)).toEqual({
    method: "POST",
    url: "https://ad.e.kuaishou.com/rest/openapi/oauth2/authorize/refresh_token",
    headers: { "content-type": "application/json" },
    body: '{"app_id":165000001,"secret":"as-1","refresh_token":"rt-1"}',
  });
  const data = {
    access_token: "at-2",
    access_token_expires_in: 86_399,
    refresh_token: "rt-2",
    refresh_token_expires_in: 2_591_999,
    advertiser_id: 900000001,
  };
  expect(kuaishouCosts.tokens!.read(ok({ code: 0, data }), NOW_MS)).toEqual({
    kind: "token",
    values: { access_token: "at-2", refresh_token: "rt-2" },
    expiresAtMs: NOW_MS + 86_399_000,
    refreshExpiresAtMs: NOW_MS + 2_591_999_000,
  });
  const refused = kuaishouCosts.tokens!.read(ok({ code: 402005, message: "refresh_token 错误" }), NOW_MS);
  expect(refused).toEqual({ kind: "permanent", reason: "Kuaishou answered 402005: refresh_token 错误." });
});

test.each(["app_id", "app_secret", "refresh_token"])("without %s no token can be requested", (name) => {
  expect(kuaishouCosts.tokens!.request(contextOf(kuaishouCosts, { ...ACCOUNT, [name]: "" }))).toBeUndefined();
});
