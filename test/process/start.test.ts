import { execFile } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { clusterOf, postmasterOf } from "../../sim/chaos/postmaster.ts";
import { holderOf } from "../../src/data-lock.ts";
import { loadApps } from "../../src/db/app.ts";
import { openVault } from "../../src/vault.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { prepareDataDir } from "../support/prepared.ts";
import { sharedServer } from "../support/shared-server.ts";
import { cleanUp, Touchpoint, TouchpointProcess } from "../support/touchpoint.ts";
import { Attempt, attemptStart, environment, makeDataDir, START } from "./launch.ts";

const run = promisify(execFile);

test("bad settings stop the start with exit code 1, and all of them are named at once", async () => {
  const dataDir = join(makeDataDir(), "never-made");
  const bad = {
    PORT: "eighty",
    LOG_LEVEL: "loud",
    ROLES: "http,cook",
    JOURNAL_KEEP_DAYS: "-1",
    DISK_FREE_BYTES_MIN: "1 apple",
    TRUSTED_PROXIES: "10.0.0.0/33",
    DATABASE_URL: "mysql://root:hush@localhost/x",
    SECRET_KEY: "hush-hush",
  };
  const attempt = attemptStart({ DATA_DIR: dataDir, ...bad });
  expect(await attempt.ended()).toBe(1);
  for (const name of Object.keys(bad)) expect(attempt.stderr).toContain(name);
  expect(attempt.stderr, "settings that are right").not.toMatch(/HOST|DATA_DIR/);
  expect(attempt.stderr, "secrets").not.toContain("hush");
  expect(attempt.stderr, "a stack").not.toMatch(/ {4}at /);
  expect(existsSync(dataDir)).toBe(false);
  rmSync(join(dataDir, ".."), { recursive: true });
});

test("a second process on the same DATA_DIR is refused in one sentence, and the first one goes on", async () => {
  const server = sharedServer();
  const { dataDir } = server;
  const second = attemptStart({ DATA_DIR: dataDir });
  expect(await second.ended()).toBe(1);
  const { pid } = holderOf(dataDir)!;
  const sentence = `${dataDir} is in use by process ${pid}: stop it first, or set another DATA_DIR.`;
  expect(second.stderr.trimEnd()).toBe(sentence);
  expect(second.stdout).toBe("");
  expect((await server.get("/readyz")).data).toEqual({ status: "ready", database: "there" });
});

test("after kill -9 the lock is not in the way, and of several processes that start together exactly one gets DATA_DIR", async () => {
  const dataDir = prepareDataDir();
  const killed = await TouchpointProcess.start({ dataDir });
  await killed.kill();
  expect(existsSync(join(dataDir, "lock.json"))).toBe(true);
  const attempts = Array.from({ length: 3 }, () => attemptStart({ DATA_DIR: dataDir }));
  try {
    const ready = await Promise.all(attempts.map((attempt) => attempt.prints(/ready at (http:\/\/\S+)/)));
    expect(ready.filter((found) => found !== undefined)).toHaveLength(1);
    const refused = attempts.filter((_, index) => ready[index] === undefined);
    for (const attempt of refused) {
      expect(await attempt.ended()).toBe(1);
      expect(attempt.stderr).toContain(`${dataDir} is in use by process`);
    }
    const winner = new Touchpoint({ url: ready.find((found) => found !== undefined)![1]!, dataDir });
    expect((await winner.get("/readyz")).data).toEqual({ status: "ready", database: "there" });
  } finally {
    for (const attempt of attempts) await attempt.end("SIGTERM");
    await cleanUp(dataDir);
  }
});

test("the first start prints a demo app and commands that work as printed; the second start creates no other", async () => {
  const dataDir = makeDataDir();
  let attempt = attemptStart({ DATA_DIR: dataDir, PRINT_SECRETS: "always" });
  try {
    const printed = await attempt.prints(/access_token {2}(\w+)[\s\S]+client_id=player-1'\n/);
    expect(attempt.stdout).toMatch(
      /app_id {8}\d+\n {2}access_token {2}\w{32}\n {2}app_key {7}\w+\n {2}aes_key {7}\S+\n/,
    );
    const commands = attempt.stdout.split("\n").flatMap((line) => /^ {2}(curl .+)$/.exec(line)?.[1] ?? []);
    expect(commands).toHaveLength(3);
    expect(await perform(commands[0]!)).toMatchObject({ code: 0, data: { token: expect.any(String) } });
    expect(await perform(commands[1]!)).toEqual({ code: 0, msg: "success", data: {}, extra: {} });
    // On a slow machine the first batch can take longer than a look-up waits.
    await expect
      .poll(async () => (await perform(commands[2]!)).data.user_list)
      .toMatchObject([{ client_id: "player-1", channel: "demo", click_company: "" }]);
    const { origin } = new URL(/'(http[^']+)'/.exec(commands[0]!)![1]!);
    const server = new Touchpoint({ url: origin, dataDir });
    await server.settle();
    const pool = server.database();
    const orders = await pool.query("select trace_id, cents::int from orders");
    await pool.end();
    expect(orders.rows).toEqual([{ trace_id: "order-1", cents: 600 }]);
    expect(await attempt.end("SIGTERM")).toBe(0);

    attempt = attemptStart({ DATA_DIR: dataDir, PRINT_SECRETS: "always" });
    const url = (await attempt.prints(/ready at (http:\/\/\S+)/))![1]!;
    const again = new Touchpoint({ url, dataDir });
    expect((await again.register({ accessToken: printed![1]! } as never, "player-2")).code).toBe(0);
    const apps = again.database();
    const { rows } = await apps.query("select name, access_token from app");
    const noted = await apps.query("select actor, action, details from audit_log where app_id is not null");
    await apps.end();
    expect(rows).toEqual([{ name: "Demo", access_token: printed![1] }]);
    expect(noted.rows).toEqual([{ actor: "first start", action: "apps/create", details: { name: "Demo" } }]);
    expect(attempt.stdout).not.toMatch(/demo app/i);
  } finally {
    await attempt.end("SIGTERM");
    await cleanUp(dataDir);
  }
});

test("output that does not go to a terminal holds no secret, and says how to get them", async () => {
  const dataDir = prepareDataDir();
  const attempt = attemptStart({ DATA_DIR: dataDir, HOST: "0.0.0.0" });
  try {
    const [, url] = (await attempt.prints(/ready at (http:\/\/127\.0\.0\.1:\d+)[\s\S]+DEMO_APP=off/))!;
    const pool = new Touchpoint({ url: url!, dataDir }).database();
    const [app] = await loadApps(pool, openVault({ dataDir, secretKey: "" }));
    expect((await pool.query("select from setup_link")).rowCount).toBe(0);
    await pool.end();
    for (const secret of [app!.accessToken, app!.appKey, app!.aesKey]) expect(attempt.stdout).not.toContain(secret);
    expect(attempt.stdout).toContain(`\`DATA_DIR=${dataDir} npm run -s cli -- admin link\` prints the way in`);
    expect(attempt.stdout).toMatch(/Other machines reach it at http:\/\/[\d.]+:\d+/);
  } finally {
    await attempt.end("SIGTERM");
    await cleanUp(dataDir);
  }
});

test("a server whose output cannot be written, as on a full disk, starts and stops all the same", async () => {
  const dataDir = prepareDataDir();
  // Opened for reading only, so that every write fails.
  const args = ["-c", 'exec sh "$@" 1</dev/null', "sh", ...START];
  const attempt = new Attempt("sh", args, { env: environment({ DATA_DIR: dataDir, LOG_LEVEL: "info" }) });
  try {
    await expect.poll(() => holderOf(dataDir)?.address).toBeDefined();
    const pool = new Touchpoint({ url: holderOf(dataDir)!.address!, dataDir }).database();
    await expect.poll(async () => (await pool.query("select from app")).rowCount).toBe(1);
    await pool.end();
  } finally {
    const code = await attempt.end("SIGTERM");
    await cleanUp(dataDir);
    expect({ code, said: attempt.stderr }).toEqual({ code: 0, said: "" });
  }
});

test("DEMO_APP=off creates no app, and a server that only this machine reaches says that it is open to nobody", async () => {
  const dataDir = prepareDataDir();
  const attempt = attemptStart({ DATA_DIR: dataDir, DEMO_APP: "off", PRINT_SECRETS: "always" });
  try {
    const [, url] = (await attempt.prints(/ready at (http:\/\/\S+)[\s\S]+\/console\/setup#/))!;
    const pool = new Touchpoint({ url: url!, dataDir }).database();
    expect((await pool.query("select from app")).rowCount).toBe(0);
    const noted = await pool.query("select actor, action, details from audit_log");
    await pool.end();
    expect(noted.rows).toEqual([{ actor: "first start", action: "console-users/link", details: {} }]);
    expect(attempt.stdout).not.toMatch(/demo app|Other machines/i);
  } finally {
    await attempt.end("SIGTERM");
    await cleanUp(dataDir);
  }
});

test("a server stopped during its start, or as soon as it is ready, stops cleanly", async () => {
  const dataDir = makeDataDir();
  const moments = {
    "as soon as it is ready for the first time": (attempt: Attempt) => attempt.prints(/ready at/),
    "when its database is there": () => databaseOf(dataDir),
  };
  try {
    for (const [moment, reached] of Object.entries(moments)) {
      const attempt = attemptStart({ DATA_DIR: dataDir });
      expect(await reached(attempt), moment).toBeDefined();
      const code = await attempt.end("SIGTERM");
      const left = { postmaster: postmasterOf(dataDir), lock: existsSync(join(dataDir, "lock.json")) };
      expect({ moment, code, ...left }, attempt.stderr).toEqual({
        moment,
        code: 0,
        postmaster: undefined,
        lock: false,
      });
    }
  } finally {
    await cleanUp(dataDir);
  }
});

test("a database of another PostgreSQL major version is refused in one sentence, and never started", async () => {
  const dataDir = prepareDataDir();
  try {
    const cluster = join(clusterOf(dataDir), "cluster");
    writeFileSync(join(cluster, "PG_VERSION"), "17\n");
    rmSync(join(dataDir, "postgres.log"), { force: true });
    const attempt = attemptStart({ DATA_DIR: dataDir });
    expect(await attempt.ended()).toBe(1);
    expect(attempt.stderr).toMatch(/^The database in \S+ was made by PostgreSQL 17, and .* runs PostgreSQL 18, which/);
    expect(attempt.stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(existsSync(join(dataDir, "postgres.log"))).toBe(false);
  } finally {
    await cleanUp(dataDir);
  }
});

async function databaseOf(dataDir: string): Promise<number | undefined> {
  for (const until = Date.now() + PATIENCE_MS; Date.now() < until; await sleep(2)) {
    const postmaster = postmasterOf(dataDir);
    if (postmaster !== undefined) return postmaster;
  }
  return undefined;
}

/** Runs a printed command in the shell; without curl, sends what it would send. */
async function perform(command: string) {
  const hasCurl = await run("curl", ["--version"]).then(
    () => true,
    () => false,
  );
  if (hasCurl) {
    const attempt = new Attempt("sh", ["-c", command], { env: environment({}) });
    expect(await attempt.ended()).toBe(0);
    return JSON.parse(attempt.stdout);
  }
  const [, url, , body] = /^curl '([^']+)'( -d '(.+)')?$/.exec(command)!;
  const filled = body?.replace("'$(date +%s000)'", String(Date.now()));
  const response = await fetch(url!, filled === undefined ? {} : { method: "POST", body: filled });
  return (await response.json()) as any;
}
