import { rmSync } from "node:fs";
import type pg from "pg";
import { type App, insertApp } from "../../src/db/app.ts";
import { migratedDatabase, type TempDatabase, vault } from "../db/temp-database.ts";
import type { Nats } from "../journal/jetstream/nats.ts";
import { makeDataDir } from "../process/launch.ts";
import { eventually } from "../support/patience.ts";
import { databaseUrl, TEST_KEY } from "../support/shared-server.ts";
import { TouchpointProcess } from "../support/touchpoint.ts";

export const PARTITIONS = 8;

/** Several processes of one installation: a database, nats-servers, and nodes with roles of their own. */
export class Cluster {
  readonly database: TempDatabase;
  readonly nats: Nats;
  readonly nodes: Node[] = [];
  /** What starts further nodes, if not the server that was just built. */
  script: readonly string[] | undefined;
  readonly #name: string;
  readonly #more: Record<string, string>;

  constructor(database: TempDatabase, nats: Nats, more: Record<string, string> = {}) {
    this.database = database;
    this.nats = nats;
    this.#name = database.name.replaceAll(/\W/g, "_");
    this.#more = more;
  }

  /** Starts one node for each of the given roles. */
  static async start(roles: readonly string[], nats: Nats): Promise<Cluster> {
    // The nats-servers have to find each other first.
    await nats.open({ name: "trial" });
    const cluster = new Cluster(await migratedDatabase(), nats);
    await cluster.add(...roles);
    return cluster;
  }

  /** Starts further nodes, side by side. */
  async add(...roles: string[]): Promise<Node[]> {
    const added = await Promise.all(roles.map((role) => Node.start(role, this.settings(), this.script)));
    this.nodes.push(...added);
    return added;
  }

  settings(): Record<string, string> {
    const { servers } = this.nats;
    return {
      DATABASE_URL: databaseUrl(this.database.name),
      DATABASE_CONNECTIONS_MAX: "4",
      SECRET_KEY: TEST_KEY.secretKey,
      LOG_URL: `nats://${servers.join(",")}/${this.#name}?replicas=${servers.length}&partitions=${PARTITIONS}&mib=64&versions=any`,
      DEMO_APP: "off",
      ...this.#more,
    };
  }

  get pool(): pg.Pool {
    return this.database.pool;
  }

  /** The addresses of the nodes that collect. */
  get urls(): [string, ...string[]] {
    return this.urlsWithout();
  }

  urlsWithout(node?: Node): [string, ...string[]] {
    const others = this.nodes.filter((other) => other !== node && other.role.includes("http"));
    const [first, ...rest] = others.map(({ server }) => server.url);
    return [first!, ...rest];
  }

  async createApp(): Promise<App> {
    const app = { name: "Test", timeZone: "Asia/Shanghai", metadataMode: "open", createdAtMs: Date.now() } as const;
    return insertApp(this.pool, vault, app);
  }

  /** Waits until everything acknowledged so far is in the tables, as a node with HTTP tells. */
  async settle(): Promise<void> {
    const ask = async (): Promise<{ durable: number; applied: number }[]> => {
      const { data } = await this.nodes.find(({ role }) => role.includes("http"))!.server.get("/progress");
      return data.partitions;
    };
    const wanted = await ask();
    await eventually(async () => {
      const reached = await ask();
      const behind = wanted.findIndex(({ durable }, partition) => reached[partition]!.applied < durable);
      if (behind >= 0) throw new Error(`Partition ${behind} is not applied: ${JSON.stringify(reached[behind])}.`);
    });
  }

  /** How many partitions each process holds, by process id. */
  async holders(): Promise<Map<number, number>> {
    const { rows } = await this.pool.query(
      `select process_id, count(*)::int as partitions from apply_holder
        join pg_locks on pid = backend_id and locktype = 'advisory' and classid = 7226392 and objid = partition
        group by process_id`,
    );
    return new Map(rows.map(({ process_id, partitions }) => [process_id, partitions]));
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.end()));
    await this.database.drop();
  }
}

/** A process of a cluster, which keeps its folder when it starts again. */
export class Node {
  readonly role: string;
  server: TouchpointProcess;
  readonly #settings: Record<string, string>;

  private constructor(role: string, server: TouchpointProcess, settings: Record<string, string>) {
    this.role = role;
    this.server = server;
    this.#settings = settings;
  }

  static async start(
    role: string,
    settings: Record<string, string>,
    script: readonly string[] | undefined,
  ): Promise<Node> {
    const env = { ...settings, ROLES: role };
    return new Node(role, await TouchpointProcess.start({ dataDir: makeDataDir(), env, script }), env);
  }

  get pid(): number {
    return this.server.child.pid!;
  }

  /** On the same folder, and as the server that was just built, whatever it was before. */
  async startAgain(): Promise<void> {
    this.server = await TouchpointProcess.start({ dataDir: this.server.dataDir, env: this.#settings });
  }

  async end(): Promise<void> {
    this.server.child.kill("SIGCONT");
    await this.server.kill();
    rmSync(this.server.dataDir, { recursive: true, force: true });
  }
}
