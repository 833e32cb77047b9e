import { randomBytes } from "node:crypto";
import type pg from "pg";
import { type App, insertApp } from "../../src/db/app.ts";
import type { Executor } from "../../src/db/engine/sql.ts";
import { createLog } from "../../src/log.ts";
import { openVault } from "../../src/vault.ts";
import {
  CITUS_URL,
  createDistributed,
  distributedPool,
  dropDistributed,
  migrateDistributed,
} from "../support/citus.ts";
import { MIGRATED, sharedServer, TEST_KEY } from "../support/shared-server.ts";

/**
 * A dropped database has no connections any more, but stays until its cluster goes: to remove a single database, PostgreSQL
 * first writes all dirty pages of every database to disk.
 */
export type TempDatabase = {
  name: string;
  pool: pg.Pool;
  /** Connections of the caller's own. */
  open(): pg.Pool;
  drop(): Promise<void>;
};

export const log = createLog("silent");
export const vault = openVault(TEST_KEY);

/** An empty database on the shared server's cluster. */
export function createDatabase(): Promise<TempDatabase> {
  return copyOf("template1");
}

/** A database with all its tables, as after a first start. */
export function migratedDatabase(): Promise<TempDatabase> {
  return copyOf(MIGRATED);
}

async function copyOf(template: string): Promise<TempDatabase> {
  const server = sharedServer();
  const name = `test_${randomBytes(8).toString("hex")}`;
  if (CITUS_URL !== "") return distributed(name, template);
  const cluster = server.database();
  try {
    await cluster.query(`create database ${name} template ${template}`);
  } finally {
    await cluster.end();
  }
  const open = () => server.database(name);
  const pool = open();
  return { name, pool, open, drop: () => pool.end() };
}

/** A database of several machines cannot be copied. */
async function distributed(name: string, template: string): Promise<TempDatabase> {
  await createDistributed(name);
  if (template === MIGRATED) await migrateDistributed(name, TEST_KEY);
  const open = () => distributedPool(name);
  const pool = open();
  const drop = async () => {
    await pool.end();
    await dropDistributed(name);
  };
  return { name, pool, open, drop };
}

/** Connections to another database of the server that the tests' databases are on. */
export function besideThem(): pg.Pool {
  return CITUS_URL === "" ? sharedServer().database() : distributedPool("postgres");
}

export function makeApp(executor: Executor, timeZone = "Asia/Shanghai"): Promise<App> {
  return insertApp(executor, vault, { name: "Test", timeZone, metadataMode: "open", createdAtMs: 0 });
}

const WAITING =
  "select count(*)::int as count from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";

/** How many statements of the database wait for another transaction, on whichever machine. */
export async function countWaiting(pool: pg.Pool): Promise<number> {
  const anywhere = "select sum(result::int)::int as count from run_command_on_all_nodes($1)";
  const { rows } = CITUS_URL === "" ? await pool.query(WAITING) : await pool.query(anywhere, [WAITING]);
  return rows[0].count;
}

/** What a table takes with its indexes, on whichever machine. */
export async function bytesOf(pool: pg.Pool, table: string): Promise<number> {
  const size = CITUS_URL === "" ? "pg_total_relation_size" : "citus_total_relation_size";
  const { rows } = await pool.query(`select ${size}($1::regclass) as bytes`, [table]);
  return rows[0].bytes;
}

/** The rows of a table as objects in a fixed order, so that two databases can be compared. */
export async function rowsOf(pool: pg.Pool, table: string, without: readonly string[] = []): Promise<object[]> {
  const { rows } = await pool.query<{ row: object }>(
    `select to_jsonb(t) - $1::text[] as row from ${table} t order by (to_jsonb(t) - $1::text[])::text collate "C"`,
    [without],
  );
  return rows.map(({ row }) => row);
}
