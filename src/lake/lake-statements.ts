import type { CheckedColumns } from "../db/lake-check.ts";
import { CSV_QUOTE } from "../db/lake-source.ts";
import type { LakeKind } from "../domain/lake.ts";
import { storedColumn } from "../domain/lake-properties.ts";
import { MIB } from "../limits.ts";
import { LAKE_SCHEMA, LAKE_TABLES } from "./lake-tables.ts";

/** A text inside a statement of the engine, which takes no parameters for names of files. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

export function listOfFiles(files: readonly string[]): string {
  return `[${files.map(quoted).join(", ")}]`;
}

/** The engine reads rows through a buffer that must be larger than any of them, and takes its memory whole. */
export const ROW_BYTES = { usual: 4 * MIB, largest: 96 * MIB } as const;

/** Rows as src/db/lake-source.ts writes them. They are read by one thread: a line break in a text is no end of a row. */
export function rowsOfCsv(kind: LakeKind, file: string, rowBytesMax: number): string {
  const columns = LAKE_TABLES[kind].columns.map(({ read }) => `${quoted(read.name)}: ${quoted(read.type)}`);
  const quote = quoted(CSV_QUOTE);
  return `read_csv(${quoted(file)}, header = false, auto_detect = false, delim = ',', quote = ${quote}, escape = ${quote}, new_line = '\\n',
    nullstr = '', allow_quoted_nulls = false, parallel = false, max_line_size = ${rowBytesMax}, buffer_size = ${rowBytesMax + MIB},
    columns = {'day': 'DATE', ${columns.join(", ")}})`;
}

/** The columns of a file, made of the rows that were read. */
export function columnsOf(kind: LakeKind): string {
  return LAKE_TABLES[kind].columns
    .map(({ name, read, value }) => (value ? `${value} as ${named(name)}` : `${named(read.name)} as ${named(name)}`))
    .join(", ");
}

export function namesOf(kind: LakeKind): string {
  return LAKE_TABLES[kind].columns.map(({ name }) => named(name)).join(", ");
}

/** Some names, such as `time`, are words of the language. */
export function named(name: string): string {
  return `"${name}"`;
}

/** Which columns are added up and which are compared as texts, under the names with which they are read. */
export function checkedColumns(kind: LakeKind): CheckedColumns {
  const columns = LAKE_TABLES[kind].columns.map(({ read }) => read);
  const isNumber = ({ type }: { type: string }) => type === "BIGINT" || type === "INTEGER";
  const names = (read: readonly { name: string }[]) => read.map(({ name }) => name);
  return {
    all: names(columns),
    numbers: names(columns.filter(isNumber)),
    texts: names(columns.filter((column) => !isNumber(column))),
  };
}

/** The sums of files, as `loadDaySums` gives those of the tables. */
export function sumsOfFiles(kind: LakeKind, files: readonly string[]): string {
  return sumsOfRows(kind, `read_parquet(${listOfFiles(files)}, hive_partitioning = false)`);
}

/** The same of rows in the columns of a file. */
export function sumsOfRows(kind: LakeKind, rows: string): string {
  const values = new Map(
    LAKE_TABLES[kind].columns.map(({ name, read, value }) => [
      read.name,
      value ? `epoch_ms(${named(name)})` : named(name),
    ]),
  );
  const { numbers, texts } = checkedColumns(kind);
  const checked = texts.map((name) => `${values.get(name)}::varchar`).join(", ");
  const sums = [
    "count(*)",
    ...numbers.map((name) => `coalesce(sum(${values.get(name)}::hugeint), 0)`),
    `coalesce(sum(('0x' || left(md5(concat_ws(' ', ${checked})), 8))::bigint::hugeint), 0)`,
  ];
  return `select ${sums.join(", ")} from ${rows}`;
}

/**
 * A question about one event reads whole groups, in which others lie too: with half as many rows in each as before, it reads its
 * texts in half the time. Smaller ones take longer to read again, and a file that is read whole does not get slower.
 */
const ROWS_PER_GROUP = 49_152;

/**
 * Values that a group may have in a dictionary. The engine looks each text up until there are more: with its own limit, a fifth
 * of the rows, that took a twentieth of the time of writing, and files are no smaller for it.
 */
const VALUES_IN_DICTIONARY = 1_024;

/** A property as text. `row`: how the statement calls the row, with a point. */
export function propertyText(name: string, row = ""): string {
  return `json_extract_string(${row}properties, ${quoted(`$."${name}"`)})`;
}

/** The same for several properties, in one structure: the JSON is read once for all. */
function propertiesOf(names: readonly string[]): string {
  const structure = Object.fromEntries(names.map((name) => [name, "VARCHAR"]));
  return `json_transform(properties, ${quoted(JSON.stringify(structure))})`;
}

/** Rows with columns for some of their properties, which are read after sorting, so that the sort moves less. */
function withProperties(rows: string, names: readonly string[]): string {
  if (names.length === 0) return rows;
  const columns = names.map((name) => `texts.${named(name)} as ${named(storedColumn(name))}`);
  return `select * exclude (texts), ${columns.join(", ")} from (select *, ${propertiesOf(names)} as texts from (${rows}))`;
}

/** Rows in which a column differs from the property that it should hold. */
export function wrongProperties(file: string, names: readonly string[]): string {
  const differs = names.map((name) => `${named(storedColumn(name))} is distinct from texts.${named(name)}`);
  return `select count(*) from (select *, ${propertiesOf(names)} as texts
    from read_parquet(${quoted(file)}, hive_partitioning = false)) where ${differs.join(" or ")}`;
}

/**
 * Writes rows into a file in the order of their table. The least effort at compression is enough: with it, the files of sorted
 * events are no larger than with the usual one, 34.7 bytes an event instead of 35.0.
 */
export function writeFile(kind: LakeKind, rows: string, file: string, properties: readonly string[]): string {
  const inOrder = `select * from (${rows}) order by ${LAKE_TABLES[kind].order}`;
  return `copy (${withProperties(inOrder, properties)}) to ${quoted(file)}
    (format parquet, compression zstd, compression_level 1, parquet_version v2, row_group_size ${ROWS_PER_GROUP}, dictionary_size_limit ${VALUES_IN_DICTIONARY},
      kv_metadata {touchpoint_schema: ${quoted(String(LAKE_SCHEMA))}})`;
}
