import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { loadColdAmong } from "../db/cold-event.ts";
import { inTransaction } from "../db/engine/pool.ts";
import { loadLakeApp } from "../db/lake-app.ts";
import { loadDaySums, loadStoredDays, loadStoredEvents } from "../db/lake-check.ts";
import { type LakeFile, loadLakeFiles } from "../db/lake-file.ts";
import { loadLakeMarks, loadLateEvents } from "../db/lake-mark.ts";
import { addDays } from "../domain/calendar.ts";
import { LAKE_KINDS, type LakeDay } from "../domain/lake.ts";
import { messageOf } from "../errors.ts";
import type { EngineCalls } from "./engine-process.ts";
import { isThere, type LakeFolder } from "./lake-folder.ts";
import { checkedColumns, sumsOfFiles, wrongProperties } from "./lake-statements.ts";

/** "waits": something of the day is not written yet, which is no fault. */
export type CheckedDay = LakeDay & { outcome: "equal" | "different" | "waits"; rows: number; storedRows: number };

export type CheckedApp = { days: CheckedDay[]; ledger: number; events: number };

type Parts = { pool: pg.Pool; folder: LakeFolder; engine: Pick<EngineCalls, "row"> };

const LATE_LOOKED_AT = 100_000;
/** A server that writes meanwhile may replace the files of a day while they are read. */
const ATTEMPTS = 3;
const AGAIN_MS = 200;

/** Compares every day of an app in the lake with the tables, and the events with the ledger. */
export async function verifyLake(
  parts: Parts,
  appId: number,
  onDay: (day: CheckedDay) => void = () => {},
): Promise<CheckedApp> {
  const wanted = await inTransaction(parts.pool, (tx) => loadDays(tx, appId), "snapshot");
  const days: CheckedDay[] = [];
  for (const day of wanted) {
    const checked = await checkDay(parts, day);
    onDay(checked);
    days.push(checked);
  }
  return { days, ...(await loadStoredEvents(parts.pool, appId)) };
}

/** The days that are stored, or of which there is a file. */
async function loadDays(tx: pg.PoolClient, appId: number): Promise<LakeDay[]> {
  const wanted: LakeDay[] = [];
  for (const kind of LAKE_KINDS) {
    const files = await loadLakeFiles(tx, { appId, kind });
    const days = new Set([...(await loadStoredDays(tx, { appId, kind })), ...files.map(({ day }) => day)]);
    for (const day of [...days].sort()) wanted.push({ appId, kind, day });
  }
  return wanted;
}

export async function checkDay(parts: Parts, day: LakeDay): Promise<CheckedDay> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await inTransaction(parts.pool, (tx) => checkOnce(tx, parts, day), "snapshot");
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
      await sleep(AGAIN_MS);
    }
  }
}

async function checkOnce(tx: pg.PoolClient, { folder, engine }: Parts, wanted: LakeDay): Promise<CheckedDay> {
  const { appId, kind, day } = wanted;
  const app = await loadLakeApp(tx, appId);
  if (!app?.isBegun) return { ...wanted, outcome: "waits", rows: 0, storedRows: 0 };
  const files = await loadLakeFiles(tx, { appId, kind, fromDay: day, untilDay: addDays(day, 1) });
  const isMarked = (await loadLakeMarks(tx, appId)).some(
    (mark) => mark.kind === kind && mark.day === day && mark.again,
  );
  const columns = checkedColumns(kind);
  const stored = await loadDaySums(tx, wanted, { receivedBeforeMs: app.writtenUntilMs, columns });
  const paths = files.map((file) => folder.pathOf(file));
  if (kind === "events" && (await loadColdAmong(tx, [day])).length > 0) {
    const checked = await checkCold({ folder, engine }, files);
    const storedRows = checked.rows + Number(stored[0]);
    const isSound =
      checked.isWhole && (isMarked || Number(stored[0]) === 0) && (await haveProperties({ folder, engine }, files));
    return {
      ...wanted,
      outcome: isSound ? (isMarked ? "waits" : "equal") : "different",
      rows: checked.rows,
      storedRows,
    };
  }
  const written = paths.length === 0 ? stored.map(() => "0") : await engine.row(sumsOfFiles(kind, paths));
  const rows = { rows: Number(written[0]), storedRows: Number(stored[0]) };
  if (stored.join() === written.join())
    return { ...wanted, outcome: (await haveProperties({ folder, engine }, files)) ? "equal" : "different", ...rows };
  const isLate =
    kind === "events" && (await loadLateEvents(tx, { appId, limit: LATE_LOOKED_AT })).some((e) => e.day === day);
  return { ...wanted, outcome: isMarked || isLate ? "waits" : "different", ...rows };
}

/** Whether the columns of properties hold what the properties of their rows do. */
async function haveProperties(
  { folder, engine }: Pick<Parts, "folder" | "engine">,
  files: readonly LakeFile[],
): Promise<boolean> {
  for (const file of files) {
    if (file.properties.length === 0) continue;
    const [wrong] = await engine.row(wrongProperties(folder.pathOf(file), file.properties)).catch((error: unknown) => {
      // The file lacks a column that it should have.
      if (!/Binder Error/.test(messageOf(error))) throw error;
      return ["all"];
    });
    if (wrong !== "0") return false;
  }
  return true;
}

/** The files of a cold day are the only ones that have it: they must be there, be readable and have as many rows as were written. */
async function checkCold(
  { folder, engine }: Pick<Parts, "folder" | "engine">,
  files: readonly LakeFile[],
): Promise<{ rows: number; isWhole: boolean }> {
  let [rows, isWhole] = [0, true];
  for (const file of files) {
    const path = folder.pathOf(file);
    const [read] = (await isThere(path, file.bytes)) ? await engine.row(sumsOfFiles(file.kind, [path])) : ["0"];
    rows += Number(read);
    isWhole &&= Number(read) === file.rows;
  }
  return { rows, isWhole };
}
