import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, inject, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { workedExample } from "../platform/declared/worked-examples.ts";
import { sharedServer } from "../support/shared-server.ts";
import { cli, cliJson, expectFailure } from "./run.ts";

const server = sharedServer();
let app: App;
beforeAll(async () => {
  app = await server.createApp();
});

const of = (...args: string[]) => [...args, "--app", String(app.appId)];
const run = (...args: string[]) => cli(server.dataDir, of("connector", ...args));
const runJson = (...args: string[]) => cliJson(server.dataDir, of("connector", ...args));
const UC = ["--platform", "uc"];

function fileOf(name: string, declaration: unknown): string {
  const path = join(inject("runDir"), name);
  writeFileSync(path, typeof declaration === "string" ? declaration : JSON.stringify(declaration));
  return path;
}

test("a connector is checked, set, listed, given an account and removed", async () => {
  const file = fileOf("uc.json", workedExample("uc"));
  const { stdout } = await run("check", file, ...UC, "--answer", '{"status":0}');
  expect(stdout).toMatch(/^activate \(1\)\n {2}GET https:\/\/huichuan\.uc\.cn\//);
  expect(stdout).toMatch(/No amounts are told\.\nThe answer means: accepted\.\n$/);
  expect(await runJson("list")).toEqual([]);
  expect((await run("set", file, ...UC)).stdout).toBe("The connector for uc is set; add an account with it.\n");
  expect(await runJson("list")).toMatchObject([{ ad_platform: "uc", declaration: workedExample("uc"), accounts: 0 }]);
  expect((await run("list")).stdout).toMatch(/uc .*\{callback\}/);
  const fields = await cliJson(server.dataDir, of("account", "fields", ...UC));
  expect(fields).toMatchObject([{ name: "codes" }, { name: "repeats" }]);
  expect(await cliJson(server.dataDir, of("account", "set", ...UC))).toMatchObject({ postbacks: "on" });
  expectFailure(await run("remove", ...UC), /^There are still accounts at uc/);
  await cliJson(server.dataDir, of("account", "remove", ...UC));
  expect((await run("remove", ...UC)).stdout).toBe("The connector was removed.\n");
  expect((await cli(server.dataDir, ["connector", "placeholders"])).stdout).toMatch(/\{click_id\} +Id of the click/);
});

test("what is wrong is said in one sentence", async () => {
  expectFailure(await run("set", "/nowhere/uc.json", ...UC), /^The declaration cannot be read/);
  expectFailure(await run("check", fileOf("list.json", []), ...UC), /^The declaration must be a JSON object/);
  expectFailure(await run("check", fileOf("odd.json", "{"), ...UC), /^The declaration cannot be read/);
  const secret = fileOf("bad.json", { ...workedExample("uc"), headers: { token: "abc" } });
  expectFailure(await run("set", secret, ...UC), /^headers\.token: a secret belongs to the account/);
});
