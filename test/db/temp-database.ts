import { randomBytes } from "node:crypto";
import type pg from "pg";
import { systemClock } from "../../src/clock.ts";
import { type App, createApp } from "../../src/db/app.ts";
import { migrate } from "../../src/db/migrate.ts";
import { createLog } from "../../src/log.ts";
import { openVault } from "../../src/vault.ts";
import { sharedServer } from "../support/shared-server.ts";

export type TempDatabase = { name: string; pool: pg.Pool; drop(): Promise<void> };

export const log = createLog("silent");
export const vault = openVault({ dataDir: "", secretKey: "c3".repeat(32) });

/** A database of one's own on the shared server's cluster, empty. */
export async function createDatabase(): Promise<TempDatabase> {
  const server = sharedServer();
  const name = `test_${randomBytes(8).toString("hex")}`;
  await onCluster(`create database ${name}`);
  const pool = server.database(name);
  return {
    name,
    pool,
    async drop() {
      await pool.end();
      await onCluster(`drop database ${name} with (force)`);
    },
  };

  async function onCluster(statement: string): Promise<void> {
    const admin = server.database();
    try {
      await admin.query(statement);
    } finally {
      await admin.end();
    }
  }
}

export async function migratedDatabase(): Promise<TempDatabase> {
  const database = await createDatabase();
  await migrate(database.pool, { log, clock: systemClock });
  return database;
}

export function makeApp(pool: pg.Pool, timeZone = "Asia/Shanghai"): Promise<App> {
  return createApp(pool, vault, { name: "Test", timeZone, metadataMode: "open", createdAtMs: 0 });
}

/** The rows of a table as objects in an order of their own, so that two databases can be compared. */
export async function rowsOf(pool: pg.Pool, table: string, without: readonly string[] = []): Promise<object[]> {
  const { rows } = await pool.query<{ row: object }>(
    `select to_jsonb(t) - $1::text[] as row from ${table} t order by (to_jsonb(t) - $1::text[])::text collate "C"`,
    [without],
  );
  return rows.map(({ row }) => row);
}
