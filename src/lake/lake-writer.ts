import { createWriteStream } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type pg from "pg";
import type { Clock } from "../clock.ts";
import { abandon, inTransaction } from "../db/engine/pool.ts";
import type { EventKey } from "../db/event.ts";
import { type LakeApp, loadLakeApp, lockLakeApp, noteWritten } from "../db/lake-app.ts";
import { deleteLakeFiles, insertLakeFiles, type LakeFile, loadLakeFiles } from "../db/lake-file.ts";
import { type LakeMark, loadLakeMarks, loadLateEvents, removeLakeMarks, removeLateEvents } from "../db/lake-mark.ts";
import { readDay, readNewEvents } from "../db/lake-source.ts";
import type { LakeDay, LakeKind } from "../domain/lake.ts";
import { MIB } from "../limits.ts";
import type { EngineCalls } from "./engine-process.ts";
import { fileName, type LakeFolder } from "./lake-folder.ts";

/** Late events that are read at once. */
const LATE_MAX = 20_000;
/** How often the disk is looked at while rows are spooled. */
const ROOM_BYTES = 32 * MIB;

/** `assertRoom` throws while the disk is nearly full. */
export type WriterParts = {
  pool: pg.Pool;
  folder: LakeFolder;
  engine: EngineCalls;
  clock: Clock;
  assertRoom: () => Promise<void>;
};

/** Rows that are in the spool, and the days on which they may be. */
type Spooled = { kind: LakeKind; appId: number; days: readonly string[]; csv: string };

/**
 * Writes what is marked into files. Each change is one transaction, which names the new files, takes away the old ones
 * and the marks, and fails when somebody else has written meanwhile. A file that no transaction has named does not count.
 */
export class LakeWriter {
  readonly #parts: WriterParts;
  /** Files that no longer count. Questions that are being answered may still read them. */
  readonly #retired: { file: LakeFile; atMs: number }[] = [];

  constructor(parts: WriterParts) {
    this.#parts = parts;
  }

  /** Writes the events received since the last time. Returns their number. */
  async writeNew(appId: number): Promise<number> {
    let [rows, isMore] = [0, true];
    while (isMore) {
      const written = await this.#writePart(appId);
      rows += written.rows;
      isMore = written.isMore;
    }
    return rows;
  }

  /** `isMore`: more late events are left than were read at once. */
  async #writePart(appId: number): Promise<{ rows: number; isMore: boolean }> {
    const { pool } = this.#parts;
    const read = await this.#snapshot(async (tx) => {
      const app = await this.#appOf(tx, appId);
      if (!app?.isBegun) return undefined;
      const marks = (await loadLakeMarks(tx, appId)).filter(({ kind }) => kind === "events");
      const late = await loadLateEvents(tx, { appId, limit: LATE_MAX });
      const days = [...new Set([...marks, ...late].map(({ day }) => day))];
      const range = { appId, days, fromMs: app.writtenUntilMs, untilMs: app.readUntilMs, late: late.length };
      const isNone = days.length === 0 || (range.fromMs === range.untilMs && late.length === 0);
      const csv = isNone ? undefined : await this.#spool(tx, readNewEvents(tx, range));
      return { app, marks, late, spooled: csv && { kind: "events" as const, appId, days, csv } };
    });
    if (!read) return { rows: 0, isMore: false };
    const { app, marks, late, spooled } = read;
    const files = spooled ? await this.#pack(spooled) : [];
    await inTransaction(pool, async (tx) => {
      await assertUnchanged(tx, app);
      await insertLakeFiles(tx, files);
      await removeLateEvents(tx, late);
      // While late events are left, a mark says that the app is not done.
      const isDone = ({ again }: LakeMark) => !again && late.length < LATE_MAX;
      await removeLakeMarks(tx, marks.filter(isDone), app.readUntilMs);
      await noteWritten(tx, app);
    });
    return { rows: files.reduce((sum, { rows }) => sum + rows, 0), isMore: late.length === LATE_MAX };
  }

  /** Writes a day as a whole. False when new events of the app have to be written before. */
  async writeDay(wanted: LakeDay): Promise<boolean> {
    const { pool } = this.#parts;
    const read = await this.#snapshot((tx) => this.#readDay(tx, wanted));
    if (!read) return false;
    const { app, marks, late, old, csv } = read;
    const files = await this.#pack({ ...wanted, days: [wanted.day], csv });
    await inTransaction(pool, async (tx) => {
      await assertUnchanged(tx, app);
      await replaceFiles(tx, old, files);
      await removeLateEvents(tx, late);
      await removeLakeMarks(tx, marks, app.writtenUntilMs);
    });
    this.#retire(old);
    return true;
  }

  async #readDay(tx: pg.PoolClient, wanted: LakeDay) {
    const { appId, kind, day } = wanted;
    const app = await this.#appOf(tx, appId);
    if (!app || app.readUntilMs !== app.writtenUntilMs) return undefined;
    const late: EventKey[] = kind === "events" ? await loadLateEvents(tx, { appId, limit: LATE_MAX }) : [];
    if (late.length === LATE_MAX) return undefined;
    const marks = (await loadLakeMarks(tx, appId)).filter((mark) => mark.kind === kind && mark.day === day);
    const old = (await loadLakeFiles(tx, { appId, kind, fromDay: day })).filter((file) => file.day === day);
    const csv = await this.#spool(tx, readDay(tx, wanted, app.writtenUntilMs));
    return { app, marks, late: late.filter((event) => event.day === day), old, csv };
  }

  /** Makes one file of several of a day. */
  async merge(app: LakeApp, old: readonly LakeFile[]): Promise<void> {
    const { pool, folder, engine, clock } = this.#parts;
    const { appId, kind, day } = old[0]!;
    const key = { appId, kind, day, name: fileName(clock()) };
    const files = old.map((file) => folder.pathOf(file));
    const packed = await engine.merge({ kind, files, path: folder.pathOf(key) });
    const rows = old.reduce((sum, file) => sum + file.rows, 0);
    if (packed.rows !== rows) throw new Error(`Files of ${kind}, ${day}, have ${packed.rows} rows instead of ${rows}.`);
    await inTransaction(pool, async (tx) => {
      await assertUnchanged(tx, app);
      await replaceFiles(tx, old, [{ ...key, ...packed, writtenAtMs: clock() }]);
    });
    this.#retire(old);
  }

  /** Forgets the files of days that are no longer stored. */
  async drop(app: LakeApp, old: readonly LakeFile[]): Promise<void> {
    await inTransaction(this.#parts.pool, async (tx) => {
      await assertUnchanged(tx, app);
      await replaceFiles(tx, old, []);
    });
    this.#retire(old);
  }

  /** Removes files that stopped counting before an instant. */
  async removeRetired(beforeMs: number): Promise<void> {
    while (this.#retired[0] && this.#retired[0].atMs < beforeMs) {
      await rm(this.#parts.folder.pathOf(this.#retired[0].file), { force: true });
      this.#retired.shift();
    }
  }

  isRetired(name: string): boolean {
    return this.#retired.some(({ file }) => file.name === name);
  }

  /** The app, unless another process has begun a lake of its own. */
  async #appOf(tx: pg.PoolClient, appId: number): Promise<LakeApp | undefined> {
    const app = await loadLakeApp(tx, appId);
    if (app && app.lakeId !== this.#parts.folder.id) throw new Error("Another process writes the lake.");
    return app;
  }

  #retire(files: readonly LakeFile[]): void {
    const atMs = this.#parts.clock();
    for (const file of files) this.#retired.push({ file, atMs });
  }

  #snapshot<T>(work: (tx: pg.PoolClient) => Promise<T>): Promise<T> {
    return inTransaction(this.#parts.pool, work, "snapshot");
  }

  async #spool(tx: pg.PoolClient, rows: Readable): Promise<string> {
    const { folder, clock } = this.#parts;
    const csv = join(folder.spool, `${fileName(clock())}.csv`);
    try {
      await pipeline(rows, this.#watched.bind(this), createWriteStream(csv, { mode: 0o600 }));
      return csv;
    } catch (error) {
      await rm(csv, { force: true });
      abandon(tx);
      throw error;
    }
  }

  /** A day can be larger than what is left of the disk. */
  async *#watched(chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > ROOM_BYTES) {
        await this.#parts.assertRoom();
        bytes = 0;
      }
      yield chunk;
    }
  }

  async #pack({ kind, appId, days, csv }: Spooled): Promise<LakeFile[]> {
    const { folder, engine, clock } = this.#parts;
    try {
      if ((await stat(csv)).size === 0) return [];
      const keys = days.map((day) => ({ appId, kind, day, name: fileName(clock()) }));
      const packed = await engine.pack({ kind, csv, days: keys.map((key) => ({ ...key, path: folder.pathOf(key) })) });
      const writtenAtMs = clock();
      return keys.map((key, index) => ({ ...key, ...packed[index]!, writtenAtMs })).filter(({ rows }) => rows > 0);
    } finally {
      await rm(csv, { force: true });
    }
  }
}

async function assertUnchanged(tx: pg.PoolClient, app: LakeApp): Promise<void> {
  if (!(await lockLakeApp(tx, app))) throw new Error("Somebody else has written to the lake meanwhile.");
}

async function replaceFiles(tx: pg.PoolClient, old: readonly LakeFile[], files: readonly LakeFile[]): Promise<void> {
  if ((await deleteLakeFiles(tx, old)) !== old.length) throw new Error("Files of the lake were replaced meanwhile.");
  await insertLakeFiles(tx, files);
}
