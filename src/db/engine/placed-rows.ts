import type pg from "pg";
import { MIB } from "../../limits.ts";
import { cursorAt, type Place } from "./place.ts";
import { execute, identifier, listed, literal, query, type Sql, sql } from "./sql.ts";

/** Rows that go to the database together. A statement on another machine has a price, whatever its size. */
export const INSERTED_BYTES = 2 * MIB;

/** A table to insert into. The first column is the app. */
export type Target = { table: string; columns: string };

/**
 * Inserts rows in COPY's text form beside the app's cursor (see place.ts): they are one parameter, which only the app's
 * machine takes apart. As with a COPY, the database stores rows while the caller still makes others.
 */
export class PlacedRows {
  readonly #tx: pg.PoolClient;
  readonly #place: Place;
  readonly #target: Target;
  readonly #conflict: Sql | undefined;
  #waiting: Buffer[] = [];
  #bytes = 0;
  #sent: Promise<void> = Promise.resolve();

  /** `conflict`: what becomes of rows that are stored already. Without it there may be none. */
  constructor(tx: pg.PoolClient, place: Place, { target, conflict }: { target: Target; conflict?: Sql }) {
    this.#tx = tx;
    this.#place = place;
    this.#target = target;
    this.#conflict = conflict;
  }

  /** Writes whole rows, each with a line break at its end. */
  async write(rows: Buffer): Promise<void> {
    this.#waiting.push(rows);
    this.#bytes += rows.length;
    if (this.#bytes >= INSERTED_BYTES) await this.#send();
  }

  async end(): Promise<void> {
    if (this.#bytes > 0) await this.#send();
    await this.#sent;
  }

  async #send(): Promise<void> {
    const rows = this.#waiting.length === 1 ? this.#waiting[0]! : Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#bytes = 0;
    await this.#sent;
    this.#sent = this.#insert(rows);
    // Awaited before the next rows, and in `end`; until then a failure must not count as unhandled.
    this.#sent.catch(() => {});
  }

  async #insert(rows: Buffer): Promise<void> {
    const { table, columns } = this.#target;
    const types = await typesOf(this.#tx, table);
    const names = columns.split(", ");
    if (names[0] !== "app_id") throw new Error(`The first column of ${table} is not the app.`);
    const form = hasEscapes(rows) ? "escaped" : "plain";
    const values = names.slice(1).map((name, index) => valueIn(literal(index + 2), types.get(name), form));
    // The parameter is selected, so that no planner takes it apart beforehand: that took a third as long as the insert.
    const inserted = await execute(
      this.#tx,
      sql`insert into ${identifier(table)} (${listed(names.map(identifier))})
        select own.app_id, ${listed(values)} from ${cursorAt(this.#place)},
          (select string_to_array(line, chr(9), '\\N') as field
            from unnest(string_to_array((select ${rows.subarray(0, -1)}::text), chr(10))) as line offset 0) as listed
        ${this.#conflict ?? sql``}`,
      `insert_${table}`,
    );
    if (this.#conflict === undefined && inserted !== countLines(rows))
      throw new Error(`${inserted} of ${countLines(rows)} rows of ${table} were inserted.`);
  }
}

/** The types of a table's columns, by connection and table. */
const knownTypes = new WeakMap<object, Map<string, ReadonlyMap<string, string>>>();

async function typesOf(tx: pg.PoolClient, table: string): Promise<ReadonlyMap<string, string>> {
  const tables = knownTypes.get(tx) ?? new Map<string, ReadonlyMap<string, string>>();
  knownTypes.set(tx, tables);
  const known = tables.get(table);
  if (known) return known;
  const rows = await query<{ name: string; type: string }>(
    tx,
    sql`select attname::text as name, format_type(atttypid, null) as type from pg_attribute
      where attrelid = ${table}::regclass and attnum > 0 and not attisdropped`,
  );
  const types = new Map(rows.map(({ name, type }) => [name, type]));
  tables.set(table, types);
  return types;
}

/** Types whose values are read the same way whatever the settings. */
const READ_AS_IS: readonly string[] = ["integer", "bigint", "smallint", "boolean", "uuid"];

/**
 * A field as a value of its column. Days and lists, which are lists of plain names, are made of their parts: what the
 * database reads by its settings, Citus would evaluate before it passes the statement on.
 */
function valueIn(number: Sql, type: string | undefined, form: "plain" | "escaped"): Sql {
  const field = sql`field[${number}]`;
  if (type === "text") return textOf(field, form);
  if (type === "jsonb" || type === "json") return sql`${textOf(field, form)}::${identifier(type)}`;
  if (type === "date")
    return sql`make_date(left(${field}, 4)::int, substr(${field}, 6, 2)::int, substr(${field}, 9, 2)::int)`;
  if (type === "text[]") return sql`string_to_array(btrim(${field}, '{}'), ',')`;
  if (type === undefined || !READ_AS_IS.includes(type)) throw new Error(`A field cannot become a ${type}.`);
  return sql`${field}::${identifier(type)}`;
}

/** Undoes what `copyText` and `copyJson` do. Backslashes come last, so that none of them begins another escape. */
function textOf(field: Sql, form: "plain" | "escaped"): Sql {
  if (form === "plain") return field;
  return sql`replace(replace(replace(replace(${field}, '\\t', chr(9)), '\\n', chr(10)), '\\r', chr(13)), '\\134', '\\')`;
}

const [BACKSLASH, LINE_BREAK, LETTER_N] = [0x5c, 0x0a, 0x4e];

/** Whether something is escaped, missing values aside. */
function hasEscapes(rows: Buffer): boolean {
  for (let at = rows.indexOf(BACKSLASH); at >= 0; at = rows.indexOf(BACKSLASH, at + 1))
    if (rows[at + 1] !== LETTER_N) return true;
  return false;
}

function countLines(rows: Buffer): number {
  let lines = 0;
  for (let at = rows.indexOf(LINE_BREAK); at >= 0; at = rows.indexOf(LINE_BREAK, at + 1)) lines += 1;
  return lines;
}
