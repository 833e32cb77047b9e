import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { calendarOf } from "../../../src/domain/calendar.ts";
import { cliJson } from "../../cli/run.ts";
import { AdminCaller, refused } from "../../support/admin-caller.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { HOUR_MS, type Row, Tables, track } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);
const admin = new AdminCaller(server);

const DAY = "2024-06-15";
const cell = (app: App, more: Row = {}) => ({
  app_id: app.appId,
  metric: "AdCost",
  date_list: [DAY, DAY],
  statistics_caliber: "behavior_occurred_time",
  decimal_point: 4,
  ...more,
});
const costOf = async (app: App) => (await admin.post("report/explain", cell(app))).data.value;

describe("without the admin token", () => {
  test.each([
    ["POST", "cost/import"],
    ["POST", "cost/pull"],
    ["GET", "cost/status"],
    ["POST", "advertiser/import"],
    ["POST", "ad-object/import"],
    ["POST", "report/explain"],
    ["POST", "export"],
  ])("%s %s answers 2002, whatever is sent", async (method, path) => {
    for (const authorization of ["", `${admin.headers.authorization}0`, "Bearer x"]) {
      const answer = await new AdminCaller(server, { authorization }).send(method, path, { csv: "date\n" });
      expect(answer).toMatchObject(refused(/admin token/, 2002));
    }
  });
});

describe("files", () => {
  test("of costs are imported, and a second one replaces the first", async () => {
    const app = await server.createApp();
    const take = (csv: string) => admin.post("cost/import", { app_id: app.appId, csv });
    expect(await take(`date,ad_platform,aid,cost\r\n${DAY},gdt,1,1.0001\r\n${DAY},gdt,2,2\r\n`)).toMatchObject({
      status: 200,
      code: 0,
      data: { rows: 2 },
    });
    expect(await costOf(app)).toBe(3.0001);
    expect((await take(`\uFEFFDATE,ad_platform,aid,cost\n${DAY},tencent,"1",5\n`)).data).toEqual({ rows: 1 });
    expect(await costOf(app)).toBe(7);
  });

  test("of costs with a bad row are refused as a whole, naming the lines", async () => {
    const app = await server.createApp();
    const csv = `date,cost,channel\n${DAY},1,a\n${DAY},x,b\n${DAY},-1,c\n`;
    const answer = await admin.post("cost/import", { app_id: app.appId, csv });
    expect(answer).toMatchObject(refused(/^Nothing was imported; line 3: cost.*; line 4: cost/));
    expect(await costOf(app)).toBe(0);
  });

  test("of names show in the report as soon as they are imported", async () => {
    const app = await server.createApp();
    const account = `acc-${app.appId}`;
    const advertisers = `ad_platform,advertiser_id,name,operator\ntencent,${account},账户,ann\n`;
    expect((await admin.post("advertiser/import", { csv: advertisers })).data).toEqual({ rows: 1 });
    const objects = `ad_platform,level,id,name\ntencent,plan,${account},计划\ntencent,ad,${account},广告\n`;
    expect((await admin.post("ad-object/import", { csv: objects })).data).toEqual({ rows: 2 });
    expect(await tables.query("select level, name from ad_object where object_id = $1 order by 1", [account])).toEqual([
      { level: "ad", name: "广告" },
      { level: "plan", name: "计划" },
    ]);
    const csv = `date,ad_platform,advertiser_id,cost\n${DAY},tencent,${account},3\n`;
    await admin.post("cost/import", { app_id: app.appId, csv });
    expect((await admin.post("report/explain", cell(app, { row: { operator: "ann" } }))).data.value).toBe(3);
  });

  test.each<[string, Row, RegExp, number?]>([
    ["cost/import", { csv: "date\n" }, /app_id/],
    ["cost/import", { app_id: "x", csv: "date\n" }, /app_id/],
    ["cost/import", { app_id: 999_999_999, csv: "date\n" }, /app_id/, 2001],
    ["cost/import", { app_id: 1 }, /csv/],
    ["cost/import", { app_id: 1, csv: 5 }, /csv/],
    ["advertiser/import", {}, /csv/],
    ["advertiser/import", { csv: "name\na\n" }, /column ad_platform is missing/],
    ["ad-object/import", { csv: "ad_platform,level,id\ntencent,x,1\n" }, /line 2: level/],
    ["ad-object/import", { csv: "ad_platform,level,id,size\n" }, /no column "size"/],
  ])("%s refuses %j", async (path, body, msg, code) => {
    expect(await admin.post(path, body)).toMatchObject(refused(msg, code));
  });
});

describe("a number of the report", () => {
  let app: App;
  const today = () => calendarOf("Asia/Shanghai").dayOf(Date.now());

  beforeAll(async () => {
    app = await server.createApp();
    await server.register(app, "u");
    const properties = { $order_id: "o", $pay_amount: 650, $pay_type: "CNY" };
    await server.collect(app, "u", [track("$PayEvent", properties, Date.now() - 1_000)]);
    await cliJson(server.dataDir, ["settle"]);
    const csv = `date,ad_platform,cost\n${DAY},tencent,2\n`;
    await admin.post("cost/import", { app_id: app.appId, csv });
  });

  test("opens to its users, orders and costs", async () => {
    const yesterday = calendarOf("Asia/Shanghai").dayOf(Date.now() - 24 * HOUR_MS);
    const { data } = await admin.post(
      "report/explain",
      cell(app, { metric: "AppROI", date_list: [yesterday, today()] }),
    );
    expect(data).toEqual({
      metric: "AppROI",
      value: 0,
      sums: { pay_cents: 650, ad_micros: 0, cost_e4: 0 },
      users: [{ client_id: "u", pay_cents: 650, ad_micros: 0 }],
      orders: [
        {
          trace_id: "o",
          client_id: "u",
          kind: "order",
          time: expect.stringMatching(/^\d{4}-\d\d-\d\d /),
          cents: 650,
          share: 1,
          refunded_cents: 0,
          back_cents: 0,
        },
      ],
      costs: [],
      numbers: { users: 1, orders: 1, costs: 0 },
      formula: { of: ["pay_cents", "ad_micros"], by: ["cost_e4"], times: 1, has_pay_share: false },
      pay_share: 1,
      added: { users: { pay_cents: 650, ad_micros: 0 }, orders: { cents: 650 }, costs: { cost_e4: 0 } },
    });
    const spent = await admin.post("report/explain", cell(app, { row: { ad_platform: "tencent", date: DAY } }));
    expect(spent.data).toMatchObject({ value: 2, costs: [{ day: DAY, ad_platform: "tencent", cost_e4: 20_000 }] });
  });

  test.each<[string, Row, RegExp, number?]>([
    ["no metric", { metric: undefined }, /metric/],
    ["a metric that does not exist", { metric: "Luck" }, /"Luck"/],
    ["a row that is no object", { row: "date" }, /row/],
    ["a value that is no text", { row: { gid: 5 } }, /row/],
    ["a dimension that does not exist", { row: { planet: "mars" } }, /planet/],
    ["dimensions that exclude one another", { row: { channel: "c", dept: "d" } }, /channel and dept/, 2006],
    ["one date", { date_list: [DAY] }, /date_list/],
    ["dates that are reversed", { date_list: [DAY, "2024-06-14"] }, /date_list is reversed/],
    ["another caliber", { statistics_caliber: "user" }, /statistics_caliber/],
    ["three decimals", { decimal_point: 3 }, /decimal_point/],
    ["no app", { app_id: undefined }, /app_id/],
    ["an app that does not exist", { app_id: 999_999_999 }, /app_id/, 2001],
  ])("cannot be opened for %s", async (_, change, msg, code) => {
    expect(await admin.post("report/explain", cell(app, change))).toMatchObject(refused(msg, code));
  });
});
