import { type Executor, execute, query, type Sql, sql } from "./engine/sql.ts";

/** A partition of a log, which has a cursor of its own. */
export type CursorKey = { journalId: string; partition: number };

export async function readCursor(executor: Executor, key: CursorKey): Promise<number> {
  const [row] = await query<{ position: number }>(
    executor,
    sql`select position from journal_cursor where ${isOf(key)}`,
  );
  return row?.position ?? 0;
}

/** The cursors of a log, by the number of their partition. One that has none yet is at 0. */
export async function readCursors(executor: Executor, journalId: string): Promise<number[]> {
  const rows = await query<{ partition: number; position: number }>(
    executor,
    sql`select partition, position from journal_cursor where journal_id = ${journalId}`,
  );
  const positions: number[] = [];
  for (const { partition, position } of rows) positions[partition] = position;
  return Array.from(positions, (position) => position ?? 0);
}

/** How far each partition of a log is applied, and when the newest applied entry was received. */
export async function readReached(
  executor: Executor,
  journalId: string,
): Promise<{ partition: number; position: number; receivedAtMs: number }[]> {
  return query(
    executor,
    sql`select partition, position, received_at_ms from journal_cursor where journal_id = ${journalId}`,
  );
}

/** Other logs of which something was applied. */
export async function loadOtherCursors(
  executor: Executor,
  journalId: string,
): Promise<{ journalId: string; position: number }[]> {
  return query(
    executor,
    sql`select journal_id, sum(position)::bigint as position from journal_cursor
      where journal_id <> ${journalId} and position > 0 group by journal_id order by journal_id`,
  );
}

/** Locks the cursor until the transaction ends; another process that applies this partition waits here. */
export async function lockCursor(executor: Executor, key: CursorKey): Promise<number> {
  const lock = sql`select position from journal_cursor where ${isOf(key)} for update`;
  const [row] = await query<{ position: number }>(executor, lock);
  if (row) return row.position;
  await execute(
    executor,
    sql`insert into journal_cursor (journal_id, partition, position) values (${key.journalId}, ${key.partition}, 0)
      on conflict do nothing`,
  );
  const [made] = await query<{ position: number }>(executor, lock);
  return made!.position;
}

/** `receivedAtMs`: when the entry before the position was received. */
export async function moveCursor(
  executor: Executor,
  key: CursorKey,
  { position, receivedAtMs }: { position: number; receivedAtMs: number },
): Promise<void> {
  await execute(
    executor,
    sql`update journal_cursor set position = ${position}, received_at_ms = ${receivedAtMs} where ${isOf(key)}`,
  );
}

/** The cursor as it is on disk: this commit waits for the write-ahead log, and so for every commit before it. */
export async function confirmCursor(executor: Executor, key: CursorKey): Promise<number> {
  const [row] = await query<{ position: number }>(
    executor,
    sql`update journal_cursor set position = position where ${isOf(key)} returning position`,
  );
  return row?.position ?? 0;
}

function isOf({ journalId, partition }: CursorKey): Sql {
  return sql`journal_id = ${journalId} and partition = ${partition}`;
}

/** An app's part of a partition, which has a cursor of its own where each app has transactions of its own. */
export type AppCursorKey = CursorKey & { appId: number };

/** Locks an app's cursor until the transaction ends. */
export async function lockAppCursor(tx: Executor, key: AppCursorKey): Promise<number> {
  const lock = sql`select position from app_cursor where ${isOfApp(key)} for update`;
  const [row] = await query<{ position: number }>(tx, lock);
  if (row) return row.position;
  await execute(
    tx,
    sql`insert into app_cursor (app_id, journal_id, partition, position)
      values (${key.appId}, ${key.journalId}, ${key.partition}, 0) on conflict do nothing`,
  );
  const [made] = await query<{ position: number }>(tx, lock);
  return made!.position;
}

export async function moveAppCursor(tx: Executor, key: AppCursorKey, position: number): Promise<void> {
  await execute(tx, sql`update app_cursor set position = ${position} where ${isOfApp(key)}`);
}

/** Whether some apps are applied further than their partition, as after a crash or in a backup. */
export async function areAppsAhead(executor: Executor): Promise<boolean> {
  const rows = await query(
    executor,
    sql`select 1 from app_cursor a left join journal_cursor c on c.journal_id = a.journal_id and c.partition = a.partition
      where a.position > coalesce(c.position, 0) limit 1`,
  );
  return rows.length > 0;
}

function isOfApp(key: AppCursorKey): Sql {
  return sql`app_id = ${key.appId} and ${isOf(key)}`;
}

/** The same for all logs. */
export async function readAllReached(executor: Executor): Promise<(CursorKey & { receivedAtMs: number })[]> {
  return query(executor, sql`select journal_id, partition, received_at_ms from journal_cursor`);
}
