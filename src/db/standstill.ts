import type pg from "pg";
import { UsageError } from "../errors.ts";
import { isDistributed, placedTables } from "./engine/distribute.ts";
import { isDeadlock } from "./engine/failure.ts";
import { transactionOn } from "./engine/pool.ts";
import { type Executor, execute, identifier, listed, query, sql } from "./engine/sql.ts";

/** What transactions lock first comes first here: whoever then waits for this one holds nothing that it waits for. */
const GATES = ["app_cursor", "dirty_day", "outbox"];
const TRIES_MAX = 10;

/**
 * A read-only transaction in which every statement sees the same state. One PostgreSQL has snapshots for this. Several
 * machines have none in common, so nothing is written to the tables that lie on them until the transaction ends:
 * apply, figures and postbacks wait, and collection goes on.
 */
export async function atOneInstant<T>(client: pg.PoolClient, work: (tx: pg.PoolClient) => Promise<T>): Promise<T> {
  if (!(await isDistributed(client))) return transactionOn(client, work, "snapshot");
  const placed = await placedTables(client);
  const gates = GATES.filter((table) => placed.delete(table));
  let hasBegun = false;
  const still = async (tx: pg.PoolClient) => {
    // Comes first: the next statement takes the coordinator's own snapshot.
    await holdWrites(tx, [...gates, ...placed]);
    await assertFinished(tx);
    hasBegun = true;
    return work(tx);
  };
  for (let tries = 1; ; tries += 1) {
    try {
      return await transactionOn(client, still, "snapshot");
    } catch (error) {
      const canPass = isDeadlock(error) || error instanceof Unfinished;
      if (hasBegun || !canPass || tries === TRIES_MAX) throw error;
    }
    // Commits what a lost connection to a machine has left prepared there. Citus does so by itself, once a minute.
    await query(client, sql`select recover_prepared_transactions()`);
  }
}

/** With their partitions. */
async function holdWrites(tx: Executor, tables: readonly string[]): Promise<void> {
  await execute(tx, sql`lock table ${listed(tables.map(identifier))} in exclusive mode`);
}

/** The coordinator has committed these, and a machine has not yet: what they wrote would be missing. */
class Unfinished extends UsageError {
  constructor() {
    super("A machine of the cluster has not finished transactions that are committed already: try again later.");
  }
}

async function assertFinished(tx: Executor): Promise<void> {
  const command = "select count(*) from pg_prepared_xacts where database = current_database() and gid like 'citus%'";
  const nodes = await query<{ success: boolean; result: string }>(
    tx,
    sql`select success, result from run_command_on_all_nodes(${command})`,
  );
  if (nodes.some(({ success, result }) => !success || result !== "0")) throw new Unfinished();
}
