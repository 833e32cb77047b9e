import type pg from "pg";
import { startEmbeddedPostgres } from "../src/db/engine/embedded.ts";
import { embeddedConnection } from "../src/db/engine/embedded-role.ts";
import { openPool } from "../src/db/engine/pool.ts";
import { createLog } from "../src/log.ts";

/** Opens the server's own database while the server is not running. */
export async function withDatabase<T>(dataDir: string, work: (pool: pg.Pool) => Promise<T>): Promise<T> {
  const log = createLog("error");
  const embedded = await startEmbeddedPostgres({ dataDir, log });
  const pool = openPool(embeddedConnection(dataDir)!, { log, connectionsMax: 4, name: "bench" });
  try {
    return await work(pool);
  } finally {
    await pool.end();
    await embedded.stop();
  }
}
