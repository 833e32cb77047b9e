import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { METRICS } from "../../src/report/metric/catalogue.ts";
import { CLI, environment, ROOT } from "../process/launch.ts";
import { pay, ReportStage, range, today } from "./report-stage.ts";
import { cli, cliJson, expectFailure, expectWrongArguments } from "./run.ts";

const stage = new ReportStage();
const { dataDir } = stage;
const ofApp = () => stage.ofApp();
const signed = () => stage.signed();

describe("files", () => {
  test("of accounts, plans and ads are imported, and their names show in the report", async () => {
    const advertisers = stage.fileOf("advertisers.csv", "ad_platform,advertiser_id,name\ntencent,acc,账户\n");
    expect((await cli(dataDir, ["advertiser", "import", advertisers])).stdout).toBe("1 rows were imported.\n");
    const objects = stage.fileOf(
      "objects.csv",
      "ad_platform,level,id,name\ntencent,plan,p-1,计划\ntencent,ad,a-1,广告\n",
    );
    expect(await cliJson(dataDir, ["ad-object", "import", objects])).toEqual({ rows: 2 });
    const asked = ["--metrics", "AdCost", "--dims", "advertiser_id", "--names", "advertiser_name"];
    const report = await cliJson(dataDir, ["report", "ad", ...signed(), ...range, ...asked]);
    expect(report.items).toContainEqual({ advertiser_id: "acc", AdCost: 4, advertiser_name: "账户" });
  });

  test("can come from standard input", async () => {
    const { appId } = await stage.server.createApp();
    const child = spawn(process.execPath, [CLI, "cost", "import", "-", "--app", String(appId), "--json"], {
      env: environment({ DATA_DIR: dataDir }),
      stdio: ["pipe", "pipe", "inherit"],
    });
    child.stdin.end(`date,cost\n${today},1.5\n`);
    const [[printed]] = await Promise.all([once(child.stdout, "data"), once(child, "exit")]);
    expect(JSON.parse(String(printed))).toEqual({ rows: 1 });
  });

  test("with errors are refused in one sentence that names the lines, and nothing changes", async () => {
    const bad = stage.fileOf("bad.csv", `date,ad_platform,cost\n${today},tencent,free\n${today},a b,1\n`);
    expectFailure(
      await cli(dataDir, ["cost", "import", bad, ...ofApp()]),
      /^Nothing was imported; line 2: cost.*; line 3: ad_platform.*\.$/m,
    );
    expectFailure(
      await cli(dataDir, ["cost", "import", `${bad}.gone`, ...ofApp()]),
      /^The file cannot be read: .*\.$/m,
    );
    expectFailure(await cli(dataDir, ["cost", "import", bad, "--app", "1"]), /no app 1/);
    expectFailure(await cli(dataDir, ["advertiser", "import", bad]), /no column "date"/);
    expectFailure(await cli(dataDir, ["ad-object", "import", bad]), /no column "date"/);
    const report = await cliJson(dataDir, ["report", "ad", ...signed(), ...range, "--metrics", "AdCost"]);
    expect(report.total).toEqual([{ AdCost: 5 }]);
  });

  test("need a file name, and costs also an app", async () => {
    expectWrongArguments(await cli(dataDir, ["cost", "import", ...ofApp()]), /file/);
    expectWrongArguments(await cli(dataDir, ["cost", "import", "x.csv"]), /--app/);
    expectWrongArguments(await cli(dataDir, ["advertiser", "import"]), /file/);
  });
});

describe("export", () => {
  test.each([
    ["orders", 2, /"TraceID":"o-1"/, /^CreateTime,ClientID,.*,TraceID,/],
    ["users", 2, /"ClientID":"u1"/, /^CreateTime,ClientID,/],
    ["events", 2, /"event":"\$PayEvent"/, /^client_id,type,event,time,properties,received_at\r$/],
  ])("writes %s as NDJSON and as CSV, and prints their number", async (kind, number, line, header) => {
    const asked = ["export", kind, ...ofApp(), ...range];
    const json = await cli(dataDir, [...asked, "--json"]);
    expect(json).toMatchObject({ code: 0, stderr: `${number} ${kind}\n` });
    const lines = json.stdout.trimEnd().split("\n");
    expect(lines.map((one) => typeof JSON.parse(one))).toEqual(Array(number).fill("object"));
    expect(json.stdout).toMatch(line);
    const csv = await cli(dataDir, [...asked, "--format", "csv"]);
    expect(csv).toMatchObject({ code: 0, stderr: `${number} ${kind}\n` });
    expect(csv.stdout.split("\n")[0]).toMatch(header);
    expect(csv.stdout.trimEnd().split("\n")).toHaveLength(number + 1);
  });

  test("takes only what lies in its days", async () => {
    const before = ["--from", "2020-01-01", "--to", "2020-12-31"];
    for (const kind of ["orders", "users", "events"])
      expect(await cli(dataDir, ["export", kind, ...ofApp(), ...before])).toEqual({
        code: 0,
        stdout: "",
        stderr: `0 ${kind}\n`,
      });
  });

  test("refuses invalid options", async () => {
    const reversed = ["--from", today, "--to", "2020-01-01"];
    expectFailure(await cli(dataDir, ["export", "orders", ...ofApp(), ...reversed]), /--to is before --from/);
    expectFailure(await cli(dataDir, ["export", "users", "--app", "1", ...range]), /no app 1/);
    expectWrongArguments(
      await cli(dataDir, ["export", "users", ...ofApp(), ...range, "--format", "xml"]),
      /ndjson, csv/,
    );
    expectWrongArguments(await cli(dataDir, ["export", "users", ...ofApp(), "--from", today]), /--to/);
    expectWrongArguments(await cli(dataDir, ["export", "touches", ...ofApp(), ...range]), /touches/);
  });
});

test("after settle the reports hold everything sent before it", async () => {
  const other = await stage.server.createApp();
  const { appId } = other;
  const asked = [
    "--app",
    String(appId),
    "--app-key",
    stage.appKey,
    ...range,
    "--metrics",
    "AppROI,AppGamePayUserCntStandard",
  ];
  for (let round = 1; round <= 2; round += 1) {
    const costs = stage.fileOf(`round-${round}.csv`, `date,cost\n${today},${round * 2}\n`);
    await cliJson(dataDir, ["cost", "import", costs, "--app", String(appId)]);
    await stage.server.register(other, `u${round}`);
    await stage.server.collect(other, `u${round}`, [pay(`r-${appId}-${round}`, 400)]);
    const settled = await cliJson(dataDir, ["settle"]);
    expect(settled.applied).toBeGreaterThan(0);
    const { total } = await cliJson(dataDir, ["report", "ad", ...asked]);
    expect(total).toEqual([{ AppROI: 2, AppGamePayUserCntStandard: round }]);
  }
  expectFailure(await cli(dataDir, ["settle", "--url", "http://127.0.0.1:9"]), /No server answers/);
});

test("docs metrics prints docs/METRICS.md, or the catalogue as JSON", async () => {
  expect((await cli(dataDir, ["docs", "metrics"])).stdout).toBe(readFileSync(join(ROOT, "docs/METRICS.md"), "utf8"));
  const listed: { name: string; tip: string }[] = await cliJson(dataDir, ["docs", "metrics"]);
  expect(listed.map(({ name, tip }) => [name, tip])).toEqual(METRICS.map(({ name, tip }) => [name, tip]));
});
