import pg from "pg";
import { DISTRIBUTED } from "../../src/db/engine/distributed-tables.ts";
import type { Executor } from "../../src/db/engine/sql.ts";
import { CITUS_URL } from "../support/citus.ts";

type Watched = { text: string; values: unknown[] };
type Query = (this: pg.Client, ...args: unknown[]) => unknown;

const NAMED = new RegExp(`\\b(?:from|join|update|into|using)\\s+(?:${DISTRIBUTED.join("|")})\\b`);

/** The statements about distributed tables that this process has run since. */
export class StatementWatch {
  readonly #statements = new Map<string, Watched>();
  readonly #query = pg.Client.prototype.query as unknown as Query;

  constructor() {
    const note = (given: unknown, values: unknown) => this.#note(given, values);
    const query = this.#query;
    pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
      note(args[0], args[1]);
      return query.apply(this, args);
    } as typeof pg.Client.prototype.query;
  }

  stop(): Watched[] {
    pg.Client.prototype.query = this.#query as unknown as typeof pg.Client.prototype.query;
    return [...this.#statements.values()];
  }

  #note(given: unknown, values: unknown): void {
    const config = typeof given === "string" ? { text: given, values } : (given as Partial<Watched>);
    const { text } = config;
    if (typeof text !== "string" || !NAMED.test(text) || !/^\s*(?:select|with|update|delete|insert)/.test(text)) return;
    // Staged rows come from a table of their own session.
    if (/\bfrom stage_/.test(text)) return;
    // Rows for one app and those for several are different texts; the latter are not made where apps have their own transactions.
    this.#statements.set(text, { text, values: (config.values as unknown[] | undefined) ?? [] });
  }
}

/** Whether a statement concerns one app alone: on one PostgreSQL by its conditions, on a cluster by the number of its tasks. */
export async function isOfOneApp(executor: Executor, { text, values }: Watched): Promise<boolean> {
  if (CITUS_URL !== "") {
    const { rows } = await executor.query(`explain ${withValues(text, values)}`);
    return !rows.some((row) => /Task Count: (?:[2-9]|\d\d)/.test(row["QUERY PLAN"]));
  }
  const { rows } = await executor.query(`explain (format json) ${text}`, values);
  return scansOf(rows[0]["QUERY PLAN"][0].Plan).every((scan) => NAMES_APP.test(scan));
}

/** The statement with its values written out: Citus explains no statement that writes and has parameters. */
function withValues(text: string, values: readonly unknown[]): string {
  return text.replaceAll(/\$(\d+)/g, (_, number) => {
    const value = values[Number(number) - 1];
    if (value === null || value === undefined) return "null";
    if (typeof value === "number" || typeof value === "boolean") return String(value);
    const shown = Buffer.isBuffer(value)
      ? `\\x${value.toString("hex")}`
      : Array.isArray(value)
        ? `{${value}}`
        : String(value);
    return `'${shown.replaceAll("'", "''")}'`;
  });
}

const NAMES_APP = /\bapp_id = \d+\)/;
const IS_DISTRIBUTED = new RegExp(`^(?:${DISTRIBUTED.join("|")}|(?:event|touch|touch_key)_\\d+.*)$`);

/** The conditions of every place where a plan reads a distributed table. */
function scansOf(plan: Record<string, unknown>): string[] {
  const conditions = ["Index Cond", "Recheck Cond", "Filter"].map((name) => plan[name] ?? "").join(" ");
  const isScan = / Scan$/.test(String(plan["Node Type"])) && IS_DISTRIBUTED.test(String(plan["Relation Name"]));
  const below = ((plan.Plans ?? []) as Record<string, unknown>[]).flatMap(scansOf);
  return isScan ? [conditions, ...below] : below;
}
