import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type pg from "pg";
import type { Manifest } from "../../src/backup/manifest.ts";
import { type Restored, type RestoreWish, restoreBackup } from "../../src/backup/restore.ts";
import { type BackupWish, takeBackup } from "../../src/backup/take.ts";
import { ApplyStage, NOW_MS } from "../db/apply-stage.ts";
import { createDatabase, log, rowsOf, type TempDatabase } from "../db/temp-database.ts";
import { databaseUrl, TEST_KEY } from "../support/shared-server.ts";

const BY = { name: "test", address: "here" };
const clock = () => NOW_MS;

/** A database with a journal to back up, and places to restore it to, all on the shared cluster. */
export class BackupStage {
  readonly source: ApplyStage;
  readonly dataDir: string;
  readonly #folders: string[] = [];
  readonly #databases: TempDatabase[] = [];

  private constructor(source: ApplyStage) {
    this.source = source;
    this.dataDir = this.folder();
    symlinkSync(source.journal.dir, join(this.dataDir, "journal"));
  }

  static async open(): Promise<BackupStage> {
    return new BackupStage(await ApplyStage.open());
  }

  folder(): string {
    const folder = mkdtempSync(join(tmpdir(), "touchpoint-backup-"));
    this.#folders.push(folder);
    return folder;
  }

  async take(
    wish: Partial<BackupWish> & { diskFreeBytesMin?: number } = {},
  ): Promise<{ dir: string; manifest: Manifest }> {
    const { diskFreeBytesMin = 0, ...more } = wish;
    const dir = more.dir ?? join(this.folder(), "backup");
    const url = databaseUrl(this.source.database.name);
    const config = {
      dataDir: this.dataDir,
      databaseUrl: url,
      secretKey: TEST_KEY.secretKey,
      diskFreeBytesMin,
      jetstream: undefined,
    };
    const manifest = await takeBackup(
      { config, connection: { kind: "url", url, sessions: "own" }, log, clock },
      { passphrase: undefined, by: BY, onProgress: () => {}, ...more, dir },
    );
    return { dir, manifest };
  }

  async target(): Promise<Target> {
    const database = await createDatabase();
    this.#databases.push(database);
    return {
      pool: database.pool,
      dataDir: this.folder(),
      url: databaseUrl(database.name),
      secretKey: TEST_KEY.secretKey,
    };
  }

  restore(dir: string, target: Target, wish: Partial<RestoreWish> = {}): Promise<Restored> {
    return restoreBackup(
      { config: configOf(target), log, clock },
      { passphrase: undefined, existing: "refuse", postbacks: "unsure", by: BY, onProgress: () => {}, ...wish, dir },
    );
  }

  /** The journal as it is now, in another data folder. */
  copyJournal(target: Target): string {
    const folder = join(target.dataDir, "journal");
    cpSync(this.source.journal.dir, folder, { recursive: true });
    return folder;
  }

  async close(): Promise<void> {
    await this.source.close();
    for (const database of this.#databases) await database.drop();
    for (const folder of this.#folders) rmSync(folder, { recursive: true, force: true });
  }
}

function configOf({ dataDir, url, secretKey }: Target) {
  return {
    dataDir,
    databaseUrl: url,
    databaseDirectUrl: "",
    databaseConnectionsMax: 2,
    secretKey,
    jetstream: undefined,
  };
}

export type Target = { pool: pg.Pool; dataDir: string; url: string; secretKey: string };

/** What a restore itself writes, and who applies at the moment. */
const OWN = ["audit_log", "installation", "apply_holder", "migration"];

/** All rows of the tables of a backup, so that two databases can be compared. */
export async function contents(
  pool: pg.Pool,
  { database }: Manifest,
  without = OWN,
): Promise<Record<string, object[]>> {
  const names = database.tables.map(({ name }) => name).filter((name) => !without.includes(name));
  const rows: Record<string, object[]> = {};
  for (const name of names) rows[name] = await rowsOf(pool, name);
  return rows;
}
