import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { inTransaction, openPool, type PoolOptions } from "../../../src/db/engine/pool.ts";
import { execute, query, sql } from "../../../src/db/engine/sql.ts";
import { type Connection, Server } from "../../../src/db/server/server.ts";
import { findSessions } from "../../../src/db/server/sessions.ts";
import { createExternalApp } from "../../crash/external-app.ts";
import { attemptStart, makeDataDir } from "../../process/launch.ts";
import { LendingPooler, SESSIONS } from "../../support/lending-pooler.ts";
import { eventually, PATIENCE_MS } from "../../support/patience.ts";
import { connectionTo, databaseUrl } from "../../support/shared-server.ts";
import { cleanUp, TouchpointProcess } from "../../support/touchpoint.ts";
import { createDatabase, log, migratedDatabase, type TempDatabase } from "../temp-database.ts";

let database: TempDatabase;
let pooler: LendingPooler;
let direct: Connection;
let lentUrl: string;
beforeAll(async () => {
  database = await migratedDatabase();
  // As a PostgreSQL with the usual settings has it.
  await database.pool.query(`alter database ${database.name} set jit = on`);
  direct = connectionTo(database.name);
  pooler = await LendingPooler.start(await new Server(direct).target(PATIENCE_MS));
  lentUrl = `postgres://nobody@127.0.0.1:${pooler.port}/${database.name}`;
});
afterAll(async () => {
  await pooler.stop();
  await database.drop();
});

const openLent = (more: Partial<PoolOptions> = {}) =>
  openPool(
    { kind: "url", url: lentUrl, sessions: "lent" },
    { log, connectionsMax: 4, name: "test", waitMs: PATIENCE_MS, ...more },
  );

test("a pooler that lends sessions is told from PostgreSQL itself", async () => {
  expect(await findSessions(lentUrl, PATIENCE_MS)).toBe("lent");
  expect(await findSessions(databaseUrl(database.name), PATIENCE_MS)).toBe("own");
});

describe("a pooler whose sessions are all in use", () => {
  let busy: LendingPooler;
  let busyUrl: string;
  const clients: pg.Client[] = [];
  const start = async (mode: "transaction" | "session") => {
    busy = await LendingPooler.start(await new Server(direct).target(PATIENCE_MS), mode);
    busyUrl = `postgres://nobody@127.0.0.1:${busy.port}/${database.name}`;
  };
  /** Another client of the pooler. */
  const connect = async () => {
    const client = new pg.Client(busyUrl);
    client.on("error", () => {});
    await client.connect();
    clients.push(client);
    return client;
  };
  afterEach(async () => {
    await busy.stop();
    for (const client of clients.splice(0)) await client.end();
  });

  test("lends them if a connection that was idle has to wait as well", async () => {
    await start("transaction");
    for (let held = 0; held < SESSIONS; held += 1) await (await connect()).query("begin");
    const finding = findSessions(busyUrl, PATIENCE_MS);
    await expect.poll(() => busy.lent).toBe(SESSIONS + 1);
    // In line behind the first connection, and gets its session as soon as that has been answered.
    void (await connect()).query("begin").catch(() => {});
    await expect.poll(() => busy.lent).toBe(SESSIONS + 2);
    await clients[0]!.query("commit");
    expect(await finding).toBe("lent");
  });

  test("keeps them if only new connections wait", async () => {
    await start("session");
    for (let held = 1; held < SESSIONS; held += 1) await (await connect()).query("begin");
    expect(await findSessions(busyUrl, PATIENCE_MS)).toBe("kept");
  });
});

const REPORT_MS = 61_000;
const SHOWN = sql`select current_setting('jit') as jit, current_setting('transaction_read_only') as reads,
  current_setting('statement_timeout') as limit, current_setting('max_parallel_workers_per_gather') as cores,
  current_setting('search_path') as path, current_setting('enable_seqscan') as scans`;

test("every session of ours has our parameters, single statements and transactions alike, and leaves none behind", async () => {
  const { rows } = await inRawSession("show jit");
  expect(rows, "the database itself has it on").toEqual([{ jit: "on" }]);
  const reads = { timeoutMs: REPORT_MS, cores: "one" } as const;
  const path = `${lentUrl}?options=${encodeURIComponent("-c search_path=public,pg_catalog")}`;
  const own = openPool(direct, { log, connectionsMax: 1, name: "test", readOnly: reads });
  const lent = openPool(
    { kind: "url", url: path, sessions: "lent" },
    { log, connectionsMax: 2, name: "test", readOnly: reads },
  );
  for (const pool of [own, lent]) {
    const expected = { jit: "off", reads: "on", limit: "61s", cores: "0", scans: "on" };
    expect(await query(pool, SHOWN)).toMatchObject([expected]);
    expect(await inTransaction(pool, (tx) => query(tx, SHOWN), "snapshot")).toMatchObject([expected]);
    await expect(execute(pool, sql`delete from app`)).rejects.toMatchObject({ code: "25006" });
    await expect(inTransaction(pool, (tx) => execute(tx, sql`delete from app`))).rejects.toMatchObject({
      code: "25006",
    });
  }
  expect(await query(lent, SHOWN)).toMatchObject([{ path: "public,pg_catalog" }]);
  await Promise.all([own.end(), lent.end()]);
  const writing = openLent({ prefersIndexes: true });
  expect(await query(writing, SHOWN)).toMatchObject([{ jit: "off", reads: "off", limit: "0", scans: "off" }]);
  await writing.end();
});

test("a pooler in session mode gets our parameters after connecting, because it refuses them before", async () => {
  const keeping = await LendingPooler.start(await new Server(direct).target(PATIENCE_MS), "session");
  const url = `postgres://nobody@127.0.0.1:${keeping.port}/${database.name}`;
  expect(await findSessions(url, PATIENCE_MS)).toBe("kept");
  const options = { log, connectionsMax: 1, name: "test", waitMs: PATIENCE_MS };
  const asOwn = openPool({ kind: "url", url, sessions: "own" }, options);
  await expect(query(asOwn, SHOWN)).rejects.toThrow("unsupported startup parameter: options");
  const kept = openPool(
    { kind: "url", url, sessions: "kept" },
    { ...options, readOnly: { timeoutMs: REPORT_MS, cores: "one" } },
  );
  for (let round = 0; round < 2; round += 1)
    expect(await query(kept, SHOWN)).toMatchObject([{ jit: "off", reads: "on", limit: "61s", cores: "0" }]);
  await Promise.all([asOwn.end(), kept.end()]);
  await keeping.stop();
});

async function inRawSession(text: string): Promise<pg.QueryResult> {
  const client = new pg.Client(await new Server(direct).target(PATIENCE_MS));
  await client.connect();
  try {
    return await client.query(text);
  } finally {
    await client.end();
  }
}

test("named statements and cursors work though every transaction gets another session", async () => {
  const pool = openLent();
  const before = pooler.lent;
  for (let round = 0; round < 8; round += 1) {
    const rows = await inTransaction(pool, async (tx) => {
      await execute(tx, sql`select ${round}::int`, "counted_by_name");
      await execute(tx, sql`declare counted no scroll cursor for select generate_series(1, 5)`);
      return query(tx, sql`fetch 3 from counted`);
    });
    expect(rows).toHaveLength(3);
  }
  expect(pooler.lent - before).toBe(8);
  await pool.end();
});

test("a failed transaction leaves nothing behind in the session of the next", async () => {
  const pool = openLent({ connectionsMax: 1 });
  await expect(execute(pool, sql`select 1 / 0`)).rejects.toMatchObject({ code: "22012" });
  await expect(inTransaction(pool, (tx) => execute(tx, sql`select 1 / 0`))).rejects.toMatchObject({ code: "22012" });
  for (let round = 0; round < 8; round += 1) expect(await execute(pool, sql`select 1`)).toBe(1);
  await pool.end();
});

test("a whole server works behind a pooler in transaction mode once it has an address for its sessions", async () => {
  const dataDir = makeDataDir();
  const SECRET_KEY = "c3".repeat(32);
  const refused = attemptStart({ DATA_DIR: dataDir, SECRET_KEY, DATABASE_URL: lentUrl });
  expect(await refused.ended()).toBe(1);
  expect(refused.stderr).toMatch(
    /^DATABASE_URL leads to a pooler in transaction mode, but .*: set DATABASE_DIRECT_URL/,
  );
  const env = { SECRET_KEY, DATABASE_URL: lentUrl, DATABASE_DIRECT_URL: databaseUrl(database.name), DEMO_APP: "off" };
  const server = await TouchpointProcess.start({ dataDir, env });
  try {
    const app = await createExternalApp(database, dataDir, SECRET_KEY);
    expect((await server.register(app, "c")).code).toBe(0);
    const event = {
      type: "track",
      event: "$PayEvent",
      time: Date.now(),
      properties: { $pay_amount: 600, $order_id: "o" },
    };
    expect((await server.collect(app, "c", [event])).code).toBe(0);
    await server.settle();
    await eventually(async () => {
      const { rows } = await database.pool.query(
        "select sum(pay_cents)::int as cents from cube where cohort = 'occurred'",
      );
      expect(rows).toEqual([{ cents: 600 }]);
    });
    expect((await server.get("/readyz")).data).toEqual({ status: "ready", database: "there" });
    expect(await server.stop()).toBe(0);
    expect(server.output).not.toMatch(/prepared statement|start-?up parameter|read-only transaction/);
  } finally {
    await server.kill();
    await cleanUp(dataDir);
  }
});

test("two addresses of different databases are refused", async () => {
  const other = await createDatabase();
  const dataDir = makeDataDir();
  const refused = attemptStart({
    DATA_DIR: dataDir,
    SECRET_KEY: "c3".repeat(32),
    DATABASE_URL: lentUrl,
    DATABASE_DIRECT_URL: databaseUrl(other.name),
  });
  expect(await refused.ended()).toBe(1);
  expect(refused.stderr).toMatch("DATABASE_URL and DATABASE_DIRECT_URL lead to different databases.");
  await other.drop();
  await cleanUp(dataDir);
});
