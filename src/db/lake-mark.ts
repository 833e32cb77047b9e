import type { LakeDay } from "../domain/lake.ts";
import type { UserKey } from "../domain/user/user-key.ts";
import { newRows, rowsOf } from "./engine/rows.ts";
import { type Executor, execute, query, type Sql, sql } from "./engine/sql.ts";
import type { EventKey } from "./event.ts";
import { nextMark } from "./mark-number.ts";

/**
 * A day whose files lack something, and the number of the last mark on it. `again`: the whole day has to be written anew,
 * because rows that may be in a file have changed or are gone. For events otherwise, only new ones have come.
 */
export type LakeMark = MarkedDay & { marked: number; sinceMs: number };

/** `receivedMs`: the last receipt of the new events; 0 for anything else. */
export type MarkedDay = LakeDay & { again: boolean; receivedMs: number };

const COLUMNS = sql`app_id, kind, day, again, marked, since_ms, received_ms`;

const insertMarks = sql`insert into lake_mark (${COLUMNS})`;
const onConflict = sql`on conflict (app_id, kind, day) do update
  set marked = excluded.marked, again = lake_mark.again or excluded.again, since_ms = least(lake_mark.since_ms, excluded.since_ms),
    received_ms = greatest(lake_mark.received_ms, excluded.received_ms)`;

/** Marks different days of apps that have a lake, in sorted order, so that two transactions cannot deadlock. */
export async function markLake(tx: Executor, days: readonly MarkedDay[], sinceMs: number): Promise<void> {
  if (days.length === 0) return;
  const wanted = newRows(tx, "wanted", days, {
    appId: "int",
    kind: "text",
    day: "date",
    again: "boolean",
    receivedMs: "bigint",
  });
  await execute(
    tx,
    sql`${insertMarks} select app_id, kind, day, again, number, ${sinceMs}::bigint, received_ms
      from ${await nextMark(tx)}, ${wanted}
      where exists (select 1 from lake_app a where a.app_id = wanted.app_id)
      order by app_id, kind, day ${onConflict}`,
    "mark_lake",
  );
}

/** Marks every day of which a file may name the user. */
export async function markLakeOfUser(tx: Executor, { appId, clientId }: UserKey, sinceMs: number): Promise<void> {
  const own = sql`app_id = ${appId} and client_id = ${clientId}`;
  await execute(
    tx,
    sql`${insertMarks} select ${appId}::int, kind, day, true, number, ${sinceMs}::bigint, 0 from ${await nextMark(tx)}, (
        select 'events' as kind, day from event where ${own}
        union select 'orders', day from orders where ${own}
        union select 'users', registered_day from user_account where ${own}) named
      where exists (select 1 from lake_app where app_id = ${appId})
      order by kind, day ${onConflict}`,
  );
}

/**
 * The days of all apps that are to be written as a whole: the newest, and those marked longest ago. Of events, new ones alone
 * are a part.
 */
export async function loadWholeMarks(executor: Executor): Promise<LakeMark[]> {
  const whole = sql`select ${COLUMNS} from lake_mark where (again or kind <> 'events')`;
  return query<LakeMark>(
    executor,
    sql`(${whole} order by day desc, app_id, kind limit ${MARKS_MAX})
      union (${whole} and since_ms > 0 order by since_ms, app_id, kind limit ${MARKS_MAX})
      order by day desc, app_id, kind`,
  );
}

/** More than a turn can write. */
const MARKS_MAX = 1_000;

/** The marks of an app, newest days first. */
export async function loadLakeMarks(executor: Executor, appId: number): Promise<LakeMark[]> {
  return query<LakeMark>(
    executor,
    sql`select ${COLUMNS} from lake_mark where app_id = ${appId} order by day desc, kind`,
  );
}

/** The last receipt of the marked events of each app. */
export async function loadLastMarked(executor: Executor): Promise<{ appId: number; receivedMs: number }[]> {
  return query(
    executor,
    sql`select app_id, max(received_ms) as received_ms from lake_mark where kind = 'events' group by app_id`,
  );
}

/**
 * Takes away marks that have not changed since they were read. Those that stand for events received later stay for these.
 */
export async function removeLakeMarks(tx: Executor, marks: readonly LakeMark[], writtenUntilMs: number): Promise<void> {
  if (marks.length === 0) return;
  const done = rowsOf("done", marks, { appId: "int", kind: "text", day: "date", marked: "bigint" });
  const isDone = sql`m.app_id = done.app_id and m.kind = done.kind collate "C" and m.day = done.day
    and m.marked = done.marked`;
  // In the order in which apply marks them.
  await execute(
    tx,
    sql`select 1 from lake_mark m join ${done} on ${isDone} order by m.app_id, m.kind, m.day for update of m`,
  );
  await execute(
    tx,
    sql`update lake_mark m set again = false from ${done} where ${isDone} and m.received_ms >= ${writtenUntilMs}`,
  );
  await execute(tx, sql`delete from lake_mark m using ${done} where ${isDone} and m.received_ms < ${writtenUntilMs}`);
}

/**
 * Takes away the mark of a day that was written as it was at an instant, when the number of its mark was `marked`. A newer mark
 * stays: it is for what came afterwards.
 */
export async function settleLakeMark(
  tx: Executor,
  { appId, kind, day }: LakeDay,
  { marked, readAtMs }: { marked: number | undefined; readAtMs: number },
): Promise<void> {
  const own = sql`app_id = ${appId} and kind = ${kind} and day = ${day}::date`;
  if (marked !== undefined) await execute(tx, sql`delete from lake_mark where ${own} and marked = ${marked}`);
  await execute(tx, sql`update lake_mark set since_ms = greatest(since_ms, ${readAtMs}) where ${own}`);
}

/** Notes events by key that came after others received later had been read. */
export async function noteLateEvents(tx: Executor, late: readonly EventKey[]): Promise<void> {
  if (late.length === 0) return;
  const fresh = newRows(tx, "late", late, LATE);
  await execute(
    tx,
    sql`insert into lake_late (app_id, client_id, day, at_ms, fingerprint)
      select app_id, client_id, day, at_ms, fingerprint from ${fresh} on conflict do nothing`,
  );
}

export async function loadLateEvents(
  executor: Executor,
  { appId, limit }: { appId: number; limit: number },
): Promise<EventKey[]> {
  return query<EventKey>(
    executor,
    sql`select app_id, client_id, day, at_ms, replace(fingerprint::text, '-', '') as fingerprint from lake_late
      where app_id = ${appId} order by day, client_id, at_ms, fingerprint limit ${limit}`,
  );
}

export async function removeLateEvents(tx: Executor, late: readonly EventKey[]): Promise<void> {
  if (late.length === 0) return;
  await execute(
    tx,
    sql`delete from lake_late l using ${lateRows(late)} where l.app_id = late.app_id and l.day = late.day
      and l.client_id = late.client_id collate "C" and l.at_ms = late.at_ms and l.fingerprint = late.fingerprint`,
  );
}

function lateRows(late: readonly EventKey[]): Sql {
  return rowsOf("late", late, LATE);
}

const LATE = { appId: "int", clientId: "text", day: "date", atMs: "bigint", fingerprint: "uuid" } as const;

/** Days that wait to be written, and since when the first of them has; null when none waits, or days wait for the first time. */
export async function loadLakeLag(executor: Executor): Promise<{ days: number; sinceMs: number | null }> {
  const [row] = await query<{ days: number; sinceMs: number | null }>(
    executor,
    sql`select count(*) as days, min(since_ms) filter (where since_ms > 0) as since_ms from lake_mark`,
  );
  return row!;
}

/** The number of marked days, by app and table. */
export async function countLakeMarks(executor: Executor): Promise<(Omit<LakeDay, "day"> & { days: number })[]> {
  return query(
    executor,
    sql`select app_id, kind, count(*) as days from lake_mark group by app_id, kind order by app_id, kind`,
  );
}
