import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { createDatabase, rowsOf, type TempDatabase } from "../db/temp-database.ts";
import { attemptStart, makeDataDir } from "../process/launch.ts";
import { databaseUrl } from "../support/shared-server.ts";
import { TouchpointProcess } from "../support/touchpoint.ts";
import { cli, expectFailure, expectWrongArguments } from "./run.ts";

const [folder, other] = [makeDataDir(), makeDataDir()];
const nowhere = join(other, "nowhere");
let database: TempDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(async () => {
  await database.drop();
  for (const dataDir of [folder, other]) rmSync(dataDir, { recursive: true });
});

test("a process without the key of an external database is refused, and the server starts as before", async () => {
  const env = { DATABASE_URL: databaseUrl(database.name) };
  const first = await TouchpointProcess.start({ dataDir: folder, env });
  const create = ["app", "create", "--name", "Stranger"];
  for (const args of [create, ["app", "list"]]) {
    expectFailure(await cli(nowhere, args, env), /There is no key in .*nowhere\/secret\.key.*Set DATA_DIR.*SECRET_KEY/);
    const wrong = { ...env, SECRET_KEY: "ab".repeat(32) };
    expectFailure(await cli(nowhere, args, wrong), /^SECRET_KEY is wrong/);
  }
  expect(existsSync(nowhere)).toBe(false);
  await first.stop();
  const stranger = attemptStart({ ...env, DATA_DIR: other });
  expect(await stranger.ended()).toBe(1);
  expect(stranger.stderr).toMatch(/^There is no key in /m);
  expect(existsSync(join(other, "secret.key"))).toBe(false);
  expect(await rowsOf(database.pool, "app"), "the demo app alone").toHaveLength(1);
  const again = await TouchpointProcess.start({ dataDir: folder, env });
  expect(await again.get("/readyz")).toMatchObject({ code: 0 });
  expect(await cli(folder, create, env)).toMatchObject({ code: 0 });
  await again.stop();
});

test("secret rotate needs the server stopped; afterwards it starts, and users' tokens are unchanged", async () => {
  const env = { DATABASE_URL: databaseUrl(database.name) };
  const before = await TouchpointProcess.start({ dataDir: folder, env });
  const [app] = JSON.parse((await cli(folder, ["app", "list", "--keys", "--json"], env)).stdout);
  const of = { accessToken: app.access_token } as App;
  const { token } = (await before.register(of, "u")).data;
  const adminToken = (await cli(folder, ["admin", "token"], env)).stdout;
  expectFailure(await cli(folder, ["secret", "rotate"], env), /in use by process \d+: stop it first/);
  await before.stop();
  const key = readFileSync(join(folder, "secret.key"), "utf8");
  expectWrongArguments(await cli(folder, ["secret", "rotate", "--new-key", "abc"], env), /64 hex digits/);
  const asSetting = { ...env, SECRET_KEY: key.trim() };
  expectFailure(await cli(folder, ["secret", "rotate"], asSetting), /--new-key @file/);
  const rotated = await cli(folder, ["secret", "rotate", "--json"], env);
  expect(JSON.parse(rotated.stdout)).toEqual({ secrets: 6, key: join(folder, "secret.key") });
  expect(rotated.stdout + rotated.stderr).not.toContain(key.trim());
  expect(readFileSync(join(folder, "secret.key"), "utf8")).not.toBe(key);

  const after = await TouchpointProcess.start({ dataDir: folder, env });
  const paid = { event_type: "PAY", ts: Date.now(), amount: 1 };
  expect(await after.post("event/consumer_event/", of, paid, { query: { token } })).toMatchObject({ code: 0 });
  expect(JSON.parse((await cli(folder, ["app", "list", "--keys", "--json"], env)).stdout)).toContainEqual(app);
  expect((await cli(folder, ["admin", "token"], env)).stdout).not.toBe(adminToken);
  await after.stop();
});

test.each([
  "app list",
  "app set 1 --name x",
  "user show c --app 1",
  "user erase c --app 1",
  "campaign list --app 1",
  "metadata list --app 1",
  "rules show --app 1",
  "why c --app 1",
  "ledger --app 1",
  "admin token",
  "admin link",
  "admin user list",
  "developer list",
  "account list --app 1",
  "postback status",
  "callback list --app 1",
  "cost status --app 1",
  "export users --app 1 --from 2024-01-01 --to 2024-01-01",
  "report users --app 1 --app-key k",
  "journal inspect",
  "journal replay",
  "journal replay --all",
  "secret rotate",
  "settle",
])("%s creates nothing in an empty place", async (args) => {
  expectFailure(await cli(nowhere, args.split(" ")), /^There is no installation in .*nowhere yet: set DATA_DIR/);
  expect(existsSync(nowhere)).toBe(false);
});
