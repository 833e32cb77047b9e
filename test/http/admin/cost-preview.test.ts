import { beforeAll, describe, expect, test } from "vitest";
import { costPreviewAnswer, filePreviewAnswer } from "../../../src/contract/admin/cost.ts";
import type { App } from "../../../src/db/app.ts";
import { LIMITS } from "../../../src/limits.ts";
import { ADMIN, AdminCaller, dataOf } from "../../support/admin-caller.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { answerOf } from "../../support/touchpoint.ts";
import { type Row, Tables } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);
const admin = new AdminCaller(server);

const HEADER = "date,ad_platform,aid,impressions,clicks,cost";
const file = (...lines: string[]) => `${HEADER}\n${lines.join("\n")}\n`;
const preview = async (app: App, csv: string) =>
  dataOf(await admin.post("cost/import/preview", { app_id: app.appId, csv }), costPreviewAnswer);
const take = async (app: App, csv: string) =>
  expect(await admin.post("cost/import", { app_id: app.appId, csv })).toMatchObject({ code: 0 });
const stored = (app: App) => tables.query("select * from cost where app_id = $1 order by day, aid", [app.appId]);

describe("a preview of a file of costs", () => {
  /** An app without costs. */
  let empty: App;
  beforeAll(async () => {
    empty = await server.createApp();
  });

  test("shows its rows as they would be stored, and which stored rows they replace", async () => {
    const app = await server.createApp();
    await take(app, file("2024-06-15,tencent,1,10,1,5", "2024-06-15,tencent,2,10,1,5"));
    const before = await stored(app);
    const csv = file(" 2024-06-15 ,GDT,1,10,1,5.0000", "2024-06-15,tencent,2,20,2,7.5", "2024-06-16,vivo,3,1,1,0.25");
    const seen = await preview(app, csv);
    expect(seen.rows).toEqual({ new: 1, replaces: 1, same: 1 });
    expect(seen.first_rows.map(({ line, state }: Row) => [line, state])).toEqual([
      [2, "same"],
      [3, "replaces"],
      [4, "new"],
    ]);
    const second = { date: "2024-06-15", ad_platform: "tencent", aid: "2", channel: "" };
    expect(seen.first_replacing).toMatchObject([
      {
        line: 3,
        values: { ...second, impressions: 20, clicks: 2, cost: 7.5 },
        before: { ...second, impressions: 10, clicks: 1, cost: 5 },
      },
    ]);
    expect(seen.columns).toEqual(Object.keys(seen.first_rows[0].values));
    expect(seen.sums).toEqual([
      ...[{ date: "2024-06-16", ad_platform: "vivo", rows: 1, impressions: 1, clicks: 1, cost: 0.25, cost_before: 0 }],
      { date: "2024-06-15", ad_platform: "tencent", rows: 2, impressions: 30, clicks: 3, cost: 12.5, cost_before: 10 },
    ]);
    expect(seen).toMatchObject({ sum_count: 2, problems: [], problem_count: 0 });
    expect(seen.total).toEqual({ rows: 3, impressions: 31, clicks: 4, cost: 12.75, cost_before: 10 });
    expect(await stored(app)).toEqual(before);
    await take(app, csv);
    expect((await preview(app, csv)).rows).toEqual({ new: 0, replaces: 0, same: 3 });
  });

  test("shows that a row by ad replaces the costs of creatives, and these a row by ad", async () => {
    const app = await server.createApp();
    const csv = (...rows: string[]) =>
      `date,ad_platform,aid,creative,cost\n${rows.map((row) => `2024-06-15,tencent,1,${row}\n`).join("")}`;
    await take(app, csv("k1,4", "k2,6"));
    const byAd = await preview(app, csv(",10"));
    expect(byAd.first_replacing).toMatchObject([{ before: { creative: "k1, k2", cost: 10 } }]);
    expect([byAd.rows, byAd.total.cost_before]).toEqual([{ new: 0, replaces: 1, same: 0 }, 10]);
    const partly = await preview(app, csv("k1,4", "k3,1", "k4,2"));
    expect(partly.first_replacing).toMatchObject([
      { line: 3, before: { creative: "k2", cost: 6 } },
      { line: 4, before: { creative: "k2", cost: 6 } },
    ]);
    expect([partly.rows, partly.total.cost_before]).toEqual([{ new: 0, replaces: 2, same: 1 }, 10]);
  });

  test("takes the line ends of all systems, also in one file", async () => {
    const lines = ["2024-06-15,tencent,1,,,1", "2024-06-15,tencent,2,,,1", "2024-06-15,tencent,3,,,x"];
    const seen = await preview(empty, `${HEADER}\n${lines.join("\r\n")}\r2024-06-15,tencent,4,,,1`);
    expect(seen.rows).toEqual({ new: 3, replaces: 0, same: 0 });
    expect(seen.problems).toMatchObject([{ line: 4 }]);
  });

  test("names every bad line, and still counts the others", async () => {
    const app = await server.createApp();
    const lines = [
      "2024-06-15,tencent,1,,,1",
      "yesterday,tencent,2,,,1",
      "2024-06-15,tencent,3",
      "2024-06-15,gdt,1,,,2",
    ];
    const seen = await preview(app, file(...lines, "2024-06-15,tencent,5,1.5,,x", "2024-06-15,tencent,6,,,1"));
    expect(seen.rows).toEqual({ new: 2, replaces: 0, same: 0 });
    expect(seen.problem_count).toBe(4);
    expect(seen.problems).toEqual([
      { line: 3, problem: "date must look like 2026-11-15" },
      { line: 4, problem: "it does not have 6 cells like the header" },
      { line: 5, problem: "it has the same key as line 2" },
      { line: 6, problem: expect.stringMatching(/whole number/) },
    ]);
    expect(await stored(app)).toEqual([]);
  });

  test("lists a limited number of rows, but counts all", async () => {
    const app = await server.createApp();
    const days = Array.from({ length: 500 }, (_, at) => new Date(Date.UTC(2020, 0, 1 + at)).toISOString().slice(0, 10));
    const seen = await preview(app, file(...days.map((day) => `${day},vivo,1,,,1`), ...days.map(() => "x,,,,,")));
    expect([seen.first_rows.length, seen.problems.length, seen.sums.length]).toEqual([50, 200, 400]);
    expect([seen.rows.new, seen.problem_count, seen.sum_count, seen.total.cost]).toEqual([500, 500, 500, 500]);
  });

  test.each<[string, string, Row]>([
    ["nothing", "", { line: 0, problem: "the file is empty" }],
    ["an unknown column", "date,price\n", { line: 1, problem: expect.stringMatching(/^there is no column "price"/) }],
    ["no column date", "cost\n1\n", { line: 1, problem: "the column date is missing" }],
    ["an open quote", 'date,channel\n2024-06-15,"a\n', { line: 2, problem: expect.stringMatching(/quote/i) }],
  ])("with %s reports that problem", async (_, csv, problem) => {
    const seen = await preview(empty, csv);
    expect(seen.problems).toEqual([problem]);
    expect(seen.rows.new).toBe(0);
  });

  test("accepts the plain file, which may be larger than JSON may be", async () => {
    const app = await server.createApp();
    const channel = "c".repeat(190);
    const lines = Array.from({ length: 12_000 }, (_, at) => `2024-06-15,${at},${channel},0.5`);
    const large = `date,aid,channel,cost\n${lines.join("\n")}`;
    expect(large.length).toBeGreaterThan(LIMITS.fileBodyBytes);
    const send = (path: string, csv: string) =>
      fetch(`${server.url}${ADMIN}/${path}?app_id=${app.appId}`, {
        method: "POST",
        headers: { ...admin.headers, "content-type": "text/csv" },
        body: csv,
      }).then(answerOf);
    const seen = dataOf(await send("cost/import/preview", large), costPreviewAnswer);
    expect([seen.rows.new, seen.total.cost]).toEqual([12_000, 6_000]);
    expect(await send("cost/import", file("2024-06-15,vivo,1,1,1,2"))).toMatchObject({ code: 0, data: { rows: 1 } });
    expect(await stored(app)).toMatchObject([{ ad_platform: "vivo", aid: "1" }]);
  });

  test.each<[Row, RegExp, number?]>([
    [{ csv: "date\n" }, /app_id/],
    [{ app_id: 999_999_999, csv: "date\n" }, /app_id/, 2001],
    [{ app_id: 1 }, /csv/],
  ])("is refused for %j", async (body, msg, code = 1004) => {
    const answer = await admin.post("cost/import/preview", body);
    expect(answer).toMatchObject({ status: 200, code, msg: expect.stringMatching(msg), data: {} });
  });
});

describe("a preview of a file of names", () => {
  test.each<[string, string, string, string]>([
    ["advertiser", "ad_platform,advertiser_id,name", "advertiser_id", "advertiser"],
    ["ad-object", "ad_platform,level,id,name", "object_id", "ad_object"],
  ])("%s: shows what is new, what replaces, and what is the same", async (path, header, id, table) => {
    const key = `seen-${Date.now()}`;
    const level = path === "ad-object" ? "plan," : "";
    const lines = (...names: string[]) =>
      [header, ...names.map((name, at) => `vivo,${level}${key}-${at},${name}`)].join("\n");
    expect(await admin.post(`${path}/import`, { csv: lines("一", "two") })).toMatchObject({ code: 0 });
    const csv = `${lines("一", "zwei", "drei")}\nvivo,${level},nobody`;
    const seen = dataOf(await admin.post(`${path}/import/preview`, { csv }), filePreviewAnswer);
    expect(seen.rows).toEqual({ new: 1, replaces: 1, same: 1 });
    expect(seen.first_replacing).toMatchObject([{ line: 3, values: { name: "zwei" }, before: { name: "two" } }]);
    expect(seen.problems).toMatchObject([{ line: 5 }]);
    const known = await tables.query(`select name from ${table} where ${id} like $1 order by ${id}`, [`${key}%`]);
    expect(known).toEqual([{ name: "一" }, { name: "two" }]);
  });
});
