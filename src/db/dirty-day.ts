import type { Slice } from "../domain/cube.ts";
import type { UserKey } from "../domain/user/user-key.ts";
import { firstOfEach, newRows, rowsOf } from "./engine/rows.ts";
import { type Executor, execute, query, sql } from "./engine/sql.ts";
import { nextMark } from "./mark-number.ts";

/** A slice of the cube that is out of date, and the number of the last mark on it. */
export type DirtySlice = Slice & { marked: number };

const onConflict = sql`on conflict (app_id, cohort, day) do update set marked = excluded.marked,
  since = coalesce(dirty_day.since, excluded.since),
  marked_at_ms = case when dirty_day.since is null then excluded.marked_at_ms else dirty_day.marked_at_ms end`;

/** Marks slices in sorted order, so that two transactions that mark the same ones cannot deadlock. */
export async function markSlices(tx: Executor, slices: readonly Slice[], receivedAtMs: number): Promise<void> {
  if (slices.length === 0) return;
  const slice = newRows(tx, "slice", slices, { appId: "int", cohort: "text", day: "date" });
  await execute(
    tx,
    sql`insert into dirty_day (app_id, cohort, day, marked, since, marked_at_ms)
      select app_id, cohort, day, number, number, ${receivedAtMs}::bigint
      from ${await nextMark(tx)}, ${slice}
      order by app_id, cohort, day ${onConflict}`,
    "mark_slices",
  );
}

export type DayOfApp = { appId: number; day: string };

/** The days on which users count: those on which they did something, and those of refunds, which need no activity. */
export const countedDays = sql`(select app_id, client_id, day from user_day union all select app_id, client_id, day from refund)`;

/** The days on which these users count. */
export async function loadDaysOfUsers(tx: Executor, users: readonly UserKey[]): Promise<DayOfApp[]> {
  if (users.length === 0) return [];
  const moved = rowsOf("moved", users, { appId: "int", clientId: "text" });
  return query<DayOfApp>(
    tx,
    sql`select distinct d.app_id, d.day from ${moved}
      join ${countedDays} d on d.app_id = moved.app_id and d.client_id = moved.client_id collate "C"`,
  );
}

/** The days on which platforms accepted postbacks about these users. */
export async function loadAcceptedDays(tx: Executor, users: readonly UserKey[]): Promise<DayOfApp[]> {
  if (users.length === 0) return [];
  const moved = rowsOf("moved", users, { appId: "int", clientId: "text" });
  return query<DayOfApp>(
    tx,
    sql`select distinct p.app_id, p.accepted_day as day from ${moved}
      join postback p on p.app_id = moved.app_id and p.client_id = moved.client_id collate "C" and p.accepted_day is not null`,
  );
}

/** The later days on which these users did something. */
export async function loadLaterDays(tx: Executor, days: readonly (UserKey & { day: string })[]): Promise<DayOfApp[]> {
  if (days.length === 0) return [];
  // Joined on each user's first day only: a user with thousands of days would produce their square in pairs.
  const inOrder = days.toSorted((one, other) => (one.day < other.day ? -1 : 1));
  const came = rowsOf("came", firstOfEach(inOrder, ["appId", "clientId"]), {
    appId: "int",
    clientId: "text",
    day: "date",
  });
  return query<DayOfApp>(
    tx,
    sql`select distinct d.app_id, d.day from ${came}
      join user_day d on d.app_id = came.app_id and d.client_id = came.client_id collate "C" and d.day > came.day`,
  );
}

/** Dirty slices, newest days first, because those are viewed most. */
export async function loadDirtySlices(executor: Executor, limit: number): Promise<DirtySlice[]> {
  return query<DirtySlice>(
    executor,
    sql`select app_id, cohort, day, marked from dirty_day where since is not null
      order by day desc, app_id, cohort limit ${limit}`,
  );
}

/**
 * Notes that a slice holds everything up to the mark it had when its counting began. A mark with a smaller number may
 * still come later from another transaction.
 */
export async function markRefreshed(tx: Executor, slice: DirtySlice): Promise<void> {
  await execute(
    tx,
    sql`update dirty_day set since = case when marked = ${slice.marked} then null else least(marked, ${slice.marked}::bigint + 1) end
      where app_id = ${slice.appId} and cohort = ${slice.cohort} and day = ${slice.day}::date`,
  );
}

/** The last mark, and the last one up to which the cube holds everything. */
export async function refreshProgress(executor: Executor): Promise<{ marked: number; refreshed: number }> {
  const [row] = await query<{ marked: number; since: number | null }>(
    executor,
    sql`select coalesce(max(marked), 0) as marked, min(since) as since from dirty_day`,
  );
  return { marked: row!.marked, refreshed: row!.since === null ? row!.marked : row!.since - 1 };
}

/** The number of dirty slices of all apps, and since when the oldest one is dirty. */
export async function staleSlices(executor: Executor): Promise<{ slices: number; sinceMs: number | null }> {
  const [row] = await query<{ slices: number; sinceMs: number | null }>(
    executor,
    sql`select count(*) as slices, min(marked_at_ms) as since_ms from dirty_day where since is not null`,
  );
  return row!;
}

/** When the oldest data missing in an app's cube was received, or undefined when nothing is missing. */
export async function oldestMarkMs(executor: Executor, appId: number): Promise<number | undefined> {
  const [row] = await query<{ atMs: number | null }>(
    executor,
    sql`select min(marked_at_ms) as at_ms from dirty_day where app_id = ${appId} and since is not null`,
  );
  return row?.atMs ?? undefined;
}

const SLICE_LOCK = 7226388;

/** Locks a slice for counting until the transaction ends. False when another process is counting it, or just has. */
export async function lockSlice(tx: Executor, { appId, cohort, day }: Slice): Promise<boolean> {
  const [row] = await query<{ isLocked: boolean }>(
    tx,
    sql`select pg_try_advisory_xact_lock(${SLICE_LOCK}::int, hashtext(${`${appId} ${cohort} ${day}`})) and exists (
        select 1 from dirty_day
        where app_id = ${appId} and cohort = ${cohort} and day = ${day}::date and since is not null) as is_locked`,
  );
  return row!.isLocked;
}
