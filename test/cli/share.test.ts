import { beforeAll, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { sharedServer } from "../support/shared-server.ts";
import { cli, cliJson, expectFailure, expectWrongArguments } from "./run.ts";

const server = sharedServer();
let app: App;
beforeAll(async () => {
  app = await server.createApp();
});

const of = (...args: string[]) => ["share", ...args, "--app", String(app.appId)];
const run = (...args: string[]) => cli(server.dataDir, of(...args));
const runJson = (...args: string[]) => cliJson(server.dataDir, of(...args));
const ANY = { os_platform: "", channel: "", pay_method: "", is_virtual: null, start_date: "", end_date: "" };

test("rules are added at their place, listed and removed", async () => {
  expect((await run("list")).stdout).toBe("(none)\nWhere no rule fits: 1\n");
  const last = { ...ANY, os_platform: "ios", share: 0.7 };
  expect(await runJson("add", "--os", "ios", "--share", "0.7")).toEqual({ pay_share: 1, rules: [last] });
  const days = ["--from", "2026-11-01", "--to", "2026-11-30"];
  const conditions = ["--channel", "store", "--method", "midas", "--virtual", "yes"];
  const first = { ...ANY, channel: "store", pay_method: "midas", is_virtual: true, share: 0.85 };
  const rules = [{ ...first, start_date: "2026-11-01", end_date: "2026-11-30" }, last];
  expect((await runJson("add", "--share", "0.85", "--at", "1", ...days, ...conditions)).rules).toEqual(rules);
  expect((await run("list")).stdout).toMatch(
    /^number +os_platform .*\n +1 .*store +midas +true .*0\.85\n +2 +ios .*0\.7\n/,
  );
  expect((await runJson("remove", "1")).rules).toEqual([last]);
});

test("what is wrong is said in one sentence", async () => {
  expectFailure(await run("add", "--share", "1.5"), /^rule 2: share must be between 0 and 1/);
  expectFailure(await run("add", "--share", "0.5", "--os", "ios"), /^rules 1 and 2 overlap/);
  expectFailure(await run("remove", "9"), /has no rule 9/);
  expectWrongArguments(await run("add", "--share", "much"), /It must be a number from 0 to 1/);
  expectWrongArguments(await run("add"), /--share/);
});
