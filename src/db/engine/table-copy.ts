import { Readable } from "node:stream";
import type pg from "pg";
import { CopyInStream } from "./copy-in.ts";
import { CopyOut } from "./copy-out.ts";
import { compile, execute, identifier, listed, type Sql, sql } from "./sql.ts";

export type CopiedTable = { name: string; columns: readonly string[] };

/**
 * Makes texts of values the same whatever the database's own settings are, and the same in every version of
 * PostgreSQL, so that what one has written another one reads, and both can be compared.
 */
export async function writePortably(tx: pg.PoolClient): Promise<void> {
  await tx.query(
    "set local datestyle = 'ISO, MDY'; set local intervalstyle = 'postgres'; set local extra_float_digits = 1; set local bytea_output = 'hex'; set local timezone = 'UTC'",
  );
}

/** The rows of a table in COPY's text form: a line each, because line breaks in values are escaped. */
export function readTable(tx: pg.PoolClient, table: CopiedTable): Readable {
  return Readable.from(tx.query(new CopyOut(textOf(sql`copy ${columnsOf(table)} to stdout`))), { objectMode: false });
}

/** Writes rows into a table. `rowCount` says how many, once everything is written. */
export function writeTable(tx: pg.PoolClient, table: CopiedTable): CopyInStream {
  return new CopyInStream(tx, textOf(sql`copy ${columnsOf(table)} from stdin`));
}

export async function emptyTable(tx: pg.PoolClient, name: string): Promise<void> {
  await execute(tx, sql`truncate ${identifier(name)}`);
}

function columnsOf({ name, columns }: CopiedTable): Sql {
  return sql`${identifier(name)} (${listed(columns.map(identifier))})`;
}

function textOf(statement: Sql): string {
  return compile(statement).text;
}
