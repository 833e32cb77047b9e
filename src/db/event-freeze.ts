import type pg from "pg";
import type { EventPart } from "../domain/event/event-part.ts";
import { MIB } from "../limits.ts";
import { isAppliedUnmarked, lockDays } from "./apply-holder.ts";
import { isDistributed } from "./engine/distribute.ts";
import { waitBriefly } from "./engine/partition.ts";
import { inTransaction } from "./engine/pool.ts";
import { rowsOf } from "./engine/rows.ts";
import { type Executor, execute, identifier, query, sql } from "./engine/sql.ts";
import { partitionOf } from "./event-day.ts";
import { deleteOrigins } from "./event-origin.ts";
import { holdLakeApps, lockLake } from "./lake-app.ts";

type Range = Pick<EventPart, "from" | "until">;

/** The parts in the table that end on or before the day, oldest first. */
export async function loadPartsUntil(executor: Executor, day: string): Promise<Range[]> {
  return query<Range>(
    executor,
    sql`select day as "from", until_day as until from event_day
      where state = 'open' and until_day <= ${day}::date order by day`,
  );
}

/** The days of a part on which an app has events, with their number. */
export async function countPartDays(
  executor: Executor,
  { from, until }: Range,
  appId: number,
): Promise<{ day: string; rows: number }[]> {
  return query(
    executor,
    sql`select day, count(*) as rows from event
      where app_id = ${appId} and day >= ${from}::date and day < ${until}::date group by day order by day`,
  );
}

/** Whether something of an app's events in a part waits to be written. */
export async function isPartMarked(executor: Executor, { from, until }: Range, appId: number): Promise<boolean> {
  const within = sql`app_id = ${appId} and day >= ${from}::date and day < ${until}::date`;
  const rows = await query(
    executor,
    sql`(select 1 from lake_mark where kind = 'events' and ${within} limit 1)
      union all (select 1 from lake_late where ${within} limit 1)`,
  );
  return rows.length > 0;
}

/**
 * Empties the partition of a part whose events were found equal to its files. Every later change of them would have left
 * a mark, and none can come until this ends. False when there is one, or when the files that count are those of another
 * lake. Throws while somebody reads.
 */
export async function freezePart(
  tx: Executor,
  part: Range,
  { lakeId, appIds }: { lakeId: string; appIds: readonly number[] },
): Promise<boolean> {
  await waitBriefly(tx);
  await lockDays(tx);
  await lockLake(tx);
  if ((await isAppliedUnmarked(tx)) || !(await holdLakeApps(tx, lakeId, appIds))) return false;
  let written = 0;
  for (const appId of appIds) {
    if (await isPartMarked(tx, part, appId)) return false;
    written += await countWritten(tx, part, appId);
  }
  const partition = identifier(partitionOf(part).name);
  const [stored] = await query<{ rows: number }>(tx, sql`select count(*) as rows from ${partition}`);
  if (stored!.rows !== written) return false;
  const frozen = await execute(
    tx,
    sql`update event_day set state = 'cold', lake_id = ${lakeId} where day = ${part.from}::date and state = 'open'`,
  );
  if (frozen === 0) return false;
  await execute(tx, sql`truncate ${partition}`);
  await deleteOriginsOf(tx, part);
  await execute(tx, sql`update apply_holder set freezes = freezes + 1`);
  return true;
}

/** Cold parts that events have come to and left again take space. */
const EMPTIED_BYTES_MIN = MIB;

/** Gives the space of cold parts back that have become empty again. Returns their number. Throws while somebody reads one. */
export async function emptyColdParts(pool: pg.Pool): Promise<number> {
  const parts = await query<Range>(
    pool,
    sql`select day as "from", until_day as until from event_day where state = 'cold'`,
  );
  if (parts.length === 0) return 0;
  const tables = new Map(parts.map((part) => [partitionOf(part).name, part]));
  const names = [...tables.keys()].map((name) => ({ name }));
  const asked = rowsOf("asked", names, { name: "text" });
  const size = (await isDistributed(pool)) ? sql`citus_total_relation_size` : sql`pg_total_relation_size`;
  const large = await query<{ name: string }>(
    pool,
    sql`select name from ${asked} where ${size}(to_regclass(name)) >= ${EMPTIED_BYTES_MIN}`,
  );
  let emptied = 0;
  for (const { name } of large) {
    await inTransaction(pool, async (tx) => {
      await waitBriefly(tx);
      await lockDays(tx);
      const partition = identifier(name);
      if ((await query(tx, sql`select 1 from ${partition} limit 1`)).length > 0) return;
      await execute(tx, sql`truncate ${partition}`);
      await deleteOriginsOf(tx, tables.get(name)!);
      emptied += 1;
    });
  }
  return emptied;
}

function deleteOriginsOf(tx: Executor, { from, until }: Range): Promise<void> {
  return deleteOrigins(tx, sql`day >= ${from}::date and day < ${until}::date`);
}

async function countWritten(tx: Executor, { from, until }: Range, appId: number): Promise<number> {
  const [row] = await query<{ rows: number }>(
    tx,
    sql`select coalesce(sum(rows), 0)::bigint as rows from lake_file
      where app_id = ${appId} and kind = 'events' and day >= ${from}::date and day < ${until}::date`,
  );
  return row!.rows;
}
