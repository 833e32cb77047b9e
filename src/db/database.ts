import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { type Clock, elapsedMs } from "../clock.ts";
import { messageOf, UsageError } from "../errors.ts";
import type { Log } from "../log.ts";
import { startEmbeddedPostgres } from "./embedded.ts";
import { migrate } from "./migrate.ts";
import { type Connection, openPool } from "./pool.ts";

const EXTERNAL_MS_MAX = 30_000;
const REPORT_CONNECTIONS = 4;
const REPORT_MS_MAX = 60_000;

/** A migrated database, embedded or external, and a pool to it. */
export type Database = {
  connection: Connection;
  pool: pg.Pool;
  /** For reports: it can change nothing, and keeps nobody else waiting. */
  reportPool: pg.Pool;
  stop(): Promise<void>;
};

export async function openDatabase(
  config: { dataDir: string; databaseUrl: string; databaseConnectionsMax: number },
  options: { log: Log; clock: Clock },
): Promise<Database> {
  const { log } = options;
  const embedded =
    config.databaseUrl === "" ? await startEmbeddedPostgres({ dataDir: config.dataDir, log }) : undefined;
  const connection: Connection = embedded?.connection ?? { kind: "url", url: config.databaseUrl };
  const pool = openPool(connection, { log, connectionsMax: config.databaseConnectionsMax, name: "http" });
  const reportPool = openPool(connection, {
    ...{ log, connectionsMax: REPORT_CONNECTIONS, name: "report" },
    readOnly: { timeoutMs: REPORT_MS_MAX },
  });
  const stop = async () => {
    await reportPool.end();
    await pool.end();
    await embedded?.stop();
  };
  try {
    if (!embedded) await untilThere(pool, log);
    await migrate(pool, options);
  } catch (error) {
    await stop();
    throw error;
  }
  return { connection, pool, reportPool, stop };
}

/** Containers start in any order: an external database gets a while to come up. */
async function untilThere(pool: pg.Pool, log: Log): Promise<void> {
  const startedMs = elapsedMs();
  for (;;) {
    try {
      await pool.query("select 1");
      return;
    } catch (error) {
      if (elapsedMs() - startedMs > EXTERNAL_MS_MAX)
        throw new UsageError(`The database at DATABASE_URL does not answer: ${messageOf(error)}`);
      log.warn({ reason: messageOf(error) }, "The database does not answer yet.");
      await sleep(1_000);
    }
  }
}
