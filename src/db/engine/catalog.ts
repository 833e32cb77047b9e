import { FOREVER } from "../../domain/event/event-part.ts";
import type { Partition } from "./partition.ts";
import { type Executor, execute, identifier, listed, query, sql } from "./sql.ts";

/** A table that holds rows: a plain one, or a partition. `bytes` is what it takes on disk, without its indexes. */
export type StoredTable = { name: string; columns: string[]; bytes: number; partition: Partition | undefined };

export type Sequence = { name: string; value: number };

type TableRow = { name: string; columns: string[]; bytes: number; parent: string | null; bound: string | null };

/** Tables in this program's own form of names; those of extensions are not ours. */
const isOurs = sql`n.nspname = current_schema() and c.relname ~ '^[a-z][a-z0-9_]*$' and not exists (
  select 1 from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')`;

/** Tables that hold rows, by name: all, or those that survive a crash. A partitioned table is listed by its partitions. */
export async function listTables(executor: Executor, which: "all" | "durable"): Promise<StoredTable[]> {
  const rows = await query<TableRow>(
    executor,
    sql`select c.relname as name, pg_table_size(c.oid) as bytes, parent.relname as parent,
        pg_get_expr(c.relpartbound, c.oid) as bound,
        array(select a.attname::text from pg_attribute a
          where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
          order by a.attnum) as columns
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      left join pg_inherits i on i.inhrelid = c.oid left join pg_class parent on parent.oid = i.inhparent
      where c.relkind = 'r' and (${which === "all"} or c.relpersistence = 'p') and ${isOurs} order by c.relname collate "C"`,
  );
  return rows.map(({ name, columns, bytes, parent, bound }) => ({
    name,
    columns,
    bytes,
    partition: parent === null ? undefined : { of: parent, name, ...rangeOf(name, bound ?? "") },
  }));
}

/** The range of a partition, as PostgreSQL writes it where dates are in ISO form. */
function rangeOf(name: string, bound: string): { from: string; until: string } {
  const match = /^FOR VALUES FROM \('(\d{4}-\d\d-\d\d)'\) TO \((?:'(\d{4}-\d\d-\d\d)'|MAXVALUE)\)$/.exec(bound);
  if (!match)
    throw new Error(`The range of the partition ${name} is ${JSON.stringify(bound)}, which is not one of days.`);
  return { from: match[1]!, until: match[2] ?? FOREVER };
}

/** The sequences that have been used, with their last values. */
export async function listSequences(executor: Executor): Promise<Sequence[]> {
  return query<Sequence>(
    executor,
    sql`select sequencename::text as name, last_value as value from pg_sequences
      where schemaname = current_schema() and last_value is not null order by 1`,
  );
}

/** Lets a sequence go on after a value. False when there is no such sequence. */
export async function setSequence(executor: Executor, { name, value }: Sequence): Promise<boolean> {
  const rows = await query(
    executor,
    sql`select setval(c.oid, ${value}::bigint) from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind = 'S' and c.relname = ${name} and ${isOurs}`,
  );
  return rows.length > 0;
}

/** Keeps the tables from being dropped or changed in shape until the transaction ends. Readers and writers go on. */
export async function lockTables(tx: Executor, names: readonly string[]): Promise<void> {
  if (names.length > 0) await execute(tx, sql`lock table ${listed(names.map(identifier))} in access share mode`);
}

/** The tables and views of the schema, whoever made them, without those of extensions. */
export async function listRelations(executor: Executor): Promise<string[]> {
  const rows = await query<{ name: string }>(
    executor,
    sql`select c.relname::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname = current_schema() and not exists (
        select 1 from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
      order by 1`,
  );
  return rows.map(({ name }) => name);
}

/**
 * Drops every table and sequence of the schema. Each in a transaction of its own: all at once would exceed the lock table
 * of a database with thousands of partitions.
 */
export async function dropAll(executor: Executor, except: string): Promise<void> {
  const parts = await listTables(executor, "all");
  const leaves = parts.filter(({ name }) => name !== except);
  for (const { name } of leaves) await execute(executor, sql`drop table ${identifier(name)}`);
  const rest = await query<{ name: string; kind: string }>(
    executor,
    sql`select c.relname::text as name, c.relkind::text as kind from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('p', 'S') and ${isOurs} order by c.relkind desc, 1`,
  );
  for (const { name, kind } of rest) {
    await execute(
      executor,
      kind === "p" ? sql`drop table ${identifier(name)}` : sql`drop sequence if exists ${identifier(name)}`,
    );
  }
}

/** Counts what the planner has to know about freshly loaded tables. */
export async function analyzeTable(executor: Executor, name: string): Promise<void> {
  await execute(executor, sql`analyze ${identifier(name)}`);
}
