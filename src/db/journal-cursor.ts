import { type Executor, execute, query, sql } from "./engine/sql.ts";

export async function readCursor(executor: Executor, journalId: string): Promise<number> {
  const [row] = await query<{ position: number }>(
    executor,
    sql`select position from journal_cursor where journal_id = ${journalId}`,
  );
  return row?.position ?? 0;
}

/** Other journals of which something was applied. */
export async function loadOtherCursors(
  executor: Executor,
  journalId: string,
): Promise<{ journalId: string; position: number }[]> {
  return query(
    executor,
    sql`select journal_id, position from journal_cursor
      where journal_id <> ${journalId} and position > 0 order by journal_id`,
  );
}

/** Locks the cursor until the transaction ends; another process that applies this journal waits here. */
export async function lockCursor(executor: Executor, journalId: string): Promise<number> {
  const lock = sql`select position from journal_cursor where journal_id = ${journalId} for update`;
  const [row] = await query<{ position: number }>(executor, lock);
  if (row) return row.position;
  await execute(
    executor,
    sql`insert into journal_cursor (journal_id, position) values (${journalId}, 0) on conflict do nothing`,
  );
  const [made] = await query<{ position: number }>(executor, lock);
  return made!.position;
}

export async function moveCursor(executor: Executor, journalId: string, position: number): Promise<void> {
  await execute(executor, sql`update journal_cursor set position = ${position} where journal_id = ${journalId}`);
}

/** The cursor as it is on disk: this commit waits for the write-ahead log, and so for every commit before it. */
export async function confirmCursor(executor: Executor, journalId: string): Promise<number> {
  const [row] = await query<{ position: number }>(
    executor,
    sql`update journal_cursor set position = position where journal_id = ${journalId} returning position`,
  );
  return row?.position ?? 0;
}
