import { calendarOf, DAY_MS } from "../domain/calendar.ts";
import { LAKE_KINDS, type LakeKind } from "../domain/lake.ts";
import { propertiesNamedIn, propertyColumn } from "../domain/lake-properties.ts";
import { ApiError } from "../errors.ts";
import { listOfFiles, named, propertyText, quoted } from "./lake-statements.ts";
import { LAKE_TABLES } from "./lake-tables.ts";

/** A file of the lake, the day of its rows, and the properties that are columns of it. */
export type ViewedFile = { kind: LakeKind; day: string; path: string; properties: readonly string[] };

/**
 * The views of an app that a statement is put to: the tables of the lake with the day, the time of the app's clocks, and the
 * properties of events that the statement names.
 */
export function viewsOf(files: readonly ViewedFile[], zone: string, statement: string): string[] {
  const properties = namedProperties(statement);
  return LAKE_KINDS.map((kind) => {
    const own = files.filter((file) => file.kind === kind);
    const columns = LAKE_TABLES[kind].columns.map(({ name }) => named(name));
    const day = `"day" as ${kind === "users" ? "registered_day" : '"day"'}`;
    const local = HAVE_LOCAL_TIME.has(kind) ? [`${localTime(own, zone)} as local_time`] : [];
    const selects = byStored(own, kind === "events" ? properties : []).map(({ files, texts }) => {
      return `select ${[...columns, day, ...local, ...texts].join(", ")} from ${rowsOf(kind, files)}`;
    });
    return `create view ${kind} as ${selects.join(" union all ")}`;
  });
}

function namedProperties(statement: string): string[] {
  const names = propertiesNamedIn(statement);
  const first = new Map<string, string>();
  for (const name of names) {
    const other = first.get(name.toLowerCase());
    if (other !== undefined)
      throw new ApiError(
        "badParameter",
        `The properties ${other} and ${name} differ only in upper and lower case: ask for one of them.`,
      );
    first.set(name.toLowerCase(), name);
  }
  return names;
}

type Stored = { files: readonly ViewedFile[]; texts: readonly string[] };

/** Files by those of the named properties that they have as columns, and all of these as texts. */
function byStored(files: readonly ViewedFile[], names: readonly string[]): Stored[] {
  const groups = new Map<string, ViewedFile[]>();
  const storedIn = ({ properties }: ViewedFile) => names.filter((name) => properties.includes(name));
  for (const file of files) {
    const key = storedIn(file).join();
    groups.set(key, [...(groups.get(key) ?? []), file]);
  }
  if (groups.size === 0) groups.set("", []);
  return [...groups].map(([key, own]) => {
    const stored = new Set(key.split(","));
    const texts = names.map((name) => {
      const column = named(propertyColumn(name));
      return stored.has(name) ? column : `${propertyText(name)} as ${column}`;
    });
    return { files: own, texts };
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
