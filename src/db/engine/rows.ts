import { plainArray, textArray } from "./array-text.ts";
import { cursorAt, type Place, placeOf } from "./place.ts";
import { rowColumn } from "./row-column.ts";
import { type Executor, eitherOf, identifier, listed, type Sql, sql } from "./sql.ts";

/** The types of columns, and what their values are in the program. */
type Values = {
  int: number;
  bigint: number;
  boolean: boolean;
  text: string;
  uuid: string;
  date: string;
  /** A text is JSON already: parsing it would round its longest numbers. */
  jsonb: object | string;
};
type ColumnType = keyof Values;

/** A column whose values are made from each row. */
type Made<Row> = {
  [T in ColumnType]: readonly [T, (row: Row, index: number) => Values[T] | null | undefined];
}[ColumnType];

type TypeFor<Value> = { [T in ColumnType]: [Value] extends [Values[T] | null | undefined] ? T : never }[ColumnType];

/** Each key that has only a type is one of the row's, with values of that type. */
type Checked<Row, Columns> = {
  [Key in keyof Columns]: Columns[Key] extends ColumnType
    ? Key extends keyof Row
      ? TypeFor<Row[Key]>
      : never
    : Columns[Key];
};

/**
 * Rows as a table of the statement:
 *
 *   sql`insert into touched (app_id, client_id, digest)
 *     select app_id, client_id, digest from ${rowsOf("new", touches, {
 *       appId: "int",
 *       clientId: "text",
 *       digest: ["text", (touch) => md5(touch.token)],
 *     })}`
 *
 * becomes `unnest($1::int[], $2::text[], $3::text[]) as new (app_id, client_id, digest)`: one parameter per column, so
 * the statement's text does not depend on the number of rows. Missing values are null.
 *
 * Rows of a single app, as they nearly always are, name it once, as a constant: `app_id = new.app_id` then becomes
 * `app_id = $1` for the planner, and a distributed database knows the one place where the rows are. A database on one
 * machine, where that is known, gets a list as of any other column: with the constant, the planner takes an app that its
 * statistics do not know for empty, reads all of its rows and compares each with each wanted one.
 */
export function rowsOf<Row, const Columns extends Readonly<Record<string, ColumnType | Made<Row>>>>(
  name: string,
  rows: readonly Row[],
  columns: Columns & Checked<Row, Columns>,
): Sql {
  return tableOf(name, describe(rows, columns), undefined);
}

/** The same of rows that are to be inserted. Where the transaction has a place, they are selected beside it (see place.ts). */
export function newRows<Row, const Columns extends Readonly<Record<string, ColumnType | Made<Row>>>>(
  executor: Executor,
  name: string,
  rows: readonly Row[],
  columns: Columns & Checked<Row, Columns>,
): Sql {
  return tableOf(name, describe(rows, columns), placeOf(executor));
}

/** A column, its values, and the same as a parameter. */
type Described = { key: string; name: Sql; values: readonly unknown[]; list: Sql };

function describe<Row>(rows: readonly Row[], columns: Readonly<Record<string, ColumnType | Made<Row>>>): Described[] {
  return Object.entries(columns).map(([key, column]) => {
    const { name, read } = rowColumn(key);
    const [type, values] =
      typeof column === "string"
        ? [column, read(rows as readonly object[])]
        : [column[0], rows.map<unknown>(column[1])];
    return { key, name, values, list: sql`${arrayOf(type, values)}::${identifier(type)}[]` };
  });
}

function tableOf(name: string, columns: readonly Described[], place: Place | undefined): Sql {
  const alias = identifier(name);
  const names = listed(columns.map((column) => column.name));
  const app = columns.find(({ key, values }) => key === "appId" && isOneValue(values));
  const allListed = sql`unnest(${listsOf(columns)}) as ${alias} (${names})`;
  if (!app || columns.length === 1) return allListed;
  const others = columns.filter((column) => column !== app);
  const rest = listed(others.map((column) => column.name));
  const lists = sql`unnest(${listsOf(others)}) as listed (${rest})`;
  const isThere = place?.appId === app.values[0];
  const appId = isThere ? sql`own.app_id` : sql`${app.values[0]}::int`;
  const ordered = listed(columns.map((column) => (column === app ? appId : column.name)));
  const ofOneApp = sql`(select ${ordered} from ${isThere ? sql`${cursorAt(place!)}, ${lists}` : lists}) as ${alias} (${names})`;
  return eitherOf(ofOneApp, allListed);
}

/**
 * The first row for each value of these keys. Repeats are removed here and not by `distinct` in the statement, which would
 * hide from the planner that all rows are of one app.
 */
export function firstOfEach<Row>(rows: readonly Row[], keys: readonly (keyof Row)[]): Row[] {
  const seen = new Map<string, Row>();
  for (const row of rows) {
    const key = JSON.stringify(keys.map((name) => row[name]));
    if (!seen.has(key)) seen.set(key, row);
  }
  return [...seen.values()];
}

function isOneValue(values: readonly unknown[]): boolean {
  const [first] = values;
  return typeof first === "number" && values.every((value) => value === first);
}

function listsOf(columns: readonly Described[]): Sql {
  return listed(columns.map(({ list }) => list));
}

function arrayOf(type: ColumnType, values: readonly unknown[]): string {
  if (type === "text") return textArray(values as readonly (string | null | undefined)[]);
  if (type === "jsonb") return textArray(values.map(jsonText));
  return plainArray(values);
}

function jsonText(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}
