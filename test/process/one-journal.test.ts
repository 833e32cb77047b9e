import { cpSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { cliProcess, cliProcessJson, expectFailure } from "../cli/run.ts";
import { createExternalApp } from "../crash/external-app.ts";
import { createDatabase, type TempDatabase } from "../db/temp-database.ts";
import { databaseUrl } from "../support/shared-server.ts";
import { cleanUp, TouchpointProcess } from "../support/touchpoint.ts";
import { attemptStart, makeDataDir } from "./launch.ts";

/** In turn: the first server, and a second one that is refused beside it and takes over after a crash. */
const [firstDir, secondDir, copiedDir] = [makeDataDir(), makeDataDir(), makeDataDir()];
let database: TempDatabase;
let env: Record<string, string>;
let app: App;
let first: TouchpointProcess;
let second: TouchpointProcess | undefined;

beforeAll(async () => {
  database = await createDatabase();
  env = { DATABASE_URL: databaseUrl(database.name), SECRET_KEY: "d4".repeat(32) };
  first = await TouchpointProcess.start({ dataDir: firstDir, env });
  app = await createExternalApp(database, firstDir, env.SECRET_KEY);
  await play(first, "u1", 2);
  await first.settle();
});

afterAll(async () => {
  await first.kill();
  await second?.kill();
  await database.drop();
  for (const dataDir of [firstDir, secondDir, copiedDir]) await cleanUp(dataDir);
});

async function play(server: TouchpointProcess, client: string, events: number): Promise<void> {
  expect((await server.register(app, client)).code).toBe(0);
  for (let marker = 0; marker < events; marker += 1) {
    const event = { type: "track", event: "e", time: Date.now(), properties: { marker } };
    expect((await server.collect(app, client, [event])).code).toBe(0);
  }
}

async function stored(): Promise<number> {
  return (await database.pool.query("select count(*) as count from event")).rows[0].count;
}

test("a second server on the same database is refused in one sentence that names the first, and changes nothing", async () => {
  const attempt = attemptStart({ DATA_DIR: secondDir, ...env });
  expect(await attempt.ended()).toBe(1);
  expect(attempt.stderr).toMatch(
    new RegExp(
      `^Another process applies into this database already: process ${first.child.pid} on ${hostname()} since`,
    ),
  );
  expect(attempt.stderr).toMatch(/ with the journal [-0-9a-f]{36}, .*stop that one first, or set another DATABASE_URL/);
  expect(attempt.stderr.trimEnd().split("\n")).toHaveLength(1);
  expect(attempt.stdout).not.toContain("ready");
});

test("a server with a copy of its DATA_DIR, and a command that would apply, are refused too", async () => {
  cpSync(firstDir, copiedDir, { recursive: true });
  rmSync(join(copiedDir, "lock.json"));
  const attempt = attemptStart({ DATA_DIR: copiedDir, ...env });
  expect(await attempt.ended()).toBe(1);
  expect(attempt.stderr).toMatch(/^Another process applies .*one DATA_DIR is a copy of the other/);
  expectFailure(await cliProcess(copiedDir, ["settle"], env), /^Another process applies into this database already/);
});

test("a process that only sends, refreshes and pulls costs works beside it", async () => {
  const worker = await TouchpointProcess.start({
    dataDir: secondDir,
    env: { ...env, ROLES: "refresh,postback,cost" },
  });
  expect((await worker.get("/readyz")).data).toEqual({ status: "ready", database: "there" });
  const running = async () => {
    const { stdout } = await cliProcess(firstDir, ["cluster", "status", "--json"], env);
    return (JSON.parse(stdout) as { process: number; roles: string }[]).map(({ process: id, roles }) => [id, roles]);
  };
  const all = "http,apply,refresh,postback,cost";
  const both = [
    [first.child.pid, all],
    [worker.child.pid, "refresh,postback,cost"],
  ];
  expect((await running()).sort()).toEqual(both.sort());
  expect(await worker.stop()).toBe(0);
});

test("a server whose lock connection breaks takes the lock again, and goes on", async () => {
  await database.pool.query("select pg_terminate_backend(backend_id) from apply_holder");
  await play(first, "u2", 1);
  await first.settle();
  expect(await stored()).toBe(3);
  await expect.poll(async () => (await first.get("/readyz")).data).toEqual({ status: "ready", database: "there" });
});

test("after kill -9 of the first the second starts, and a replay by the first is refused while it runs", async () => {
  await first.kill();
  second = await TouchpointProcess.start({ dataDir: secondDir, env });
  await play(second, "u3", 4);
  await second.settle();
  expect(await stored()).toBe(7);
  expectFailure(
    await cliProcess(firstDir, ["journal", "replay", "--all"], env),
    new RegExp(`^Another process applies into this database already: process ${second.child.pid} `),
  );
  expect(await stored()).toBe(7);
});

test("a rebuild is refused while another process may be sending postbacks", async () => {
  expect(await second!.stop()).toBe(0);
  const sender = new pg.Client({ connectionString: env.DATABASE_URL, application_name: "touchpoint postback" });
  await sender.connect();
  const refused = await cliProcess(firstDir, ["journal", "replay", "--all"], env);
  await sender.end();
  expectFailure(refused, /^Stop the processes with the role postback first/);
});

test("a rebuild from one of two journals is refused, naming what would be lost, unless --yes is given", async () => {
  const refused = await cliProcess(firstDir, ["journal", "replay", "--all"], env);
  expectFailure(
    refused,
    /^Nothing was changed, because data would be lost\. Other journals have filled these tables as well \([-0-9a-f]{36}: up to \d+/,
  );
  expect(refused.stderr).toMatch(/The tables hold 7 events, 3 users and 0 orders; this journal holds 3 events\./);
  expect(refused.stderr).toMatch(/To proceed anyway, add --yes\.$/m);
  expect(await stored()).toBe(7);
  const unconfirmed = join(firstDir, "journal/unconfirmed");
  writeFileSync(unconfirmed, "0\n");
  expect(await cliProcessJson(firstDir, ["journal", "replay", "--all", "--yes"], env)).toMatchObject({ set_aside: 0 });
  expect(await stored()).toBe(3);
  expect(existsSync(unconfirmed), "entries that a start would write again").toBe(false);
  const { rows } = await database.pool.query("select actor, details from audit_log where action = 'journal/replay'");
  expect(rows).toEqual([
    { actor: expect.stringMatching("command line"), details: expect.objectContaining({ bytes: expect.any(Number) }) },
  ]);
});

test("the other journal is applied again when its server is back, which also ends an interrupted replay", async () => {
  await database.pool.query(
    `insert into earlier_postback (app_id, client_id, event_type, subject, status, back_cents, ad_platform, rule_id, moment,
      trace_id, at_ms, is_passed, reason, attempts, resent, created_at_ms, changed_at_ms, made_for)
    values ($1, 'u1', 'activate', '', 1, 0, 'baidu', 0, 'activate', '', 0, true, '', 1, 0, 0, 0, 'u1')`,
    [app.appId],
  );
  second = await TouchpointProcess.start({ dataDir: secondDir, env });
  await second.settle();
  expect(await stored()).toBe(7);
  const kept = async () => (await database.pool.query("select client_id, status from postback")).rows;
  await expect.poll(kept).toEqual([{ client_id: "u1", status: 1 }]);
  expect(await second.stop()).toBe(0);
});
