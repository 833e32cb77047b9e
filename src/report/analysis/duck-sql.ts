import { storableText } from "../../domain/json.ts";

/**
 * A piece of a DuckDB statement. Questions are shown as SQL that people copy and run, so values are written into the text
 * and not sent as parameters. Only `quoted` makes text of a value; only another piece can be spliced in as it is. A piece is
 * recognised by a private field that only this class sets, so nothing in a request body passes for one.
 */
class Piece {
  readonly #made = true;
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  static is(part: unknown): part is Piece {
    return typeof part === "object" && part !== null && #made in part;
  }
}

export type Duck = Piece;

/**
 *   duck`select client_id from events e where e.event = ${name}`
 *
 * A value becomes a literal, another piece becomes part of this one, with its further lines indented like its first.
 */
export function duck(texts: TemplateStringsArray, ...parts: readonly (Duck | string | number)[]): Duck {
  let text = texts[0]!;
  parts.forEach((part, index) => {
    text += (Piece.is(part) ? indented(part.text, text) : literalOf(part)) + texts[index + 1]!;
  });
  return new Piece(text);
}

export function textOf(statement: Duck): string {
  return statement.text;
}

/** Literals hold no line breaks, so that indenting a piece cannot change a value in it. */
function indented(text: string, before: string): string {
  const indent = /^ */.exec(before.slice(before.lastIndexOf("\n") + 1))![0];
  return indent === "" ? text : text.replaceAll("\n", `\n${indent}`);
}

function literalOf(value: unknown): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "number") return numeral(value);
  throw new Error(`${typeof value} cannot be written as a literal.`);
}

/**
 * A text as a literal. A standard literal ends at a single quote, which is doubled, and knows no other escape. NUL would end
 * the statement, and lone surrogates have no bytes: stored texts have U+FFFD instead of both. Line breaks are spelled out
 * for `indented`.
 */
export function quoted(text: string): string {
  const parts = storableText(text).split(/([\n\r])/);
  const written = parts.flatMap((part) => {
    if (part === "\n") return ["chr(10)"];
    if (part === "\r") return ["chr(13)"];
    return part === "" && parts.length > 1 ? [] : [`'${part.replaceAll("'", "''")}'`];
  });
  return written.length === 1 ? written[0]! : `concat(${written.join(", ")})`;
}

/** A number. With an exponent it is read as a double, which is what a number in JSON is; 0.1 alone would be a decimal. */
function numeral(value: number): string {
  if (!Number.isFinite(value)) throw new Error(`${value} cannot be written as a literal.`);
  const text = String(value);
  const digits = Number.isSafeInteger(value) || text.includes("e") ? text : `${text}e0`;
  return value < 0 ? `(${digits})` : digits;
}

/** A day as a literal. */
export function date(day: string): Duck {
  return duck`date ${day}`;
}

/** Pieces, at least one, with a comma between each two. */
export function listed(parts: readonly (Duck | string | number)[]): Duck {
  return joined(parts, ", ");
}

/** Pieces on a line each. */
export function lines(parts: readonly Duck[]): Duck {
  return joined(parts, ",\n");
}

/** Parts of a statement, each on lines of its own. */
export function clauses(parts: readonly Duck[]): Duck {
  return joined(parts, "\n");
}

export function allOf(conditions: readonly Duck[]): Duck {
  return conditions.length === 0 ? duck`true` : joined(conditions, "\n  and ");
}

/** `kept`: its rows are made once, however many other tables use them. */
export type Table = { name: Duck; of: Duck; kept?: "kept" };

/** Tables of a statement, in the order in which each may use those before it. */
export function withTables(tables: readonly Table[], select: Duck): Duck {
  if (tables.length === 0) return select;
  const written = tables.map(
    ({ name, of, kept }) => duck`${name} as ${kept ? duck`materialized ` : duck``}(
  ${of}
)`,
  );
  return duck`with ${joined(written, ",\n")}
${select}`;
}

export function unionOf(selects: readonly Duck[]): Duck {
  return joined(selects, "\nunion all\n");
}

/** Conditions of which all or one must hold, in parentheses. */
export function grouped(conditions: readonly Duck[], join: "and" | "or"): Duck {
  return duck`(${joined(conditions, ` ${join} `)})`;
}

function joined(parts: readonly (Duck | string | number)[], separator: string): Duck {
  if (parts.length === 0) throw new Error("There is nothing to join.");
  return new Piece(parts.map((part) => duck`${part}`.text).join(separator));
}

/** A column whose name is not this program's own. */
export function column(name: string): Duck {
  return new Piece(`"${name.replaceAll('"', '""')}"`);
}

/** A name of this program's own: tables and columns that statements define. */
export function named(name: string): Duck {
  if (!/^[a-z][a-z0-9_]*$/.test(name)) throw new Error(`${JSON.stringify(name)} is not a name.`);
  return new Piece(name);
}
