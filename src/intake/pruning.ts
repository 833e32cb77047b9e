import type pg from "pg";
import type { Clock } from "../clock.ts";
import { unlessHeld } from "../db/backup-hold.ts";
import { allowIdle } from "../db/engine/pool.ts";
import { confirmCursor } from "../db/journal-cursor.ts";
import { DAY_MS } from "../domain/calendar.ts";
import type { EntryLog, Position } from "../journal/entry-log.ts";
import { LIMITS } from "../limits.ts";
import type { Log } from "../log.ts";
import { type Loop, startLoop } from "../loop.ts";
import type { JournalFiles } from "./journal-files.ts";

const PRUNE_MS = 30_000;
/** How long the packing of a segment may take. */
const PACK_MS_MAX = 600_000;

export type PruningOptions = {
  pool: pg.Pool;
  log: Log;
  clock: Clock;
  journal: EntryLog;
  /** Undefined when the journal is not in files. */
  files: JournalFiles | undefined;
  keepDays: number;
  isBusy: () => boolean;
  diskFreeBytes: () => number;
};

/** Deletes what is old and applied, and packs younger segments, only up to cursors known to be on disk. */
export function startPruning(options: PruningOptions): Loop {
  const { log } = options;
  return startLoop({ name: "prune", log, idleMs: PRUNE_MS, turn: (signal) => prune(options, signal) });
}

async function prune(options: PruningOptions, signal: AbortSignal): Promise<"busy" | "idle"> {
  const { pool, log, clock, journal, keepDays } = options;
  const { id: journalId, partitions } = journal;
  const writtenBeforeMs = clock() - keepDays * DAY_MS;
  const confirmed: Position[] = [];
  for (let partition = 0; partition < partitions; partition += 1) {
    const applied = await confirmCursor(pool, { journalId, partition });
    confirmed.push(applied);
    // A backup copies the journal after the tables, from the cursor that it has seen there.
    const removed = (await unlessHeld(pool, () => journal.prune(partition, { applied, writtenBeforeMs }))) ?? 0;
    if (removed > 0) log.info({ partition, removed }, "Applied parts of the journal were removed.");
  }
  return pack(options, confirmed[0]!, signal);
}

async function pack(options: PruningOptions, applied: Position, signal: AbortSignal): Promise<"busy" | "idle"> {
  const { pool, files, diskFreeBytes } = options;
  const isBusy = options.isBusy();
  // Packing frees most of a segment, and needs less than one meanwhile.
  if (!files || diskFreeBytes() < 2 * LIMITS.segmentBytes) return "idle";
  const packed = await unlessHeld(pool, async (tx) => {
    await allowIdle(tx, PACK_MS_MAX);
    return files.packOne({ applied, isBusy, signal });
  });
  return packed ? "busy" : "idle";
}
