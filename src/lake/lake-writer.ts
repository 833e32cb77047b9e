import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type pg from "pg";
import type { Clock } from "../clock.ts";
import { loadColdAmong } from "../db/cold-event.ts";
import type { CopyOut } from "../db/engine/copy-out.ts";
import { abandon, inTransaction } from "../db/engine/pool.ts";
import type { EventKey } from "../db/event.ts";
import { type LakeApp, loadLakeApp, lockLakeApp, noteWritten } from "../db/lake-app.ts";
import { insertLakeFiles, type LakeFile, loadLakeFiles, replaceLakeFiles } from "../db/lake-file.ts";
import { type LakeMark, loadLakeMarks, loadLateEvents, removeLakeMarks, removeLateEvents } from "../db/lake-mark.ts";
import { readDay, readNewEvents } from "../db/lake-source.ts";
import type { LakeDay, LakeKind } from "../domain/lake.ts";
import { MIB } from "../limits.ts";
import { ColdWriter, type Spooled } from "./cold-writer.ts";
import type { EngineCalls } from "./engine-process.ts";
import { type FileKey, fileName, type LakeFolder } from "./lake-folder.ts";
import { sumsOfFiles } from "./lake-statements.ts";

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

/** Rows of a table of an app, and the days on which they may be. */
type Rows = Spooled & { kind: LakeKind; appId: number; days: readonly string[] };

/** A day in the spool, and what its files replace and settle. */
export type ReadDay = {
  day: LakeDay;
  app: LakeApp;
  spooled: Spooled;
  old: readonly LakeFile[];
  marks: readonly LakeMark[];
  late: readonly EventKey[];
};

/**
 * Writes what is marked into files. Each change is one transaction, which names the new files, takes away the old ones
 * and the marks, and fails when somebody else has written meanwhile. A file that no transaction has named does not count.
 */
export class LakeWriter {
  readonly #parts: WriterParts;
  readonly #cold: ColdWriter;
  /** Files that no longer count. Questions that are being answered may still read them. */
  readonly #retired: { file: LakeFile; atMs: number }[] = [];

  constructor(parts: WriterParts) {
    this.#parts = parts;
    this.#cold = new ColdWriter({ ...parts, spool: (tx, rows) => this.#spool(tx, rows) });
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
      const all = [...new Set([...marks, ...late].map(({ day }) => day))];
      // A cold day is written as a whole.
      const cold = new Set(await loadColdAmong(tx, all));
      const days = all.filter((day) => !cold.has(day));
      const range = { appId, days, fromMs: app.writtenUntilMs, untilMs: app.readUntilMs, late: late.length };
      const isNone = days.length === 0 || (range.fromMs === range.untilMs && late.length === 0);
      const spooled = isNone ? undefined : await this.#spool(tx, readNewEvents(tx, range));
      return { app, marks, late, rows: spooled && { ...spooled, kind: "events" as const, appId, days } };
    });
    if (!read) return { rows: 0, isMore: false };
    const { app, marks, late, rows } = read;
    const files = rows ? await this.#pack(rows) : [];
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

  /** Reads a day as a whole. Undefined when new events of the app have to be written before. */
  async readDay(wanted: LakeDay): Promise<ReadDay | undefined> {
    return this.#snapshot(async (tx) => {
      const { appId, kind, day } = wanted;
      const app = await this.#appOf(tx, appId);
      if (!app || app.readUntilMs !== app.writtenUntilMs) return undefined;
      const late: EventKey[] = kind === "events" ? await loadLateEvents(tx, { appId, limit: LATE_MAX }) : [];
      if (late.length === LATE_MAX) return undefined;
      const marks = (await loadLakeMarks(tx, appId)).filter((mark) => mark.kind === kind && mark.day === day);
      const old = (await loadLakeFiles(tx, { appId, kind, fromDay: day })).filter((file) => file.day === day);
      const spooled = await this.#spool(tx, readDay(tx, wanted, app.writtenUntilMs));
      return { day: wanted, app, spooled, old, marks, late: late.filter((event) => event.day === day) };
    });
  }

  /** Writes a day that was read. */
  async writeDay({ day, app, spooled, old, marks, late }: ReadDay): Promise<void> {
    const files = await this.#pack({ ...spooled, ...day, days: [day.day] });
    await inTransaction(this.#parts.pool, async (tx) => {
      await assertUnchanged(tx, app);
      await replaceLakeFiles(tx, old, files);
      await removeLateEvents(tx, late);
      await removeLakeMarks(tx, marks, app.writtenUntilMs);
    });
    this.#retire(old);
  }

  /** Writes a cold day as a whole. False when it has to be tried again. */
  async writeColdDay(day: LakeDay): Promise<boolean> {
    const retired = await this.#cold.write(day);
    this.#retire(retired ?? []);
    return retired !== undefined;
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
    await this.#assertMerged(key, files);
    await inTransaction(pool, async (tx) => {
      await assertUnchanged(tx, app);
      await replaceLakeFiles(tx, old, [{ ...key, ...packed, writtenAtMs: clock() }]);
    });
    this.#retire(old);
  }

  /** Files of a cold day, which no table has, are replaced only by one that holds exactly the same. */
  async #assertMerged(key: FileKey, files: readonly string[]): Promise<void> {
    const { pool, folder, engine } = this.#parts;
    const { kind, day } = key;
    if (kind !== "events" || (await loadColdAmong(pool, [day])).length === 0) return;
    const old = await engine.row(sumsOfFiles(kind, files));
    const merged = await engine.row(sumsOfFiles(kind, [folder.pathOf(key)]));
    if (old.join() !== merged.join())
      throw new Error(`The merged file of ${kind}, ${day}, does not hold what it should.`);
  }

  /** Forgets the files of days that are no longer stored. */
  async drop(app: LakeApp, old: readonly LakeFile[]): Promise<void> {
    await inTransaction(this.#parts.pool, async (tx) => {
      await assertUnchanged(tx, app);
      await replaceLakeFiles(tx, old, []);
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

  async #spool(tx: pg.PoolClient, rows: CopyOut): Promise<Spooled> {
    const { folder, clock } = this.#parts;
    const csv = join(folder.spool, `${fileName(clock())}.csv`);
    try {
      await pipeline(rows, this.#withRoom.bind(this), createWriteStream(csv, { mode: 0o600 }));
      return { csv, copied: rows };
    } catch (error) {
      await rm(csv, { force: true });
      abandon(tx);
      throw error;
    }
  }

  /** A day can be larger than what is left of the disk. */
  async *#withRoom(pieces: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
    let bytes = 0;
    for await (const piece of pieces) {
      bytes += piece.length;
      if (bytes > ROOM_BYTES) {
        await this.#parts.assertRoom();
        bytes = 0;
      }
      yield piece;
    }
  }

  async #pack({ kind, appId, days, csv, copied }: Rows): Promise<LakeFile[]> {
    const { folder, engine, clock } = this.#parts;
    const rows = copied.rowCount;
    try {
      if (rows === 0) return [];
      const keys = days.map((day) => ({ appId, kind, day, name: fileName(clock()) }));
      const packed = await engine.pack({ kind, csv, days: keys.map((key) => ({ ...key, path: folder.pathOf(key) })) });
      const written = packed.reduce((sum, one) => sum + one.rows, 0);
      if (written !== rows) throw new Error(`Of ${rows} rows of ${kind} that were read, ${written} were written.`);
      const writtenAtMs = clock();
      return keys.map((key, index) => ({ ...key, ...packed[index]!, writtenAtMs })).filter((file) => file.rows > 0);
    } finally {
      await rm(csv, { force: true });
    }
  }
}

async function assertUnchanged(tx: pg.PoolClient, app: LakeApp): Promise<void> {
  if (!(await lockLakeApp(tx, app))) throw new Error("Somebody else has written to the lake meanwhile.");
}
