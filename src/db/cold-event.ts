import { DAY_MS } from "../domain/calendar.ts";
import { md5 } from "../domain/user/identity.ts";
import type { UserKey } from "../domain/user/user-key.ts";
import { ApiError } from "../errors.ts";
import { rowsOf } from "./engine/rows.ts";
import { type Executor, execute, query, type Sql, sql } from "./engine/sql.ts";
import type { EventKey, EventRow } from "./event.ts";

/*
 * Days whose events are only in files of the lake. What such a day holds:
 *
 *   rows of its files, without those of users who are gone   +   rows of its partition, which came later
 *
 * Both parts never hold the same event. The next writing of the day makes one file of both and empties the second.
 */

/** Which cold events are wanted. What is left out does not narrow the choice. */
export type ColdWish = {
  appId: number;
  clientIds?: readonly string[];
  days?: readonly string[];
  fromDay?: string;
  untilDay?: string;
  names?: readonly string[];
  type?: "track";
  /** The names of the events whose properties are wanted; those of others are left empty. */
  propertiesOf?: readonly string[];
  /**
   * Files written before this instant cannot have any of them, unless clocks differed. Ignored when the lake has written
   * nothing of the app for CLOCKS_AGREE_MS after it.
   */
  writtenAfterMs?: number;
};

/** Less than the days that apply leaves for clocks, so that what is skipped is skipped safely. */
const CLOCKS_AGREE_MS = 2 * DAY_MS;

/** The newest events before one of them, as a page of a timeline shows them. */
export type ColdPage = { before: { atMs: number; fingerprint: string }; limit: number };

/** Reads cold events from the files. `read`: where the list of files is read. While no file is wanted, nothing else is asked. */
export type ColdEvents = {
  load(read: Executor, wish: ColdWish, page?: ColdPage): Promise<EventRow[]>;
  /** Those of the keys that are stored. */
  find(read: Executor, keys: readonly EventKey[], writtenAfterMs: number): Promise<EventKey[]>;
  /** The days on which a user has cold events. */
  daysOf(read: Executor, user: UserKey, writtenAfterMs: number | undefined): Promise<string[]>;
  /** As many of some days' events as reports by the hour need; see hour-activity.ts. */
  loadActive(read: Executor, wish: ColdWish): Promise<EventRow[]>;
  /** All events of some days in the order of an export. */
  stream(read: Executor, wish: ColdWish): AsyncIterable<readonly EventRow[]>;
};

/** Why cold events could not be read. Whoever applies tries again: it is no fault of the data. */
export class ColdUnreadable extends ApiError {
  readonly code = "COLD_UNREADABLE";

  constructor(why: string) {
    super("overloaded", `Events of days that are only in the lake cannot be read: ${why}`);
  }
}

/** A file of events of a cold day. */
export type ColdFile = { lakeId: string; day: string; name: string; writtenAtMs: number };

/** For whoever cannot read files: throws when some would have to be read. */
export const COLD_NOWHERE: ColdEvents = {
  load: async (read, wish) => assertNone(read, wish, []),
  find: async (read, keys) => {
    for (const { appId, day } of keys) await assertNone(read, { appId, days: [day] }, []);
    return [];
  },
  daysOf: async (read, { appId }) => assertNone(read, { appId }, []),
  loadActive: async (read, wish) => assertNone(read, wish, []),
  async *stream(read, wish) {
    yield await assertNone(read, wish, []);
  },
};

async function assertNone<T>(read: Executor, wish: ColdWish, none: T): Promise<T> {
  const files = await loadColdFiles(read, wish);
  if (files.some(({ day }) => !wish.days || wish.days.includes(day)))
    throw new ColdUnreadable("nothing here reads them.");
  return none;
}

/** A column `day` that lies in a cold part. */
export const isCold = (day: Sql): Sql =>
  sql`exists (select 1 from event_day d where d.state = 'cold' and ${day} >= d.day and ${day} < d.until_day)`;

export async function loadColdFiles(
  read: Executor,
  { appId, fromDay = "-infinity", untilDay = "infinity" }: Pick<ColdWish, "appId" | "fromDay" | "untilDay">,
): Promise<ColdFile[]> {
  return query<ColdFile>(
    read,
    sql`select d.lake_id, f.day, f.name, f.written_at_ms from event_day d
      join lake_file f on f.app_id = ${appId} and f.kind = 'events' and f.day >= d.day and f.day < d.until_day
      where d.state = 'cold' and f.day >= ${fromDay}::date and f.day < ${untilDay}::date order by f.day, f.name`,
  );
}

/** Whether files written before the instant can be left out: the clock that has given it is not ahead of the lake's. */
export async function isBehindLake(read: Executor, appId: number, writtenAfterMs: number): Promise<boolean> {
  const rows = await query(
    read,
    sql`select 1 from lake_file where app_id = ${appId} and kind = 'events' and written_at_ms >= ${writtenAfterMs + CLOCKS_AGREE_MS} limit 1`,
  );
  return rows.length > 0;
}

export type ColdLakeFile = ColdFile & { appId: number; bytes: number };

/** The files of all apps. */
export async function loadAllColdFiles(read: Executor): Promise<ColdLakeFile[]> {
  return query<ColdLakeFile>(
    read,
    sql`select d.lake_id, f.app_id, f.day, f.name, f.bytes, f.written_at_ms from event_day d
      join lake_file f on f.kind = 'events' and f.day >= d.day and f.day < d.until_day
      where d.state = 'cold' order by f.app_id, f.day, f.name`,
  );
}

/** The number of days that are only in files, by app. */
export async function countColdDays(read: Executor): Promise<{ appId: number; days: number }[]> {
  return query(
    read,
    sql`select app_id, count(distinct day) as days from lake_file f where kind = 'events' and ${isCold(sql`f.day`)} group by app_id`,
  );
}

/** The lakes that cold days are in: one, or none when there are no such days. */
export async function loadColdLakes(read: Executor): Promise<string[]> {
  const rows = await query<{ lakeId: string }>(read, sql`select distinct lake_id from event_day where state = 'cold'`);
  return rows.map(({ lakeId }) => lakeId);
}

/** The cold ones of these days. */
export async function loadColdAmong(read: Executor, days: readonly string[]): Promise<string[]> {
  if (days.length === 0) return [];
  const asked = rowsOf("asked", days, { day: ["date", (day) => day] });
  const rows = await query<{ day: string }>(read, sql`select day from ${asked} where ${isCold(sql`asked.day`)}`);
  return rows.map(({ day }) => day);
}

/**
 * Reads what is partly in the table and partly in files, once more when a day has become cold or was written again
 * meanwhile.
 */
export async function readSettled<T>(read: Executor, appId: number, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const before = await coldState(read, appId);
    const result = await work();
    if ((await coldState(read, appId)) === before) return result;
    if (attempt === ATTEMPTS_MAX) throw new ApiError("overloaded", "The lake is being written; try again.");
  }
}

const ATTEMPTS_MAX = 5;

async function coldState(read: Executor, appId: number): Promise<string> {
  if ((await loadColdLakes(read)).length === 0) return "";
  const [row] = await query<{ state: string }>(
    read,
    sql`select concat_ws(' ', (select count(*) from lake_gone where app_id = ${appId}),
      (select md5(string_agg(day::text, ' ' order by day)) from event_day where state = 'cold'),
      (select md5(string_agg(name, ' ' order by name)) from lake_file f
        where app_id = ${appId} and kind = 'events' and ${isCold(sql`f.day`)})) as state`,
  );
  return row!.state;
}

/** Files of cold days that count. Nothing can take their place. */
export async function loadColdNames(read: Executor): Promise<Set<string>> {
  const rows = await query<{ name: string }>(
    read,
    sql`select name from lake_file f where kind = 'events' and ${isCold(sql`f.day`)}`,
  );
  return new Set(rows.map(({ name }) => name));
}

/** A user whose rows in the files of a day no longer count. */
export type GoneUser = { day: string; digest: string };

export function digestOf(clientId: string): string {
  return md5(clientId);
}

export async function noteGone(tx: Executor, { appId, clientId }: UserKey, days: readonly string[]): Promise<void> {
  if (days.length === 0) return;
  const gone = rowsOf("gone", days, { day: ["date", (day) => day] });
  await execute(
    tx,
    sql`insert into lake_gone (app_id, day, client_digest)
      select ${appId}::int, day, ${digestOf(clientId)}::uuid from ${gone} on conflict do nothing`,
  );
}

export async function loadGone(
  read: Executor,
  { appId, clientIds, fromDay = "-infinity", untilDay = "infinity" }: ColdWish,
): Promise<GoneUser[]> {
  const ofUsers = clientIds === undefined ? sql`` : sql`and client_digest = any(${clientIds.map(digestOf)}::uuid[])`;
  return query<GoneUser>(
    read,
    sql`select day, replace(client_digest::text, '-', '') as digest from lake_gone
      where app_id = ${appId} and day >= ${fromDay}::date and day < ${untilDay}::date ${ofUsers}`,
  );
}

/** Forgets what a day that is written again no longer needs: nobody is gone from its new file. */
export async function settleColdDay(tx: Executor, { appId, day }: { appId: number; day: string }): Promise<void> {
  const own = sql`app_id = ${appId} and day = ${day}::date`;
  await execute(tx, sql`delete from lake_gone where ${own}`);
  await execute(tx, sql`delete from lake_late where ${own}`);
}

/** Forgets who is gone from days that are dropped. */
export async function forgetGone(tx: Executor, appId: number): Promise<void> {
  const rows = await query<{ day: string }>(tx, sql`select distinct day from lake_gone where app_id = ${appId}`);
  const days = rows.map(({ day }) => day);
  const cold = new Set(await loadColdAmong(tx, days));
  const dropped = days.filter((day) => !cold.has(day));
  if (dropped.length > 0)
    await execute(tx, sql`delete from lake_gone where app_id = ${appId} and day = any(${dropped}::date[])`);
}

/** The number of events that are only in files, of one app or of all. */
export async function countColdEvents(read: Executor, appId?: number): Promise<number> {
  if ((await loadColdLakes(read)).length === 0) return 0;
  const ofApp = appId === undefined ? sql`` : sql`and app_id = ${appId}`;
  const [row] = await query<{ events: number }>(
    read,
    sql`select coalesce(sum(rows), 0)::bigint as events from lake_file f where kind = 'events' ${ofApp} and ${isCold(sql`f.day`)}`,
  );
  return row!.events;
}
