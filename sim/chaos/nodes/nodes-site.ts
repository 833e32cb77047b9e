import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import pg from "pg";
import { systemClock } from "../../../src/clock.ts";
import { type App, insertApp } from "../../../src/db/app.ts";
import { streamOf } from "../../../src/journal/jetstream/streams.ts";
import { openVault } from "../../../src/vault.ts";
import { callFor } from "../../call.ts";
import { type DataFolder, temporaryFolder } from "../../market/data-folder.ts";
import { ExternalDatabase } from "../external-database.ts";
import { ServerChild } from "../server-child.ts";
import { until } from "../until.ts";
import { Load } from "./load.ts";
import { NatsServers } from "./nats-servers.ts";

export const PARTITIONS = 8;
const LOG_NAME = "chaos";
const ROLES = ["http", "http,cost", "http,refresh", "apply", "apply,postback"];
const APPS = 4;

type Reached = { partitions: { durable: number; applied: number }[] };

/** An installation of several nodes under load: three that collect, two that apply, three nats-servers, one database. */
export class NodesSite {
  readonly database: ExternalDatabase;
  readonly nats: NatsServers;
  readonly secretKey = randomBytes(32).toString("hex");
  readonly nodes: SiteNode[] = [];
  apps: App[] = [];
  loads: Load[] = [];
  #operator: { connection: NatsConnection; manager: JetStreamManager } | undefined;

  private constructor(database: ExternalDatabase, nats: NatsServers) {
    this.database = database;
    this.nats = nats;
  }

  static async open(): Promise<NodesSite> {
    const nats = new NatsServers();
    const site = new NodesSite(await ExternalDatabase.create(), nats);
    try {
      await nats.begin(3);
      // All at once, as a deployment does: one of them makes the tables.
      await Promise.all(ROLES.map((roles) => site.add(roles)));
      await site.#prepare();
      return site;
    } catch (error) {
      await site.remove();
      throw error;
    }
  }

  get pool(): pg.Pool {
    return this.database.pool;
  }

  openPool(name: string): pg.Pool {
    const url = new URL(this.database.url);
    url.pathname = `/${name}`;
    const pool = new pg.Pool({ connectionString: url.href, max: 4 });
    pool.on("error", () => {});
    return pool;
  }

  async add(roles: string): Promise<SiteNode> {
    const node = await SiteNode.start({ ...this.#settings(), ROLES: roles });
    this.nodes.push(node);
    return node;
  }

  /** Stops a node for good. */
  async leave(node: SiteNode): Promise<void> {
    this.nodes.splice(this.nodes.indexOf(node), 1);
    await node.remove();
  }

  get collectors(): SiteNode[] {
    return this.nodes.filter(({ roles }) => roles.includes("http"));
  }

  get appliers(): SiteNode[] {
    return this.nodes.filter(({ roles }) => roles.includes("apply"));
  }

  get urls(): [string, ...string[]] {
    const [first, ...rest] = this.collectors.map(({ url }) => url);
    return [first!, ...rest];
  }

  /** The number of the nats-server that leads a partition. */
  async leaderOf(partition: number): Promise<number> {
    const { manager } = this.#operator!;
    let leader = "";
    await until("a leader of the stream", async () => {
      const { cluster } = await manager.streams.info(streamOf(LOG_NAME, partition));
      leader = cluster?.leader ?? "";
      return leader !== "";
    });
    return Number(leader.slice(1));
  }

  /** Waits until everything acknowledged so far is in the tables, as a node that does not apply it tells. */
  async settle(): Promise<void> {
    const ask = async () => (await callFor<Reached>(`${this.urls[0]}/progress`)).data.partitions;
    let wanted: Reached["partitions"] = [];
    await until("an answer of /progress", async () => {
      wanted = await ask();
      return true;
    });
    await until("everything to be applied", async () => {
      const reached = await ask();
      return wanted.every(({ durable }, partition) => reached[partition]!.applied >= durable);
    });
  }

  /** The process ids of those who hold partitions. */
  async holders(): Promise<Set<number>> {
    const { rows } = await this.pool.query(
      `select distinct process_id from apply_holder join pg_locks
        on pid = backend_id and locktype = 'advisory' and objid = partition and objsubid = 2`,
    );
    return new Set(rows.map(({ process_id }) => process_id));
  }

  /** kill -9 of the whole PostgreSQL, and a new start. */
  async killDatabase(): Promise<void> {
    const pid = Number(readFileSync(join(this.database.cluster, "postmaster.pid"), "utf8").split("\n")[0]);
    process.kill(pid, "SIGKILL");
    await this.database.stop().catch(() => {});
    await until("the database to start", async () => {
      await this.database.start();
      return true;
    });
  }

  /** How the log can be read, beside the servers. */
  get logAddress() {
    const { servers } = this.nats;
    return { servers, name: LOG_NAME, partitions: PARTITIONS, replicas: 3, bytesMax: 2 ** 30 };
  }

  async remove(): Promise<void> {
    await Promise.all(this.loads.map((load) => load.pause()));
    await this.#operator?.connection.close();
    await Promise.all(this.nodes.map((node) => node.remove()));
    await this.nats.end();
    await this.database.remove();
  }

  async #prepare(): Promise<void> {
    const connection = await connect({ servers: this.nats.servers, maxReconnectAttempts: -1, reconnectTimeWait: 100 });
    this.#operator = { connection, manager: await jetstreamManager(connection) };
    const vault = openVault({ dataDir: "", secretKey: this.secretKey });
    for (let number = 1; number <= APPS; number += 1) {
      const app = { name: `App ${number}`, timeZone: "Asia/Shanghai", metadataMode: "open" } as const;
      this.apps.push(await insertApp(this.pool, vault, { ...app, createdAtMs: systemClock() }));
    }
    this.loads = this.apps.map((app) => new Load(app));
  }

  #settings(): Record<string, string> {
    return {
      DATABASE_URL: this.database.url,
      DATABASE_CONNECTIONS_MAX: "4",
      SECRET_KEY: this.secretKey,
      LOG_URL: `nats://${this.nats.servers.join(",")}/${LOG_NAME}?replicas=3&partitions=${PARTITIONS}&mib=1024`,
    };
  }
}

/** A process of the installation, which keeps its folder when it starts again. */
export class SiteNode {
  readonly #env: Record<string, string>;
  readonly #folder: DataFolder;
  #server: ServerChild;

  private constructor(env: Record<string, string>, folder: DataFolder, server: ServerChild) {
    this.#env = env;
    this.#folder = folder;
    this.#server = server;
  }

  static async start(settings: Record<string, string>): Promise<SiteNode> {
    const folder = temporaryFolder();
    const env = { PORT: "0", HOST: "127.0.0.1", LOG_LEVEL: "warn", DATA_DIR: folder.dataDir, ...settings };
    return new SiteNode(env, folder, await ServerChild.start({ env }));
  }

  get roles(): string {
    return this.#env.ROLES!;
  }

  get url(): string {
    return this.#server.url;
  }

  get pid(): number {
    return this.#server.pid;
  }

  /** Why the process is not running, as far as it has said. */
  get end(): string | undefined {
    return this.#server.isRunning ? undefined : `A node (${this.roles}) has ended:\n${this.#server.output}`;
  }

  signal(name: "SIGSTOP" | "SIGCONT"): void {
    this.#server.signal(name);
  }

  async kill(): Promise<void> {
    await this.#server.kill();
  }

  async startAgain(): Promise<void> {
    await this.#server.stop();
    this.#server = await ServerChild.start({ env: this.#env });
  }

  async remove(): Promise<void> {
    this.#server.signal("SIGCONT");
    await this.#server.stop();
    this.#folder.remove();
  }
}
