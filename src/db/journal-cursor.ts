import { type Executor, execute, query, sql } from "./sql.ts";

export async function readCursor(executor: Executor, journalId: string): Promise<number> {
  const [row] = await query<{ position: number }>(executor, sql`select position from journal_cursor where journal_id = ${journalId}`);
  return row?.position ?? 0;
}

/** Holds the cursor for the rest of the transaction: whoever else applies this journal waits here. */
export async function lockCursor(executor: Executor, journalId: string): Promise<number> {
  await execute(executor, sql`insert into journal_cursor (journal_id, position) values (${journalId}, 0) on conflict do nothing`);
  const [row] = await query<{ position: number }>(
    executor,
    sql`select position from journal_cursor where journal_id = ${journalId} for update`,
  );
  return row!.position;
}

export async function moveCursor(executor: Executor, journalId: string, position: number): Promise<void> {
  await execute(executor, sql`update journal_cursor set position = ${position} where journal_id = ${journalId}`);
}
