import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { type Clock, elapsedMs } from "../../clock.ts";
import { messageOf, UsageError } from "../../errors.ts";
import type { Log } from "../../log.ts";
import { startEmbeddedPostgres } from "./embedded.ts";
import { migrate } from "./migrate.ts";
import { type Connection, openPool } from "./pool.ts";
import { type Executor, query, sql } from "./sql.ts";

const EXTERNAL_MS_MAX = 30_000;
const REPORT_CONNECTIONS = 4;
const REPORT_MS_MAX = 60_000;

/** A migrated database, embedded or external, and a pool to it. */
export type Database = {
  connection: Connection;
  pool: pg.Pool;
  reportPools: ReportPools;
  stop(): Promise<void>;
};

/**
 * Read-only pools for reports, which must not slow down collection. Under light intake a report may use all cores;
 * under heavy intake it uses one, at low priority. Measured on two cores with reports pulled without a pause:
 * collection keeps 0.94 of its speed; with one pool for both it kept 0.62.
 */
export type ReportPools = { quiet: pg.Pool; busy: pg.Pool };

export type OpenOptions = {
  log: Log;
  clock: Clock;
  /** Called before anything in the database is changed; may throw to refuse it. */
  beforeMigrate?: (connection: Connection) => Promise<void> | undefined;
};

export async function openDatabase(
  config: { dataDir: string; databaseUrl: string; databaseConnectionsMax: number },
  options: OpenOptions,
): Promise<Database> {
  const { log } = options;
  const embedded =
    config.databaseUrl === "" ? await startEmbeddedPostgres({ dataDir: config.dataDir, log }) : undefined;
  const connection: Connection = embedded?.connection ?? { kind: "url", url: config.databaseUrl };
  const pool = openPool(connection, { log, connectionsMax: config.databaseConnectionsMax, name: "http" });
  const reportPool = (cores: "all" | "one") =>
    openPool(connection, {
      log,
      connectionsMax: REPORT_CONNECTIONS,
      name: "report",
      givesWay: embedded !== undefined,
      readOnly: { timeoutMs: REPORT_MS_MAX, cores },
    });
  const reportPools: ReportPools = { quiet: reportPool("all"), busy: reportPool("one") };
  const stop = async () => {
    await reportPools.quiet.end();
    await reportPools.busy.end();
    await pool.end();
    await embedded?.stop();
  };
  try {
    if (!embedded) await untilThere(pool, log);
    await options.beforeMigrate?.(connection);
    await migrate(pool, options);
  } catch (error) {
    await stop();
    throw error;
  }
  return { connection, pool, reportPools, stop };
}

/** The database's version and size. With several nodes, the size is that of the node connected to. */
export async function describeDatabase(executor: Executor): Promise<{ version: string; bytes: number }> {
  const [row] = await query<{ version: string; bytes: number }>(
    executor,
    sql`select current_setting('server_version') as version, pg_database_size(current_database()) as bytes`,
  );
  return row!;
}

/** The names of a server's and the command line's pools; a running process always has one connected. */
const OWN_POOLS = ["http", "apply", "apply lock", "postback", "cost", "report", "cli"] as const;

/** Connections of other processes to the same database, as far as the role may see them. */
export async function countOtherProcesses(
  executor: Executor,
  pools: readonly (typeof OWN_POOLS)[number][] = OWN_POOLS,
): Promise<number> {
  const [row] = await query<{ others: number }>(
    executor,
    sql`select count(*)::int as others from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and application_name = any(${pools.map((name) => `touchpoint ${name}`)})`,
  );
  return row!.others;
}

/** Waits for an external database to come up, because containers start in any order. */
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
