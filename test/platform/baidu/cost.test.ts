import { expect, test } from "vitest";
import { baiduCosts } from "../../../src/platform/baidu/cost.ts";
import { contextOf, NOW_MS, ok, pullAll } from "../../support/cost-pull.ts";

const ACCOUNT = {
  advertiser_id: "30412345",
  user_name: "游戏-example",
  access_token: "at-1",
  refresh_token: "rt-1",
  app_id: "a1b2",
  app_secret: "as-1",
};
const context = contextOf(baiduCosts, ACCOUNT);
const REPORT = { list: "report", from: "2026-11-01", to: "2026-11-14", row: 0 };

const row = (over: object = {}) => ({
  date: "2026-11-01",
  userId: 30412345,
  userName: "游戏-example",
  campaignId: 500000000000001,
  campaignName: "Plan",
  campaignStatus: 0,
  adGroupId: 600000000000001,
  adGroupName: "Group",
  impression: 1000,
  click: 40,
  cost: 12.34,
  ...over,
});
const report = (rows: object[], total = rows.length) =>
  ok({
    header: { status: 0, desc: "success" },
    body: { data: [{ rows, rowCount: rows.length, totalRowCount: total }] },
  });
const read = (body: ReturnType<typeof ok>, given = context) => baiduCosts.read(REPORT, body, given);

test("the first requests are the report of the days and the account's totals", () => {
  const range = { fromDay: "2026-11-01", toDay: "2026-11-14" };
  expect(baiduCosts.start(range, context)).toEqual([REPORT, { ...REPORT, list: "totals" }]);
  expect([REPORT, { ...REPORT, list: "totals" }].map(baiduCosts.subjectOf)).toEqual(["costs", "totals"]);
  expect(baiduCosts.spans).toEqual([{ reachDays: 730, daysMax: 90 }]);
  // Of another report it is not known which one has the account's totals.
  expect(baiduCosts.start(range, contextOf(baiduCosts, { ...ACCOUNT, report_type: "7" }))).toEqual([REPORT]);
});

test.each([
  ["2330652", 2149145],
  ["2284618", 2208157],
])("the account's totals for the report %s are in the report %d", (report_type, expected) => {
  const other = contextOf(baiduCosts, { ...ACCOUNT, report_type });
  const { body } = JSON.parse(baiduCosts.request({ ...REPORT, list: "totals" }, other).body!);
  expect(body).toMatchObject({
    reportType: expected,
    columns: ["date", "userId", "userName", "impression", "click", "cost"],
    sorts: [{ column: "date", sortRule: "ASC" }],
  });
});

test("totals have neither a plan nor an ad", () => {
  const { date, impression, click, cost } = row();
  const page = baiduCosts.read({ ...REPORT, list: "totals" }, report([{ date, impression, click, cost }], 2), context);
  const total = {
    day: "2026-11-01",
    gid: "",
    aid: "",
    impressions: 1000,
    clicks: 40,
    costE4: 123_400,
    currency: "CNY",
  };
  expect(page).toEqual({
    kind: "page",
    costs: [],
    totals: [total],
    names: [],
    next: [{ ...REPORT, list: "totals", row: 1 }],
  });
});

test("the report is requested by adgroup and day, in a fixed order", () => {
  const columns = ["date", "userId", "userName", "campaignId", "campaignName", "campaignStatus"];
  columns.push("adGroupId", "adGroupName", "impression", "click", "cost");
  const request = baiduCosts.request({ ...REPORT, row: 1000 }, context);
  expect({ ...request, body: JSON.parse(request.body!) }).toEqual({
    method: "POST",
    url: "https://api.baidu.com/json/sms/service/OpenApiReportService/getReportData",
    headers: { "content-type": "application/json" },
    body: {
      header: { userName: "游戏-example", accessToken: "at-1" },
      body: {
        reportType: 2330652,
        timeUnit: "DAY",
        startDate: "2026-11-01",
        endDate: "2026-11-14",
        columns,
        sorts: [
          { column: "date", sortRule: "ASC" },
          { column: "adGroupId", sortRule: "ASC" },
        ],
        filters: [],
        startRow: 1000,
        rowCount: 1000,
        needSum: false,
      },
    },
  });
});

test("the account can name another report and another address", () => {
  const other = contextOf(baiduCosts, { ...ACCOUNT, report_type: "2284618", base_url: "http://localhost:9" });
  const request = baiduCosts.request(REPORT, other);
  expect(request.url).toBe("http://localhost:9/json/sms/service/OpenApiReportService/getReportData");
  expect(JSON.parse(request.body!).body.reportType).toBe(2284618);
});

test("rows are requested until all are there, and they bring the names", () => {
  const pull = pullAll(baiduCosts, context, {
    fromDay: "2026-11-01",
    toDay: "2026-11-14",
    answer: ({ list, row: from }) =>
      list === "totals"
        ? report([])
        : report(from === 0 ? [row(), row({ date: "2026-11-02" })] : [row({ adGroupId: 600000000000002 })], 3),
  });
  expect(pull.questions.map(({ list, row: from }) => [list, from])).toEqual([
    ["report", 0],
    ["totals", 0],
    ["report", 2],
  ]);
  const counts = { gid: "500000000000001", impressions: 1000, clicks: 40, costE4: 123_400, currency: "CNY" };
  expect(pull.costs).toEqual([
    { ...counts, day: "2026-11-01", aid: "600000000000001" },
    { ...counts, day: "2026-11-02", aid: "600000000000001" },
    { ...counts, day: "2026-11-01", aid: "600000000000002" },
  ]);
  const account = { level: "account", id: "30412345", name: "游戏-example", status: "" };
  const plan = { level: "plan", id: "500000000000001", name: "Plan", status: "0" };
  expect(pull.names).toEqual([
    account,
    plan,
    { level: "ad", id: "600000000000001", name: "Group", status: "" },
    account,
    plan,
    { level: "ad", id: "600000000000002", name: "Group", status: "" },
  ]);
});

test("a report outside a list, or none, is read too", () => {
  const alone = { rows: [row()], totalRowCount: 1 };
  expect(read(ok({ header: { status: 0 }, body: { data: alone } }))).toMatchObject({ costs: [{ costE4: 123_400 }] });
  const nothing = { kind: "page", costs: [], names: [], next: [] };
  expect(read(ok({ header: { status: 0 }, body: { data: [] } }))).toEqual(nothing);
  expect(read(ok({ header: { status: 0 } }))).toEqual(nothing);
  expect(read(report([], 5))).toEqual(nothing);
});

test.each<[unknown, string, number]>([
  [0, "", 0],
  [0.005, "", 50],
  ["12.3456", "", 123_456],
  [12.3456, "", 123_456],
  [1e-7, "", 0],
  [0.29, "", 2_900],
  [1.15, "", 11_500],
  [123_456_789_012.35, "", 1_234_567_890_123_500],
  ["--", "", 0],
  [undefined, "", 0],
  [1234, "fen", 123_400],
])("a cost of %s in the unit %j is %d ten-thousandths", (cost, cost_unit, costE4) => {
  const page = read(report([row({ cost })]), contextOf(baiduCosts, { ...ACCOUNT, cost_unit }));
  expect(page).toMatchObject({ kind: "page", costs: [{ costE4 }] });
});

test("ids beyond 2^53 keep their digits", () => {
  const body = `{"header":{"status":0},"body":{"data":[{"rows":[{"date":"2026-11-01","campaignId":90071992547409931,
    "adGroupId":90071992547409935,"cost":1}]}]}}`;
  expect(read(ok(body))).toMatchObject({ costs: [{ gid: "90071992547409931", aid: "90071992547409935", clicks: 0 }] });
});

test("a row without a day fails the page instead of being lost", () => {
  const reason = "Baidu sent a row whose day or cost cannot be read.";
  expect(read(report([row({ date: "" })]))).toEqual({ kind: "permanent", reason });
});

test.each<[object, string, string]>([
  [
    { status: 2, failures: [{ code: 421, message: "request rate exceeds limit" }] },
    "retry",
    "421: request rate exceeds limit",
  ],
  [{ status: 2, failures: [{ code: 405, message: "service busy" }] }, "retry", "405: service busy"],
  [{ status: 3, failures: [{ code: 800, message: "Server internal error" }] }, "retry", "800: Server internal error"],
  [{ status: 2, failures: [{ code: 801, message: "frequent token errors" }] }, "retry", "801: frequent token errors"],
  [{ status: 3, failures: [{ code: 8000, message: "system error" }] }, "retry", "8000: system error"],
  [{ status: 3, desc: "system failure" }, "retry", "status 3: system failure"],
  [{ status: 2, failures: [{ code: 8407, message: "accessToken expired" }] }, "token", "8407: accessToken expired"],
  [
    { status: 2, desc: "failure", failures: [{ code: 8101, message: "Username is not set." }] },
    "permanent",
    "8101: Username is not set",
  ],
  [{ status: 2, desc: "failure", failures: [] }, "permanent", "status 2: failure"],
  [{ status: 1, failures: [{ code: 403, message: "forbidden" }] }, "permanent", "403: forbidden"],
])("the header %j is %s", (header, kind, told) => {
  expect(read(ok({ header }))).toEqual({ kind, reason: `Baidu answered ${told}.` });
});

test("an answer without a header is no answer", () => {
  const reason = "Baidu answered something unexpected.";
  expect(read(ok({ body: { data: [] } }))).toEqual({ kind: "retry", reason });
});

test("a new token is requested with the refresh token", () => {
  expect(baiduCosts.tokens!.request(context)).toEqual({
    method: "POST",
    url: "https://u.baidu.com/oauth/refreshToken",
    headers: { "content-type": "application/json" },
    body: '{"appId":"a1b2","refreshToken":"rt-1","secretKey":"as-1","userId":30412345}',
  });
  const data = { accessToken: "at-2", refreshToken: "rt-2", expiresIn: 86_400, userId: 30412345 };
  expect(baiduCosts.tokens!.read(ok({ code: 0, message: "success", data }), NOW_MS)).toEqual({
    kind: "token",
    values: { access_token: "at-2", refresh_token: "rt-2" },
    expiresAtMs: NOW_MS + 86_400_000,
    refreshExpiresAtMs: null,
  });
  const refused = baiduCosts.tokens!.read(ok({ code: 1001, message: "refreshToken is invalid" }), NOW_MS);
  expect(refused).toEqual({ kind: "permanent", reason: "Baidu answered 1001: refreshToken is invalid." });
});

test.each(["app_id", "app_secret", "refresh_token"])("without %s no token can be requested", (name) => {
  expect(baiduCosts.tokens!.request(contextOf(baiduCosts, { ...ACCOUNT, [name]: "" }))).toBeUndefined();
});
