import type { LakeDay, LakeKind } from "../domain/lake.ts";
import { rowsOf } from "./engine/rows.ts";
import { allOf, type Executor, execute, query, sql } from "./engine/sql.ts";

/** A file of the lake: the app's rows of a day, or a part of them. `properties`: those that are columns of their own. */
export type LakeFile = LakeDay & {
  name: string;
  rows: number;
  bytes: number;
  properties: readonly string[];
  writtenAtMs: number;
};

const COLUMNS = sql`app_id, kind, day, name, rows, bytes, properties, written_at_ms`;

export type FilesWanted = { appId: number; kind?: LakeKind; fromDay?: string; untilDay?: string };

/** The files that count, oldest days first. */
export async function loadLakeFiles(executor: Executor, wanted: FilesWanted): Promise<LakeFile[]> {
  const { appId, kind, fromDay, untilDay } = wanted;
  const conditions = [
    sql`app_id = ${appId}`,
    ...(kind === undefined ? [] : [sql`kind = ${kind}`]),
    ...(fromDay === undefined ? [] : [sql`day >= ${fromDay}::date`]),
    ...(untilDay === undefined ? [] : [sql`day < ${untilDay}::date`]),
  ];
  return query<LakeFile>(
    executor,
    sql`select ${COLUMNS} from lake_file where ${allOf(conditions)} order by kind, day, written_at_ms, name`,
  );
}

/** The files of all apps, for what is to be compared with the folder. */
export async function loadAllLakeFiles(executor: Executor): Promise<LakeFile[]> {
  return query<LakeFile>(executor, sql`select ${COLUMNS} from lake_file`);
}

/** The files of an app's days whose events are no longer stored. */
export async function loadFilesOfDroppedDays(executor: Executor, appId: number): Promise<LakeFile[]> {
  return query<LakeFile>(
    executor,
    sql`select ${COLUMNS} from lake_file f where app_id = ${appId} and kind = 'events' and exists (
      select 1 from event_day d where d.state = 'dropped' and f.day >= d.day and f.day < d.until_day)`,
  );
}

export async function insertLakeFiles(tx: Executor, files: readonly LakeFile[]): Promise<void> {
  if (files.length === 0) return;
  const fresh = rowsOf("new", files, {
    appId: "int",
    kind: "text",
    day: "date",
    name: "text",
    rows: "bigint",
    bytes: "bigint",
    properties: "jsonb",
    writtenAtMs: "bigint",
  });
  await execute(tx, sql`insert into lake_file (${COLUMNS}) select ${COLUMNS} from ${fresh}`);
}

/** Returns how many of them were there. */
export async function deleteLakeFiles(tx: Executor, files: readonly LakeFile[]): Promise<number> {
  if (files.length === 0) return 0;
  const gone = rowsOf("gone", files, { appId: "int", kind: "text", day: "date", name: "text" });
  return execute(
    tx,
    sql`delete from lake_file f using ${gone} where f.app_id = gone.app_id and f.kind = gone.kind collate "C"
      and f.day = gone.day and f.name = gone.name collate "C"`,
  );
}

/** Makes files count instead of others. Throws when these no longer count. */
export async function replaceLakeFiles(
  tx: Executor,
  old: readonly LakeFile[],
  files: readonly LakeFile[],
): Promise<void> {
  if ((await deleteLakeFiles(tx, old)) !== old.length) throw new Error("Files of the lake were replaced meanwhile.");
  await insertLakeFiles(tx, files);
}

/** What is in files, by app and table. */
export type LakeTotal = Pick<LakeFile, "appId" | "kind" | "rows" | "bytes"> & { days: number; files: number };

export async function loadLakeTotals(executor: Executor): Promise<LakeTotal[]> {
  return query<LakeTotal>(
    executor,
    sql`select app_id, kind, count(distinct day) as days, count(*) as files, sum(rows)::bigint as rows,
        sum(bytes)::bigint as bytes
      from lake_file group by app_id, kind order by app_id, kind`,
  );
}

/** The properties of events that nearly all rows of some days have as columns of their own. */
export async function loadStoredProperties(
  executor: Executor,
  { appId, fromDay, toDay }: { appId: number; fromDay: string; toDay: string },
): Promise<Set<string>> {
  const stored = await query<{ name: string }>(
    executor,
    sql`with own as (select rows, properties from lake_file
        where app_id = ${appId} and kind = 'events' and day between ${fromDay}::date and ${toDay}::date)
      select name from own, jsonb_array_elements_text(own.properties) name group by name
      having sum(rows) >= 0.9 * (select sum(rows) from own)`,
  );
  return new Set(stored.map(({ name }) => name));
}

/** An app's files in short. `names` is a sum over them, which another set of files does not have. */
export type FilesDigest = { appId: number; files: number; names: string };

export async function loadFilesDigests(executor: Executor): Promise<FilesDigest[]> {
  return query<FilesDigest>(
    executor,
    sql`select app_id, count(*) as files, sum(hashtextextended(name, 0)::numeric)::text as names
      from lake_file group by app_id order by app_id`,
  );
}
