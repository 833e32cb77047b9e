import { type Executor, execute, identifier, sql } from "./sql.ts";

/**
 * Gives a partitioned table the part for [from, until). Made as a table of its own and then attached: attaching lets
 * readers and writers of the other parts go on, where `create table … partition of` would wait for every running export.
 */
export async function attachPartition(
  tx: Executor,
  part: { of: string; name: string; from: string; until: string },
): Promise<void> {
  const parent = identifier(part.of);
  const table = identifier(part.name);
  await execute(tx, sql`create table ${table} (like ${parent} including defaults including indexes)`);
  // Bounds cannot be parameters; they are days that this program made.
  for (const day of [part.from, part.until]) {
    if (!/^\d{4}-\d\d-\d\d$/.test(day)) throw new Error(`${JSON.stringify(day)} is not a day.`);
  }
  await tx.query(
    `alter table ${part.of} attach partition ${part.name} for values from ('${part.from}') to ('${part.until}')`,
  );
}

export async function dropPartition(tx: Executor, name: string): Promise<void> {
  await execute(tx, sql`drop table ${identifier(name)}`);
}
