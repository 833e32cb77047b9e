import { createReadStream } from "node:fs";
import { rm } from "node:fs/promises";
import type pg from "pg";
import type { Clock } from "../clock.ts";
import { type GoneUser, loadGone, settleColdDay } from "../db/cold-event.ts";
import type { CopyOut } from "../db/engine/copy-out.ts";
import { isLockRefused } from "../db/engine/failure.ts";
import { waitBriefly } from "../db/engine/partition.ts";
import { inTransaction } from "../db/engine/pool.ts";
import { type LakeApp, loadLakeApp, lockLake, lockLakeApp } from "../db/lake-app.ts";
import { loadDaySums } from "../db/lake-check.ts";
import { type LakeFile, loadLakeFiles, replaceLakeFiles } from "../db/lake-file.ts";
import { loadLakeMarks, settleLakeMark } from "../db/lake-mark.ts";
import { deleteReadEvents, readDay, stageReadEvents } from "../db/lake-source.ts";
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
  spool: (tx: pg.PoolClient, rows: CopyOut) => Promise<Spooled>;
};

/** Rows on their way into a file, and their number once all are there. */
export type Spooled = { csv: string; copied: CopyOut };

type ReadColdDay = {
  app: LakeApp;
  marked: number | undefined;
  readAtMs: number;
  old: readonly LakeFile[];
  gone: readonly GoneUser[];
  stored: string[];
  spooled: Spooled;
};

/** What was read is no longer what is stored. */
class Changed extends Error {}

/** Every row of the partition, whenever it was received: a mark tells of whatever comes after. */
const ALL_RECEIVED_MS = Number.MAX_SAFE_INTEGER;

/**
 * Writes cold days anew. The old files are the only ones that have most of the events, so the new one is read again and
 * must hold what they hold, without users who are gone, and what has come since. What comes later waits for the next time.
 *
 *   old files − users who are gone + rows of the partition ─▶ new file, compared ─▶ one transaction, while nothing is applied:
 *   the new file counts instead of the old ones, the rows that it holds are deleted, nobody is gone any more
 */
export class ColdWriter {
  readonly #parts: ColdWriterParts;

  constructor(parts: ColdWriterParts) {
    this.#parts = parts;
  }

  /** Returns the files that no longer count, or undefined when a user has left the day meanwhile: it is tried again. */
  async write(wanted: LakeDay): Promise<readonly LakeFile[] | undefined> {
    const { pool, folder } = this.#parts;
    const read = await inTransaction(pool, (tx) => this.#read(tx, wanted), "snapshot");
    if (!read) return undefined;
    try {
      const file = await this.#pack(wanted, read);
      const isDone = await this.#replace(wanted, read, file);
      if (!isDone && file) await rm(folder.pathOf(file), { force: true });
      return isDone ? read.old : undefined;
    } finally {
      await rm(read.spooled.csv, { force: true });
    }
  }

  /**
   * Events that came while the file was written stay in the table, with their mark. False when one of those that were read
   * is gone, or a user from the old files: the new file would bring them back.
   */
  async #replace(wanted: LakeDay, read: ReadColdDay, file: LakeFile | undefined): Promise<boolean> {
    const { app, marked, readAtMs, old, spooled } = read;
    try {
      await inTransaction(this.#parts.pool, async (tx) => {
        await stageReadEvents(tx, createReadStream(spooled.csv));
        await waitBriefly(tx);
        await lockLake(tx);
        if (!(await lockLakeApp(tx, app)) || !areSame(read.gone, await loadGone(tx, rangeOf(wanted))))
          throw new Changed();
        if ((await deleteReadEvents(tx, wanted)) !== spooled.copied.rowCount) throw new Changed();
        await replaceLakeFiles(tx, old, file ? [file] : []);
        await settleColdDay(tx, wanted);
        await settleLakeMark(tx, wanted, { marked, readAtMs });
      });
      return true;
    } catch (error) {
      if (!(error instanceof Changed) && !isLockRefused(error)) throw error;
      return false;
    }
  }

  async #read(tx: pg.PoolClient, wanted: LakeDay) {
    const { appId, kind, day } = wanted;
    const { folder, spool, clock } = this.#parts;
    const readAtMs = clock();
    const app = await loadLakeApp(tx, appId);
    if (!app?.isBegun || app.lakeId !== folder.id) return undefined;
    const marks = await loadLakeMarks(tx, appId);
    const marked = marks.find((mark) => mark.kind === kind && mark.day === day)?.marked;
    const range = rangeOf(wanted);
    const old = await loadLakeFiles(tx, { ...range, kind });
    const gone = await loadGone(tx, range);
    const stored = await loadDaySums(tx, wanted, {
      receivedBeforeMs: ALL_RECEIVED_MS,
      columns: checkedColumns(kind),
    });
    const spooled = await spool(tx, readDay(tx, wanted, ALL_RECEIVED_MS));
    return { app, marked, readAtMs, old, gone, stored, spooled };
  }

  async #pack(
    wanted: LakeDay,
    { old, gone, stored, spooled: { csv, copied } }: ReadColdDay,
  ): Promise<LakeFile | undefined> {
    const { folder, engine, clock } = this.#parts;
    const { appId, kind, day } = wanted;
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
  }
}

function rangeOf({ appId, day }: LakeDay) {
  return { appId, fromDay: day, untilDay: addDays(day, 1) };
}

function areSame(gone: readonly GoneUser[], now: readonly GoneUser[]): boolean {
  const digests = new Set(gone.map(({ digest }) => digest));
  return now.length === gone.length && now.every(({ digest }) => digests.has(digest));
}

function numberAt(sums: readonly string[], at: number): bigint {
  return BigInt(sums[at] ?? 0);
}
