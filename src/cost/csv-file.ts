import type { Readable } from "node:stream";
import { CsvError, parse } from "csv-parse";
import { messageOf } from "../errors.ts";
import { LIMITS } from "../limits.ts";

const PROBLEMS_MAX = 10;
const ROWS_AT_ONCE = 2_000;

/** What is wrong with a line of a file; line 0 means the file as a whole. */
export type Problem = { line: number; problem: string };

/** A file that cannot be imported; the message names the lines. */
export class FileError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    const told = problems.map(({ line, problem }) => (line === 0 ? problem : `line ${line}: ${problem}`));
    super(`Nothing was imported; ${told.join("; ")}.`);
    this.name = "FileError";
    this.problems = problems;
  }
}

export type CsvShape<Column extends string, Row> = {
  columns: readonly Column[];
  /** Columns that the file must have. */
  required: readonly Column[];
  /** Reads a row, in which missing columns are empty. Throws when the row is wrong. */
  read: (cells: Record<Column, string>) => Row;
  /** The values that identify a row. */
  key: (row: Row) => readonly string[];
};

export type LinedRow<Row> = { line: number; row: Row };

export type CsvReader<Row> = {
  /** Takes correct rows, some at a time. */
  take: (rows: LinedRow<Row>[]) => Promise<void>;
  /** Takes the problem of a wrong row. */
  refuse: (problem: Problem) => "go_on" | "stop";
};

/** Passes on the rows of a file. Throws a FileError when the rest of the file cannot be split into rows. */
export async function scanCsv<Column extends string, Row>(
  file: Readable,
  shape: CsvShape<Column, Row>,
  { take, refuse }: CsvReader<Row>,
): Promise<void> {
  const skipped: Problem[] = [];
  const lines = new Map<string, number>();
  let rows: LinedRow<Row>[] = [];
  for await (const { record, info } of records(file, shape, skipped)) {
    const line = info.lines - breaksIn(record);
    const problems = takenBefore(skipped, line);
    try {
      const row = readRow(record, shape);
      noteLine(lines, JSON.stringify(shape.key(row)), line);
      rows.push({ line, row });
    } catch (error) {
      problems.push({ line, problem: messageOf(error) });
    }
    for (const problem of problems) if (refuse(problem) === "stop") return;
    if (rows.length >= ROWS_AT_ONCE) {
      await take(rows);
      rows = [];
    }
  }
  for (const problem of skipped) if (refuse(problem) === "stop") return;
  await take(rows);
}

/** The problems up to a line: the parser runs ahead of its reader. */
function takenBefore(skipped: Problem[], line: number): Problem[] {
  const later = skipped.findIndex((problem) => problem.line > line);
  return skipped.splice(0, later < 0 ? skipped.length : later);
}

/**
 * Passes on the rows of a correct file. After a bad row nothing more is passed on, but the rest is still checked, so
 * that the error names as many lines as possible. The caller rolls back the rows it took before.
 */
export async function readCsv<Column extends string, Row>(
  file: Readable,
  shape: CsvShape<Column, Row>,
  take: (rows: Row[]) => Promise<void>,
): Promise<number> {
  const problems: Problem[] = [];
  let count = 0;
  await scanCsv(file, shape, {
    take: async (rows) => {
      if (problems.length > 0) return;
      await take(rows.map(({ row }) => row));
      count += rows.length;
    },
    refuse: (problem) => {
      problems.push(problem);
      return problems.length >= PROBLEMS_MAX ? "stop" : "go_on";
    },
  });
  if (problems.length > 0) throw new FileError(problems);
  return count;
}

function noteLine(lines: Map<string, number>, key: string, line: number): void {
  const before = lines.get(key);
  if (before !== undefined) throw new Error(`it has the same key as line ${before}`);
  if (lines.size >= LIMITS.csvRows)
    throw new Error(`a file can have at most ${LIMITS.csvRows.toLocaleString("en")} rows`);
  lines.set(key, line);
}

type Parsed = { record: Record<string, string>; info: { lines: number } };

/** The parsed rows. Rows of the wrong length go into `skipped`. */
async function* records<Column extends string, Row>(
  file: Readable,
  shape: CsvShape<Column, Row>,
  skipped: Problem[],
): AsyncGenerator<Parsed> {
  let cells: number | undefined;
  const parser = parse({
    bom: true,
    trim: true,
    info: true,
    skip_empty_lines: true,
    // Named, because the parser's search for them makes three buffers for every byte of the first line.
    record_delimiter: ["\r\n", "\n", "\r"],
    max_record_size: LIMITS.csvLineBytes,
    columns: (header: string[]) => {
      cells = header.length;
      return readHeader(header, shape);
    },
    skip_records_with_error: true,
    on_skip: (error) => {
      // After any other error it is unknown where the next row begins.
      if (error?.code !== "CSV_RECORD_INCONSISTENT_COLUMNS") throw error;
      skipped.push({ line: lineOf(error), problem: `it does not have ${cells} cells like the header` });
    },
  });
  // A read error of the file ends the parser too, so that the loop below throws it.
  file.on("error", (error) => parser.destroy(error));
  try {
    for await (const parsed of file.pipe(parser)) yield parsed as Parsed;
    if (cells === undefined) throw new FileError([{ line: 0, problem: "the file is empty" }]);
  } catch (error) {
    throw error instanceof FileError ? error : new FileError([problemOf(error)]);
  }
}

function problemOf(error: unknown): Problem {
  if (!(error instanceof CsvError)) return { line: 0, problem: messageOf(error) };
  return { line: lineOf(error), problem: sentenceOf(error) };
}

/** The parser adds its own counts to each error. */
function lineOf({ lines }: CsvError): number {
  return typeof lines === "number" ? lines : 0;
}

function sentenceOf(error: CsvError): string {
  switch (error.code) {
    case "CSV_QUOTE_NOT_CLOSED":
      return "a quote is opened and never closed";
    case "CSV_INVALID_CLOSING_QUOTE":
    case "CSV_NON_TRIMABLE_CHAR_AFTER_CLOSING_QUOTE":
      return "a closing quote is followed by something other than a comma";
    case "INVALID_OPENING_QUOTE":
      return "a cell with a quote in it must be in quotes as a whole";
    case "CSV_MAX_RECORD_SIZE":
      return `it is longer than ${LIMITS.csvLineBytes.toLocaleString("en")} bytes`;
    default:
      return error.message;
  }
}

function readHeader<Column extends string, Row>(header: string[], shape: CsvShape<Column, Row>): string[] {
  const names = header.map((name) => name.toLowerCase());
  const known: readonly string[] = shape.columns;
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw badHeader(`there is no column ${JSON.stringify(unknown)}; columns are ${known.join(", ")}`);
  }
  const missing = shape.required.find((name) => !names.includes(name));
  if (missing !== undefined) throw badHeader(`the column ${missing} is missing`);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw badHeader(`the column ${twice} is repeated`);
  return names;
}

function badHeader(problem: string): FileError {
  return new FileError([{ line: 1, problem }]);
}

function readRow<Column extends string, Row>(record: Record<string, string>, shape: CsvShape<Column, Row>): Row {
  const cells = Object.fromEntries(shape.columns.map((column) => [column, record[column] ?? ""]));
  const bad = Object.entries(cells).find(([, cell]) => UNREADABLE.test(cell));
  if (bad) throw new Error(`${bad[0]} contains unreadable characters; the file must be UTF-8`);
  return shape.read(cells as Record<Column, string>);
}

/** Bytes that are not UTF-8 have become replacement characters; texts in the database cannot hold a NUL. */
const UNREADABLE = /[\ufffd\u0000]/;

/** The line breaks within a row: the parser numbers a row by its last line, and a quoted cell may span several. */
function breaksIn(record: Record<string, string>): number {
  return Object.values(record).reduce((sum, cell) => sum + cell.split("\n").length - 1, 0);
}
