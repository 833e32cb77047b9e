import { setTimeout as sleep } from "node:timers/promises";
import { elapsedMs } from "../clock.ts";
import type { Config } from "../config.ts";
import { holderOf, lockDataDir } from "../data-lock.ts";
import { directConnection } from "../db/engine/database.ts";
import { startEmbeddedPostgres } from "../db/engine/embedded.ts";
import { embeddedConnection } from "../db/engine/embedded-role.ts";
import { canAnswer, openPool } from "../db/engine/pool.ts";
import type { Connection } from "../db/server/server.ts";
import { UsageError } from "../errors.ts";
import type { Log } from "../log.ts";

const WAIT_MS_MAX = 60_000;

/**
 * The connection to the database to back up: an external one, that of a running server, or an embedded one that is
 * started for as long as this takes. Nothing is migrated, so that a newer program can back up what an older one left.
 */
export async function withSource<T>(
  config: Config,
  log: Log,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  if (config.databaseUrl !== "") return work(await directConnection(config));
  const { dataDir } = config;
  if (!embeddedConnection(dataDir)) throw new UsageError(`There is no installation in ${dataDir} yet: set DATA_DIR.`);
  if (holderOf(dataDir)) return work(await runningConnection(dataDir, log));
  const folder = await lockDataDir(dataDir, { log });
  try {
    const embedded = await startEmbeddedPostgres({ dataDir, log });
    try {
      return await work(embedded.connection);
    } finally {
      await embedded.stop();
    }
  } finally {
    folder.release();
  }
}

/** A server that is just starting has its database soon. */
async function runningConnection(dataDir: string, log: Log): Promise<Connection> {
  const startedMs = elapsedMs();
  for (;;) {
    const connection = embeddedConnection(dataDir)!;
    const pool = openPool(connection, { log, connectionsMax: 1, name: "backup" });
    const isThere = await canAnswer(pool);
    await pool.end();
    if (isThere) return connection;
    if (elapsedMs() - startedMs > WAIT_MS_MAX)
      throw new UsageError(
        `Process ${holderOf(dataDir)?.pid ?? "?"} holds DATA_DIR, but its database does not answer.`,
      );
    await sleep(200);
  }
}
