import type pg from "pg";
import { CopyIn } from "./copy-in.ts";
import { placeOf } from "./place.ts";
import { PlacedRows, type Target } from "./placed-rows.ts";
import { execute, identifier, listed, type Sql, sql } from "./sql.ts";

const ROWS_PER_CHUNK = 1_000;

/** Streams rows into one table: the database stores the first ones while the caller still makes the others. */
export class RowCopy {
  readonly #tx: pg.PoolClient;
  readonly #statement: CopyStatement;
  #open: CopyIn | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(tx: pg.PoolClient, statement: CopyStatement) {
    this.#tx = tx;
    this.#statement = statement;
  }

  /**
   * Writes whole rows in the form that the statement names. Resolves once the rows before have left this process, so that
   * their memory can be used for others. Until `end`, the connection can run no other statement.
   */
  async write(rows: Buffer): Promise<void> {
    this.#open ??= this.#tx.query(new CopyIn(this.#statement));
    const before = this.#last;
    this.#last = this.#open.write(rows);
    // Awaited in the next call, and told by `end` in any case; until then a failure must not count as unhandled.
    this.#last.catch(() => {});
    await before;
  }

  /** `trailer`: what the form of the rows needs at their end. */
  async end(trailer?: Buffer): Promise<void> {
    if (!this.#open) return;
    if (trailer) await this.write(trailer);
    await this.#open.end();
  }
}

/**
 * Stores new rows in COPY's text form. They may be made one by one: the database stores the first ones meanwhile. Where the
 * transaction has a place, they are inserted beside it.
 */
export async function copyRows(tx: pg.PoolClient, target: Target, rows: Iterable<string>): Promise<void> {
  const place = placeOf(tx);
  await writeRows(place ? new PlacedRows(tx, place, { target }) : new RowCopy(tx, copyInto(target)), rows);
}

/** Stores rows of which some may be stored already; `conflict` says what becomes of those. */
export async function mergeRows(
  tx: pg.PoolClient,
  target: Target,
  { rows, conflict }: { rows: Iterable<string>; conflict: Sql },
): Promise<void> {
  const place = placeOf(tx);
  if (place) return writeRows(new PlacedRows(tx, place, { target, conflict }), rows);
  const { table, columns } = target;
  const stage = `stage_${table}`;
  await tx.query(
    `create temporary table if not exists ${stage} (like ${table} including defaults) on commit delete rows`,
  );
  // A transaction may come here several times.
  await tx.query(`delete from ${stage}`);
  await writeRows(new RowCopy(tx, copyInto({ table: stage, columns })), rows);
  const names = listed(columns.split(", ").map(identifier));
  await execute(
    tx,
    sql`insert into ${identifier(table)} (${names}) select ${names} from ${identifier(stage)} ${conflict}`,
  );
}

/** The columns of a row that takes the place of a stored one. */
export function replacing(columns: readonly string[]): Sql {
  return listed(columns.map((name) => sql`${identifier(name)} = excluded.${identifier(name)}`));
}

async function writeRows(
  to: { write(rows: Buffer): Promise<void>; end(): Promise<void> },
  rows: Iterable<string>,
): Promise<void> {
  let chunk: string[] = [];
  const send = async () => {
    if (chunk.length > 0) await to.write(Buffer.from(`${chunk.join("\n")}\n`));
    chunk = [];
  };
  try {
    for (const row of rows) if (chunk.push(row) === ROWS_PER_CHUNK) await send();
    await send();
  } finally {
    // Also when a row cannot be made: otherwise the connection could not even roll back.
    await to.end();
  }
}

function copyInto({ table, columns }: Target): CopyStatement {
  return `copy ${table} (${columns}) from stdin`;
}

/** The rows of `items`, each made when it is asked for. */
export function* rowsFrom<T>(items: Iterable<T>, toRow: (item: T) => string): Iterable<string> {
  for (const item of items) yield toRow(item);
}

export type CopyStatement = `copy ${string} from stdin${"" | " (format binary)"}`;

export const NULL = "\\N";

/** A text as COPY reads it. Most texts hold none of the four special characters, so a test comes first. */
export function copyText(text: string): string {
  return SPECIAL.test(text) ? text.replace(SPECIALS, (character) => ESCAPES[character]!) : text;
}

/** JSON text as COPY reads it. JSON holds no raw control characters, so only backslashes are escaped. */
export function copyJson(json: string): string {
  return json.includes("\\") ? json.replaceAll("\\", ESCAPED_BACKSLASH) : json;
}

export function copyNullable(value: string | number | null): string {
  return value === null ? NULL : typeof value === "number" ? String(value) : copyText(value);
}

const SPECIAL = /[\\\t\n\r]/;
const SPECIALS = /[\\\t\n\r]/g;
/** By its code: unlike a pair of backslashes, it can be replaced without regard to what stands around it. */
const ESCAPED_BACKSLASH = "\\134";
const ESCAPES: Readonly<Record<string, string>> = { "\\": ESCAPED_BACKSLASH, "\t": "\\t", "\n": "\\n", "\r": "\\r" };
