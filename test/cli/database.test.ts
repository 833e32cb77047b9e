import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createDatabase } from "../db/temp-database.ts";
import { makeDataDir, ROOT } from "../process/launch.ts";
import { databaseUrl, sharedServer } from "../support/shared-server.ts";
import { cli, cliJson } from "./run.ts";

const { dataDir } = sharedServer();

test("database status says where the tables are", async () => {
  const { code, stdout } = await cli(dataDir, ["database", "status"]);
  expect([code, stdout]).toEqual([0, "The tables are in one database, which is not distributed.\n"]);
  expect(await cliJson(dataDir, ["database", "status"])).toEqual({ distributed: false });
});

test("database migrate shows what it would do, does it, and then has nothing left to do", async () => {
  const { name, drop } = await createDatabase();
  const env = { DATABASE_URL: databaseUrl(name) };
  const pending = () => cliJson(makeDataDir(), ["database", "migrate", "--dry-run"], env);
  const steps = (await pending()).map(({ step, what }: { step: string; what: string }) => `${step} ${what}`);
  expect(steps).toEqual(
    readdirSync(join(ROOT, "migrations"))
      .sort()
      .map((file) => `migrate ${file}`),
  );
  expect((await cli(makeDataDir(), ["database", "migrate"], env)).code).toBe(0);
  expect(await pending()).toEqual([]);
  await drop();
});

test.each([
  ["migrate", "The server migrates its own database when it starts. This command is for DATABASE_URL."],
  ["rebalance", "The database is not distributed: there is nothing to spread."],
])("database %s is refused with a sentence where it has no meaning", async (command, sentence) => {
  const { code, stderr } = await cli(dataDir, ["database", command]);
  expect([code, stderr]).toEqual([1, `${sentence}\n`]);
});
