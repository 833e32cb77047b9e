import pg from "pg";
import { systemClock } from "../../src/clock.ts";
import { migrate } from "../../src/db/engine/migrate.ts";
import { openPool } from "../../src/db/engine/pool.ts";
import { openKeys } from "../../src/installation.ts";
import { createLog } from "../../src/log.ts";
import { PATIENCE_MS } from "./patience.ts";

/** The coordinator of a cluster that tests of the database run on instead of one PostgreSQL; set by `npm run test:citus`. */
export const CITUS_URL = process.env.TEST_CITUS_URL ?? "";

type Machine = { host: string; port: number };

/** The machines of the cluster, the coordinator first. */
function machines(): Promise<Machine[]> {
  return onNode(CITUS_URL, async (client) => {
    const { rows } = await client.query(
      "select nodename as host, nodeport as port from pg_dist_node where noderole = 'primary' order by groupid",
    );
    return rows;
  });
}

/** A database on all machines of the cluster. Its tables are distributed as soon as it is migrated. */
export async function createDistributed(name: string): Promise<void> {
  const [coordinator, ...workers] = await machines();
  for (const machine of [coordinator!, ...workers]) {
    await onNode(urlOf("postgres", machine), (client) => client.query(`create database ${name}`));
    await onNode(urlOf(name, machine), (client) => client.query("create extension citus"));
  }
  await onNode(distributedUrl(name), async (client) => {
    await client.query("select citus_set_coordinator_host($1, $2)", [coordinator!.host, coordinator!.port]);
    for (const { host, port } of workers) await client.query("select citus_add_node($1, $2)", [host, port]);
  });
}

/** Runs statements directly on a worker, beside the coordinator. */
export async function onWorker<T>(name: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const [, worker] = await machines();
  return onNode(urlOf(name, worker!), work);
}

/** Citus keeps processes for every database, so none is left behind. */
export async function dropDistributed(name: string): Promise<void> {
  for (const machine of await machines())
    await onNode(urlOf("postgres", machine), (client) => client.query(`drop database ${name} with (force)`));
}

/** With its tables, as after a first start. */
export async function migrateDistributed(name: string, key: Parameters<typeof openKeys>[1]): Promise<void> {
  const pool = distributedPool(name);
  await migrate(pool, { log: createLog("silent"), clock: systemClock });
  await openKeys(pool, key, "first");
  await pool.end();
}

export function distributedPool(name: string): pg.Pool {
  const patience = { waitMs: PATIENCE_MS, transactionIdleMs: PATIENCE_MS };
  const connection = { kind: "url", url: distributedUrl(name), sessions: "own" } as const;
  return openPool(connection, { log: createLog("silent"), connectionsMax: 4, name: "test", ...patience });
}

export function distributedUrl(name: string): string {
  const url = new URL(CITUS_URL);
  url.pathname = `/${name}`;
  return url.href;
}

function urlOf(name: string, { host, port }: Machine): string {
  const url = new URL(distributedUrl(name));
  url.hostname = host;
  url.port = String(port);
  return url.href;
}

async function onNode<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
