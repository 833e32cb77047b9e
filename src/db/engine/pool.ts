import { setPriority } from "node:os";
import pg from "pg";
import { messageOf } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import type { Log } from "../../log.ts";
import type { Parameter } from "../server/address.ts";
import { type Connection, Server } from "../server/server.ts";
import { isLent, parametersOfTransaction, ServerPool } from "../server/server-pool.ts";
import { isDatabaseAway, isReadOnly, noteDriverFailure, noteLost } from "./failure.ts";
import type { Executor } from "./sql.ts";

// Whole numbers are exact up to 2^53, which covers milliseconds, cents and journal positions. Days stay texts.
pg.types.setTypeParser(pg.types.builtins.INT8, (text) => Number(text));
pg.types.setTypeParser(pg.types.builtins.DATE, (text) => text);

export type PoolOptions = {
  log: Pick<Log, "warn">;
  connectionsMax: number;
  name: string;
  /** For reports: read-only, with a time limit per statement, room for sorts, and all cores or one per report. */
  readOnly?: { timeoutMs: number; cores: "all" | "one" };
  /** Whether the database is on this machine and its processes get the lowest priority. */
  givesWay?: boolean;
  /** Whether the planner always uses indexes, as after `preferIndexes`. A statement with a name may keep its plan while a table grows. */
  prefersIndexes?: boolean;
  /** Whether the database ends a session soon after the machine at its other end has vanished, also during a COPY. */
  isWatched?: boolean;
  /** How long a transaction may stay idle between two statements; see `LIMITS.transactionIdleMs`. */
  transactionIdleMs?: number;
  /** How long a caller waits for a connection before the database counts as away. */
  waitMs?: number;
};

const WAIT_MS = 5_000;

const GIVES_WAY_PRIORITY = 19;
/** How long a connection is silent before the system asks whether the other end is still there, once per second. */
const KEEP_ALIVE_MS = 10_000;
/** Probes while a connection is silent, and a limit for what waits to be acknowledged: half a minute each. */
export const PROBES: readonly Parameter[] = [
  ["tcp_keepalives_idle", "10"],
  ["tcp_keepalives_interval", "5"],
  ["tcp_keepalives_count", "3"],
  ["tcp_user_timeout", "25000"],
];

/** How long an answer to a mere question of life may take. */
const ANSWER_MS_MAX = 5_000;

export function openPool(to: Connection | Server, options: PoolOptions): pg.Pool {
  const server = to instanceof Server ? to : new Server(to);
  const pool = new ServerPool(server, {
    waitMs: options.waitMs ?? WAIT_MS,
    use: options.readOnly ? "reads" : "writes",
    parameters: parametersOf(options),
    config: {
      max: options.connectionsMax,
      application_name: `touchpoint ${options.name}`,
      idleTimeoutMillis: 30_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    },
  });
  if (options.givesWay && process.platform === "linux") pool.on("connect", giveWay);
  pool.on("connect", fitToCitus);
  // Without a listener, a connection that dies while idle would end the process.
  pool.on("error", (error) => {
    // A pool that is closing loses its connections on purpose.
    if (!pool.ending) options.log.warn({ reason: messageOf(error) }, "An idle database connection was lost.");
  });
  return pool;
}

/**
 * What our sessions need. Without JIT: our statements are many and short, and compiling them takes longer than running
 * them. An operator measured a p99 of 932 ms with it and of 113 ms without.
 */
function parametersOf({ readOnly, transactionIdleMs, prefersIndexes, isWatched }: PoolOptions): Parameter[] {
  const jit = ["jit", "off"] as const;
  if (!readOnly) {
    const idleMs = transactionIdleMs ?? LIMITS.transactionIdleMs;
    const plans = prefersIndexes ? BY_INDEX : [];
    return [jit, ["idle_in_transaction_session_timeout", String(idleMs)], ...plans, ...(isWatched ? PROBES : [])];
  }
  const parameters: Parameter[] = [
    jit,
    ["default_transaction_read_only", "on"],
    ["work_mem", "64MB"],
    ["statement_timeout", String(readOnly.timeoutMs)],
  ];
  return readOnly.cores === "one" ? [...parameters, ["max_parallel_workers_per_gather", "0"]] : parameters;
}

/**
 * Where Citus is: settings of a transaction hold on its workers too, and a statement with a name is planned for its
 * values each time, because without knowing the app it would concern all machines.
 */
const FIT_TO_CITUS = `select set_config('citus.propagate_set_commands', 'local', false), set_config('plan_cache_mode', 'force_custom_plan', false)
  where current_setting('citus.shard_count', true) is not null`;

function fitToCitus(client: pg.PoolClient): void {
  // A session of a pooler is somebody else's the next moment, and knows no names.
  if (isLent(client)) return;
  // A connection that fails here fails at its first statement, too.
  client.query(FIT_TO_CITUS).catch(() => {});
}

/** Lowers the priority of a connection, which in the embedded database is a process of this machine. */
function giveWay(client: pg.PoolClient): void {
  const { processID } = client as unknown as { processID?: number };
  try {
    if (processID) setPriority(processID, GIVES_WAY_PRIORITY);
  } catch {
    // We may not set its priority, or it is gone already: it then runs at normal priority.
  }
}

/**
 * "deferred": the commit does not wait for the disk; a crash of the database may undo it as a whole. Where Citus is, the
 * commit waits all the same: of transactions on several machines, a crash of one would undo a part. "snapshot":
 * read-only, and every statement sees the same state.
 */
export type Commit = "durable" | "deferred" | "snapshot";

const BEGIN: Readonly<Record<Commit, string>> = {
  durable: "begin",
  deferred: `begin; select set_config('synchronous_commit', 'off', true) where current_setting('citus.shard_count', true) is null`,
  snapshot: "begin isolation level repeatable read read only",
};

export async function inTransaction<T>(
  pool: pg.Pool,
  work: (tx: pg.PoolClient) => Promise<T>,
  commit: Commit = "durable",
): Promise<T> {
  return onConnection(pool, (client) => transactionOn(client, work, commit));
}

/** Holds one connection for as long as `work` takes. */
export async function onConnection<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect().catch((error: unknown) => {
    noteDriverFailure(error);
    throw error;
  });
  // A connection that dies between two statements emits its error here; the next statement fails anyway.
  const ignore = () => {};
  client.on("error", ignore);
  let failure: Error | undefined;
  try {
    return await work(client);
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
    throw error;
  } finally {
    client.off("error", ignore);
    // A client whose connection is lost, or leads to the wrong server by now, must not go back into the pool.
    client.release(failure !== undefined && (isDatabaseAway(failure) || isReadOnly(failure)));
  }
}

export async function transactionOn<T>(
  client: pg.PoolClient,
  work: (tx: pg.PoolClient) => Promise<T>,
  commit: Commit = "durable",
): Promise<T> {
  try {
    await client.query(`${BEGIN[commit]}${parametersOfTransaction(client)}`);
    const result = await work(client);
    await client.query("commit");
    return result;
  } catch (error) {
    // A connection that cannot even roll back is gone, whatever the error looks like.
    await client.query("rollback").catch(() => noteLost(error));
    throw error;
  }
}

/** Lets the rest of the transaction stay idle for longer, such as while it waits for a platform's answer. */
export async function allowIdle(tx: Executor, idleMs: number): Promise<void> {
  await tx.query("select set_config('idle_in_transaction_session_timeout', $1, true)", [String(idleMs)]);
}

/** Cuts a connection in the middle of a COPY that nobody reads any more: what is left of it would never be taken. */
export function abandon(client: pg.PoolClient): void {
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}

/**
 * Without the plans that read whole tables, and in one process: more of them cost look-ups by key more than they save.
 * Measured: 100,000 decisions took 6 % longer with them.
 */
const BY_INDEX: readonly Parameter[] = [
  ["enable_seqscan", "off"],
  ["enable_hashjoin", "off"],
  ["enable_mergejoin", "off"],
  ["max_parallel_workers_per_gather", "0"],
];

/**
 * Makes the planner use indexes for the rest of the transaction. A batch looks up a few rows among many, but the
 * planner cannot know that: asked for some thousand rows by key, it would rather read all rows of all partitions.
 */
export async function preferIndexes(tx: Executor): Promise<void> {
  await tx.query(BY_INDEX.map(([name, value]) => `set local ${name} = ${value}`).join("; "));
}

/**
 * Makes the rest of the transaction group by hashing in memory, without sorting by ten texts first. Measured on a slice
 * with 100,000 users: 1.3 s instead of 2.2 s.
 */
export async function preferHashes(tx: Executor): Promise<void> {
  await tx.query(
    "set local enable_sort = off; set local enable_incremental_sort = off; set local enable_memoize = off; set local work_mem = '64MB'",
  );
}

/** Whether the database answers. A connection that stays silent is given up, so that the next question gets another. */
export async function canAnswer(executor: Executor): Promise<boolean> {
  const question: pg.QueryConfig & { query_timeout: number } = { text: "select 1", query_timeout: ANSWER_MS_MAX };
  return executor.query(question).then(
    () => true,
    () => false,
  );
}
