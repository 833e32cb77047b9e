import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync, chownSync, cpSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import pg from "pg";
import { ExternalDatabase } from "../../sim/chaos/external-database.ts";
import { freePort } from "../../src/db/engine/embedded.ts";
import { binariesFor, runnerOf } from "../../src/db/engine/embedded-runtime.ts";
import { eventually } from "./patience.ts";

/** Two PostgreSQL servers: a primary, and a replica that follows it by streaming replication. */
export class ReplicatedDatabase {
  readonly database: ExternalDatabase;
  readonly url: string;
  readonly replicaUrl: string;
  readonly #replica: { folder: string; port: number };
  readonly #processes = new Map<"primary" | "replica", ChildProcess>();

  private constructor(database: ExternalDatabase, replica: { folder: string; port: number }) {
    this.database = database;
    this.url = database.url;
    this.replicaUrl = database.urlBy(replica.port);
    this.#replica = replica;
  }

  static async create(): Promise<ReplicatedDatabase> {
    const database = await ExternalDatabase.create();
    const superuser = database.superuserUrlBy(database.port);
    await database.stop();
    const folder = join(dirname(database.cluster), "replica");
    const pair = new ReplicatedDatabase(database, { folder, port: await freePort() });
    // A replica follows from a log that was written for replicas: the embedded database's is not.
    await pair.#start("primary", database.cluster, database.port);
    await pair.#stop("primary");
    cpSync(database.cluster, folder, { recursive: true });
    writeFileSync(join(folder, "standby.signal"), "");
    appendFileSync(join(folder, "postgresql.auto.conf"), `primary_conninfo = '${superuser}'\n`);
    own(folder, database.cluster);
    await pair.#start("primary", database.cluster, database.port);
    await pair.startReplica();
    return pair;
  }

  startReplica(): Promise<void> {
    return this.#start("replica", this.#replica.folder, this.#replica.port);
  }

  async stopReplica(): Promise<void> {
    await this.#stop("replica");
  }

  /** Halts the replica where it is. It still answers. */
  pauseReplay(): Promise<void> {
    return this.#onReplica("select pg_wal_replay_pause()");
  }

  resumeReplay(): Promise<void> {
    return this.#onReplica("select pg_wal_replay_resume()");
  }

  /** How many connections for reports the replica has. */
  async readersOfReplica(): Promise<number> {
    const client = await this.#connect();
    const { rows } = await client.query(
      "select count(*)::int as readers from pg_stat_activity where application_name = 'touchpoint report'",
    );
    await client.end();
    return rows[0].readers;
  }

  async remove(): Promise<void> {
    await this.#stop("replica");
    await this.#stop("primary");
    await this.database.remove();
  }

  async #onReplica(statement: string): Promise<void> {
    const client = await this.#connect();
    await client.query(statement);
    await client.end();
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client(this.database.superuserUrlBy(this.#replica.port));
    await client.connect();
    return client;
  }

  async #start(which: "primary" | "replica", folder: string, port: number): Promise<void> {
    const runner = runnerOf();
    const settings = {
      port: String(port),
      listen_addresses: "127.0.0.1",
      unix_socket_directories: "",
      wal_level: "replica",
      max_wal_senders: "2",
      hot_standby: "on",
      // What the replica may miss while it is stopped.
      wal_keep_size: "256MB",
    };
    const args = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const child = spawn(binariesFor(runner).postgres, ["-D", folder, ...args], {
      ...runner,
      cwd: folder,
      env: { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" },
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#processes.set(which, child);
    let said = "";
    child.stderr.on("data", (text) => (said = `${said}${text}`.slice(-2_000)));
    const ended = new Promise<never>((_, reject) =>
      child.once("exit", () => reject(new Error(`The ${which} has ended: ${said}`))),
    );
    // Later it may.
    ended.catch(() => {});
    const ready = eventually(async () => {
      const client = new pg.Client(this.database.urlBy(port));
      await client.connect();
      await client.end();
    });
    await Promise.race([ready, ended]);
  }

  async #stop(which: "primary" | "replica"): Promise<void> {
    const child = this.#processes.get(which);
    if (!child) return;
    this.#processes.delete(which);
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGINT");
    await ended;
  }
}

/** Gives the copied files to the owner of the original, as whom PostgreSQL runs. */
function own(folder: string, original: string): void {
  const { uid, gid } = statSync(original);
  chownSync(folder, uid, gid);
  for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" }))
    chownSync(join(folder, path), uid, gid);
}
