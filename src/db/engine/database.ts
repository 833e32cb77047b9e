import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { type Clock, elapsedMs } from "../../clock.ts";
import { messageOf, UsageError } from "../../errors.ts";
import type { Log } from "../../log.ts";
import { within } from "../../within.ts";
import { type Connection, Server } from "../server/server.ts";
import { assertKeepsSessions, assertSameDatabase, findSessions } from "../server/sessions.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "./embedded.ts";
import { embeddedConnection } from "./embedded-role.ts";
import { type MigrateOptions, migrate } from "./migrate.ts";
import { openPool } from "./pool.ts";
import { type Executor, query, sql } from "./sql.ts";

const EXTERNAL_MS_MAX = 30_000;
const CONNECT_MS_MAX = 5_000;
const POOLS_MS_MAX = 400;
/** How long a command waits for the checkpoint of its embedded database. */
const STOP_MS_MAX = 60_000;
/** The time that ending an embedded database without a checkpoint takes. */
const END_MS = 300;
const REPORT_CONNECTIONS = 4;
/** One listens for notifications, one migrates. */
const SESSION_CONNECTIONS = 2;
const REPORT_MS_MAX = 60_000;

/** A database, embedded or external, and pools to it. */
export type Database = {
  kind: "embedded" | "external";
  /** For requests. Behind a pooler in transaction mode, sessions last for one transaction. */
  server: Server;
  /** For what needs a session of its own: apply and its lock, migrations, notifications, pulls, commands. */
  direct: Server;
  pool: pg.Pool;
  /** A few connections of `direct`. The same as `pool` unless a pooler is between. */
  sessionPool: pg.Pool;
  reportPools: ReportPools;
  /** Starts the embedded database, or asks the external one what its sessions are. Can be repeated. */
  reach(): Promise<void>;
  /** Brings the tables up to this version and lets everybody in. Can be repeated after a failure. */
  open(options: OpenOptions): Promise<void>;
  /** An embedded database that takes longer than `stopMs` is ended without a checkpoint. */
  stop(stopMs?: number): Promise<void>;
};

/**
 * Read-only pools for reports, which must not slow down collection. Under light intake a report may use all cores;
 * under heavy intake it uses one, at low priority. Measured on two cores with reports pulled without a pause:
 * collection keeps 0.94 of its speed; with one pool for both it kept 0.62.
 */
export type ReportPools = { quiet: pg.Pool; busy: pg.Pool };

export type DatabaseConfig = {
  dataDir: string;
  databaseUrl: string;
  databaseDirectUrl: string;
  databaseConnectionsMax: number;
};

export type OpenOptions = {
  log: Log;
  clock: Clock;
  /** See `MigrateOptions`. */
  filled?: MigrateOptions["filled"];
  /** Called before anything in the database is changed; may throw to refuse it. */
  beforeMigrate?: (connection: Connection) => Promise<void> | undefined;
  /** Called before anybody else is let in; may throw to keep it so. */
  afterMigrate?: (pool: pg.Pool) => Promise<void>;
};

/** Opens a database, waiting for an external one to come up, because containers start in any order. */
export async function openDatabase(config: DatabaseConfig, options: OpenOptions): Promise<Database> {
  const database = prepareDatabase(config, options);
  try {
    await untilReached(database, options.log);
    await database.open(options);
  } catch (error) {
    await database.stop();
    throw error;
  }
  return database;
}

/** A database that nobody has asked anything yet. Its pools refuse everybody until it is open. */
export function prepareDatabase(config: DatabaseConfig, { log }: { log: Log }): Database {
  const isEmbedded = config.databaseUrl === "";
  const { server, direct } = isEmbedded ? ofEmbedded(config) : ofUrls(config);
  for (const one of [server, direct]) one.forbid(NOT_OPEN);
  const pool = openPool(server, { log, connectionsMax: config.databaseConnectionsMax, name: "http" });
  const sessionPool =
    server === direct ? pool : openPool(direct, { log, connectionsMax: SESSION_CONNECTIONS, name: "session" });
  const ofReports = { log, givesWay: isEmbedded };
  const reportPools: ReportPools = {
    quiet: openReportPool(server, { ...ofReports, cores: "all" }),
    busy: openReportPool(server, { ...ofReports, cores: "one" }),
  };
  let embedded: Promise<EmbeddedPostgres> | undefined;
  const reach = async () => {
    if (!isEmbedded) return learnSessions(config, direct);
    embedded ??= startEmbeddedPostgres({ dataDir: config.dataDir, log });
    try {
      direct.moveTo((await embedded).connection);
    } catch (error) {
      embedded = undefined;
      throw error;
    }
  };
  const open = async (options: OpenOptions) => {
    await migrateWith({ server, direct }, options);
    for (const one of [server, direct]) one.allow();
  };
  const stop = async (stopMs = STOP_MS_MAX) => {
    const startedMs = elapsedMs();
    const pools = [...new Set([reportPools.quiet, reportPools.busy, pool, sessionPool])];
    // A connection that waits for a silent server never ends by itself.
    await within(POOLS_MS_MAX, Promise.all(pools.map((one) => one.end()))).catch(() => {});
    const leftMs = stopMs - (elapsedMs() - startedMs) - END_MS;
    await (await embedded?.catch(() => undefined))?.stop(Math.max(0, leftMs));
  };
  const kind = isEmbedded ? "embedded" : "external";
  return { kind, server, direct, pool, sessionPool, reportPools, reach, open, stop };
}

/** A pool for reports, which only read and end in time. */
export function openReportPool(
  server: Server,
  { log, givesWay, cores }: { log: Log; givesWay: boolean; cores: "all" | "one" },
): pg.Pool {
  const readOnly = { timeoutMs: REPORT_MS_MAX, cores };
  return openPool(server, { log, connectionsMax: REPORT_CONNECTIONS, name: "report", givesWay, readOnly });
}

const NOT_OPEN = "The database has not been opened yet.";

/** Works on connections of its own, because nobody else is let in before the tables are as this version needs them. */
async function migrateWith(servers: Servers, options: OpenOptions): Promise<void> {
  const { log } = options;
  const direct = openPool(new Server(servers.direct.connection), { log, connectionsMax: 2, name: "session" });
  const lent = openPool(new Server(servers.server.connection), { log, connectionsMax: 1, name: "http" });
  try {
    if (servers.server !== servers.direct) await assertSameDatabase(direct, lent);
    await options.beforeMigrate?.(servers.direct.connection);
    await migrate(direct, options);
    await options.afterMigrate?.(direct);
  } finally {
    await Promise.all([direct.end(), lent.end()]);
  }
}

type Servers = Pick<Database, "server" | "direct">;

/** The connection of an earlier start, which is the same unless the folder has moved. */
function ofEmbedded({ dataDir }: DatabaseConfig): Servers {
  const nowhere = { kind: "local", host: "", port: 0, user: "", password: "", database: "" } as const;
  const server = new Server(embeddedConnection(dataDir) ?? nowhere);
  return { server, direct: server };
}

/** With a second address the first one leads to a pooler, which may lend its sessions. */
function ofUrls({ databaseUrl, databaseDirectUrl }: DatabaseConfig): Servers {
  const direct = new Server({ kind: "url", url: databaseDirectUrl || databaseUrl, sessions: "own" });
  const server = databaseDirectUrl === "" ? direct : new Server({ kind: "url", url: databaseUrl, sessions: "lent" });
  return { server, direct };
}

/** The connection for commands, which take locks and apply. Asks the server what its sessions are. */
export async function directConnection(config: DatabaseConfig): Promise<Connection> {
  const { direct } = ofUrls(config);
  await learnSessions(config, direct);
  return direct.connection;
}

async function learnSessions({ databaseDirectUrl, databaseUrl }: DatabaseConfig, direct: Server): Promise<void> {
  direct.sessions = await findSessions(databaseDirectUrl || databaseUrl, CONNECT_MS_MAX);
  assertKeepsSessions(direct.sessions, databaseDirectUrl === "" ? "DATABASE_URL" : "DATABASE_DIRECT_URL");
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
const OWN_POOLS = ["http", "session", "apply", "apply lock", "postback", "cost", "report", "cli", "backup"] as const;

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

export async function untilReached(database: Database, log: Log): Promise<void> {
  const startedMs = elapsedMs();
  for (;;) {
    try {
      return await database.reach();
    } catch (error) {
      if (error instanceof UsageError || database.kind === "embedded") throw error;
      if (elapsedMs() - startedMs > EXTERNAL_MS_MAX)
        throw new UsageError(`The database at DATABASE_URL does not answer: ${messageOf(error)}`);
      log.warn({ reason: messageOf(error) }, "The database does not answer yet.");
      await sleep(1_000);
    }
  }
}
