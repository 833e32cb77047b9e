import type { Command } from "commander";
import { fillIn } from "../../admin/report/segments.ts";
import type { Segment } from "../../contract/analysis/segment.ts";
import { messageOfInvalid } from "../../contract/validation.ts";
import { csvLine } from "../../domain/csv.ts";
import type { JsonObject } from "../../domain/json.ts";
import { UsageError } from "../../errors.ts";
import { type LakeQuestion, type LakeRows, objectsOf } from "../../lake/asker.ts";
import { LIMITS } from "../../limits.ts";
import { textOf } from "../../report/analysis/duck-sql.ts";
import { type NamedQuestion, QUESTIONS } from "../../report/analysis/questions.ts";
import { savedIn } from "../../report/analysis/saved-segment.ts";
import { readJson } from "../given-json.ts";
import { parseInteger, print, tableOf } from "../output.ts";
import { findApp, withDatabase } from "../session.ts";
import { asUsage, withLake } from "./lake-session.ts";

type SqlOptions = { app: number; limit: number; csv?: boolean; json?: boolean };
type AskOptions = { app: number; question?: string; file?: string; sql?: boolean; json?: boolean };

/** Questions about events, and queries that people write, put to the files in DATA_DIR/lake. */
export function askCommands(program: Command): void {
  const ask = program.command("ask").description("Ask about events: how many, by what, in which order, who came back");
  for (const question of QUESTIONS) questionCommand(ask, question);
  program
    .command("sql")
    .description("Query the events, users, orders and costs of an app, in the SQL of DuckDB")
    .argument("<statement>", "one query over the views of docs/LAKE.md")
    .requiredOption("--app <app>", "app id", parseInteger)
    .option("--limit <rows>", "most rows", parseInteger, LIMITS.questionRows)
    .option("--csv", "print CSV")
    .option("--json", "print JSON")
    .action(runSql);
}

function questionCommand(ask: Command, question: NamedQuestion): void {
  ask
    .command(question.name)
    .description(question.says)
    .requiredOption("--app <app>", "app id", parseInteger)
    .option("--question <json>", "the question; docs/API.md describes it")
    .option("--file <path>", "a file with the question; - for standard input")
    .option("--sql", "print the statement instead of the answer")
    .option("--json", "print JSON")
    .action((options: AskOptions) => runQuestion(question, options));
}

async function runQuestion(question: NamedQuestion, options: AskOptions): Promise<void> {
  const asked = await readQuestion(question, options);
  // Without a look at the files, so that `--sql` needs no database: the answer is the same, if a tenth of a second later.
  const statement = refusedAsUsage(() => textOf(question.sql(asked, new Set())));
  if (options.sql) return print({ sql: statement }, options, () => statement);
  const result = await put(options.app, { statement, rowsMax: LIMITS.questionRows });
  const answer = question.shape(asked, objectsOf(result));
  print(answer, options, () => tableOf(rowsIn(answer)));
}

/** The rows of an answer: its first list, in which lists of numbers stay together. */
function rowsIn(answer: object): Record<string, unknown>[] {
  const lists = Object.values(answer).filter((value) => Array.isArray(value) && typeof value[0] === "object");
  const rows = (lists[0] ?? []) as Record<string, unknown>[];
  return rows.map((row) => Object.fromEntries(Object.entries(row).map(([key, value]) => [key, shown(value)])));
}

/** The question that was given, with its saved segments. */
async function readQuestion(question: NamedQuestion, { app, question: text, file }: AskOptions): Promise<JsonObject> {
  const given = readJson("question", { ...(text !== undefined && { text }), ...(file !== undefined && { file }) });
  const problem = messageOfInvalid(question.schema, given);
  if (problem !== undefined) throw new UsageError(problem);
  if (savedIn((given as { segment?: Segment }).segment).length === 0) return given;
  return withDatabase(async (session) => {
    const { appId } = await findApp(session, app);
    return (await fillIn(session.pool, { appId, question: given })).question;
  });
}

async function runSql(statement: string, options: SqlOptions): Promise<void> {
  const result = await put(options.app, { statement, byHand: true, rowsMax: options.limit });
  const { columns, rows, isCut } = result;
  if (options.csv) {
    for (const row of [columns, ...rows]) process.stdout.write(csvLine(row.map(shown)));
    return;
  }
  print(
    objectsOf(result),
    options,
    () => `${tableOf(objectsOf(result))}${isCut ? "\nThere are more rows: see --limit." : ""}`,
  );
}

function shown(value: unknown): string {
  return value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
}

function put(appId: number, question: Pick<LakeQuestion, "statement" | "byHand" | "rowsMax">): Promise<LakeRows> {
  return withLake(appId, ({ session, app, asker }) => asker.ask({ ...question, read: session.pool, app }));
}

function refusedAsUsage<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    return asUsage(error);
  }
}
