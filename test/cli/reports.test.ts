import { describe, expect, test } from "vitest";
import { ReportStage, range, today } from "./report-stage.ts";
import { cli, cliJson, expectFailure, expectWrongArguments } from "./run.ts";

const stage = new ReportStage();
const { dataDir } = stage;
const ofApp = () => stage.ofApp();
const signed = () => stage.signed();

describe("report ad", () => {
  const asked = () => [
    ...["report", "ad", ...signed(), ...range, "--caliber", "behavior_occurred_time"],
    ...["--dims", "ad_platform", "--metrics", "AdCost,AppRevenue", "--decimals", "2"],
  ];

  test("prints the answer of the server as JSON", async () => {
    expect(await cliJson(dataDir, asked())).toEqual({
      columns: ["AdCost", "AppRevenue"],
      items: [
        { ad_platform: "kuaishou", AdCost: 1, AppRevenue: 0 },
        { ad_platform: "natural", AdCost: 0, AppRevenue: 15 },
        { ad_platform: "tencent", AdCost: 4, AppRevenue: 0 },
      ],
      total: [{ AdCost: 5, AppRevenue: 15 }],
      tips: { "Ad cost": expect.any(String), Revenue: expect.any(String) },
      static: ["Ad platform"],
    });
  });

  test("prints a table with the total in its last line, or CSV", async () => {
    const { stdout } = await cli(dataDir, asked());
    const lines = stdout.trimEnd().split("\n");
    expect(lines).toHaveLength(5);
    expect(lines[0]).toMatch(/^ad_platform +AdCost +AppRevenue$/);
    expect(lines[2]).toMatch(/^natural +0 +15$/);
    expect(lines[4]).toMatch(/^- +5 +15$/);
    const csv = await cli(dataDir, [...asked(), "--csv"]);
    expect(csv.stdout).toBe(
      "ad_platform,AdCost,AppRevenue\r\nkuaishou,1,0\r\nnatural,0,15\r\ntencent,4,0\r\n-,5,15\r\n",
    );
  });

  test("filters, and follows the app's share of payments in the precise model", async () => {
    const set = await cliJson(dataDir, ["app", "set", String(stage.app.appId), "--pay-share", "0.6"]);
    expect(set.pay_share).toBe(0.6);
    const roi = ["report", "ad", ...signed(), ...range, "--metrics", "AppROI"];
    const total = async (...more: string[]) => (await cliJson(dataDir, [...roi, ...more])).total[0].AppROI;
    await expect.poll(() => total("--roi-version", "2")).toBe(1.8);
    expect(await total()).toBe(3);
    const cost = ["report", "ad", ...signed(), ...range, "--metrics", "AdCost", "--platforms", "tencent"];
    expect((await cliJson(dataDir, cost)).total).toEqual([{ AdCost: 4 }]);
    expectWrongArguments(
      await cli(dataDir, ["app", "set", String(stage.app.appId), "--pay-share", "1.2"]),
      /from 0 to 1/,
    );
  });

  test("reports a refusal of the server in one sentence with its code", async () => {
    const report = (...args: string[]) => cli(dataDir, ["report", "ad", ...ofApp(), ...range, ...args]);
    const key = ["--app-key", stage.appKey];
    expectFailure(await report("--app-key", "wrong", "--metrics", "AdCost"), /\(code 2002\)/);
    expectFailure(await report(...key, "--metrics", "Luck"), /"Luck".*\(code 1004\)/);
    expectFailure(await report(...key, "--metrics", "AdCost", "--dims", "csite,gid"), /csite and gid.*\(code 2006\)/);
    expectFailure(await report(...key, "--metrics", "AdCost", "--url", "http://127.0.0.1:9"), /No server answers at/);
  });

  test("requires days, metrics and a key", async () => {
    const report = (...args: string[]) => cli(dataDir, ["report", "ad", ...args]);
    expectWrongArguments(await report(...signed(), ...range), /--metrics/);
    expectWrongArguments(await report(...signed(), "--to", today, "--metrics", "AdCost"), /--from/);
    expectWrongArguments(await report(...ofApp(), ...range, "--metrics", "AdCost"), /--app-key/);
    expectWrongArguments(await report(...signed(), ...range, "--metrics", "AdCost", "--decimals", "3"), /2, 4/);
    expectWrongArguments(await report(...signed(), "--from", "2024-02-30", "--to", today), /day such as/);
  });
});

describe("report orders and users", () => {
  test("print the lists, sorted, filtered and paged", async () => {
    const orders = await cliJson(dataDir, [
      "report",
      "orders",
      ...signed(),
      "--sort",
      "Amount:asc",
      "--page-size",
      "1",
    ]);
    expect(orders.page_info).toEqual({ page: 1, page_size: 1, total_number: 2, total_page: 2 });
    expect(orders.list).toMatchObject([{ TraceID: "o-2", Amount: 500 }]);
    const filter = ["--event-filter", '{"TraceID":["o-1"]}', "--user-filter", '{"client_id_list":["u1"]}'];
    expect((await cliJson(dataDir, ["report", "orders", ...signed(), ...filter])).list).toMatchObject([
      { Amount: 1_000 },
    ]);
    const users = await cliJson(dataDir, ["report", "users", ...signed(), "--sort", "ClientID:desc"]);
    expect(users.list.map((user: { ClientID: string }) => user.ClientID)).toEqual(["u2", "u1"]);
  });

  test("print tables and CSV, and the total number beside them", async () => {
    const table = await cli(dataDir, ["report", "orders", ...signed()]);
    expect(table).toMatchObject({ code: 0, stderr: "2 of 2\n" });
    expect(table.stdout.trimEnd().split("\n")).toHaveLength(3);
    const csv = await cli(dataDir, ["report", "users", ...signed(), "--csv"]);
    const [header, ...rows] = csv.stdout.trimEnd().split("\r\n");
    expect(header).toMatch(/^CreateTime,ClientID,AdPlatform,Channel,/);
    expect(rows).toHaveLength(2);
    expect(rows[0]).toContain(",'=1+1,");
  });

  test("refuse invalid options", async () => {
    expectFailure(
      await cli(dataDir, ["report", "users", ...signed(), "--page-size", "501"]),
      /page_size.*\(code 1004\)/,
    );
    expectFailure(await cli(dataDir, ["report", "orders", ...signed(), "--sort", "Luck"]), /"Luck".*\(code 1004\)/);
    expectWrongArguments(await cli(dataDir, ["report", "orders", ...signed(), "--sort", "Amount:up"]), /Amount:desc/);
    expectWrongArguments(await cli(dataDir, ["report", "users", ...signed(), "--user-filter", "[]"]), /JSON object/);
    expectWrongArguments(await cli(dataDir, ["report", "users", ...ofApp()]), /--app-key/);
  });
});

describe("explain", () => {
  const explain = (...args: string[]) => ["explain", ...ofApp(), ...range, ...args];

  test("lists what is behind a number", async () => {
    const cell = ["--metric", "AppGamePayAmountStandard", "--row", "channel=store", "--row", "ad_platform=natural"];
    const explained = await cliJson(dataDir, explain(...cell));
    expect(explained).toMatchObject({
      metric: "AppGamePayAmountStandard",
      value: 15,
      sums: { pay_cents: 1_500 },
      users: [{ client_id: "u1", pay_cents: 1_500 }],
      numbers: { users: 1, orders: 2, costs: 0 },
    });
    expect(explained.orders.map((order: { trace_id: string }) => order.trace_id).sort()).toEqual(["o-1", "o-2"]);
    const { stdout } = await cli(dataDir, explain("--metric", "AdCost", "--row", "ad_platform=tencent"));
    expect(stdout).toMatch(/^value +4$/m);
    expect(stdout).toMatch(/^1 costs$/m);
    expect(stdout).toMatch(/^0 users\n\(none\)$/m);
  });

  test("refuses invalid options", async () => {
    expectFailure(await cli(dataDir, explain("--metric", "Luck")), /"Luck"/);
    expectFailure(await cli(dataDir, explain("--metric", "AdCost", "--row", "planet=x")), /"planet"/);
    expectFailure(await cli(dataDir, ["explain", "--app", "1", ...range, "--metric", "AdCost"]), /no app 1/);
    expectWrongArguments(await cli(dataDir, explain("--metric", "AdCost", "--row", "gid")), /ad_platform=tencent/);
    expectWrongArguments(await cli(dataDir, explain()), /--metric/);
  });
});
