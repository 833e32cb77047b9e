import { expect, test } from "vitest";
import { bytedanceCosts } from "../../../src/platform/bytedance/cost.ts";
import { contextOf, NOW_MS, ok, pullAll, queryOf } from "../../support/cost-pull.ts";

const ACCOUNT = {
  advertiser_id: "1700000000000001",
  access_token: "at-1",
  refresh_token: "rt-1",
  app_id: "1790000000000002",
  app_secret: "as-1",
};
const context = contextOf(bytedanceCosts, ACCOUNT);
const REPORT = { list: "report", from: "2026-10-16", to: "2026-11-14", page: 1 };
const TOTALS = { ...REPORT, list: "totals" };

const row = (dimensions: object = {}, metrics: object = {}) => ({
  dimensions: {
    stat_time_day: "2026-11-01",
    cdp_project_id: "7300000000000000001",
    cdp_project_name: "Project 1",
    cdp_promotion_id: "7400000000000000001",
    cdp_promotion_name: "Promotion 1",
    ...dimensions,
  },
  metrics: { stat_cost: "12.34", show_cnt: "1000", click_cnt: "40", ...metrics },
});
const report = (rows: object[], pages = 1) =>
  ok({ code: 0, message: "OK", request_id: "r", data: { rows, page_info: { page: 1, total_page: pages } } });
const read = (body: ReturnType<typeof ok>, question: Record<string, string | number> = REPORT, given = context) =>
  bytedanceCosts.read(question, body, given);

test("thirty days are requested at once", () => {
  expect(bytedanceCosts.start({ fromDay: "2026-10-16", toDay: "2026-11-14" }, context)).toEqual([
    REPORT,
    TOTALS,
    { list: "account" },
  ]);
  expect([REPORT, TOTALS, { list: "account" }].map(bytedanceCosts.subjectOf)).toEqual(["costs", "totals", "names"]);
  expect(bytedanceCosts.spans).toEqual([{ reachDays: Number.POSITIVE_INFINITY, daysMax: 30 }]);
});

const BASE = "https://api.oceanengine.com/open_api";

test.each<[Record<string, string | number>, string, Record<string, string>]>([
  [
    { ...REPORT, page: 4 },
    `${BASE}/v3.0/report/custom/get/`,
    {
      advertiser_id: "1700000000000001",
      data_topic: "BASIC_DATA",
      dimensions: '["stat_time_day","cdp_project_id","cdp_project_name","cdp_promotion_id","cdp_promotion_name"]',
      metrics: '["stat_cost","show_cnt","click_cnt"]',
      filters: "[]",
      order_by: "[]",
      start_time: "2026-10-16 00:00:00",
      end_time: "2026-11-14 23:59:59",
      page: "4",
      page_size: "100",
    },
  ],
  [
    TOTALS,
    `${BASE}/v3.0/report/custom/get/`,
    {
      advertiser_id: "1700000000000001",
      data_topic: "BASIC_DATA",
      dimensions: '["stat_time_day"]',
      metrics: '["stat_cost","show_cnt","click_cnt"]',
      filters: "[]",
      order_by: "[]",
      start_time: "2026-10-16 00:00:00",
      end_time: "2026-11-14 23:59:59",
      page: "1",
      page_size: "100",
    },
  ],
  [
    { list: "plans", ids: "7300000000000000001,7300000000000000002" },
    `${BASE}/v3.0/project/list/`,
    {
      advertiser_id: "1700000000000001",
      filtering: '{"ids":[7300000000000000001,7300000000000000002]}',
      page: "1",
      page_size: "10",
    },
  ],
  [
    { list: "ads", ids: "7400000000000000001" },
    `${BASE}/v3.0/promotion/list/`,
    { advertiser_id: "1700000000000001", filtering: '{"ids":[7400000000000000001]}', page: "1", page_size: "10" },
  ],
  [
    { list: "account" },
    `${BASE}/2/advertiser/info/`,
    { advertiser_ids: "[1700000000000001]", fields: '["id","name","status"]' },
  ],
])("%j is requested at %s", (question, url, query) => {
  const request = bytedanceCosts.request(question, context);
  expect(request).toEqual({ method: "GET", url: request.url, headers: { "Access-Token": "at-1" } });
  expect(request.url.split("?")[0]).toBe(url);
  expect(queryOf(request.url)).toEqual(query);
});

test("all pages are requested, then the statuses of everything with costs, ten at once", () => {
  const pull = pullAll(bytedanceCosts, context, {
    fromDay: "2026-10-16",
    toDay: "2026-11-14",
    answer: (question) => {
      if (question.list === "report") {
        const rows = Array.from({ length: question.page === 1 ? 11 : 1 }, (_, at) =>
          row({ cdp_promotion_id: `740000000000000${question.page}0${at}`, cdp_promotion_name: `P ${at}` }),
        );
        return report(rows, 2);
      }
      if (question.list === "totals")
        return report([{ dimensions: { stat_time_day: "2026-11-01" }, metrics: { stat_cost: "148.09" } }]);
      if (question.list === "account") {
        return ok('{"code":0,"data":[{"id":1700000000000001,"name":"Example","status":"STATUS_ENABLE"}]}');
      }
      const ids = String(question.ids).split(",");
      const list = ids.map((id) =>
        question.list === "plans"
          ? `{"project_id":${id},"name":"Project 1","status":"PROJECT_STATUS_ENABLE"}`
          : `{"promotion_id":${id},"promotion_name":"P","status_first":"PROMOTION_STATUS_ENABLE"}`,
      );
      return ok(`{"code":0,"data":{"list":[${list.join(",")}],"page_info":{"total_page":1}}}`);
    },
  });
  expect(pull.questions.map(({ list, ids }) => `${list} ${ids ? String(ids).split(",").length : ""}`.trim())).toEqual([
    ...["report", "totals", "account", "report", "plans 1", "ads 10", "ads 1", "plans 1", "ads 1"],
  ]);
  expect(pull.costs).toHaveLength(12);
  const total = { day: "2026-11-01", gid: "", aid: "", impressions: 0, clicks: 0, costE4: 1_480_900, currency: "CNY" };
  expect(pull.totals).toEqual([total]);
  expect(pull.costs[0]).toEqual({
    day: "2026-11-01",
    gid: "7300000000000000001",
    aid: "740000000000000100",
    impressions: 1000,
    clicks: 40,
    costE4: 123_400,
    currency: "CNY",
  });
  expect(pull.names).toContainEqual({
    level: "account",
    id: "1700000000000001",
    name: "Example",
    status: "STATUS_ENABLE",
  });
  const plan = { level: "plan", id: "7300000000000000001", name: "Project 1" };
  expect(pull.names).toContainEqual({ ...plan, status: "" });
  expect(pull.names).toContainEqual({ ...plan, status: "PROJECT_STATUS_ENABLE" });
  const status = "PROMOTION_STATUS_ENABLE";
  expect(pull.names).toContainEqual({ level: "ad", id: "740000000000000100", name: "P", status });
});

test.each<[unknown, string, number]>([
  [0, "", 0],
  ["0.005", "", 50],
  [0.005, "", 50],
  ["12.3456", "", 123_456],
  [1e-7, "", 0],
  ["1e-7", "", 0],
  ["0.00005", "", 1],
  ["-3.5", "", -35_000],
  ["123456789012.3456", "", 1_234_567_890_123_456],
  ["-", "", 0],
  ["", "", 0],
  [undefined, "", 0],
  ["1234", "fen", 123_400],
])("a cost of %j in the unit %j is %d ten-thousandths", (stat_cost, cost_unit, costE4) => {
  const page = read(report([row({}, { stat_cost })]), REPORT, contextOf(bytedanceCosts, { ...ACCOUNT, cost_unit }));
  expect(page).toMatchObject({ kind: "page", costs: [{ costE4 }] });
});

test("ids that come as numbers beyond 2^53 keep their digits", () => {
  const body = `{"code":0,"data":{"rows":[{"dimensions":{"stat_time_day":"2026-11-01","cdp_project_id":7300000000000000001,
    "cdp_promotion_id":7400000000000000003,"new":true},"metrics":{"stat_cost":1.5,"show_cnt":3}}]}}`;
  expect(read(ok(body))).toMatchObject({
    costs: [{ gid: "7300000000000000001", aid: "7400000000000000003", impressions: 3, clicks: 0, costE4: 15_000 }],
    next: [
      { list: "plans", ids: "7300000000000000001" },
      { list: "ads", ids: "7400000000000000003" },
    ],
  });
});

test("ads from before projects have no ids here, and one row per day", () => {
  const none = { cdp_project_id: "0", cdp_promotion_id: "-", cdp_project_name: "", cdp_promotion_name: "" };
  expect(read(report([row(none), row(none)]))).toEqual({
    kind: "page",
    costs: [{ day: "2026-11-01", gid: "", aid: "", impressions: 2000, clicks: 80, costE4: 246_800, currency: "CNY" }],
    names: [],
    next: [],
  });
});

test.each([
  [{ rows: [{}] }],
  [{ rows: [{ metrics: { stat_cost: "1" } }] }],
  [{ rows: [row({}, { stat_cost: "¥1" })] }],
])("%j fails the page instead of being lost", (data) => {
  const reason = "Ocean Engine sent a row whose day or cost cannot be read.";
  expect(read(ok({ code: 0, data }))).toEqual({ kind: "permanent", reason });
});

test("another account's name is not used for ours", () => {
  const body = ok({ code: 0, data: [{ id: 5, name: "Another" }] });
  expect(read(body, { list: "account" })).toEqual({ kind: "page", costs: [], names: [], next: [] });
});

test.each<[number, string]>([
  [40100, "retry"],
  [40110, "retry"],
  [50000, "retry"],
  [51010, "retry"],
  [40102, "token"],
  [40104, "token"],
  [40105, "token"],
  [40001, "permanent"],
  [40002, "permanent"],
])("code %d is %s", (code, kind) => {
  expect(read(ok({ code, message: "No" }))).toEqual({ kind, reason: `Ocean Engine answered ${code}: No.` });
});

test("a new token is requested with the refresh token", () => {
  expect(bytedanceCosts.tokens!.request(context)).toEqual({
    method: "POST",
    url: "https://ad.oceanengine.com/open_api/oauth2/refresh_token/",
    headers: { "content-type": "application/json" },
    body: '{"app_id":1790000000000002,"secret":"as-1","grant_type":"refresh_token","refresh_token":"rt-1"}',
  });
  const data = { access_token: "at-2", expires_in: 86_400, refresh_token: "rt-2", refresh_token_expires_in: 2_592_000 };
  expect(bytedanceCosts.tokens!.read(ok({ code: 0, data }), NOW_MS)).toEqual({
    kind: "token",
    values: { access_token: "at-2", refresh_token: "rt-2" },
    expiresAtMs: NOW_MS + 86_400_000,
    refreshExpiresAtMs: NOW_MS + 30 * 86_400_000,
  });
});

test.each<[number, string]>([
  [40103, "permanent"],
  [40105, "permanent"],
  [40107, "permanent"],
  [40100, "retry"],
])("a refresh that is answered with %d is %s", (code, kind) => {
  expect(bytedanceCosts.tokens!.read(ok({ code, message: "" }), NOW_MS)).toEqual({
    kind,
    reason: `Ocean Engine answered ${code}.`,
  });
});

test.each(["app_id", "app_secret", "refresh_token"])("without %s no token can be requested", (name) => {
  expect(bytedanceCosts.tokens!.request(contextOf(bytedanceCosts, { ...ACCOUNT, [name]: "" }))).toBeUndefined();
});
