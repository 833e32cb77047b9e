import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, inject, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { sharedServer } from "../support/shared-server.ts";
import { cli, cliJson, expectFailure, expectWrongArguments } from "./run.ts";

const server = sharedServer();
let app: App;
beforeAll(async () => {
  app = await server.createApp();
});

const of = (...args: string[]) => ["rebate", ...args, "--app", String(app.appId)];
const run = (...args: string[]) => cli(server.dataDir, of(...args));
const runJson = (...args: string[]) => cliJson(server.dataDir, of(...args));
const KEY = ["--platform", "gdt", "--advertiser", "7", "--from", "2026-11-01"];
const SHOWN = { ad_platform: "tencent", advertiser_id: "7", start_date: "2026-11-01" };

test("rebates are set, listed, imported and removed", async () => {
  const terms = ["--to", "2026-11-30", "--cash", "3.5", "--credit", "10%"];
  const set = { ...SHOWN, end_date: "2026-11-30", cash_percent: 3.5, credit_percent: 10 };
  expect(await runJson("set", ...KEY, ...terms)).toEqual(set);
  expect((await run("list")).stdout).toMatch(
    /^ad_platform +advertiser_id +start_date .*\ntencent +7 +2026-11-01 .*3\.5 +10\n$/,
  );
  const file = join(inject("runDir"), "rebates.csv");
  writeFileSync(file, "ad_platform,advertiser_id,start_date,cash_percent\nvivo,8,2026-01-01,2\n");
  expect((await run("import", file)).stdout).toBe("1 rows were imported.\n");
  const imported = { ad_platform: "vivo", advertiser_id: "8", start_date: "2026-01-01", end_date: "" };
  expect(await runJson("list")).toEqual([set, { ...imported, cash_percent: 2, credit_percent: 0 }]);
  expect((await run("remove", ...KEY)).stdout).toBe("The rebate was removed.\n");
  expect(await runJson("list")).toHaveLength(1);
});

test("what is wrong is said in one sentence", async () => {
  expectFailure(await run("set", ...KEY, "--cash", "200"), /^cash_percent must be between 0 and 99\.99/);
  expectFailure(await run("remove", ...KEY), /has no rebate of this account/);
  expectFailure(await run("import", "/nowhere/rebates.csv"), /^The file cannot be read/);
  expectWrongArguments(await run("set", ...KEY, "--cash", "much"), /It must be a percentage such as 3\.5/);
  expectWrongArguments(await run("set", "--platform", "gdt"), /--advertiser/);
});
