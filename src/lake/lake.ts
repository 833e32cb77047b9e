import type pg from "pg";
import { type Clock, elapsedMs } from "../clock.ts";
import { type AppRules, loadAppRules } from "../db/app.ts";
import { isAppliedUnmarked } from "../db/apply-holder.ts";
import { forgetGone, loadColdAmong, loadColdNames } from "../db/cold-event.ts";
import { isLockRefused } from "../db/engine/failure.ts";
import { inTransaction } from "../db/engine/pool.ts";
import type { Executor } from "../db/engine/sql.ts";
import { readAllReached } from "../db/journal-cursor.ts";
import {
  beginLakeApp,
  forgetLakes,
  forgetOtherLakes,
  type LakeApp,
  loadLakeApp,
  loadLakeApps,
  moveReadUntil,
} from "../db/lake-app.ts";
import {
  deleteLakeFiles,
  type LakeFile,
  loadAllLakeFiles,
  loadFilesOfDroppedDays,
  loadLakeFiles,
} from "../db/lake-file.ts";
import { type LakeMark, loadLakeMarks, loadLastMarked, loadWholeMarks, markLake } from "../db/lake-mark.ts";
import { calendarOf } from "../domain/calendar.ts";
import { filesToMerge } from "../domain/lake-merge.ts";
import { isDayDue, isOverdue } from "../domain/lake-schedule.ts";
import type { Log } from "../log.ts";
import type { EngineCalls } from "./engine-process.ts";
import { Freezer } from "./freezer.ts";
import { isThere, type LakeFolder } from "./lake-folder.ts";
import { LakeWriter, type ReadDay } from "./lake-writer.ts";

/** How often new events are read. Each time makes a file per app and day, until these are merged. */
const READ_EVERY_MS = 20_000;
/** A cycle that took long is followed by a longer rest, so that the lake takes only a part of the machine. */
const READ_REST_FACTOR = 4;
/** Days that the engine packs at the same time, each on a core. */
const PACKED_AT_ONCE = 2;
/** How long a file that no longer counts stays for those who are reading it. */
const RETIRED_MS = 60_000;
const SWEEP_EVERY_MS = 3_600_000;
const FREEZE_EVERY_MS = 10 * 60_000;
/** How long what has failed rests. */
const FAILED_REST_MS = 60_000;
/** How far receipts may lie ahead of this process's clock. */
const AHEAD_MS_MAX = 60_000;

/** The log whose entries become events: its id, and the partition of an app. */
export type LogOfApps = { id: string; partitionOf: (appId: number) => number };

export type LakeParts = {
  pool: pg.Pool;
  folder: LakeFolder;
  engine: EngineCalls;
  journal: LogOfApps;
  clock: Clock;
  log: Log;
  assertRoom: () => Promise<void>;
  /** Older days are only in the lake; 0: none are. */
  hotDays?: number;
};

/** Keeps the files of the lake in step with the tables. */
export class Lake {
  readonly #parts: LakeParts;
  readonly #writer: LakeWriter;
  readonly #freezer: Freezer;
  /** When a day was last written as a whole, and how long that took. */
  readonly #written = new Map<string, { endedAtMs: number; tookMs: number }>();
  /** Apps whose files may be merged. */
  readonly #toMerge = new Set<number>();
  readonly #rests = new Map<string, number>();
  #failure: unknown;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #sweptAtMs = Number.NEGATIVE_INFINITY;
  #frozenAtMs = Number.NEGATIVE_INFINITY;

  constructor(parts: LakeParts) {
    this.#parts = parts;
    this.#writer = new LakeWriter(parts);
    this.#freezer = new Freezer(parts);
  }

  /** Finds out what of the files counts, once this process has the duty to write them. */
  async begin(): Promise<void> {
    const { pool, folder, clock, log } = this.#parts;
    await folder.clearSpool(clock());
    await forgetOtherLakes(pool, folder.id);
    await this.#markMissing();
    const removed = await this.sweep();
    if (removed > 0) log.info({ removed }, "Files of the lake that did not count were removed.");
  }

  /** Reads what is new if it is time, and then writes marked days and merges files for about `forMs`. */
  async turn({ signal, forMs }: { signal: AbortSignal; forMs: number }): Promise<void> {
    const startedMs = elapsedMs();
    this.#failure = undefined;
    await this.#tidy();
    if (startedMs >= this.#readAtMs) await this.#readNew(signal);
    const isOut = () => signal.aborted || elapsedMs() - startedMs > forMs;
    await this.#writeDueDays(isOut);
    for (const appId of this.#toMerge) {
      while (!isOut() && (await this.#attempt(`${appId} merge`, () => this.#mergeOne(appId))));
      if (isOut()) break;
      this.#toMerge.delete(appId);
    }
    if (startedMs >= this.#frozenAtMs + FREEZE_EVERY_MS) {
      await this.#attempt("freeze", () => this.freeze(isOut));
      // What there was no time for is next.
      if (!isOut()) this.#frozenAtMs = startedMs;
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Takes days out of the table that are old enough and that the files hold. */
  async freeze(isOut: () => boolean = () => false): Promise<boolean> {
    const { clock, hotDays = 0 } = this.#parts;
    return hotDays > 0 && (await this.#freezer.freeze({ hotDays, nowMs: clock(), isOut })) > 0;
  }

  /**
   * What fails for one app or day must not keep the others waiting. It rests for a while, and is told at the end of the turn.
   * Undefined when it fails or rests.
   */
  async #attempt<T>(key: string, work: () => Promise<T>): Promise<T | undefined> {
    if (this.#parts.clock() < (this.#rests.get(key) ?? 0)) return undefined;
    try {
      return await work();
    } catch (error) {
      this.#failure ??= error;
      this.#rests.set(key, this.#parts.clock() + FAILED_REST_MS);
      return undefined;
    }
  }

  /** Reads everything that is stored now, and writes whatever is marked, however recently. */
  async catchUp(): Promise<void> {
    this.#failure = undefined;
    this.#rests.clear();
    await this.#move();
    for (const { appId, isBegun } of await loadLakeApps(this.#parts.pool)) {
      if (!isBegun) await beginLakeApp(this.#parts.pool, appId);
      if ((await this.#writer.writeNew(appId)) > 0) this.#toMerge.add(appId);
      await this.#writeDays((await this.#marksOf(appId)).filter(isWhole), () => false);
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  /**
   * Removes files that do not count. Returns their number. When the database has fallen back to an earlier state, a file that it
   * does not know may be the only one that has the events of a cold day: it stays where one that counts is missing.
   */
  async sweep(): Promise<number> {
    const { pool, folder, log } = this.#parts;
    const files = await loadAllLakeFiles(pool);
    const names = new Set(files.map(({ name }) => name));
    const incomplete = new Set((await this.#missingOf(files)).lost.map(keyOf));
    const kept: string[] = [];
    const removed = await folder.sweep((file) => {
      if (names.has(file.name) || this.#writer.isRetired(file.name)) return true;
      if (!incomplete.has(keyOf(file)) || file.name.endsWith(".draft")) return false;
      kept.push(folder.pathOf(file));
      return true;
    });
    if (kept.length > 0)
      log.error(
        { files: kept },
        "Files that the database does not know stay: files of their days, which no table has, are missing.",
      );
    return removed;
  }

  async #readNew(signal: AbortSignal): Promise<void> {
    const startedMs = elapsedMs();
    this.#readAtMs = startedMs + READ_EVERY_MS;
    if (await this.#isUnmarked()) return;
    await this.#move();
    const { pool } = this.#parts;
    for (const { appId, isBegun } of await loadLakeApps(pool)) if (!isBegun) await beginLakeApp(pool, appId);
    for (const { appId } of await loadLastMarked(pool)) {
      if (signal.aborted) return;
      const isWritten = await this.#attempt(`${appId} new`, async () => (await this.#writer.writeNew(appId)) > 0);
      if (isWritten) this.#toMerge.add(appId);
    }
    const nowMs = elapsedMs();
    this.#readAtMs = Math.max(startedMs + READ_EVERY_MS, nowMs + (nowMs - startedMs) * READ_REST_FACTOR);
  }

  /** While an earlier version applies, nothing tells what is new. Once it is gone, the lake begins anew. */
  async #isUnmarked(): Promise<boolean> {
    const { pool, log } = this.#parts;
    if (!(await isAppliedUnmarked(pool))) return false;
    if ((await loadLakeApps(pool)).length === 0) return true;
    log.warn("An earlier version applies and tells the lake nothing: it begins anew once that has ended.");
    await inTransaction(pool, forgetLakes);
    return true;
  }

  /**
   * Moves the instants up to which events are read behind the last receipt that is applied. With several machines, whose
   * clocks differ, that need not be the receipt of the last entry.
   */
  async #move(): Promise<void> {
    const { pool, folder, log } = this.#parts;
    try {
      await moveReadUntil(pool, folder.id, (tx) => this.#reached(tx));
    } catch (error) {
      // A large batch is being applied: the next turn tries again.
      if (!isLockRefused(error)) throw error;
      log.debug("The lake waits for a batch.");
    }
  }

  async #reached(tx: Executor): Promise<{ appId: number; untilMs: number }[]> {
    const { journal, clock } = this.#parts;
    const reached = await readAllReached(tx);
    // Logs that are no longer in use may have been applied until a moment ago.
    const others = reached.filter(({ journalId }) => journalId !== journal.id);
    const marked = new Map((await loadLastMarked(tx)).map(({ appId, receivedMs }) => [appId, receivedMs]));
    const apps = await loadAppRules(tx);
    return apps.flatMap(({ appId }) => {
      const partition = journal.partitionOf(appId);
      const own = reached.filter((one) => one.journalId === journal.id && one.partition === partition);
      const lastMs = Math.max(marked.get(appId) ?? 0, ...[...own, ...others].map(({ receivedAtMs }) => receivedAtMs));
      // With a clock that ran ahead, everything that comes afterwards would have to be noted by key.
      return lastMs > 0 ? [{ appId, untilMs: Math.min(lastMs, clock() + AHEAD_MS_MAX) + 1 }] : [];
    });
  }

  /** Writes the days that are due, newest first. */
  async #writeDueDays(isOut: () => boolean): Promise<void> {
    const marks = await loadWholeMarks(this.#parts.pool);
    const latest = new Map<string, string>();
    for (const { appId, kind, day } of marks) {
      const key = `${appId} ${kind}`;
      if (!latest.has(key)) latest.set(key, day);
    }
    const nowMs = this.#parts.clock();
    const inOrder = [
      ...marks.filter((mark) => isOverdue(mark, nowMs)),
      ...marks.filter((mark) => !isOverdue(mark, nowMs)),
    ];
    const isDue = (mark: LakeMark) => {
      const isLatest = latest.get(`${mark.appId} ${mark.kind}`) === mark.day;
      return isDayDue({ ...mark, isLatest, last: this.#written.get(keyOf(mark)) }, nowMs);
    };
    await this.#writeDays(inOrder.filter(isDue), isOut);
  }

  /** Writes days as wholes. Some are packed while the next is read from the database. */
  async #writeDays(marks: readonly LakeMark[], isOut: () => boolean): Promise<void> {
    const ofEvents = marks.filter(({ kind }) => kind === "events").map(({ day }) => day);
    const cold = new Set(await loadColdAmong(this.#parts.pool, [...new Set(ofEvents)]));
    const packing = new Set<Promise<unknown>>();
    for (const mark of marks) {
      if (isOut()) break;
      const startedMs = elapsedMs();
      if (mark.kind === "events" && cold.has(mark.day)) {
        await Promise.all(packing);
        await this.#attempt(keyOf(mark), () => this.#writeColdDay(mark));
        continue;
      }
      const read = await this.#attempt(keyOf(mark), () => this.#writer.readDay(mark));
      const readMs = elapsedMs() - startedMs;
      if (!read) continue;
      if (packing.size === PACKED_AT_ONCE) await Promise.race(packing);
      const written = this.#attempt(keyOf(mark), () => this.#writeDay(read, readMs));
      const ended: Promise<unknown> = written.then(() => packing.delete(ended));
      packing.add(ended);
    }
    await Promise.all(packing);
  }

  /** How long a day takes tells how soon it may be written again; that others were packed before it does not matter. */
  async #writeDay(read: ReadDay, readMs: number): Promise<void> {
    const startedMs = elapsedMs();
    await this.#writer.writeDay(read);
    const tookMs = readMs + elapsedMs() - startedMs;
    this.#written.set(keyOf(read.day), { endedAtMs: this.#parts.clock(), tookMs });
    this.#toMerge.add(read.day.appId);
  }

  async #writeColdDay(mark: LakeMark): Promise<void> {
    const startedMs = elapsedMs();
    const isWritten = await this.#writer.writeColdDay(mark);
    const endedAtMs = this.#parts.clock();
    this.#written.set(keyOf(mark), { endedAtMs, tookMs: elapsedMs() - startedMs });
    // Otherwise it would be due at once, before all others.
    if (!isWritten) this.#rests.set(keyOf(mark), endedAtMs + FAILED_REST_MS);
  }

  async #mergeOne(appId: number): Promise<boolean> {
    const { pool, clock } = this.#parts;
    const app = await loadLakeApp(pool, appId);
    if (!app || app.readUntilMs !== app.writtenUntilMs) return false;
    const [rules] = await loadAppRules(pool, [appId]);
    if (!rules) return false;
    const again = new Set((await this.#marksOf(appId)).filter(isWhole).map(keyOf));
    for (const files of byDay(await loadLakeFiles(pool, { appId, kind: "events" }))) {
      if (again.has(keyOf(files[0]!))) continue;
      const chosen = filesToMerge(files, { isOver: isOver(rules, files[0]!.day, clock()), nowMs: clock() });
      if (chosen.length === 0) continue;
      await this.#merge(app, chosen);
      return true;
    }
    return false;
  }

  /** A day whose files cannot be merged is written again from the tables. */
  async #merge(app: LakeApp, files: readonly LakeFile[]): Promise<void> {
    try {
      await this.#writer.merge(app, files);
    } catch (error) {
      const { appId, kind, day } = files[0]!;
      const mark = { appId, kind, day, again: true, receivedMs: 0 };
      await inTransaction(this.#parts.pool, (tx) => markLake(tx, [mark], this.#parts.clock()));
      throw error;
    }
  }

  async #tidy(): Promise<void> {
    const { pool, clock } = this.#parts;
    await this.#writer.removeRetired(clock() - RETIRED_MS);
    if (elapsedMs() - this.#sweptAtMs < SWEEP_EVERY_MS) return;
    this.#sweptAtMs = elapsedMs();
    this.#written.clear();
    this.#rests.clear();
    await this.#markMissing();
    for (const app of await loadLakeApps(pool)) {
      await this.#dropGone(app);
      // A day that is over gets its last form when nothing has come for a while.
      this.#toMerge.add(app.appId);
    }
    await this.sweep();
    await this.#freezer.tidy();
  }

  async #dropGone(app: LakeApp): Promise<void> {
    const files = await loadFilesOfDroppedDays(this.#parts.pool, app.appId);
    if (files.length > 0) await this.#writer.drop(app, files);
    await forgetGone(this.#parts.pool, app.appId);
  }

  /** Days of which a file is missing or has another size are written again: somebody has removed it. */
  async #markMissing(): Promise<void> {
    const { pool, folder, clock, log } = this.#parts;
    const { lost, again } = await this.#missingOf(await loadAllLakeFiles(pool));
    if (lost.length > 0)
      log.error(
        { files: lost.map((file) => folder.pathOf(file)) },
        "Files of the lake are missing or have another size. No table has their events: put them back from a backup.",
      );
    if (again.length === 0) return;
    log.warn({ files: again.length }, "Files of the lake are missing; their days are written again.");
    const days = byDay(again).map(([file]) => ({ ...file!, again: true, receivedMs: 0 }));
    await inTransaction(pool, async (tx) => {
      await deleteLakeFiles(tx, again);
      await markLake(tx, days, clock());
    });
  }

  /** Those that are missing or have another size: `lost` are of cold days, which no table has. */
  async #missingOf(files: readonly LakeFile[]): Promise<{ lost: LakeFile[]; again: LakeFile[] }> {
    const { pool, folder } = this.#parts;
    const missing: LakeFile[] = [];
    for (const file of files) if (!(await isThere(folder.pathOf(file), file.bytes))) missing.push(file);
    const cold = missing.length > 0 ? await loadColdNames(pool) : new Set<string>();
    return {
      lost: missing.filter(({ name }) => cold.has(name)),
      again: missing.filter(({ name }) => !cold.has(name)),
    };
  }

  #marksOf(appId: number): Promise<LakeMark[]> {
    return loadLakeMarks(this.#parts.pool, appId);
  }
}

/** Whether a marked day is written as a whole. New events alone are written as a part. */
function isWhole({ kind, again }: LakeMark): boolean {
  return kind !== "events" || again;
}

function keyOf({ appId, kind, day }: Pick<LakeFile, "appId" | "kind" | "day">): string {
  return `${appId} ${kind} ${day}`;
}

function byDay(files: readonly LakeFile[]): LakeFile[][] {
  const days = new Map<string, LakeFile[]>();
  for (const file of files) days.set(keyOf(file), [...(days.get(keyOf(file)) ?? []), file]);
  return [...days.values()];
}

function isOver({ timeZone }: AppRules, day: string, nowMs: number): boolean {
  return day < calendarOf(timeZone).dayOf(nowMs);
}
