import type pg from "pg";
import type { Clock } from "../clock.ts";
import { migrate } from "../db/engine/migrate.ts";
import { inTransaction } from "../db/engine/pool.ts";
import { readTable, writePortably } from "../db/engine/table-copy.ts";
import { UsageError } from "../errors.ts";
import { wholeBytesOf } from "../journal/segment.ts";
import type { Log } from "../log.ts";
import { checkBackup, type OnPart } from "./check.ts";
import { assertSameSums, claimDatabase, loadTables } from "./load.ts";
import type { Manifest, SavedTable } from "./manifest.ts";
import { meterRows } from "./packed-file.ts";
import { unpacked } from "./restored-journal.ts";
import { withScratch } from "./scratch.ts";

export type Trial = { tables: number; rows: number; events: number; apps: number; journal_bytes: number };

type TrialWish = {
  dir: string;
  /** The folder in which the scratch database is made, and removed afterwards. */
  scratch: string;
  onProgress: OnPart<"check" | "load" | "compare">;
};

/**
 * Restores a backup into a scratch database, compares every row of every table, the ledgers and the cube with what the
 * snapshot had, and removes the database again. The journal's records are read too.
 */
export async function tryBackup(deps: { log: Log; clock: Clock }, wish: TrialWish): Promise<Trial> {
  const manifest = await checkBackup(wish.dir, wish.onProgress);
  const journalBytes = await readJournal(wish.dir, manifest);
  return withScratch({ parent: wish.scratch, log: deps.log }, async (pool) => {
    await claimDatabase(pool);
    const { foreign } = await loadTables({ pool, ...deps }, { ...wish, manifest });
    const tables = manifest.database.tables.filter(({ name }) => !foreign.includes(name));
    await compareTables(pool, tables, wish.onProgress);
    await assertSameSums(pool, manifest.database.sums);
    await migrate(pool, { ...deps, restore: { only: undefined } });
    return { ...countOf(manifest), tables: tables.length, journal_bytes: journalBytes };
  });
}

function countOf({ database }: Manifest) {
  return {
    rows: database.tables.reduce((sum, { rows }) => sum + rows, 0),
    events: database.sums.ledger
      .filter(({ outcome }) => outcome === "received")
      .reduce((sum, one) => sum + one.events, 0),
    apps: database.tables.find(({ name }) => name === "app")?.rows ?? 0,
  };
}

async function compareTables(
  pool: pg.Pool,
  tables: readonly SavedTable[],
  onProgress: TrialWish["onProgress"],
): Promise<void> {
  const wrong: string[] = [];
  for (const [index, table] of tables.entries()) {
    const found = await inTransaction(
      pool,
      async (tx) => {
        await writePortably(tx);
        return meterRows(readTable(tx, table));
      },
      "snapshot",
    );
    if (found.rows !== table.rows || found.digest !== table.digest) wrong.push(table.name);
    onProgress("compare", index + 1, tables.length);
  }
  if (wrong.length > 0)
    throw new UsageError(
      `The trial restore differs from the backup in ${wrong.join(", ")}: do not rely on this backup.`,
    );
}

/** Reads every record of the copied journal; its last segment must end with a whole one. */
async function readJournal(dir: string, { journal }: Manifest): Promise<number> {
  let bytes = 0;
  for (const segment of journal.segments) {
    const content = await unpacked(dir, segment);
    const isLast = segment === journal.segments.at(-1);
    if (isLast && wholeBytesOf(content, segment.from) !== content.length)
      throw new UsageError(`The journal in the backup ends in the middle of a record, in ${segment.path}.`);
    bytes += content.length;
  }
  return bytes;
}
