import { once } from "node:events";
import { finished } from "node:stream/promises";
import type pg from "pg";
import { from as copyFrom } from "pg-copy-streams";

const ROWS_PER_CHUNK = 1_000;

/** Sends rows, already in COPY's text form, in chunks: the largest copy in memory is one chunk. */
export async function copyRows(tx: pg.PoolClient, statement: CopyStatement, rows: readonly string[]): Promise<void> {
  if (rows.length === 0) return;
  const stream = tx.query(copyFrom(statement));
  const done = finished(stream);
  // Awaited below; until then a failure must not count as unhandled.
  done.catch(() => {});
  for (let at = 0; at < rows.length; at += ROWS_PER_CHUNK) {
    const chunk = Buffer.from(`${rows.slice(at, at + ROWS_PER_CHUNK).join("\n")}\n`);
    if (!stream.write(chunk)) await Promise.race([once(stream, "drain"), done]);
  }
  stream.end();
  await done;
}

export type CopyStatement = `copy ${string} from stdin`;

export const NULL = "\\N";

/** A text as COPY reads it. Most texts hold none of the four characters, so they are looked for first. */
export function copyText(text: string): string {
  return SPECIAL.test(text) ? text.replace(SPECIALS, (character) => ESCAPES[character]!) : text;
}

/** JSON holds no raw control characters; only its backslashes need care. */
export function copyJson(json: string): string {
  return json.includes("\\") ? json.replaceAll("\\", "\\\\") : json;
}

export function copyNullable(value: string | number | null): string {
  return value === null ? NULL : typeof value === "number" ? String(value) : copyText(value);
}

const SPECIAL = /[\\\t\n\r]/;
const SPECIALS = /[\\\t\n\r]/g;
const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" };
