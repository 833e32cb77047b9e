import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import pg from "pg";
import { type App, createApp } from "../../src/db/app.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/db/embedded.ts";
import { createLog } from "../../src/log.ts";
import { openVault } from "../../src/vault.ts";
import { makeDataDir } from "../process/launch.ts";
import { cleanUp } from "../support/touchpoint.ts";

/** A PostgreSQL that is not the server's own: reached by DATABASE_URL, stopped and started by the test. */
export class ExternalDatabase {
  readonly url: string;
  readonly pool: pg.Pool;
  readonly #dir: string;
  #running: EmbeddedPostgres | undefined;

  private constructor(dir: string, running: EmbeddedPostgres) {
    const { connection } = running;
    if (connection.kind !== "local" || connection.host !== "127.0.0.1") throw new Error("The cluster has no port.");
    const { user, password, port, database } = connection;
    this.url = `postgres://${user}:${password}@127.0.0.1:${port}/${database}`;
    this.pool = new pg.Pool({ connectionString: this.url, max: 4 });
    this.pool.on("error", () => {});
    this.#dir = dir;
    this.#running = running;
  }

  static async create(): Promise<ExternalDatabase> {
    // Too long for a Unix socket: the cluster listens on a port, as an external one does.
    const dir = join(makeDataDir(), "x".repeat(100));
    mkdirSync(dir, { mode: 0o711 });
    return new ExternalDatabase(dir, await startEmbeddedPostgres({ dataDir: dir, log: createLog("silent") }));
  }

  async start(): Promise<void> {
    this.#running = await startEmbeddedPostgres({ dataDir: this.#dir, log: createLog("silent") });
  }

  async stop(): Promise<void> {
    await this.#running?.stop();
    this.#running = undefined;
  }

  /** `dataDir` is the server's: its secrets are sealed with the key that lies there. */
  createApp(dataDir: string): Promise<App> {
    return createApp(this.pool, openVault({ dataDir, secretKey: "" }), {
      name: "External",
      timeZone: "Asia/Shanghai",
      metadataMode: "open",
      createdAtMs: Date.now(),
    });
  }

  async remove(): Promise<void> {
    await this.pool.end();
    await this.stop();
    await cleanUp(this.#dir);
    await cleanUp(dirname(this.#dir));
  }
}
