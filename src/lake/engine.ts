import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import type { DuckDBConnection, DuckDBInstance, DuckDBResult } from "@duckdb/node-api";
import type { GoneUser } from "../db/cold-event.ts";
import type { LakeKind } from "../domain/lake.ts";
import { chooseProperties, type SampledEvent } from "../domain/lake-properties.ts";
import { messageOf } from "../errors.ts";
import { keptRows } from "./cold-statements.ts";
import { type InstanceLimits, makeInstance, setTempFolder } from "./instance.ts";
import { makeFolderOf, makeTempFolder, settleFile } from "./lake-folder.ts";
import { columnsOf, listOfFiles, namesOf, quoted, ROW_BYTES, rowsOfCsv, writeFile } from "./lake-statements.ts";

/** Rows of one table that wait in a file as CSV, and the file that each of their days becomes. */
export type PackTask = { kind: LakeKind; csv: string; days: readonly { day: string; path: string }[] };
/** Files of one table and day that become one. */
export type MergeTask = { kind: LakeKind; files: readonly string[]; path: string };
/** The file that a cold day becomes: of its old files, without users who are gone, and of rows that wait as CSV, if there are any. */
export type RepackTask = MergeTask & {
  gone: readonly GoneUser[];
  csv: string | undefined;
};
export type Rows = (readonly unknown[])[];
export type Packed = { rows: number; bytes: number; properties: readonly string[] };

/**
 * Rows that become a file. `isSorted`: they come from other files, sorted by event, so that a sample of their properties has
 * to be taken from all of them and not from the first.
 */
type FileRows = { kind: LakeKind; rows: string; path: string; isSorted: boolean };

/** Events by which the columns of a file are chosen, and how large the properties of each may be. */
const SAMPLE = { rows: 2_000, bytes: 16_384 } as const;

/**
 * Threads that work on one statement that writes files. With a second one, the first asks for work all the while that there is
 * none: a fifth of the processor time of writing went into that, and fewer events were written.
 */
export const WRITING_THREADS = 1;

/** `root`: the folder of the lake. */
export type EngineLimits = InstanceLimits & { root: string };

/**
 * The columnar engine as far as the lake writes and checks files. Its memory is bounded: what does not fit goes through
 * files in the spool.
 */
export class Engine {
  readonly #instance: DuckDBInstance;
  readonly #connection: DuckDBConnection;
  readonly #temp: string;
  readonly #cursors = new Map<string, Cursor>();
  /** Ends of what is being packed beside each other, and of the last that was packed alone. */
  readonly #packing = new Set<Promise<unknown>>();
  #lastAlone: Promise<void> = Promise.resolve();

  private constructor(instance: DuckDBInstance, connection: DuckDBConnection, temp: string) {
    this.#instance = instance;
    this.#connection = connection;
    this.#temp = temp;
  }

  static async start({ root, ...limits }: EngineLimits): Promise<Engine> {
    const temp = await makeTempFolder(root);
    const instance = await makeInstance(limits);
    const connection = await instance.connect();
    await setTempFolder(connection, temp);
    // Rows are sorted where their order matters. Keeping them in the order of reading would need memory for all.
    await connection.run("set preserve_insertion_order = false");
    return new Engine(instance, connection, temp);
  }

  /** Writes the rows of each day into a file. A day without rows gets none. */
  async pack(task: PackTask): Promise<Packed[]> {
    await this.#lastAlone;
    const packing = this.#ownConnection((connection) => this.#pack(connection, task, ROW_BYTES.usual));
    const ended: Promise<unknown> = packing.then(NOTHING, NOTHING).then(() => this.#packing.delete(ended));
    this.#packing.add(ended);
    try {
      return await packing;
    } catch (error) {
      if (isRowTooLarge(error)) return this.#packAlone(task, ROW_BYTES.largest);
      if (isOutOfMemory(error)) return this.#packAlone(task, ROW_BYTES.usual);
      throw error;
    }
  }

  /** With all of the memory: once those that are being packed have ended, and before any other. */
  async #packAlone(task: PackTask, rowBytesMax: number): Promise<Packed[]> {
    const before = [this.#lastAlone, ...this.#packing];
    const packing = Promise.all(before).then(() =>
      this.#ownConnection((connection) => this.#pack(connection, task, rowBytesMax)),
    );
    this.#lastAlone = packing.then(NOTHING, NOTHING);
    return packing;
  }

  async repack({ kind, files, gone, csv, path }: RepackTask): Promise<Packed> {
    const kept = keptRows(namesOf(kind), files, gone);
    return withLargeRows((rowBytesMax) => {
      const added =
        csv === undefined ? "" : ` union all select ${columnsOf(kind)} from ${rowsOfCsv(kind, csv, rowBytesMax)}`;
      return this.#write(this.#connection, { kind, rows: `${kept}${added}`, path, isSorted: true });
    });
  }

  /** A connection of its own runs beside others: each statement is worked on by the thread that waits for it. */
  async #ownConnection<T>(work: (connection: DuckDBConnection) => Promise<T>): Promise<T> {
    const connection = await this.#instance.connect();
    try {
      return await work(connection);
    } finally {
      connection.closeSync();
    }
  }

  async #pack(connection: DuckDBConnection, { kind, csv, days }: PackTask, rowBytesMax: number): Promise<Packed[]> {
    const source = rowsOfCsv(kind, csv, rowBytesMax);
    const received = { kind, isSorted: false };
    if (days.length === 1)
      return [
        await this.#write(connection, {
          ...received,
          rows: `select ${columnsOf(kind)} from ${source}`,
          path: days[0]!.path,
        }),
      ];
    await connection.run(`create or replace temp table spooled as select * from ${source}`);
    try {
      const packed: Packed[] = [];
      for (const { day, path } of days) {
        const rows = `select ${columnsOf(kind)} from spooled where "day" = ${quoted(day)}`;
        packed.push(await this.#write(connection, { ...received, rows, path }));
      }
      return packed;
    } finally {
      await connection.run("drop table spooled");
    }
  }

  async merge({ kind, files, path }: MergeTask): Promise<Packed> {
    const rows = `select ${namesOf(kind)} from read_parquet(${listOfFiles(files)}, hive_partitioning = false)`;
    return this.#write(this.#connection, { kind, rows, path, isSorted: true });
  }

  /** The first row of a statement, every value as a text. */
  async row(statement: string): Promise<string[]> {
    const [row] = (await this.#connection.runAndReadAll(statement)).getRows();
    return (row ?? []).map(String);
  }

  /** All rows of a statement. Whole numbers must be those of the program. */
  async rows(statement: string): Promise<Rows> {
    return (await this.#connection.runAndReadAll(statement)).getRows().map(plainRow);
  }

  /**
   * Begins a statement whose rows are fetched piece by piece, on a connection of its own. No other engine gives the same
   * name to a cursor.
   */
  async open(statement: string): Promise<string> {
    const connection = await this.#instance.connect();
    try {
      const cursor = randomUUID();
      this.#cursors.set(cursor, { connection, result: await connection.stream(statement) });
      return cursor;
    } catch (error) {
      connection.closeSync();
      throw error;
    }
  }

  /** The next rows; none at the end. */
  async fetch(cursor: string): Promise<Rows> {
    const chunk = await this.#cursorOf(cursor).result.fetchChunk();
    return chunk ? chunk.getRows().map(plainRow) : [];
  }

  async end(cursor: string): Promise<void> {
    this.#cursorOf(cursor).connection.closeSync();
    this.#cursors.delete(cursor);
  }

  /** Throws for an unknown one: no rows would mean that there are no more. */
  #cursorOf(cursor: string): Cursor {
    const known = this.#cursors.get(cursor);
    if (!known) throw new Error("The cursor is not open.");
    return known;
  }

  /** Nothing rests in the process that asks. */
  rest(): void {}

  async #write(connection: DuckDBConnection, all: FileRows): Promise<Packed> {
    const { kind, rows, path } = all;
    const properties = kind === "events" ? chooseProperties(await sampleOf(connection, all)) : [];
    await makeFolderOf(path);
    const draft = `${path}.draft`;
    try {
      const written = await connection.runAndReadAll(writeFile(kind, rows, draft, properties));
      const count = Number(written.getRows()[0]![0]);
      if (count === 0) return { rows: 0, bytes: 0, properties };
      return { rows: count, bytes: await settleFile(draft, path), properties };
    } finally {
      await rm(draft, { force: true });
    }
  }

  async close(): Promise<void> {
    for (const cursor of this.#cursors.keys()) await this.end(cursor);
    this.#connection.closeSync();
    this.#instance.closeSync();
    await rm(this.#temp, { recursive: true, force: true });
  }
}

async function sampleOf(connection: DuckDBConnection, { rows, isSorted }: FileRows): Promise<SampledEvent[]> {
  const small = `select client_id, properties from (${rows}) where strlen(properties) <= ${SAMPLE.bytes}`;
  const some = isSorted
    ? `select * from (${small}) using sample reservoir(${SAMPLE.rows} rows)`
    : `${small} limit ${SAMPLE.rows}`;
  const found = (await connection.runAndReadAll(some)).getRows() as [string, string][];
  return found.map(([clientId, properties]) => ({ clientId, properties }));
}

type Cursor = { connection: DuckDBConnection; result: DuckDBResult };

const NOTHING = () => {};

/** Rows are read through a small buffer first: a large one takes its memory whole. */
async function withLargeRows<T>(work: (rowBytesMax: number) => Promise<T>): Promise<T> {
  try {
    return await work(ROW_BYTES.usual);
  } catch (error) {
    if (!isRowTooLarge(error)) throw error;
    return work(ROW_BYTES.largest);
  }
}

function isRowTooLarge(error: unknown): boolean {
  return /maximum line size/i.test(messageOf(error));
}

function isOutOfMemory(error: unknown): boolean {
  return /^Out of Memory/i.test(messageOf(error));
}

function plainRow(row: readonly unknown[]): unknown[] {
  return row.map((value) => (typeof value === "bigint" ? Number(value) : value));
}
