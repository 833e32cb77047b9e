import { rm } from "node:fs/promises";
import type pg from "pg";
import type { Clock } from "../clock.ts";
import { emptyColdDay, type GoneUser, loadGone } from "../db/cold-event.ts";
import { isLockRefused } from "../db/engine/failure.ts";
import { waitBriefly } from "../db/engine/partition.ts";
import { inTransaction } from "../db/engine/pool.ts";
import { loadLakeApp, lockLake, lockLakeApp } from "../db/lake-app.ts";
import { loadDaySums } from "../db/lake-check.ts";
import { type LakeFile, loadLakeFiles, replaceLakeFiles } from "../db/lake-file.ts";
import { loadLakeMarks, takeLakeMark } from "../db/lake-mark.ts";
import { type CopiedRows, readDay } from "../db/lake-source.ts";
import { addDays } from "../domain/calendar.ts";
import type { LakeDay } from "../domain/lake.ts";
import { keptRows } from "./cold-statements.ts";
import type { EngineCalls } from "./engine-process.ts";
import { fileName, type LakeFolder } from "./lake-folder.ts";
import { checkedColumns, namesOf, sumsOfFiles, sumsOfRows } from "./lake-statements.ts";

export type ColdWriterParts = {
  pool: pg.Pool;
  folder: LakeFolder;
  engine: EngineCalls;
  clock: Clock;
  spool: (tx: pg.PoolClient, rows: CopiedRows) => Promise<Spooled>;
};

/** Rows on their way into a file, and their number once all are there. */
export type Spooled = { csv: string; copied: CopiedRows };

type ReadColdDay = { old: readonly LakeFile[]; gone: readonly GoneUser[]; stored: string[]; spooled: Spooled };

/** Every row of the partition, whenever it was received: a mark tells of whatever comes after. */
const ALL_RECEIVED_MS = Number.MAX_SAFE_INTEGER;

/**
 * Writes cold days anew. The old files are the only ones that have most of the events, so the new one is read again and
 * must hold what they hold, without users who are gone, and what has come since.
 *
 *   old files − users who are gone + rows of the partition ─▶ new file, compared ─▶ one transaction, while nothing is applied:
 *   the new file counts instead of the old ones, the rows are deleted, nobody is gone any more
 */
export class ColdWriter {
  readonly #parts: ColdWriterParts;

  constructor(parts: ColdWriterParts) {
    this.#parts = parts;
  }

  /** Returns the files that no longer count, or undefined when something has come meanwhile: it is tried again. */
  async write(wanted: LakeDay): Promise<LakeFile[] | undefined> {
    const { pool } = this.#parts;
    const read = await inTransaction(pool, (tx) => this.#read(tx, wanted), "snapshot");
    if (!read) return undefined;
    const { app, marked, old } = read;
    const file = await this.#pack(wanted, read);
    try {
      const isDone = await inTransaction(pool, async (tx) => {
        await waitBriefly(tx);
        await lockLake(tx);
        if (!(await lockLakeApp(tx, app)) || !(await takeLakeMark(tx, wanted, marked))) return false;
        await replaceLakeFiles(tx, old, file ? [file] : []);
        await emptyColdDay(tx, wanted);
        return true;
      });
      if (isDone) return old;
    } catch (error) {
      if (!isLockRefused(error)) throw error;
    }
    if (file) await rm(this.#parts.folder.pathOf(file), { force: true });
    return undefined;
  }

  async #read(tx: pg.PoolClient, wanted: LakeDay) {
    const { appId, kind, day } = wanted;
    const { folder, spool } = this.#parts;
    const app = await loadLakeApp(tx, appId);
    if (!app?.isBegun || app.lakeId !== folder.id) return undefined;
    const marks = await loadLakeMarks(tx, appId);
    const marked = marks.find((mark) => mark.kind === kind && mark.day === day)?.marked;
    const range = { appId, fromDay: day, untilDay: addDays(day, 1) };
    const old = await loadLakeFiles(tx, { ...range, kind });
    const gone = await loadGone(tx, range);
    const stored = await loadDaySums(tx, wanted, {
      receivedBeforeMs: ALL_RECEIVED_MS,
      columns: checkedColumns(kind),
    });
    const spooled = await spool(tx, readDay(tx, wanted, ALL_RECEIVED_MS));
    return { app, marked, old, gone, stored, spooled };
  }

  async #pack(
    wanted: LakeDay,
    { old, gone, stored, spooled: { csv, copied } }: ReadColdDay,
  ): Promise<LakeFile | undefined> {
    const { folder, engine, clock } = this.#parts;
    const { appId, kind, day } = wanted;
    try {
      const files = old.map((file) => folder.pathOf(file));
      const key = { appId, kind, day, name: fileName(clock()) };
      const path = folder.pathOf(key);
      const isMore = copied.rowCount > 0;
      if (files.length === 0 && !isMore) return undefined;
      const packed = await (files.length > 0
        ? engine.repack({ kind, files, gone, csv: isMore ? csv : undefined, path })
        : engine.pack({ kind, csv, days: [{ day, path }] }).then(([only]) => only!));
      const kept =
        files.length > 0 ? await engine.row(sumsOfRows(kind, `(${keptRows(namesOf(kind), files, gone)})`)) : [];
      const written = packed.rows > 0 ? await engine.row(sumsOfFiles(kind, [path])) : [];
      const wrong = stored.some((sum, at) => numberAt(written, at) !== BigInt(sum) + numberAt(kept, at));
      if (wrong) throw new Error(`The new file of ${kind}, ${day}, does not hold what it should.`);
      return packed.rows > 0 ? { ...key, ...packed, writtenAtMs: clock() } : undefined;
    } finally {
      await rm(csv, { force: true });
    }
  }
}

function numberAt(sums: readonly string[], at: number): bigint {
  return BigInt(sums[at] ?? 0);
}
