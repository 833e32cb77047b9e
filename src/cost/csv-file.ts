import type { Readable } from "node:stream";
import { parse } from "csv-parse";
import { LIMITS } from "../config.ts";
import { messageOf } from "../errors.ts";

/** A file that cannot be taken in; the sentence names the lines. */
export class FileError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "FileError";
  }
}

export type CsvShape<Column extends string, Row> = {
  columns: readonly Column[];
  /** Columns without which the file makes no sense. */
  required: readonly Column[];
  /** A column that is not there is empty. Throws what is wrong. */
  read: (cells: Record<Column, string>) => Row;
  /** What tells two rows apart. */
  key: (row: Row) => readonly string[];
};

/**
 * Hands the rows of a file on, some at a time. After a bad row nothing is handed on any more, but the rest is still
 * looked at, so that the error names as many lines as it can; the caller takes back what it had taken in before.
 */
export async function readCsv<Column extends string, Row>(
  file: Readable,
  shape: CsvShape<Column, Row>,
  take: (rows: Row[]) => Promise<void>,
): Promise<number> {
  const problems: string[] = [];
  const lines = new Map<string, number>();
  let rows: Row[] = [];
  let count = 0;
  for await (const { record, info } of records(file, shape)) {
    const line = info.lines - breaksIn(record);
    try {
      const row = readRow(record, shape);
      noteLine(lines, JSON.stringify(shape.key(row)), line);
      rows.push(row);
    } catch (error) {
      problems.push(`line ${line}: ${messageOf(error)}`);
      if (problems.length >= LIMITS.csvProblems) break;
    }
    if (problems.length === 0 && rows.length >= LIMITS.csvRowsAtOnce) {
      await take(rows);
      count += rows.length;
      rows = [];
    }
  }
  if (problems.length > 0) throw nothingTaken(problems.join("; "));
  await take(rows);
  return count + rows.length;
}

function noteLine(lines: Map<string, number>, key: string, line: number): void {
  const before = lines.get(key);
  if (before !== undefined) throw new Error(`it is about the same as line ${before}`);
  if (lines.size >= LIMITS.csvRows) throw new Error(`a file has at most ${LIMITS.csvRows.toLocaleString("en")} rows`);
  lines.set(key, line);
}

type Parsed = { record: Record<string, string>; info: { lines: number } };

async function* records<Column extends string, Row>(
  file: Readable,
  shape: CsvShape<Column, Row>,
): AsyncGenerator<Parsed> {
  let hasHeader = false;
  const parser = parse({
    bom: true,
    trim: true,
    info: true,
    skip_empty_lines: true,
    max_record_size: LIMITS.csvLineBytes,
    columns: (header: string[]) => {
      hasHeader = true;
      return readHeader(header, shape);
    },
  });
  // A file that cannot be read ends the parser too, so that the loop below meets the error.
  file.on("error", (error) => parser.destroy(error));
  try {
    for await (const parsed of file.pipe(parser)) yield parsed as Parsed;
    if (!hasHeader) throw nothingTaken("the file is empty");
  } catch (error) {
    // The parser's own sentences name the line.
    throw error instanceof FileError ? error : nothingTaken(messageOf(error));
  }
}

function readHeader<Column extends string, Row>(header: string[], shape: CsvShape<Column, Row>): string[] {
  const names = header.map((name) => name.toLowerCase());
  const known: readonly string[] = shape.columns;
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw nothingTaken(`line 1: there is no column ${JSON.stringify(unknown)}; there are ${known.join(", ")}`);
  }
  const missing = shape.required.find((name) => !names.includes(name));
  if (missing !== undefined) throw nothingTaken(`line 1: the column ${missing} is missing`);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw nothingTaken(`line 1: the column ${twice} is there twice`);
  return names;
}

function readRow<Column extends string, Row>(record: Record<string, string>, shape: CsvShape<Column, Row>): Row {
  const cells = Object.fromEntries(shape.columns.map((column) => [column, record[column] ?? ""]));
  const bad = Object.entries(cells).find(([, cell]) => UNREADABLE.test(cell));
  if (bad) throw new Error(`${bad[0]} holds characters that cannot be read; the file must be UTF-8`);
  return shape.read(cells as Record<Column, string>);
}

/** What is not UTF-8 has become a replacement; a null character is none that a text could hold. */
const UNREADABLE = /[\ufffd\u0000]/;

/** The parser names a row by its last line; a quoted cell may have gone over several. */
function breaksIn(record: Record<string, string>): number {
  return Object.values(record).reduce((sum, cell) => sum + cell.split("\n").length - 1, 0);
}

function nothingTaken(reason: string): FileError {
  return new FileError(`Nothing was taken in; ${reason}.`);
}
