import { expect, test } from "vitest";
import { kuaishouCosts } from "../../../src/platform/kuaishou/cost.ts";
import { contextOf, NONCE, ok } from "../../support/cost-pull.ts";

const ACCOUNT = { advertiser_id: "90071992547409931", access_token: "at-1" };
const context = contextOf(kuaishouCosts, ACCOUNT);
const TASK = { list: "task", level: "unit", from: "2026-10-01", to: "2026-10-30" };
const STATE = { ...TASK, list: "task_state", task: "90071992547409935" };
const FILE = { ...STATE, list: "task_file" };
const BASE = "https://ad.e.kuaishou.com/rest/openapi/v1/async_task";
const HEADERS = { "Access-Token": "at-1", "content-type": "application/json" };

test.each([
  ["account", 1],
  ["campaign", 2],
  ["unit", 3],
])("a report by %s is made by a task of the view type %d, whose name is new each time", (level, viewType) => {
  const request = kuaishouCosts.request({ ...TASK, level }, context);
  expect([request.method, request.url, request.headers]).toEqual(["POST", `${BASE}/create`, HEADERS]);
  const name = `tp ${level} 2026-10-01 2026-10-30 ${NONCE.slice(0, 12)}`;
  expect(name.length).toBeLessThanOrEqual(50);
  expect(request.body).toBe(
    `{"advertiser_id":90071992547409931,"task_name":"${name}","task_params":{"start_date":"2026-10-01","end_date":"2026-10-30","view_type":${viewType},"temporal_granularity":"DAILY"}}`,
  );
});

test("a task is asked after until it is done, and then its file is fetched", () => {
  const made = kuaishouCosts.read(TASK, ok('{"code":0,"data":{"task_id":90071992547409935}}'), context);
  expect(made).toEqual({ kind: "page", costs: [], names: [], next: [STATE] });
  expect(kuaishouCosts.request(STATE, context)).toEqual({
    method: "POST",
    url: `${BASE}/list`,
    headers: HEADERS,
    body: '{"advertiser_id":90071992547409931,"task_ids":[90071992547409935]}',
  });
  expect(kuaishouCosts.request(FILE, context)).toEqual({
    method: "GET",
    url: `${BASE}/download?advertiser_id=90071992547409931&task_id=90071992547409935`,
    headers: { "Access-Token": "at-1" },
  });
});

const state = (task_status: unknown, task_id = "90071992547409935") =>
  ok(
    `{"code":0,"data":{"details":[{"task_id":1,"task_status":2},{"task_id":${task_id},"task_status":${task_status}}]}}`,
  );

test.each<[unknown, object]>([
  [0, { kind: "wait", reason: "Kuaishou has not finished the report of 2026-10-01 to 2026-10-30 yet." }],
  [1, { kind: "wait", reason: "Kuaishou has not finished the report of 2026-10-01 to 2026-10-30 yet." }],
  [2, { kind: "page", costs: [], names: [], next: [FILE] }],
  [3, { kind: "permanent", reason: "Kuaishou could not make the report of 2026-10-01 to 2026-10-30." }],
])("a task in the state %j is read", (status, expected) => {
  expect(kuaishouCosts.read(STATE, state(status), context)).toEqual(expected);
});

test("a task that is not listed yet is not done, even if others are", () => {
  expect(kuaishouCosts.read(STATE, state(2, "3"), context)).toMatchObject({ kind: "wait" });
});

test("a task without a number is made again", () => {
  expect(kuaishouCosts.read(TASK, ok({ code: 0, data: {} }), context)).toMatchObject({ kind: "retry" });
});

const HEADER = "stat_date,campaign_id,campaign_name,unit_id,unit_name,charge,show,photo_click";

test("a file holds the rows of the immediate report, with all digits of ids", () => {
  const lines = ['2026-10-01,90071992547409933,"Plan, one",90071992547409937,"Unit ""x""",12.34,1000,40', ""];
  const page = kuaishouCosts.read(FILE, ok(`\ufeff${[HEADER, ...lines].join("\r\n")}`), context);
  const ids = { gid: "90071992547409933", aid: "90071992547409937" };
  expect(page).toMatchObject({
    kind: "page",
    costs: [{ day: "2026-10-01", ...ids, impressions: 1000, clicks: 40, costE4: 123_400, currency: "CNY" }],
    names: [
      { level: "plan", name: "Plan, one" },
      { level: "ad", name: 'Unit "x"' },
    ],
  });
});

test("a file without rows is a report without costs", () => {
  expect(kuaishouCosts.read(FILE, ok(`${HEADER}\n`), context)).toMatchObject({ kind: "page", costs: [], next: [] });
  const totals = kuaishouCosts.read({ ...FILE, level: "account" }, ok("stat_date,charge\n2026-10-01,1"), context);
  expect(totals).toMatchObject({ costs: [], totals: [{ gid: "", aid: "", costE4: 10_000 }] });
});

test.each([
  ["<html>", 200, "permanent", "Kuaishou sent a file that cannot be read."],
  ["", 200, "permanent", "Kuaishou sent a file that cannot be read."],
  ['stat_date,charge\n"open', 200, "permanent", "Kuaishou sent a file that cannot be read."],
  ["stat_date,charge\n2026-10-01,much", 200, "permanent", "Kuaishou sent a row whose day or cost cannot be read."],
  ['{"code":400002,"message":"not done"}', 200, "permanent", "Kuaishou answered 400002: not done."],
  ['{"code":0,"data":{}}', 200, "permanent", "Kuaishou sent no file for 2026-10-01 to 2026-10-30."],
  ["oh", 502, "retry", "Kuaishou answered HTTP status 502."],
])("instead of a file, %j with status %d is %s", (body, status, kind, reason) => {
  expect(kuaishouCosts.read(FILE, { status, body }, context)).toEqual({ kind, reason });
});
