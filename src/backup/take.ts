import { existsSync } from "node:fs";
import { mkdir, open, readdir, rename, rm, rmdir, stat, statfs, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type pg from "pg";
import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import { addAudit } from "../db/audit-log.ts";
import { holdJournal, releaseJournal } from "../db/backup-hold.ts";
import { loadBackupSums } from "../db/backup-sums.ts";
import { listSequences, listTables, lockTables, type StoredTable } from "../db/engine/catalog.ts";
import { describeDatabase } from "../db/engine/database.ts";
import { listMigrations } from "../db/engine/migrate.ts";
import { openPool } from "../db/engine/pool.ts";
import { assertRestored } from "../db/engine/restore-mark.ts";
import { readTable, writePortably } from "../db/engine/table-copy.ts";
import { loadInstallation } from "../db/installation.ts";
import { loadOtherCursors, readCursors } from "../db/journal-cursor.ts";
import type { Connection } from "../db/server/server.ts";
import { atOneInstant } from "../db/standstill.ts";
import { UsageError } from "../errors.ts";
import { readId } from "../journal/journal-id.ts";
import { syncFolder } from "../journal/segment.ts";
import { MIB } from "../limits.ts";
import type { Log } from "../log.ts";
import { findVault } from "../vault.ts";
import { VERSION } from "../version.ts";
import { draftOf, placeOf, removeLeftovers, TABLE_FOLDER } from "./draft.ts";
import { assertPassphrase, boxKey } from "./key-box.ts";
import {
  MANIFEST,
  type Manifest,
  type SavedJournal,
  type SavedLake,
  type SavedTable,
  textOfManifest,
} from "./manifest.ts";
import { packFile, RowMeter } from "./packed-file.ts";
import { JOURNAL_FOLDER, saveJournal } from "./saved-journal.ts";
import { type HeldLake, holdLake, LAKE_FOLDER, releaseLake, saveLake } from "./saved-lake.ts";
import { readLogId, saveLog } from "./saved-log.ts";

/** Between two statements of the snapshot a slow disk may have to take what was packed. */
const IDLE_MS_MAX = 3_600_000;
/** How often the free space is looked at. */
const LOOK_BYTES = 16 * MIB;
/** New data is refused below DISK_FREE_BYTES_MIN; a backup ends before it comes to that. */
const ROOM = 1.5;

export type BackupSource = {
  config: Pick<Config, "dataDir" | "databaseUrl" | "secretKey" | "diskFreeBytesMin" | "jetstream">;
  connection: Connection;
  log: Log;
  clock: Clock;
};

export type BackupPart = "tables" | "lake" | "journal";
export type OnBackup = (part: BackupPart, done: number, total: number) => void;
export type BackupWish = {
  dir: string;
  passphrase: string | undefined;
  /** Who takes it: a backup holds everything, so the audit log names it as it names an export. */
  by: { name: string; address: string };
  onProgress: OnBackup;
};

/**
 * Writes everything into one folder, which gets its name when it is complete.
 *
 *   hold the journal ─▶ snapshot: tables, cold days of the lake, sequences, sums, cursor ─▶ journal from the cursor on ─▶ manifest ─▶ name
 *
 * The server goes on meanwhile. What it acknowledges before the journal is copied is in the backup.
 */
export async function takeBackup(source: BackupSource, wish: BackupWish): Promise<Manifest> {
  const { dir, passphrase } = wish;
  if (passphrase !== undefined) assertPassphrase(passphrase);
  await assertFree(dir);
  await removeLeftovers(dirname(dir));
  const draft = draftOf(dir);
  for (const folder of [TABLE_FOLDER, LAKE_FOLDER, JOURNAL_FOLDER])
    await mkdir(join(draft, folder), { recursive: true, mode: 0o700 });
  try {
    const manifest = await withConnection(source, (client) => save(client, source, { ...wish, dir: draft }));
    await writeManifest(draft, manifest);
    for (const folder of [TABLE_FOLDER, LAKE_FOLDER, JOURNAL_FOLDER, "."]) await syncFolder(join(draft, folder));
    if (existsSync(dir)) await rmdir(dir);
    await rename(draft, dir);
    await syncFolder(dirname(dir));
    return manifest;
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
}

async function assertFree(dir: string): Promise<void> {
  // The backup is written beside its folder and gets its name by a rename, which never leaves a disk.
  if (existsSync(dir) && (await stat(dir)).dev !== (await stat(dirname(dir))).dev)
    throw new UsageError(
      `${dir} is where another disk is mounted: name a folder inside it, such as ${join(dir, "backup")}.`,
    );
  const found = await readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw new UsageError(`${dir} cannot be used for a backup: ${error.message}`);
  });
  if (found.length > 0) throw new UsageError(`${dir} is not empty: name a new folder for the backup.`);
}

/** One connection for the whole backup: the hold on the journal and the snapshot live as long as it does. */
async function withConnection<T>(source: BackupSource, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const pool = openPool(source.connection, {
    log: source.log,
    connectionsMax: 1,
    name: "backup",
    givesWay: source.connection.kind === "local",
    transactionIdleMs: IDLE_MS_MAX,
  });
  const client = await pool.connect();
  client.on("error", () => {});
  try {
    return await work(client);
  } finally {
    // A database that is still sending a table reads no farewell, so a polite end could wait forever.
    (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
    client.release(true);
    await pool.end();
  }
}

async function save(client: pg.PoolClient, source: BackupSource, wish: BackupWish): Promise<Manifest> {
  const { config, clock } = source;
  const beganAtMs = clock();
  const journalId = await journalIdOf(config);
  await assertRestored(client);
  const details = {
    folder: placeOf(wish.dir),
    key: wish.passphrase === undefined ? "left out" : "under a passphrase",
  };
  await addAudit(client, {
    atMs: beganAtMs,
    actor: wish.by.name,
    address: wish.by.address,
    action: "backup",
    appId: null,
    details,
  });
  await holdJournal(client);
  const room = new Room(wish.dir, config.diskFreeBytesMin * ROOM);
  await room.assert();
  const { database, lake, cursors, others, key } = await saveTables(client, { source, wish, room, journalId });
  const journal = await saveEntries(cursors, { source, wish, room, journalId });
  if (!(await releaseJournal(client))) throw new Error("The connection that held the journal was lost.");
  return {
    format: 1,
    made_by: VERSION,
    began_at_ms: beganAtMs,
    ended_at_ms: clock(),
    bytes: [...database.tables, ...journal.segments, ...(lake?.files ?? [])].reduce((sum, { bytes }) => sum + bytes, 0),
    database,
    journal: { ...journal, others },
    ...(lake && { lake }),
    key,
  };
}

async function journalIdOf({ dataDir, jetstream }: BackupSource["config"]): Promise<string> {
  if (jetstream) return readLogId(jetstream);
  const id = await readId(join(dataDir, "journal"));
  if (id !== undefined) return id;
  throw new UsageError(`There is no journal in ${dataDir}: set DATA_DIR to the folder of the server, on its machine.`);
}

type Parts = { source: BackupSource; wish: BackupWish; room: Room; journalId: string };

async function saveTables(client: pg.PoolClient, { source, wish, room, journalId }: Parts) {
  const listed = await listTables(client, "durable");
  return atOneInstant(client, async (tx) => {
    // The first statement that reads takes the snapshot: what it sees cannot be dropped any more.
    await lockTables(tx, namesOf(listed));
    await writePortably(tx);
    const tables = await listTables(tx, "durable");
    await lockTables(tx, namesOf(tables));
    const { version } = await describeDatabase(tx);
    const cursors = await readCursors(tx, journalId);
    const others = await loadOtherCursors(tx, journalId);
    const key = await keyOf(tx, tables, { source, passphrase: wish.passphrase });
    // An earlier version has no such days.
    const held = namesOf(tables).includes("lake_gone") ? await holdLake(tx, source.config.dataDir) : undefined;
    const { saved, lake } = await saveEach(tx, tables, { wish, room, held }).finally(() => releaseLake(held));
    const database: Manifest["database"] = {
      kind: source.config.databaseUrl === "" ? "embedded" : "external",
      postgres: version,
      migrations: await listMigrations(tx),
      tables: saved,
      // After the tables: a sequence belongs to no snapshot, and must not be behind any row.
      sequences: await listSequences(tx),
      sums: await loadBackupSums(tx),
    };
    return { database, lake, cursors, others, key };
  });
}

/** What the tables do not have yet, up to what is acknowledged now. */
async function saveEntries(
  cursors: readonly number[],
  { source, wish, room, journalId: id }: Parts,
): Promise<Omit<SavedJournal, "others">> {
  const { dataDir, jetstream: address } = source.config;
  const options = {
    dir: wish.dir,
    beforeWrite: (bytes: number) => room.take(bytes),
    onProgress: (done: number, total: number) => wish.onProgress("journal", done, total),
  };
  if (address) return saveLog({ ...options, address, id, cursors });
  const cursor = cursors[0] ?? 0;
  return { id, cursor, ...(await saveJournal({ ...options, journalDir: join(dataDir, "journal"), cursor })) };
}

const namesOf = (tables: readonly StoredTable[]) => tables.map(({ name }) => name);

async function saveEach(
  tx: pg.PoolClient,
  tables: readonly StoredTable[],
  { wish, room, held }: { wish: BackupWish; room: Room; held: HeldLake | undefined },
): Promise<{ saved: SavedTable[]; lake: SavedLake | undefined }> {
  const total = tables.reduce((sum, { bytes }) => sum + bytes, 0);
  const saved: SavedTable[] = [];
  let done = 0;
  for (const { name, columns, bytes, partition } of tables) {
    const meter = new RowMeter();
    const file = await packFile({
      dir: wish.dir,
      path: `${TABLE_FOLDER}/${name}.copy.gz`,
      source: readTable(tx, { name, columns }),
      meter,
      onBytes: (plain) => wish.onProgress("tables", done + Math.min(plain, bytes), total),
      beforeWrite: (packed) => room.take(packed),
    });
    const range = partition ? { of: partition.of, from: partition.from, until: partition.until } : null;
    saved.push({ ...file, name, columns, partition: range, rows: meter.rows, digest: meter.digest });
    done += bytes;
    wish.onProgress("tables", done, total);
  }
  const { dir, onProgress } = wish;
  const beforeWrite = (bytes: number) => room.take(bytes);
  const lake = held && (await saveLake(held, { dir, beforeWrite, onProgress: (...of) => onProgress("lake", ...of) }));
  return { saved, lake };
}

/** The fingerprint of the key, and with a passphrase the key itself. */
async function keyOf(
  tx: pg.PoolClient,
  tables: readonly StoredTable[],
  { source, passphrase }: { source: BackupSource; passphrase: string | undefined },
): Promise<Manifest["key"]> {
  const isKept = tables.some(({ name }) => name === "installation");
  const fingerprint = isKept ? ((await loadInstallation(tx))?.keyFingerprint ?? null) : null;
  if (passphrase === undefined) return { fingerprint, box: null };
  const vault = findVault(source.config);
  if (!vault || vault.fingerprint !== fingerprint)
    throw new UsageError("The key cannot be put into the backup: the one that is here is not the database's key.");
  return { fingerprint, box: await boxKey(vault, passphrase) };
}

/** The free space of the disk that the backup goes to, which may be that of the journal. */
class Room {
  readonly #dir: string;
  readonly #freeBytesMin: number;
  #unseen = 0;

  constructor(dir: string, freeBytesMin: number) {
    this.#dir = dir;
    this.#freeBytesMin = freeBytesMin;
  }

  async take(bytes: number): Promise<void> {
    this.#unseen += bytes;
    if (this.#unseen >= LOOK_BYTES) await this.assert();
  }

  async assert(): Promise<void> {
    this.#unseen = 0;
    const { bavail, bsize } = await statfs(this.#dir);
    if (bavail * bsize >= this.#freeBytesMin) return;
    throw new UsageError(
      `The disk of ${dirname(this.#dir)} is too full for a backup: ${bavail * bsize} bytes are free, and ${this.#freeBytesMin} must stay free (1.5 times DISK_FREE_BYTES_MIN).`,
    );
  }
}

async function writeManifest(dir: string, manifest: Manifest): Promise<void> {
  const path = join(dir, MANIFEST);
  await writeFile(`${path}.draft`, textOfManifest(manifest), { mode: 0o600 });
  const handle = await open(`${path}.draft`, "r+");
  await handle.sync();
  await handle.close();
  await rename(`${path}.draft`, path);
}
