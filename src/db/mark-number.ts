import { type Executor, query, type Sql, sql } from "./engine/sql.ts";

/** One number for all marks of a statement. Taken beforehand: of a cluster's machines, only the coordinator counts. */
export async function nextMark(tx: Executor): Promise<Sql> {
  const [row] = await query<{ number: number }>(tx, sql`select nextval('mark_number') as number`);
  return sql`(select ${row!.number}::bigint as number) mark`;
}
