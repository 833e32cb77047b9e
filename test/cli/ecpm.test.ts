import { beforeAll, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { sharedServer } from "../support/shared-server.ts";
import { cli, cliJson, expectFailure, expectWrongArguments } from "./run.ts";

const server = sharedServer();
let app: App;
beforeAll(async () => {
  app = await server.createApp();
});

const of = (...args: string[]) => [...args, "--app", String(app.appId)];
const run = (...args: string[]) => cli(server.dataDir, of(...args));
const runJson = (...args: string[]) => cliJson(server.dataDir, of(...args));
const KEY = ["--unit", "adunit-1", "--from", "2026-11-01"];

test("eCPMs are set, listed and removed", async () => {
  const set = { ad_unit_id: "adunit-1", start_date: "2026-11-01", end_date: "2026-11-30", ecpm: 35.5 };
  expect(await runJson("ecpm", "set", ...KEY, "--to", "2026-11-30", "--ecpm", "35.5")).toEqual(set);
  expect((await run("ecpm", "list")).stdout).toMatch(
    /^ad_unit_id +start_date +end_date +ecpm\nadunit-1 +2026-11-01 +2026-11-30 +35\.5\n$/,
  );
  expect((await run("ecpm", "remove", ...KEY)).stdout).toBe("The eCPM was removed.\n");
  expect(await runJson("ecpm", "list")).toEqual([]);
});

test("what is wrong is said in one sentence", async () => {
  expectFailure(await run("ecpm", "set", ...KEY, "--ecpm", "200000"), /^ecpm must be between 0 and 100000/);
  expectFailure(await run("ecpm", "remove", ...KEY), /has no eCPM of ad unit adunit-1 from 2026-11-01 on/);
  expectWrongArguments(await run("ecpm", "set", ...KEY, "--ecpm", "much"), /It must be an amount such as 35\.5/);
});

test("the comparison with the platforms has a total, also of nothing", async () => {
  const days = ["--from", "2026-11-01", "--to", "2026-11-02"];
  expect((await run("ad-revenue", ...days)).stdout).toMatch(/^date +told_by +ad_unit_id +views .*difference\nall /);
  expect(await runJson("ad-revenue", ...days)).toMatchObject({ days: [], total: { revenue: 0, told: null } });
});
