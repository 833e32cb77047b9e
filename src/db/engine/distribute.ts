import type { Log } from "../../log.ts";
import { DISTRIBUTED, EVERYWHERE } from "./distributed-tables.ts";
import { type Executor, execute, query, type Sql, sql } from "./sql.ts";

/** Whether the tables of this database lie on several machines. */
export async function isDistributed(executor: Executor): Promise<boolean> {
  return (await hasCitus(executor)) && (await placedTables(executor)).has(DISTRIBUTED[0]);
}

export async function hasCitus(executor: Executor): Promise<boolean> {
  return (await query(executor, sql`select 1 from pg_extension where extname = 'citus'`)).length > 0;
}

/** The tables that Citus knows, without their partitions. Call it only where Citus is. */
export async function placedTables(executor: Executor): Promise<Set<string>> {
  const rows = await query<{ name: string }>(
    executor,
    sql`select c.relname::text as name from pg_dist_partition d join pg_class c on c.oid = d.logicalrelid
      join pg_namespace n on n.oid = c.relnamespace where n.nspname = current_schema() and not c.relispartition`,
  );
  return new Set(rows.map(({ name }) => name));
}

/** A table that is to be distributed, or copied to every machine. */
export type Placement = { table: string; kind: "distributed" | "everywhere"; bytes: number };

/** What is still to be done, in order. Empty where Citus is not installed. */
export async function planDistribution(executor: Executor): Promise<Placement[]> {
  if (!(await hasCitus(executor))) return [];
  const placed = await placedTables(executor);
  const wanted = [
    ...EVERYWHERE.map((table) => ({ table, kind: "everywhere" as const })),
    ...DISTRIBUTED.map((table) => ({ table, kind: "distributed" as const })),
  ].filter(({ table }) => !placed.has(table));
  const plan: Placement[] = [];
  for (const one of wanted) plan.push({ ...one, bytes: await bytesOf(executor, one.table) });
  return plan;
}

/** What a table takes, with its partitions and indexes; 0 when it is not there yet. */
async function bytesOf(executor: Executor, table: string): Promise<number> {
  const [row] = await query<{ bytes: number }>(
    executor,
    sql`select coalesce(sum(pg_total_relation_size(part)), 0)::bigint as bytes from (
      select relid::oid as part from pg_partition_tree(to_regclass(${table})) union select to_regclass(${table})::oid) parts`,
  );
  return row!.bytes;
}

/**
 * Distributes what is not distributed yet, one table after the other: every row is copied to its place and then deleted
 * here. An interrupted run continues with the next table, and deletes what it has left of the last one. A server's
 * start leaves filled tables as they are.
 */
export async function distribute(
  executor: Executor,
  { log, filled }: { log: Pick<Log, "info" | "warn">; filled: "distribute" | "leave" },
): Promise<void> {
  if (!(await hasCitus(executor))) return;
  await deleteLeftovers(executor);
  const plan = await planDistribution(executor);
  if (plan.length > 0 && filled === "leave" && (await isLeft(executor))) {
    log.warn(
      "Citus is installed, but the tables hold data: stop all servers and run `database migrate` to distribute them.",
    );
    return;
  }
  if (plan.length > 0) await distributeFunctions(executor);
  for (const [index, { table, kind, bytes }] of plan.entries()) {
    await execute(executor, placementOf(table, kind));
    if (bytes > 0) await deleteHere(executor, table);
    log.info({ table, kind, bytes, done: index + 1, of: plan.length }, "A table was distributed.");
  }
}

/** Deletes the rows that a table had before it was distributed. Statements do not see them any more, but they take space. */
async function deleteHere(executor: Executor, table: string): Promise<void> {
  await execute(executor, sql`select truncate_local_data_after_distributing_table(${table}::regclass)`);
}

/** What a run left that was interrupted after a table was distributed, and before its rows were deleted here. */
async function deleteLeftovers(executor: Executor): Promise<void> {
  const rows = await query<{ name: string }>(
    executor,
    sql`select distinct root.relname::text as name from pg_dist_partition d join pg_class c on c.oid = d.logicalrelid
      join pg_class root on root.oid = coalesce(pg_partition_root(c.oid), c.oid)
      join pg_namespace n on n.oid = root.relnamespace
      where n.nspname = current_schema() and c.relkind = 'r' and pg_relation_size(c.oid) > 0`,
  );
  for (const { name } of rows) await deleteHere(executor, name);
}

/** Whether the tables hold data, and nobody has begun to distribute them. */
async function isLeft(executor: Executor): Promise<boolean> {
  const apps = await query(executor, sql`select 1 from app limit 1`);
  return apps.length > 0 && (await placedTables(executor)).size === 0;
}

function placementOf(table: string, kind: Placement["kind"]): Sql {
  if (kind === "everywhere") return sql`select create_reference_table(${table})`;
  const [leader] = DISTRIBUTED;
  if (table === leader) return sql`select create_distributed_table(${table}, 'app_id', colocate_with => 'none')`;
  return sql`select create_distributed_table(${table}, 'app_id', colocate_with => ${leader})`;
}

/** Our own functions, on every machine: those made before Citus was installed are not there yet. */
async function distributeFunctions(executor: Executor): Promise<void> {
  await execute(
    executor,
    sql`select create_distributed_function(p.oid::regprocedure) from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where n.nspname = current_schema() and not exists (
        select 1 from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')`,
  );
}
