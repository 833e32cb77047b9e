import { FOREVER } from "../../domain/event/event-part.ts";
import { type Executor, execute, identifier, sql } from "./sql.ts";

/** A partition of a table, for [from, until). */
export type Partition = { of: string; name: string; from: string; until: string };

/**
 * Adds a partition. It is created as a separate table and then attached: attaching lets readers and writers of the
 * other partitions go on, whereas `create table … partition of` would wait for every running export.
 */
export async function makePartition(tx: Executor, part: Partition): Promise<void> {
  await execute(
    tx,
    sql`create table ${identifier(part.name)} (like ${identifier(part.of)} including defaults including indexes)`,
  );
  await attachPartition(tx, part);
}

/** Attaches a table, which must hold nothing outside the range, as a partition. */
export async function attachPartition(tx: Executor, { of, name, from, until }: Partition): Promise<void> {
  const end = until === FOREVER ? "maxvalue" : boundOf(until);
  const names = { parent: identifier(of).texts[0], table: identifier(name).texts[0] };
  await tx.query(
    `alter table ${names.parent} attach partition ${names.table} for values from (${boundOf(from)}) to (${end})`,
  );
}

/** Detaches a partition. It waits for all readers and writers of the whole table, and blocks new ones meanwhile. */
export async function detachPartition(tx: Executor, { of, name }: Pick<Partition, "of" | "name">): Promise<void> {
  await execute(tx, sql`alter table ${identifier(of)} detach partition ${identifier(name)}`);
}

export async function renameTable(tx: Executor, names: { from: string; to: string }): Promise<void> {
  await execute(tx, sql`alter table ${identifier(names.from)} rename to ${identifier(names.to)}`);
}

/** The longest wait for readers of a partition that is to be split or dropped, because writers queue behind it. */
const LOCK_WAIT_MS_MAX = 2_000;

/** Lets the rest of the transaction wait only briefly for readers, such as a backup or an export. */
export async function waitBriefly(tx: Executor): Promise<void> {
  await tx.query("select set_config('lock_timeout', $1, true)", [String(LOCK_WAIT_MS_MAX)]);
}

export async function dropPartition(tx: Executor, name: string): Promise<void> {
  await execute(tx, sql`drop table ${identifier(name)}`);
}

/** A day as a literal, because bounds cannot be parameters. Only days in this program's own form pass. */
function boundOf(day: string): string {
  if (!/^\d{4}-\d\d-\d\d$/.test(day)) throw new Error(`${JSON.stringify(day)} is not a day.`);
  return `'${day}'`;
}
