import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { elapsedMs, systemClock } from "../clock.ts";
import { type Config, configFromEnvironment } from "../config.ts";
import { type Holder, holderOf, lockDataDir } from "../data-lock.ts";
import { type App, loadApps } from "../db/app.ts";
import type { OpenOptions } from "../db/engine/database.ts";
import { embeddedConnection } from "../db/engine/embedded-role.ts";
import { isTableMissing } from "../db/engine/failure.ts";
import { canAnswer, openPool } from "../db/engine/pool.ts";
import type { ApplyHold } from "../db/lock/apply-lock.ts";
import { UsageError } from "../errors.ts";
import { type Keys, openKeys, type Start } from "../installation.ts";
import type { Log } from "../log.ts";

export type DatabaseSession = { config: Config; pool: pg.Pool } & Keys;

const START_MS_MAX = 60_000;

/** The log of a pool, which only warns, at the level of commands: errors. */
const WITHOUT_WARNINGS = { warn: () => {} };

/** Loaded only where it is needed, as are the parts that start a database: most commands find a running server. */
async function errorLog(): Promise<Log> {
  return (await import("../log.ts")).createLog("error");
}

/**
 * Works on the database of a running server, or starts the database for as long as the command takes. Only commands
 * that may come first (`start` is "first") create an installation where there is none.
 */
export async function withDatabase<T>(
  work: (session: DatabaseSession) => Promise<T>,
  start: Start = "existing",
): Promise<T> {
  const config = configFromEnvironment();
  const holder = holderOf(config.dataDir);
  if (holder) {
    const pool = await poolOfHolder(config, holder);
    try {
      const keys = await openKeys(pool, config, start).catch((error: unknown) => {
        if (!isTableMissing(error)) throw error;
        throw new UsageError("The server is still creating its database; try again in a moment.");
      });
      return await work({ config, pool, ...keys });
    } finally {
      await pool.end();
    }
  }
  return withOwnDatabase(config, work, { start });
}

/** Locks DATA_DIR meanwhile; with `lock`, also against other processes that apply into the database. */
export async function withOwnDatabase<T>(
  config: Config,
  work: (session: DatabaseSession) => Promise<T>,
  { start = "existing", lock }: { start?: Start; lock?: ApplyHold } = {},
): Promise<T> {
  const isEmbedded = config.databaseUrl === "";
  if (isEmbedded && start === "existing") assertBegun(config);
  if (isEmbedded) mkdirSync(config.dataDir, { recursive: true, mode: 0o711 });
  // With an external database there may be no folder, and then nothing to lock.
  const folder = existsSync(config.dataDir) ? await lockDataDir(config.dataDir) : undefined;
  try {
    const { openDatabase } = await import("../db/engine/database.ts");
    const log = await errorLog();
    const beforeMigrate: OpenOptions["beforeMigrate"] = (connection) => lock?.take(connection);
    const { keepViews } = await import("../report/view/views.ts");
    const afterMigrate: OpenOptions["afterMigrate"] = (pool) => keepViews(pool, log);
    const database = await openDatabase(config, { log, clock: systemClock, beforeMigrate, afterMigrate });
    try {
      const keys = await openKeys(database.pool, config, start);
      return await work({ config, pool: database.pool, ...keys });
    } finally {
      await database.stop();
    }
  } finally {
    await lock?.release();
    folder?.release();
  }
}

/** Refuses a folder that holds no installation yet. */
export function assertBegun({ dataDir, databaseUrl }: Config): void {
  if (databaseUrl === "" ? embeddedConnection(dataDir) : existsSync(dataDir)) return;
  throw new UsageError(
    `There is no installation in ${dataDir} yet: set DATA_DIR, start the server, or create the first app with \`app create\`.`,
  );
}

async function poolOfHolder(config: Config, holder: Holder): Promise<pg.Pool> {
  const startedMs = elapsedMs();
  for (;;) {
    const connection =
      config.databaseUrl === ""
        ? embeddedConnection(config.dataDir)
        : await (await import("../db/engine/database.ts")).directConnection(config).catch(unlessRefused);
    if (connection) {
      const pool = openPool(connection, { log: WITHOUT_WARNINGS, connectionsMax: 4, name: "cli" });
      if (await canAnswer(pool)) return pool;
      await pool.end();
    }
    if (elapsedMs() - startedMs > START_MS_MAX)
      throw new UsageError(`Process ${holder.pid} holds DATA_DIR, but its database does not answer.`);
    await sleep(200);
  }
}

/** Undefined while the database is away; a mistake in the settings is thrown. */
function unlessRefused(error: unknown): undefined {
  if (error instanceof UsageError) throw error;
}

/** Works with a running server over HTTP, or starts one on a free loopback port for as long as the command takes. */
export async function withServer<T>(url: string | undefined, work: (address: string) => Promise<T>): Promise<T> {
  if (url) return work(url.replace(/\/$/, ""));
  const config = configFromEnvironment();
  const holder = holderOf(config.dataDir);
  if (holder) return work(await addressOfHolder(config, holder));
  assertBegun(config);
  return withOwnServer(config, work);
}

/** Works with a server on a temporary folder, for answers that are the same on every server. */
export async function withThrowawayServer<T>(work: (address: string) => Promise<T>): Promise<T> {
  const dataDir = mkdtempSync(join(tmpdir(), "touchpoint-"));
  chmodSync(dataDir, 0o711);
  try {
    const own = { dataDir, databaseUrl: "", databaseDirectUrl: "", jetstream: undefined, backupDir: "" };
    return await withOwnServer({ ...configFromEnvironment(), ...own }, work);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Starts a server on a free loopback port for as long as the command takes. */
export async function withOwnServer<T>(config: Config, work: (address: string) => Promise<T>): Promise<T> {
  // Loaded only here: most commands need no server, and it takes longest to load.
  const { serve } = await import("../serve.ts");
  const log = await errorLog();
  const running = await serve({ ...config, port: 0, host: "127.0.0.1", logLevel: "error" }, log);
  try {
    return await work(running.address);
  } finally {
    await running.stop();
  }
}

async function addressOfHolder(config: Config, first: Holder): Promise<string> {
  const startedMs = elapsedMs();
  for (let holder: Holder | undefined = first; holder; holder = holderOf(config.dataDir)) {
    if (holder.address) return holder.address;
    if (elapsedMs() - startedMs > START_MS_MAX) break;
    await sleep(200);
  }
  throw new UsageError(`Process ${first.pid} holds DATA_DIR, but no server answers there.`);
}

export async function findApp(session: DatabaseSession, appId: number): Promise<App> {
  const [app] = await loadApps(session.pool, session.vault, { ids: [appId] });
  if (!app) throw new UsageError(`There is no app ${appId}; \`app list\` shows all apps.`);
  return app;
}
