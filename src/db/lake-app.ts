import type pg from "pg";
import { isCold, loadColdLakes } from "./cold-event.ts";
import { waitBriefly } from "./engine/partition.ts";
import { inTransaction } from "./engine/pool.ts";
import { rowsOf } from "./engine/rows.ts";
import { type Executor, execute, identifier, oneOf, query, sql } from "./engine/sql.ts";
import { nextMark } from "./mark-number.ts";

/**
 * How far an app's events are in the lake, by the time of their receipt. Those before `writtenUntilMs` are in files. What
 * is received between the two instants is being read, and no more of it comes, except what apply notes by key.
 */
export type LakeApp = { appId: number; lakeId: string; readUntilMs: number; writtenUntilMs: number; isBegun: boolean };

const COLUMNS = sql`app_id, lake_id, read_until_ms, written_until_ms, is_begun`;

/** Everything that the database knows of lakes. Without it, a lake begins anew. */
export const LAKE_TABLES = ["lake_app", "lake_mark", "lake_late", "lake_file", "lake_gone"] as const;

/** Shared by everybody who applies, and held alone by whoever moves the instant up to which events are read. */
const LAKE_LOCK = 7226396;

/** Keeps that instant in its place until the transaction ends. Must come before it is read. */
export const holdLake = sql`pg_advisory_xact_lock_shared(${LAKE_LOCK}::bigint)`;

/** Waits until nothing is being applied, and keeps it so until the transaction ends. */
export async function lockLake(tx: Executor): Promise<void> {
  await execute(tx, sql`select pg_advisory_xact_lock(${LAKE_LOCK}::bigint)`);
}

/** Up to which receipt the events of these apps are read or being read. An app that has no lake is missing. */
export async function loadReadUntil(tx: Executor, appIds: readonly number[]): Promise<Map<number, number>> {
  if (appIds.length === 0) return new Map();
  const rows = await query<{ appId: number; readUntilMs: number }>(
    tx,
    sql`select app_id, read_until_ms from lake_app where ${oneOf(sql`app_id`, appIds)}`,
    "lake_read_until",
  );
  return new Map(rows.map(({ appId, readUntilMs }) => [appId, readUntilMs]));
}

export async function loadLakeApps(executor: Executor): Promise<LakeApp[]> {
  return query<LakeApp>(executor, sql`select ${COLUMNS} from lake_app order by app_id`);
}

export async function loadLakeApp(executor: Executor, appId: number): Promise<LakeApp | undefined> {
  const [row] = await query<LakeApp>(executor, sql`select ${COLUMNS} from lake_app where app_id = ${appId}`);
  return row;
}

/**
 * Moves the instants up to which events are read, and begins apps that have no lake yet. It waits for the transactions
 * that are applying: later ones know of it. Those of apps whose last events are not written yet stay. An app without marked
 * events has nothing to write.
 */
export async function moveReadUntil(
  pool: pg.Pool,
  lakeId: string,
  instants: (tx: Executor) => Promise<readonly { appId: number; untilMs: number }[]>,
): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await waitBriefly(tx);
    await lockLake(tx);
    const reached = await instants(tx);
    if (reached.length === 0) return;
    const marked = await query<{ appId: number }>(tx, sql`select distinct app_id from lake_mark where kind = 'events'`);
    const isMarked = new Set(marked.map(({ appId }) => appId));
    // Apart, because a distributed database takes no query inside of an update.
    for (const state of ["marked", "unmarked"] as const) {
      const apps = reached.filter(({ appId }) => isMarked.has(appId) === (state === "marked"));
      if (apps.length === 0) continue;
      const wanted = rowsOf("wanted", apps, { appId: "int", untilMs: "bigint" });
      const written = sql`, written_until_ms = greatest(a.written_until_ms, excluded.written_until_ms)`;
      await execute(
        tx,
        sql`insert into lake_app as a (app_id, lake_id, read_until_ms, written_until_ms)
          select app_id, ${lakeId}, until_ms, until_ms from ${wanted}
          on conflict (app_id) do update set read_until_ms = greatest(a.read_until_ms, excluded.read_until_ms)
            ${state === "marked" ? sql`` : written}
          where a.read_until_ms = a.written_until_ms and a.read_until_ms < excluded.read_until_ms`,
      );
    }
  });
}

/** Marks all days of an app that has just begun. From then on, apply marks them. */
export async function beginLakeApp(pool: pg.Pool, appId: number): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await execute(
      tx,
      sql`insert into lake_mark (app_id, kind, day, again, marked, since_ms, received_ms)
        select ${appId}::int, kind, day, true, number, 0, received_ms
        from ${await nextMark(tx)}, (
          select 'events' as kind, day, max(received_at_ms) as received_ms from event where app_id = ${appId} group by day
          union all select 'events', day, 0 from lake_gone g where app_id = ${appId}
            and not exists (select 1 from event e where e.app_id = ${appId} and e.day = g.day) group by day
          union all select 'orders', day, 0 from orders where app_id = ${appId} group by day
          union all select 'users', registered_day, 0 from user_total where app_id = ${appId} group by registered_day
          union all select 'costs', day, 0 from cost where app_id = ${appId} group by day) known
        order by kind, day
        on conflict (app_id, kind, day) do update set marked = excluded.marked, again = true, since_ms = 0,
          received_ms = greatest(lake_mark.received_ms, excluded.received_ms)`,
    );
    await execute(tx, sql`update lake_app set is_begun = true where app_id = ${appId}`);
  });
}

/**
 * Locks an app's row until the transaction ends. False when somebody else has written meanwhile, or the lake has begun
 * anew.
 */
export async function lockLakeApp(tx: Executor, { appId, lakeId, writtenUntilMs }: LakeApp): Promise<boolean> {
  const rows = await query(
    tx,
    sql`select 1 from lake_app
      where app_id = ${appId} and lake_id = ${lakeId} and written_until_ms = ${writtenUntilMs} for update`,
  );
  return rows.length > 0;
}

/** Locks the rows of apps until the transaction ends. False when one of them is in another lake. */
export async function holdLakeApps(tx: Executor, lakeId: string, appIds: readonly number[]): Promise<boolean> {
  if (appIds.length === 0) return true;
  const rows = await query<{ lakeId: string }>(
    tx,
    sql`select lake_id from lake_app where ${oneOf(sql`app_id`, appIds)} order by app_id for share`,
  );
  return rows.every((row) => row.lakeId === lakeId);
}

export async function noteWritten(tx: Executor, { appId, readUntilMs }: LakeApp): Promise<void> {
  await execute(tx, sql`update lake_app set written_until_ms = ${readUntilMs} where app_id = ${appId}`);
}

/**
 * Forgets all lakes: their files may be of another time than the tables. Files of cold days, which are the only ones that
 * have these events, still count, and so do their marks.
 */
export async function forgetLakes(tx: Executor): Promise<void> {
  const hasCold = (await loadColdLakes(tx)).length > 0;
  for (const table of ["lake_app", "lake_late"] as const) await execute(tx, sql`delete from ${identifier(table)}`);
  for (const table of ["lake_mark", "lake_file"] as const) {
    const kept = hasCold ? sql`where t.kind <> 'events' or not ${isCold(sql`t.day`)}` : sql``;
    await execute(tx, sql`delete from ${identifier(table)} t ${kept}`);
  }
}

/**
 * Forgets everything about lakes other than this one: their files are not here, or not of this database. Throws when one of
 * them is the only place of some events.
 */
export async function forgetOtherLakes(pool: pg.Pool, lakeId: string): Promise<void> {
  await inTransaction(pool, async (tx) => {
    const other = (await loadColdLakes(tx)).find((id) => id !== lakeId);
    if (other !== undefined)
      throw new Error(
        `Older days are only in the lake ${other}, and the one in DATA_DIR is ${lakeId}: start with the DATA_DIR that holds it, or restore a backup.`,
      );
    const others = sql`app_id in (select app_id from lake_app where lake_id <> ${lakeId})`;
    await execute(tx, sql`delete from lake_file where ${others}`);
    await execute(tx, sql`delete from lake_late where ${others}`);
    await execute(tx, sql`delete from lake_mark where ${others}`);
    await execute(tx, sql`delete from lake_app where lake_id <> ${lakeId}`);
  });
}
