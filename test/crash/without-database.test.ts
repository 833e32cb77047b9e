import { cpSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DatabaseLine } from "../../sim/chaos/database-line.ts";
import { ExternalDatabase } from "../../sim/chaos/external-database.ts";
import type { App } from "../../src/db/app.ts";
import { settingsFileOf } from "../../src/intake/settings-copy.ts";
import { attemptStart, makeDataDir } from "../process/launch.ts";
import { eventually } from "../support/patience.ts";
import { cleanUp, TouchpointProcess } from "../support/touchpoint.ts";
import { createExternalApp } from "./external-app.ts";

/** An external database behind a line that the tests silence: it accepts connections and never answers. */
let database: ExternalDatabase;
let line: DatabaseLine;
let app: App;
const dataDir = makeDataDir();
let env: Record<string, string>;
let server: TouchpointProcess;

beforeAll(async () => {
  database = await ExternalDatabase.create();
  line = await DatabaseLine.open(database.port);
  env = { DATABASE_URL: database.urlBy(line.port), DEMO_APP: "off" };
  server = await TouchpointProcess.start({ dataDir, env });
  app = await createExternalApp(database, dataDir);
  expect((await server.register(app, "known")).code).toBe(0);
  await server.settle();
});
afterAll(async () => {
  await server.kill();
  await line.close();
  await database.remove();
  await cleanUp(dataDir);
});

const event = (name: string) => ({ type: "track", event: name, time: Date.now(), properties: {} });

async function storedEvents(): Promise<string[]> {
  const { rows } = await database.pool.query('select event from event order by event collate "C"');
  return rows.map((row) => row.event);
}

test("a database that falls silent stops neither readiness nor collection nor the end of the server", async () => {
  await eventually(() => expect(statSync(settingsFileOf(dataDir)).mode & 0o777).toBe(0o600));
  line.silence();
  expect((await server.get("/readyz")).data).toEqual({ status: "ready", database: "away" });
  for (const client of ["a", "b"]) expect((await server.register(app, client)).code).toBe(0);
  expect((await server.collect(app, "known", [event("while_silent")])).code).toBe(0);
  expect((await server.collect(app, "not in memory", [event("of_nobody")])).code).toBe(0);
  expect(await server.stop()).toBe(0);
});

test("a start without the database collects for known apps, says what is missing, and goes on by itself later", async () => {
  // Still silent. A schema that this version does not know will be in the way first.
  await database.pool.query("insert into migration (name, applied_at_ms) values ('9999-future.sql', 0)");
  server = await TouchpointProcess.start({ dataDir, env });
  expect(server.output).toMatch("The database could not be opened since the start");
  const missing = async () => (await server.get("/readyz")).data;
  expect(await missing()).toEqual({
    status: "ready",
    database: "away",
    missing: expect.stringMatching(
      /^The database could not be opened since the start: .* Data is collected by the settings of 20/,
    ),
  });
  expect((await server.collect(app, "known", [event("at_once")])).code).toBe(0);
  expect((await server.register(app, "late")).code).toBe(0);
  expect((await server.collect(app, "late", [event("of_late")])).code).toBe(0);
  // Perhaps it was created since; its client tries again.
  expect(await server.collect({ ...app, accessToken: "0".repeat(32) }, "known", [event("x")])).toMatchObject({
    status: 503,
    code: 5003,
  });
  line.pass();
  await eventually(async () =>
    expect((await missing()).missing).toMatch(/The database is newer than this program: it has 9999-future\.sql/),
  );
  expect((await server.collect(app, "known", [event("before_the_fix")])).code).toBe(0);
  await database.pool.query("delete from migration where name = '9999-future.sql'");
  await eventually(async () => expect(await missing()).toEqual({ status: "ready", database: "there" }));
  await server.settle();
  expect(await storedEvents()).toEqual(["at_once", "before_the_fix", "of_late", "while_silent"]);
  expect((await server.post("user/get/", app, { user_list: ["late"] })).data.user_list).toHaveLength(1);
});

test("a copy of the settings that is damaged is not used: the start waits for the database", async () => {
  expect(await server.stop()).toBe(0);
  line.silence();
  writeFileSync(settingsFileOf(dataDir), "{}\n");
  const waiting = attemptStart({ ...env, DATA_DIR: dataDir, LOG_LEVEL: "debug" });
  await eventually(() => expect(waiting.stdout).toMatch("the copy of the settings is damaged"));
  // A stop during such a start does not wait for the database.
  expect(await waiting.end("SIGTERM")).toBe(0);
  expect(waiting.stdout).not.toMatch("ready at");
});

test("a database of another installation gets nothing of what was collected for this one", async () => {
  line.pass();
  server = await TouchpointProcess.start({ dataDir, env });
  await server.settle();
  await eventually(() => expect(statSync(settingsFileOf(dataDir)).size).toBeGreaterThan(100));
  expect(await server.stop()).toBe(0);
  line.silence();
  server = await TouchpointProcess.start({ dataDir, env });
  expect((await server.collect(app, "known", [event("for_the_first")])).code).toBe(0);
  const { rows } = await database.pool.query("select name, secret_sealed from installation_secret");
  const sealedOf = (name: string) => rows.find((row) => row.name === name).secret_sealed;
  const setUserToken = (sealed: string) =>
    database.pool.query("update installation_secret set secret_sealed = $1 where name = 'user_token'", [sealed]);
  await setUserToken(sealedOf("erasure"));
  line.pass();
  await eventually(async () =>
    expect((await server.get("/readyz")).data.missing).toMatch(/DATABASE_URL leads to another installation/),
  );
  await setUserToken(sealedOf("user_token"));
  await eventually(async () => expect((await server.get("/readyz")).data.missing).toBeUndefined());
  await server.settle();
  expect(await storedEvents()).toContain("for_the_first");
});

test("what is accepted into an older copy of the journal is applied all the same, a crash later too", async () => {
  const old = makeDataDir();
  const copyFiles = (from: string, to: string) => {
    rmSync(join(to, "journal"), { recursive: true, force: true });
    cpSync(join(from, "journal"), join(to, "journal"), { recursive: true });
    cpSync(settingsFileOf(from), settingsFileOf(to));
  };
  await server.settle();
  expect(await server.stop()).toBe(0);
  copyFiles(dataDir, old);
  server = await TouchpointProcess.start({ dataDir, env });
  expect((await server.collect(app, "known", [event("in_the_newer_one")])).code).toBe(0);
  await server.settle();
  expect(await server.stop()).toBe(0);
  copyFiles(old, dataDir);
  line.silence();
  server = await TouchpointProcess.start({ dataDir, env });
  expect((await server.collect(app, "known", [event("in_the_older_one")])).code).toBe(0);
  await server.kill();
  server = await TouchpointProcess.start({ dataDir, env });
  expect((await server.collect(app, "known", [event("after_the_crash")])).code).toBe(0);
  line.pass();
  await eventually(async () => expect((await server.get("/readyz")).data.missing).toBeUndefined());
  await server.settle();
  expect(await storedEvents()).toEqual(
    expect.arrayContaining(["in_the_newer_one", "in_the_older_one", "after_the_crash"]),
  );
  expect(server.output).toMatch("what was just accepted was written again");
  await cleanUp(old);
});
