import { once } from "node:events";
import { finished } from "node:stream/promises";
import type pg from "pg";
import { type CopyStreamQuery, from as copyFrom } from "pg-copy-streams";

const ROWS_PER_CHUNK = 1_000;

/** Streams rows into one table: the database stores the first ones while the caller still makes the others. */
export class RowCopy {
  readonly #tx: pg.PoolClient;
  readonly #statement: CopyStatement;
  #open: { stream: CopyStreamQuery; done: Promise<void> } | undefined;

  constructor(tx: pg.PoolClient, statement: CopyStatement) {
    this.#tx = tx;
    this.#statement = statement;
  }

  /** Writes whole rows in the form that the statement names. Until `end`, the connection can run no other statement. */
  async write(rows: Buffer): Promise<void> {
    this.#open ??= this.#start();
    const { stream, done } = this.#open;
    if (!stream.write(rows)) await Promise.race([once(stream, "drain"), done]);
  }

  /** `trailer`: what the form of the rows needs at their end. */
  async end(trailer?: Buffer): Promise<void> {
    if (!this.#open) return;
    this.#open.stream.end(trailer);
    await this.#open.done;
  }

  #start(): { stream: CopyStreamQuery; done: Promise<void> } {
    const stream = this.#tx.query(copyFrom(this.#statement));
    // Rows that still wait when the database refuses an earlier one are dropped. Left alone, the stream would send them
    // to a connection that it has let go, which would end the process.
    stream.once("error", () => stream.destroy());
    const done = finished(stream);
    // Awaited in `end`; until then a failure must not count as unhandled.
    done.catch(() => {});
    return { stream, done };
  }
}

/** Copies rows in COPY's text form. They may be made one by one: the database stores the first ones meanwhile. */
export async function copyRows(tx: pg.PoolClient, statement: CopyStatement, rows: Iterable<string>): Promise<void> {
  const copy = new RowCopy(tx, statement);
  let chunk: string[] = [];
  const send = async () => {
    if (chunk.length > 0) await copy.write(Buffer.from(`${chunk.join("\n")}\n`));
    chunk = [];
  };
  try {
    for (const row of rows) if (chunk.push(row) === ROWS_PER_CHUNK) await send();
    await send();
  } finally {
    // Also when a row cannot be made: otherwise the connection could not even roll back.
    await copy.end();
  }
}

/** The rows of `items`, each made when it is asked for. */
export function* rowsFrom<T>(items: Iterable<T>, toRow: (item: T) => string): Iterable<string> {
  for (const item of items) yield toRow(item);
}

/**
 * Puts rows into a temporary table, from which one statement then merges them into the real one. A transaction may do
 * this several times, so earlier rows are deleted first.
 */
export async function stageRows(
  tx: pg.PoolClient,
  stage: { table: string; like: string; columns: string },
  rows: Iterable<string>,
): Promise<void> {
  await tx.query(
    `create temporary table if not exists ${stage.table} (like ${stage.like} including defaults) on commit delete rows`,
  );
  await tx.query(`delete from ${stage.table}`);
  await copyRows(tx, `copy ${stage.table} (${stage.columns}) from stdin`, rows);
}

export type CopyStatement = `copy ${string} from stdin${"" | " (format binary)"}`;

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
