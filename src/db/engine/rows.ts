import { plainArray, textArray } from "./array-text.ts";
import { rowColumn } from "./row-column.ts";
import { identifier, listed, type Sql, sql } from "./sql.ts";

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
 */
export function rowsOf<Row, const Columns extends Readonly<Record<string, ColumnType | Made<Row>>>>(
  name: string,
  rows: readonly Row[],
  columns: Columns & Checked<Row, Columns>,
): Sql {
  const described = Object.entries<ColumnType | Made<Row>>(columns).map(([key, column]) => {
    const { name, read } = rowColumn(key);
    const [type, values] =
      typeof column === "string"
        ? [column, read(rows as readonly object[])]
        : [column[0], rows.map<unknown>(column[1])];
    return { name, list: sql`${arrayOf(type, values)}::${identifier(type)}[]` };
  });
  const lists = listed(described.map(({ list }) => list));
  return sql`unnest(${lists}) as ${identifier(name)} (${listed(described.map((column) => column.name))})`;
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
