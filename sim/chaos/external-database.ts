import { mkdirSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/db/engine/embedded.ts";
import { superuserConnection } from "../../src/db/engine/embedded-role.ts";
import { createLog } from "../../src/log.ts";
import { type DataFolder, temporaryFolder } from "../market/data-folder.ts";
import { clusterOf } from "./postmaster.ts";
import { allowDatabases } from "./superuser.ts";

/** A PostgreSQL outside the server: reached through DATABASE_URL, stopped and started by its creator. */
export class ExternalDatabase {
  readonly port: number;
  readonly pool: pg.Pool;
  readonly #folder: DataFolder;
  readonly #dir: string;
  readonly #login: string;
  readonly #name: string;
  #running: EmbeddedPostgres | undefined;

  private constructor(at: { folder: DataFolder; dir: string }, running: EmbeddedPostgres) {
    const { connection } = running;
    if (connection.kind !== "local" || connection.host !== "127.0.0.1") throw new Error("The cluster has no port.");
    const { user, password, port, database } = connection;
    this.port = port;
    this.#login = `${user}:${password}`;
    this.#name = database;
    this.#folder = at.folder;
    this.#dir = at.dir;
    this.#running = running;
    this.pool = new pg.Pool({ connectionString: this.url, max: 4 });
    this.pool.on("error", () => {});
  }

  static async create(): Promise<ExternalDatabase> {
    const folder = temporaryFolder();
    // The path is too long for a Unix socket, so the cluster listens on a port, as an external one does.
    const dir = join(folder.dataDir, "x".repeat(100));
    mkdirSync(dir, { recursive: true, mode: 0o711 });
    const running = await startEmbeddedPostgres({ dataDir: dir, log: createLog("silent") });
    await allowDatabases(dir);
    return new ExternalDatabase({ folder, dir }, running);
  }

  get url(): string {
    return this.urlBy(this.port);
  }

  /** The address through another port, such as that of a proxy. */
  urlBy(port: number): string {
    return `postgres://${this.#login}@127.0.0.1:${port}/${this.#name}`;
  }

  /** The superuser's address through a port. */
  superuserUrlBy(port: number): string {
    const { user, password, database } = superuserConnection(this.#dir)!;
    return `postgres://${user}:${password}@127.0.0.1:${port}/${database}`;
  }

  /** The folder with the cluster's files, certificates and pg_hba.conf among them. */
  get cluster(): string {
    return join(clusterOf(this.#dir), "cluster");
  }

  /** Statements that only a superuser may run, such as `alter system`. */
  async asSuperuser(...statements: string[]): Promise<void> {
    const { kind: _, ...login } = superuserConnection(this.#dir)!;
    const client = new pg.Client(login);
    await client.connect();
    for (const statement of statements) await client.query(statement);
    await client.end();
  }

  async start(): Promise<void> {
    this.#running = await startEmbeddedPostgres({ dataDir: this.#dir, log: createLog("silent") });
  }

  async stop(): Promise<void> {
    await this.#running?.stop();
    this.#running = undefined;
  }

  async remove(): Promise<void> {
    await this.pool.end();
    await this.stop();
    this.#folder.remove();
  }
}
