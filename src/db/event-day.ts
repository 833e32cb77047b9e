import type pg from "pg";
import { addDays } from "../domain/calendar.ts";
import { type EventPart, EventParts, FOREVER, type PartPlan, type WantedDay } from "../domain/event/event-part.ts";
import { isLockRefused } from "./engine/failure.ts";
import {
  attachPartition,
  detachPartition,
  dropPartition,
  makePartition,
  renameTable,
  waitBriefly,
} from "./engine/partition.ts";
import { inTransaction } from "./engine/pool.ts";
import { rowsOf } from "./engine/rows.ts";
import { type Executor, execute, identifier, query, sql } from "./engine/sql.ts";
import { deleteOrigins } from "./event-origin.ts";
import { PROPERTY_COLUMNS, storedProperties } from "./event-properties.ts";

/** Partitions opened in one transaction. */
const OPENED_AT_ONCE = 50;

type Range = Pick<EventPart, "from" | "until">;
type Split = Extract<PartPlan, { kind: "split" }>;

const COLUMNS = sql`day as "from", until_day as until, state`;

export async function loadEventParts(executor: Executor): Promise<EventParts> {
  return new EventParts(await query<EventPart>(executor, sql`select ${COLUMNS} from event_day`));
}

/** The parts that still have their events, here or in the lake, and begin on or before the day, newest first. */
export async function loadKeptParts(executor: Executor, untilDay: string): Promise<EventPart[]> {
  return query<EventPart>(
    executor,
    sql`select ${COLUMNS} from event_day where state <> 'dropped' and day <= ${untilDay}::date order by day desc`,
  );
}

/** Opens the partitions that the days need, in the given order. Returns all parts afterwards. */
export async function openEventDays(pool: pg.Pool, wanted: readonly WantedDay[]): Promise<EventParts> {
  let at = 0;
  while (at < wanted.length) {
    const { opened, split } = await openSome(pool, wanted.slice(at, at + OPENED_AT_ONCE));
    at += opened;
    // When the part cannot be split now, the day keeps sharing it.
    if (split && !(await splitPart(pool, split))) at += 1;
  }
  return loadEventParts(pool);
}

/** Opens days up to the first one that needs a part to be split. */
async function openSome(
  pool: pg.Pool,
  wanted: readonly WantedDay[],
): Promise<{ opened: number; split: Split | undefined }> {
  return inTransaction(pool, async (tx) => {
    await lockParts(tx);
    let parts = await loadEventParts(tx);
    const ranges: Range[] = [];
    let [opened, split]: [number, Split | undefined] = [0, undefined];
    for (const one of wanted) {
      const plan = parts.planFor(one);
      if (plan?.kind === "split") split = plan;
      if (split) break;
      opened += 1;
      if (plan?.kind !== "open") continue;
      ranges.push(plan);
      parts = parts.after(plan);
    }
    await openParts(tx, ranges);
    return { opened, split };
  });
}

async function lockParts(tx: Executor): Promise<void> {
  await tx.query("select pg_advisory_xact_lock(7226388)");
}

async function openParts(tx: Executor, ranges: readonly Range[]): Promise<void> {
  if (ranges.length === 0) return;
  for (const range of ranges) await makePartition(tx, partitionOf(range));
  const opened = rowsOf("opened", ranges, {
    day: ["date", ({ from }) => from],
    untilDay: ["date", ({ until }) => until],
  });
  await execute(
    tx,
    sql`insert into event_day (day, until_day, state)
      select day, until_day, 'open' from ${opened}`,
  );
}

/**
 * Moves the days before `until` out of the part that holds the future, into partitions of their own. Meanwhile nobody
 * else can read events, so it waits for current readers only for a moment. False when a reader held on for longer.
 */
async function splitPart(pool: pg.Pool, split: Split): Promise<boolean> {
  try {
    await inTransaction(pool, async (tx) => {
      await lockParts(tx);
      const gone = await execute(
        tx,
        sql`delete from event_day where day = ${split.part.from}::date and until_day = ${FOREVER}::date`,
      );
      // Otherwise another process has done it.
      if (gone > 0) await moveNearDays(tx, split);
    });
    return true;
  } catch (error) {
    if (isLockRefused(error)) return false;
    throw error;
  }
}

const KEY_COLUMNS = sql`app_id, client_id, day, at_ms, fingerprint, type, event, received_at_ms`;

async function moveNearDays(tx: Executor, { part, until }: Split): Promise<void> {
  const future = partitionOf(part);
  const table = identifier(future.name);
  const isBefore = sql`day < ${until}::date`;
  await waitBriefly(tx);
  await detachPartition(tx, future);
  const days = await query<{ day: string }>(tx, sql`select distinct day from ${table} where ${isBefore}`);
  await openParts(
    tx,
    days.map(({ day }) => ({ from: day, until: addDays(day, 1) })),
  );
  await execute(
    tx,
    sql`insert into event (${KEY_COLUMNS}, ${PROPERTY_COLUMNS})
      select ${KEY_COLUMNS}, ${storedProperties} from ${table} e where ${isBefore}`,
  );
  await execute(tx, sql`delete from ${table} where ${isBefore}`);
  const [left] = await query(tx, sql`select 1 from ${table} limit 1`);
  if (!left) return dropPartition(tx, future.name);
  const rest = partitionOf({ from: until, until: FOREVER });
  await renameTable(tx, { from: future.name, to: rest.name });
  await attachPartition(tx, rest);
  await execute(
    tx,
    sql`insert into event_day (day, until_day, state) values (${rest.from}::date, ${rest.until}::date, 'open')`,
  );
}

/** Drops the partitions that end on or before the day. Returns their number. Throws while somebody reads one of them. */
export async function dropEventDaysBefore(pool: pg.Pool, day: string): Promise<number> {
  const parts = await query<Range>(
    pool,
    sql`select ${COLUMNS} from event_day where state <> 'dropped' and until_day <= ${day}::date order by day`,
  );
  for (const part of parts) {
    await inTransaction(pool, async (tx) => {
      await waitBriefly(tx);
      await execute(tx, sql`update event_day set state = 'dropped' where day = ${part.from}::date`);
      await dropPartition(tx, partitionOf(part).name);
    });
  }
  // After a crash before this, they go with the next day.
  if (parts.length > 0) await deleteOrigins(pool, sql`day < ${parts.at(-1)!.until}::date`);
  return parts.length;
}

/** Drops all days with their events. */
export async function dropEventDays(tx: Executor): Promise<void> {
  const parts = await query<Range & { state: string }>(tx, sql`delete from event_day returning ${COLUMNS}`);
  for (const part of parts) if (part.state !== "dropped") await dropPartition(tx, partitionOf(part).name);
}

export function partitionOf({ from, until }: Range) {
  const digits = (day: string) => day.replaceAll("-", "");
  const end = until === FOREVER ? "_on" : until === addDays(from, 1) ? "" : `_${digits(until)}`;
  return { of: "event", name: `event_${digits(from)}${end}`, from, until };
}
