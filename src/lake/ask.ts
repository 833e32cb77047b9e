import { open, rm } from "node:fs/promises";
import type { DuckDBConnection, DuckDBInstance, DuckDBResult } from "@duckdb/node-api";
import { elapsedMs } from "../clock.ts";
import { messageOf } from "../errors.ts";
import { MIB } from "../limits.ts";
import { loadEngine, setTempFolder } from "./instance.ts";
import { makeTempFolder } from "./lake-folder.ts";
import { listOfFiles } from "./lake-statements.ts";

/**
 * A statement for the views of one app. Whoever has written it, it can reach nothing but these files: no other file, no
 * network, no setting.
 */
export type AskTask = {
  views: readonly string[];
  files: readonly string[];
  statement: string;
  /**
   * "as_written": what stands on the right of a join is held in memory, and looked up for each row of the left. Otherwise the engine
   * chooses, without knowing how many users there are: a funnel held a million of its events and took 7 % longer.
   */
  joins?: "as_written";
  rowsMax: number;
  msMax: number;
  /** The folder of the lake. */
  root: string;
  /** Bytes of the disk that may be used where memory is not enough. */
  diskBytes: number;
  /** A new file that gets the rows, a piece of them on each line: then the answer has none, and may be of any length. */
  into?: string;
};

/** `isCut`: there were more rows than were wanted. */
export type AskAnswer =
  | { kind: "rows"; columns: readonly string[]; rows: readonly (readonly unknown[])[]; isCut: boolean; tookMs: number }
  | { kind: "refused"; reason: "statement" | "time" | "memory" | "size" | "file"; message: string };

/** Answers larger than this are of use to nobody, and would have to be held in memory several times. */
const ANSWER_BYTES_MAX = 8 * MIB;

/**
 * `takeInstance`: gives an instance for this question alone, because it stays locked down. `onConnection`: with it, somebody
 * else can end the question.
 */
export type AskWith = { takeInstance: () => Promise<DuckDBInstance>; onConnection?: (one: Interruptible) => void };

export async function ask(task: AskTask, { takeInstance, onConnection = () => {} }: AskWith): Promise<AskAnswer> {
  // A question may read what is in this folder, so nobody else uses it.
  const temp = await makeTempFolder(task.root);
  const instance = await takeInstance();
  try {
    const connection = await instance.connect();
    onConnection(connection);
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      connection.interrupt();
    }, task.msMax);
    try {
      await lockDown(connection, task, temp);
      return await run(connection, task);
    } catch (error) {
      return refusalOf(error, isLate);
    } finally {
      clearTimeout(timer);
      connection.closeSync();
    }
  } finally {
    setImmediate(() => endInstance(instance, temp));
  }
}

/** Freeing the memory takes 20 ms. The next question waits for it, and the answer does not. */
function endInstance(instance: DuckDBInstance, temp: string): void {
  instance.closeSync();
  // What is left is swept later.
  rm(temp, { recursive: true, force: true }).catch(() => {});
}

export type Interruptible = Pick<DuckDBConnection, "interrupt">;

/** The order matters: views are bound while files can be read, and nothing can be set after the last one. */
async function lockDown(connection: DuckDBConnection, task: AskTask, temp: string): Promise<void> {
  const { views, files, joins, diskBytes } = task;
  await setTempFolder(connection, temp);
  await connection.run(`set max_temp_directory_size = '${Math.floor(diskBytes / 1e6)}MB'`);
  if (joins === "as_written") await connection.run("set disabled_optimizers = 'build_side_probe_side'");
  for (const view of views) await connection.run(view);
  if (files.length > 0) await connection.run(`set allowed_paths = ${listOfFiles(files)}`);
  await connection.run("set enable_external_access = false");
  await connection.run("set lock_configuration = true");
}

/** Runs a single query: other statements could write into memory without bounds, or over the files. */
async function run(connection: DuckDBConnection, task: AskTask): Promise<AskAnswer> {
  const { StatementType } = loadEngine();
  const startedMs = elapsedMs();
  const statements = await connection.extractStatements(task.statement);
  if (statements.count !== 1) return refused("statement", "Write one statement, without a second one behind it.");
  const prepared = await statements.prepare(0);
  if (prepared.statementType !== StatementType.SELECT)
    return refused("statement", "Only queries are answered: begin with `select`, `with` or `from`.");
  const result = await prepared.stream();
  const pieces = piecesOf(result);
  const read = await (task.into === undefined ? gathered(pieces, task) : written(pieces, task, task.into));
  if ("reason" in read) return read;
  const tookMs = Math.round(elapsedMs() - startedMs);
  return { kind: "rows", columns: result.columnNames(), ...read, tookMs };
}

type Rows = readonly (readonly unknown[])[];
type Read = { rows: Rows; isCut: boolean };

/** Piece by piece, so that an answer that is too large is never held whole. */
async function* piecesOf(result: DuckDBResult): AsyncGenerator<Rows> {
  const { JsonDuckDBValueConverter } = loadEngine();
  for (let chunk = await result.fetchChunk(); chunk && chunk.rowCount > 0; chunk = await result.fetchChunk())
    yield chunk.convertRows(JsonDuckDBValueConverter);
}

async function gathered(pieces: AsyncIterable<Rows>, { rowsMax }: AskTask): Promise<Read | Refused> {
  const rows: (readonly unknown[])[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    for (const row of piece) {
      bytes += JSON.stringify(row).length;
      if (rows.push(row) > rowsMax) break;
    }
    if (bytes > ANSWER_BYTES_MAX)
      return refused("size", "The answer is larger than 8 MiB: ask for fewer columns or rows.");
    if (rows.length > rowsMax) break;
  }
  return { rows: rows.slice(0, rowsMax), isCut: rows.length > rowsMax };
}

async function written(pieces: AsyncIterable<Rows>, { diskBytes }: AskTask, into: string): Promise<Read | Refused> {
  const file = await open(into, "w", 0o600);
  let bytes = 0;
  try {
    for await (const piece of pieces) {
      const line = Buffer.from(`${JSON.stringify(piece)}\n`);
      bytes += line.length;
      if (bytes > diskBytes) return refused("size", "The disk has no room for the answer: ask for fewer rows.");
      await file.appendFile(line);
    }
  } finally {
    await file.close();
  }
  return { rows: [], isCut: false };
}

type Refused = Extract<AskAnswer, { kind: "refused" }>;

function refused(reason: Refused["reason"], message: string): Refused {
  return { kind: "refused", reason, message };
}

function refusalOf(error: unknown, isLate: boolean): Refused {
  const message = messageOf(error).replace(/^Failed to extract statements: /, "");
  if (/^INTERRUPT/i.test(message))
    return refused(
      "time",
      isLate ? "It took longer than allowed: ask for fewer days, or for less of each." : "It was cancelled.",
    );
  if (/^Out of Memory/i.test(message))
    return refused("memory", "It needs more memory than allowed: ask for fewer days or groups.");
  if (/^IO Error|No such file/i.test(message)) return refused("file", message);
  return refused("statement", message);
}
