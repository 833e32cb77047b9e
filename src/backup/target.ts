import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import type pg from "pg";
import { type DatabaseConfig, directConnection } from "../db/engine/database.ts";
import { startEmbeddedPostgres } from "../db/engine/embedded.ts";
import { RunningElsewhere } from "../db/engine/embedded-leftover.ts";
import { canAnswer, openPool } from "../db/engine/pool.ts";
import { UsageError } from "../errors.ts";
import type { Log } from "../log.ts";

/** A table may take long to load, and its transaction waits while the file is read. */
const IDLE_MS_MAX = 3_600_000;

export type Target = {
  pool: pg.Pool;
  stop(): Promise<void>;
  /** Ends an embedded database at once, under whatever still uses it. It is of no use afterwards. */
  abandon(): Promise<void>;
};

/** The database to restore into, as it is: nothing is migrated. An embedded one is created if there is none. */
export async function openTarget(config: DatabaseConfig, log: Log): Promise<Target> {
  const { dataDir, databaseUrl } = config;
  const embedded = databaseUrl === "" ? await startEmbeddedPostgres({ dataDir, log }) : undefined;
  const connection = embedded?.connection ?? (await directConnection(config));
  const pool = openPool(connection, { log, connectionsMax: 2, name: "backup", transactionIdleMs: IDLE_MS_MAX });
  const stop = async () => {
    await pool.end();
    await embedded?.stop();
  };
  const abandon = async () => embedded?.stop(0);
  if (await canAnswer(pool)) return { pool, stop, abandon };
  await stop();
  throw new UsageError("The database at DATABASE_URL does not answer.");
}

export const CLUSTER_FILES: readonly string[] = [
  "postgres",
  "postgres-folder",
  "postgres-connection.json",
  "postgres-superuser.json",
  "postgres.log",
];

/** The folder of the embedded database, which lies outside when the user that runs it cannot reach DATA_DIR. */
export function clusterOf(dataDir: string): string {
  const pointer = join(dataDir, "postgres-folder");
  return existsSync(pointer) ? readFileSync(pointer, "utf8").trim() : join(dataDir, "postgres");
}

/** Ends an embedded database that a killed process has left running. */
export async function endCluster(dataDir: string, log: Log): Promise<void> {
  if (!existsSync(join(clusterOf(dataDir), "cluster/postmaster.pid"))) return;
  await startEmbeddedPostgres({ dataDir, log }).then(
    (cluster) => cluster.stop(),
    (error) => {
      if (error instanceof RunningElsewhere) throw error;
      // It cannot even be started, so it is not running either.
    },
  );
}

/** A folder in DATA_DIR for what a restore puts aside. Nothing is ever deleted. */
export class Aside {
  readonly #dataDir: string;
  readonly #folder: string;

  constructor(dataDir: string, nowMs: number) {
    this.#dataDir = dataDir;
    this.#folder = join(dataDir, `before-restore-${new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, "")}`);
  }

  put(name: string): void {
    const path = join(this.#dataDir, name);
    if (!existsSync(path)) return;
    mkdirSync(this.#folder, { recursive: true, mode: 0o711 });
    renameSync(path, join(this.#folder, name));
  }

  /** Puts the embedded database aside, after ending one that a killed server has left running. */
  async putCluster(log: Log): Promise<void> {
    await endCluster(this.#dataDir, log);
    for (const name of CLUSTER_FILES) this.put(name);
  }
}
