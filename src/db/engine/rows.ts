import { columnOf } from "./column-name.ts";
import { identifier, listed, type Sql, sql } from "./sql.ts";

/** The types of columns, and what their values are in the program. */
type Values = {
  int: number;
  bigint: number;
  boolean: boolean;
  text: string;
  uuid: string;
  date: string;
  jsonb: unknown;
};
type ColumnType = keyof Values;

/** A column whose values are made from each row. */
type Made<Row> = {
  [T in ColumnType]: readonly [T, (row: Row, index: number) => Values[T] | null | undefined];
}[ColumnType];

type TypeFor<Value> = { [T in ColumnType]: Value extends Values[T] | null | undefined ? T : never }[ColumnType];

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
 */
export function rowsOf<Row, const Columns extends Readonly<Record<string, ColumnType | Made<Row>>>>(
  name: string,
  rows: readonly Row[],
  columns: Columns & Checked<Row, Columns>,
): Sql {
  const described = Object.entries<ColumnType | Made<Row>>(columns);
  const lists = described.map(([key, column]) =>
    typeof column === "string"
      ? listOf(rows, column, (row) => (row as Record<string, unknown>)[key])
      : listOf(rows, column[0], column[1]),
  );
  const names = described.map(([key]) => identifier(columnOf(key)));
  return sql`unnest(${listed(lists)}) as ${identifier(name)} (${listed(names)})`;
}

function listOf<Row>(rows: readonly Row[], type: ColumnType, value: (row: Row, index: number) => unknown): Sql {
  const values = type === "jsonb" ? rows.map((row, index) => jsonOf(value(row, index))) : rows.map(value);
  return sql`${values}::${identifier(type)}[]`;
}

/** The driver would take a text for JSON already written, and an array for an array of the database. */
function jsonOf(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}
