import pg from "pg";
import { isLent, ServerPool } from "../server/server-pool.ts";
import { textArray } from "./array-text.ts";
import { nameRefused, noteDriverFailure } from "./failure.ts";
import { rowMaker } from "./row-maker.ts";

/**
 * A statement: texts and the values between them. Only values and other statements go into it; text cannot be spliced
 * in. A statement is recognised by a private field that only this class sets, so nothing in a request body passes for
 * one.
 */
class Statement {
  readonly #made = true;
  readonly texts: readonly string[];
  readonly values: readonly unknown[];
  /** Says the same for a database that is known to be on one machine. */
  readonly undivided: Statement | undefined;

  constructor(texts: readonly string[], values: readonly unknown[], undivided?: Statement) {
    this.texts = texts;
    this.values = values;
    this.undivided = undivided;
  }

  static is(part: unknown): part is Statement {
    return typeof part === "object" && part !== null && #made in part;
  }
}

export type Sql = Statement;

/**
 *   sql`select name from app where app_id = ${appId}`
 *
 * Every value becomes a parameter; another statement becomes part of this one.
 */
export function sql(texts: TemplateStringsArray, ...parts: readonly unknown[]): Sql {
  const merged: string[] = [texts[0]!];
  const values: unknown[] = [];
  for (const [index, part] of parts.entries()) {
    const following = texts[index + 1]!;
    if (Statement.is(part)) {
      append(merged, values, part);
      merged[merged.length - 1] += following;
    } else {
      merged.push(following);
      values.push(parameterOf(part));
    }
  }
  return new Statement(merged, values);
}

/** A list of texts is written out here and not when a statement runs: several statements may share a long filter. */
function parameterOf(value: unknown): unknown {
  return Array.isArray(value) && value.every((item) => typeof item === "string") ? textArray(value) : value;
}

function append(texts: string[], values: unknown[], part: Statement): void {
  if (part.undivided) {
    // Which of the two it becomes is known only when the statement runs.
    values.push(part);
    texts.push("");
    return;
  }
  texts[texts.length - 1] += part.texts[0]!;
  for (let index = 1; index < part.texts.length; index += 1) texts.push(part.texts[index]!);
  for (const value of part.values) values.push(value);
}

/** A part that reads `undivided` where the database is known to be on one machine, and `part` anywhere else. */
export function eitherOf(part: Sql, undivided: Sql): Sql {
  return new Statement(part.texts, part.values, undivided);
}

/** The connections whose work is known to be on one machine. */
const undivided = new WeakSet<object>();

/**
 * Does work in a transaction of a database that is known to be on one machine. Whoever distributes a database stops the
 * servers first.
 */
export async function onOneMachine<T>(tx: object, work: () => Promise<T>): Promise<T> {
  undivided.add(tx);
  try {
    return await work();
  } finally {
    undivided.delete(tx);
  }
}

export function compile(statement: Sql, executor?: object): { text: string; values: unknown[] } {
  const { texts, values } = settled(statement, executor !== undefined && undivided.has(executor));
  return { text: texts.reduce((sum, part, index) => `${sum}$${index}${part}`), values: [...values] };
}

/** The statement with its either-or parts decided. */
function settled(statement: Statement, isUndivided: boolean): Statement {
  const { texts, values } = isUndivided && statement.undivided ? statement.undivided : statement;
  const parts = values.map((value) => (Statement.is(value) ? settled(value, isUndivided) : value));
  return sql(texts as readonly string[] as TemplateStringsArray, ...parts);
}

/** A pool or one of its connections. */
export type Executor = Pick<pg.ClientBase, "query">;

/** Rows are named as the program names things, so a key with an underscore would never be there. */
export type InCamelCase<Row> = { [Key in keyof Row]: Key extends `${string}_${string}` ? never : Row[Key] };

/**
 * The statement's rows. Each column has its key in camelCase, aliases included: `touched_at_ms` is `touchedAtMs`. What
 * the interface calls `touched_at_ms` is named where its answer is made, so that every row is read in the same way.
 * With a name, see `execute`.
 */
export async function query<Row extends InCamelCase<Row>>(
  executor: Executor,
  statement: Sql,
  name?: string,
): Promise<Row[]> {
  const { fields, rows } = await run(executor, statement, name);
  return rows.map(rowMaker(fields.map((field) => field.name))) as Row[];
}

/**
 * The columns of rows, each as one list. The driver makes a text of every value in every row; a list is parsed at once, and
 * a text that is in it a thousand times is made once. With an ad report of 6,726 rows, this process needed 47 ms instead of
 * 77, and the database 8 ms more.
 */
export async function queryColumns<Value>(
  executor: Executor,
  rows: Sql,
  names: readonly string[],
): Promise<(Value | null)[][]> {
  const lists = names.map((name) => sql`json_agg(r.${identifier(name)})`);
  const { rows: found } = await run(executor, sql`select ${listed(lists)} from (${rows}) r`);
  return (found[0] as ((Value | null)[] | null)[]).map((list) => list ?? []);
}

/**
 * Returns the number of rows affected. With a name, a connection parses and plans the statement only once: for long
 * statements whose text is always one of a few.
 */
export async function execute(executor: Executor, statement: Sql, name?: string): Promise<number> {
  const result = await run(executor, statement, name);
  return result.rowCount ?? 0;
}

async function run(executor: Executor, statement: Sql, name?: string): Promise<pg.QueryArrayResult<unknown[]>> {
  const compiled = { ...compile(statement, executor), rowMode: "array" as const };
  try {
    // The next transaction gets another session, which does not know the name.
    if (isLent(executor))
      return await (executor instanceof ServerPool
        ? executor.queryLent(compiled)
        : executor.query<unknown[]>(compiled));
    return await executor.query<unknown[]>({ ...compiled, ...(name && { name: nameFor(name, compiled.text) }) });
  } catch (error) {
    noteDriverFailure(error);
    nameRefused(error, name ?? compiled.text);
    throw error;
  }
}

/** The texts of each named statement. */
const textsByName = new Map<string, string[]>();

/** A connection can keep one text under each name, so every text of a statement gets its own. */
function nameFor(name: string, text: string): string {
  const texts = textsByName.get(name) ?? [];
  textsByName.set(name, texts);
  const index = texts.indexOf(text);
  return `${name}_${index < 0 ? texts.push(text) - 1 : index}`;
}

/**
 * Reads two things that are independent: at the same time if there are connections for it, else one after the other. A
 * reading that waits for a second connection while it holds one fails when others do the same.
 */
export async function readBoth<One, Other>(
  executor: Executor,
  one: () => Promise<One>,
  other: () => Promise<Other>,
): Promise<[One, Other]> {
  if (executor instanceof ServerPool && executor.hasRoomForTwo) return Promise.all([one(), other()]);
  return [await one(), await other()];
}

/** A table or column name as part of a statement. Only names in this program's own form pass. */
export function identifier(name: string): Sql {
  if (!/^[a-z][a-z0-9_]*$/.test(name)) throw new Error(`${JSON.stringify(name)} is not a table name.`);
  return new Statement([name], []);
}

/**
 * A whole number as text of a statement. For numbers that this program names, where the planner must see a constant: the
 * condition of a partial index cannot be proven from a parameter.
 */
export function literal(value: number): Sql {
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${value} is not a whole number.`);
  return new Statement([String(value)], []);
}

/** Statements, at least one, joined by `separator`. */
export function joined(parts: readonly Sql[], separator: Sql): Sql {
  if (parts.length === 0) throw new Error("There is nothing to join.");
  const texts = [""];
  const values: unknown[] = [];
  for (const [index, part] of parts.entries()) {
    if (index > 0) append(texts, values, separator);
    append(texts, values, part);
  }
  return new Statement(texts, values);
}

/** Whether a column has one of the numbers. A single one is named as such, which planners know to use better than a list. */
export function oneOf(column: Sql, values: readonly number[]): Sql {
  return values.length === 1 ? sql`${column} = ${values[0]}` : sql`${column} = any(${values}::int[])`;
}

export function listed(parts: readonly Sql[]): Sql {
  return joined(parts, sql`, `);
}

/** The conjunction of the conditions; true without any. */
export function allOf(conditions: readonly Sql[]): Sql {
  return conditions.length === 0 ? sql`true` : joined(conditions, sql` and `);
}

/**
 * The statement as one text, its values written out. For commands that take no parameters; everything else passes its
 * values beside the text.
 */
export function withLiterals(statement: Sql): string {
  const { texts, values } = settled(statement, false);
  return texts.reduce((sum, part, index) => `${sum}${literalOf(values[index - 1])}${part}`);
}

function literalOf(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "number" && Number.isFinite(value)) return `(${value})`;
  if (typeof value === "boolean") return String(value);
  if (typeof value === "string") return pg.escapeLiteral(value);
  throw new Error(`${typeof value} cannot be written out.`);
}
