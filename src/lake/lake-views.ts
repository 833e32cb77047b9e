import { calendarOf, DAY_MS } from "../domain/calendar.ts";
import { LAKE_KINDS, type LakeKind } from "../domain/lake.ts";
import { outsideLiterals, propertiesNamedIn, propertyColumn, storedColumn } from "../domain/lake-properties.ts";
import { listOfFiles, named, propertyText, quoted } from "./lake-statements.ts";
import { LAKE_TABLES } from "./lake-tables.ts";

/** A file of the lake, the day of its rows, and the properties that are columns of it. */
export type ViewedFile = { kind: LakeKind; day: string; path: string; properties: readonly string[] };

/**
 * The views of an app that a statement is put to: the tables of the lake with the day, the time of the app's clocks, and the
 * properties of events that the statement names. Also the statement, in which properties that no view can have are spelled out.
 */
export function viewsFor(
  files: readonly ViewedFile[],
  asked: { zone: string; statement: string; kinds?: readonly LakeKind[] },
): { views: string[]; statement: string } {
  const { names, statement } = spelled(asked.statement);
  const views = (asked.kinds ?? LAKE_KINDS).map((kind) => {
    const own = files.filter((file) => file.kind === kind);
    const columns = LAKE_TABLES[kind].columns.map(({ name }) => named(name));
    const day = `"day" as ${kind === "users" ? "registered_day" : '"day"'}`;
    const local = HAVE_LOCAL_TIME.has(kind) ? [`${localTime(own, asked.zone)} as local_time`] : [];
    const selects = alike(own, kind === "events" ? names : []).map(({ files: same, properties }) => {
      return `select ${[...columns, day, ...local, ...properties].join(", ")} from ${rowsOf(kind, same)}`;
    });
    return `create view ${kind} as ${selects.join(" union all ")}`;
  });
  return { views, statement };
}

/** The tables that a statement may read. A view takes 2 to 3 ms to be made, because a file is opened for it. */
export function kindsNamedIn(statement: string): LakeKind[] {
  return LAKE_KINDS.filter((kind) => new RegExp(`\\b${kind}\\b`, "i").test(statement));
}

/**
 * The properties that are columns of the view. Names of columns ignore case, those of properties do not: where the statement
 * names several that differ only in case, the first is a column and the others are taken from the JSON.
 */
function spelled(statement: string): { names: string[]; statement: string } {
  const columns = new Map<string, string>();
  let text = statement;
  for (const name of propertiesNamedIn(statement)) {
    if (columns.has(name.toLowerCase())) text = withJson(text, name);
    else columns.set(name.toLowerCase(), name);
  }
  return { names: [...columns.values()], statement: text };
}

function withJson(statement: string, name: string): string {
  const column = new RegExp(`(?:\\b([A-Za-z_]\\w*)\\.)?("?)\\bevent\\$${name.replace("$", "\\$")}\\2(?!\\w)`, "g");
  return outsideLiterals(statement, (part) => {
    return part.replace(column, (_, row?: string) => propertyText(name, row === undefined ? "" : `${row}.`));
  });
}

type Alike = { files: readonly ViewedFile[]; properties: readonly string[] };

/** Files by those of the named properties that they have as columns, and all of these properties as columns of the view. */
function alike(files: readonly ViewedFile[], names: readonly string[]): Alike[] {
  const groups = new Map<string, ViewedFile[]>();
  for (const file of files) {
    const key = names.filter((name) => file.properties.includes(name)).join();
    groups.set(key, [...(groups.get(key) ?? []), file]);
  }
  if (groups.size === 0) groups.set("", []);
  return [...groups].map(([key, own]) => {
    const stored = new Set(key.split(","));
    const properties = names.map((name) => {
      const text = stored.has(name) ? named(storedColumn(name)) : propertyText(name);
      return `${text} as ${named(propertyColumn(name))}`;
    });
    return { files: own, properties };
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
