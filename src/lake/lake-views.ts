import { calendarOf, DAY_MS } from "../domain/calendar.ts";
import { LAKE_KINDS, type LakeKind } from "../domain/lake.ts";
import { listOfFiles, named, quoted } from "./lake-statements.ts";
import { LAKE_TABLES } from "./lake-tables.ts";

/** A file of the lake, and the day of its rows. */
export type ViewedFile = { kind: LakeKind; day: string; path: string };

/** The views of an app that questions are put to: the tables of the lake with the day, and the time of the app's clocks. */
export function viewsOf(files: readonly ViewedFile[], zone: string): string[] {
  return LAKE_KINDS.map((kind) => {
    const own = files.filter((file) => file.kind === kind);
    const columns = LAKE_TABLES[kind].columns.map(({ name }) => named(name));
    const day = `"day" as ${kind === "users" ? "registered_day" : '"day"'}`;
    const local = HAVE_LOCAL_TIME.has(kind) ? [`${localTime(own, zone)} as local_time`] : [];
    return `create view ${kind} as select ${[...columns, day, ...local].join(", ")} from ${rowsOf(kind, own)}`;
  });
}

const HAVE_LOCAL_TIME: ReadonlySet<LakeKind> = new Set(["events", "orders"]);

function rowsOf(kind: LakeKind, files: readonly ViewedFile[]): string {
  if (files.length === 0) {
    const columns = LAKE_TABLES[kind].columns.map(({ name, read, value }) => {
      return `null::${value ? "TIMESTAMP_MS" : read.type} as ${named(name)}`;
    });
    return `(select ${columns.join(", ")}, null::DATE as "day" where false)`;
  }
  const paths = files.map(({ path }) => path);
  return `read_parquet(${listOfFiles(paths)}, hive_partitioning = true, hive_types = {'app': INTEGER, 'day': DATE})`;
}

/**
 * The local time of a row. Written as a sum and not by the engine's own time zones: it costs nothing, and both agree with the
 * calendar that gives each event its day.
 */
function localTime(files: readonly ViewedFile[], zone: string): string {
  const days = files.map(({ day }) => day).sort();
  if (days.length === 0) return `"time"::TIMESTAMP`;
  // A local day lies within a day around that of UTC.
  const range = { fromMs: Date.parse(days[0]!) - DAY_MS, untilMs: Date.parse(days.at(-1)!) + 2 * DAY_MS };
  const [last, ...earlier] = calendarOf(zone).offsetsIn(range).reverse();
  const shifted = (offsetMs: number) => `"time"::TIMESTAMP + interval (${offsetMs / 1_000}) second`;
  const cases = earlier.map(({ offsetMs, untilMs }) => {
    return `when "time" < ${quoted(new Date(untilMs).toISOString().replace("T", " ").replace("Z", ""))}::TIMESTAMP then ${shifted(offsetMs)}`;
  });
  if (cases.length === 0) return shifted(last!.offsetMs);
  return `case ${cases.reverse().join(" ")} else ${shifted(last!.offsetMs)} end`;
}
