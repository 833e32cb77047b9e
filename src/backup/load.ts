import { isDeepStrictEqual } from "node:util";
import type pg from "pg";
import type { Clock } from "../clock.ts";
import { type BackupSums, loadBackupSums } from "../db/backup-sums.ts";
import { analyzeTable, dropAll, listRelations, setSequence } from "../db/engine/catalog.ts";
import { migrate } from "../db/engine/migrate.ts";
import { makePartition } from "../db/engine/partition.ts";
import { inTransaction } from "../db/engine/pool.ts";
import { hasRestoreMark, RESTORE_MARK, setRestoreMark } from "../db/engine/restore-mark.ts";
import { emptyTable, writePortably, writeTable } from "../db/engine/table-copy.ts";
import { UsageError } from "../errors.ts";
import type { Log } from "../log.ts";
import type { OnPart } from "./check.ts";
import type { Manifest, SavedTable } from "./manifest.ts";
import { unpackFile } from "./packed-file.ts";

export type LoadDeps = { pool: pg.Pool; log: Log; clock: Clock };

/** Refuses a database with other people's tables, and marks an empty one. What an interrupted restore left is cleared. */
export async function claimDatabase(pool: pg.Pool): Promise<void> {
  if (await hasRestoreMark(pool)) return dropAll(pool, RESTORE_MARK);
  const found = await listRelations(pool);
  if (found.length > 0)
    throw new UsageError(
      `The database is not empty (${found.length} tables, such as ${found[0]}), and nothing was changed. Restore into a new DATA_DIR or, with DATABASE_URL, into an empty database; --replace moves an embedded database aside.`,
    );
  await setRestoreMark(pool);
}

/**
 * Fills a marked database. The migrations that the backup had make its tables, the files fill them, and the other
 * migrations of the program bring them up to date, as they would have done with the original.
 */
export async function loadTables(
  { pool, log, clock }: LoadDeps,
  { dir, manifest, onProgress }: { dir: string; manifest: Manifest; onProgress: OnPart<"load"> },
): Promise<{ foreign: string[] }> {
  const { migrations, tables, sequences } = manifest.database;
  await migrate(pool, { log, clock, restore: { only: new Set(migrations.map(({ name }) => name)) } });
  const made = new Set(await listRelations(pool));
  const isOurs = ({ name, partition }: SavedTable) => made.has(partition?.of ?? name);
  const ours = tables.filter(isOurs);
  const total = ours.reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  for (const table of ours) {
    await inTransaction(pool, (tx) =>
      loadTable(tx, dir, table, (bytes) => {
        done += bytes;
        onProgress("load", done, total);
      }),
    );
  }
  for (const sequence of sequences) await setSequence(pool, sequence);
  for (const name of new Set(ours.map((table) => table.partition?.of ?? table.name))) await analyzeTable(pool, name);
  // Tables that somebody else has put into the same schema are in the backup, but no migration makes them.
  return { foreign: tables.filter((table) => !isOurs(table)).map(({ name }) => name) };
}

async function loadTable(
  tx: pg.PoolClient,
  dir: string,
  table: SavedTable,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const { name, partition } = table;
  if (partition) await makePartition(tx, { ...partition, name });
  // Migrations put rows into some tables.
  else await emptyTable(tx, name);
  await writePortably(tx);
  const target = writeTable(tx, table);
  await unpackFile(dir, table, target, onBytes);
  if (target.rowCount !== table.rows)
    throw new Error(`The table ${name} got ${target.rowCount} rows, and the backup has ${table.rows}.`);
}

/** Compares the ledgers and the cube with those of the snapshot, exactly. */
export async function assertSameSums(pool: pg.Pool, expected: BackupSums): Promise<void> {
  const found = await loadBackupSums(pool);
  const wrong = (["ledger", "touches", "cube"] as const).filter(
    (part) => !isDeepStrictEqual(found[part], expected[part]),
  );
  if (wrong.length > 0) throw new Error(`The restored database differs from the backup: ${wrong.join(", ")}.`);
}
