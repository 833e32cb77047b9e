import { once } from "node:events";
import { finished } from "node:stream/promises";
import type pg from "pg";
import { type CopyStreamQuery, from as copyFrom } from "pg-copy-streams";

export const ROWS_PER_CHUNK = 1_000;

/** Streams rows into one table: the database stores the first ones while the caller still makes the others. */
export class RowCopy {
  readonly #tx: pg.PoolClient;
  readonly #statement: CopyStatement;
  #open: { stream: CopyStreamQuery; done: Promise<void> } | undefined;

  constructor(tx: pg.PoolClient, statement: CopyStatement) {
    this.#tx = tx;
    this.#statement = statement;
  }

  /** Writes rows in COPY's text form. Until `end`, the connection can run no other statement. */
  async write(rows: readonly string[]): Promise<void> {
    if (rows.length === 0) return;
    this.#open ??= this.#start();
    const { stream, done } = this.#open;
    for (let at = 0; at < rows.length; at += ROWS_PER_CHUNK) {
      const chunk = Buffer.from(`${rows.slice(at, at + ROWS_PER_CHUNK).join("\n")}\n`);
      if (!stream.write(chunk)) await Promise.race([once(stream, "drain"), done]);
    }
  }

  async end(): Promise<void> {
    if (!this.#open) return;
    this.#open.stream.end();
    await this.#open.done;
  }

  #start(): { stream: CopyStreamQuery; done: Promise<void> } {
    const stream = this.#tx.query(copyFrom(this.#statement));
    const done = finished(stream);
    // Awaited in `end`; until then a failure must not count as unhandled.
    done.catch(() => {});
    return { stream, done };
  }
}

export async function copyRows(tx: pg.PoolClient, statement: CopyStatement, rows: readonly string[]): Promise<void> {
  const copy = new RowCopy(tx, statement);
  await copy.write(rows);
  await copy.end();
}

/**
 * Puts rows into a temporary table, from which one statement then merges them into the real one. A transaction may do
 * this several times, so earlier rows are deleted first.
 */
export async function stageRows(
  tx: pg.PoolClient,
  stage: { table: string; like: string; columns: string },
  rows: readonly string[],
): Promise<void> {
  await tx.query(
    `create temporary table if not exists ${stage.table} (like ${stage.like} including defaults) on commit delete rows`,
  );
  await tx.query(`delete from ${stage.table}`);
  await copyRows(tx, `copy ${stage.table} (${stage.columns}) from stdin`, rows);
}

export type CopyStatement = `copy ${string} from stdin`;

export const NULL = "\\N";

/** A text as COPY reads it. Most texts hold none of the four special characters, so a test comes first. */
export function copyText(text: string): string {
  return SPECIAL.test(text) ? text.replace(SPECIALS, (character) => ESCAPES[character]!) : text;
}

/** JSON text as COPY reads it. JSON holds no raw control characters, so only backslashes are escaped. */
export function copyJson(json: string): string {
  return json.includes("\\") ? json.replaceAll("\\", "\\\\") : json;
}

export function copyNullable(value: string | number | null): string {
  return value === null ? NULL : typeof value === "number" ? String(value) : copyText(value);
}

const SPECIAL = /[\\\t\n\r]/;
const SPECIALS = /[\\\t\n\r]/g;
const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" };
