import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { postmasterOf } from "../../sim/chaos/postmaster.ts";
import { lockDataDir } from "../../src/data-lock.ts";
import { createDatabase } from "../db/temp-database.ts";
import { makeDataDir } from "../process/launch.ts";
import { prepareDataDir } from "../support/prepared.ts";
import { databaseUrl } from "../support/shared-server.ts";
import { cleanUp, TouchpointProcess } from "../support/touchpoint.ts";
import { cli, cliJson, cliProcessJson, expectFailure } from "./run.ts";

const dataDir = makeDataDir();
afterAll(() => cleanUp(dataDir));

/** Commands that start threads, which only the build has, and the one that a person would begin with. */
const AS_PROCESS = /^(app create|import|journal replay|settle)/;

/** Runs a command without a server; afterwards nothing may be left running or locked. */
async function alone(...args: string[]) {
  const run = AS_PROCESS.test(args.join(" ")) ? cliProcessJson : cliJson;
  const printed = await run(dataDir, args);
  expect(postmasterOf(dataDir), "the database was stopped again").toBeUndefined();
  expect(existsSync(join(dataDir, "lock.json"))).toBe(false);
  return printed;
}

test("commands of every kind work without a server, starting from an empty folder, and the server takes over from there", async () => {
  const { app_id, access_token } = await alone("app", "create", "--name", "Alone", "--metadata", "strict");
  const app = String(app_id);
  expectFailure(await cli(dataDir, ["journal", "inspect"]), /There is no journal/);
  expect(await cli(dataDir, ["metadata", "event", "wanted", "--app", app])).toMatchObject({ code: 0 });
  expect(await alone("app", "list")).toMatchObject([{ name: "Alone", access_token }]);

  const file = join(dataDir, "history.ndjson");
  const event = { client_id: "c", type: "track", event: "wanted", time: Date.UTC(2020, 0, 1), properties: {} };
  const unwanted = { ...event, event: "unwanted" };
  writeFileSync(file, [event, unwanted].map((line) => `${JSON.stringify(line)}\n`).join(""));
  expect(await alone("import", file, "--app", app)).toEqual({
    events: 2,
    registered: 1,
    rejected: 1,
    reasons: { undeclared: 1 },
  });
  expect(await alone("export", "events", "--app", app, "--from", "2020-01-01", "--to", "2020-01-01")).toMatchObject(
    event,
  );
  const ledger = await alone("ledger", "--app", app);
  expect(ledger).toMatchObject([{ received: 2, stored: 1, duplicate: 0, rejected: { undeclared: 1 } }]);
  const { segments, applied } = await alone("journal", "inspect");
  expect(segments).toMatchObject([{ state: "applied", bytes: applied }]);
  expect(await alone("journal", "replay")).toEqual({ requested: 0, replayed: 0, still_set_aside: 0 });
  expect(await alone("journal", "replay", "--all")).toEqual({ bytes: applied, set_aside: 0 });
  expect(await alone("ledger", "--app", app)).toEqual(ledger);
  expect(await alone("settle")).toEqual({ durable: applied, applied });

  const server = await TouchpointProcess.start({ dataDir });
  try {
    expect(server.output, "an app is there: no demo").not.toMatch(/demo app/i);
    const sent = [{ ...event, time: Date.now() }];
    expect((await server.collect({ accessToken: access_token } as never, "c", sent)).code).toBe(0);
  } finally {
    await server.stop();
  }
});

test("settle without a server applies what a server left, unless the apply role is switched off", async () => {
  const folder = prepareDataDir();
  const server = await TouchpointProcess.start({ dataDir: folder, env: { ROLES: "http" } });
  try {
    const app = await server.createApp();
    await server.register(app, "c");
    await server.collect(app, "c", [{ type: "track", event: "e", time: Date.now(), properties: {} }]);
    await server.kill();
    expectFailure(await cli(folder, ["settle", "--timeout-s", "1"], { ROLES: "http" }), /^Not settled after 1 s/);
    const { durable, applied } = await cliProcessJson(folder, ["settle"]);
    expect(applied).toBe(durable);
    expect(await cliJson(folder, ["ledger", "--app", String(app.appId)])).toMatchObject([{ received: 1, stored: 1 }]);
  } finally {
    await server.kill();
    await cleanUp(folder);
  }
});

test("a command that comes while a server creates its tables says so", async () => {
  const database = await createDatabase();
  const folder = makeDataDir();
  // As the server has it from its first moment on.
  const lock = await lockDataDir(folder);
  const env = { DATABASE_URL: databaseUrl(database.name) };
  expectFailure(await cli(folder, ["app", "list"], env), /^The server is still creating its database; try again in a/);
  lock.release();
  await database.drop();
  await cleanUp(folder);
});

test("a server that is started only for its documentation takes no backup", async () => {
  const backups = join(dataDir, "backups");
  const { openapi } = await cliProcessJson(join(dataDir, "nowhere"), ["docs", "api"], { BACKUP_DIR: backups });
  expect(openapi).toMatch(/^3\./);
  expect(existsSync(backups)).toBe(false);
});
