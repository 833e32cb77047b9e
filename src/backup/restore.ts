import { mkdirSync, rmSync } from "node:fs";
import type pg from "pg";
import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import { holderOf, lockDataDir } from "../data-lock.ts";
import { addAudit } from "../db/audit-log.ts";
import type { DatabaseConfig } from "../db/engine/database.ts";
import { migrate } from "../db/engine/migrate.ts";
import { inTransaction } from "../db/engine/pool.ts";
import { removeRestoreMark } from "../db/engine/restore-mark.ts";
import { doubtPostbacksBefore } from "../db/installation.ts";
import { forgetLakes } from "../db/lake-app.ts";
import { doubtOutbox } from "../db/outbox.ts";
import { UsageError } from "../errors.ts";
import { settingsFileOf } from "../intake/settings-copy.ts";
import type { Log } from "../log.ts";
import { findVault, keyFileOf, restoreKey, vaultOfKey } from "../vault.ts";
import { checkBackup, type OnPart } from "./check.ts";
import { unboxKey } from "./key-box.ts";
import { assertSameSums, claimDatabase, loadTables } from "./load.ts";
import type { Manifest } from "./manifest.ts";
import { type PlacedEntries, placeEntries, planEntries } from "./restored-entries.ts";
import { placeLake, planLake } from "./saved-lake.ts";
import { Aside, openTarget } from "./target.ts";

export type RestoreWish = {
  dir: string;
  passphrase: string | undefined;
  /** What to do with an embedded database, a journal or a key that is already there and is not the backup's. */
  existing: "refuse" | "replace";
  /** "unsure": the server of the backup may have sent postbacks since. "unsent": it has sent nothing. */
  postbacks: "unsure" | "unsent";
  by: { name: string; address: string };
  onProgress: OnPart<"check" | "load">;
};

export type Restored = PlacedEntries & {
  manifest: Manifest;
  /** Waiting postbacks that count as begun. */
  doubted: number;
  foreign: string[];
};

type RestoreDeps = {
  config: DatabaseConfig & Pick<Config, "secretKey" | "jetstream">;
  log: Log;
  clock: Clock;
};

/**
 * Brings a backup back. Everything is checked before anything is changed; from the first change to the last the database
 * is marked, so that a server does not start on half of it and a repetition begins anew.
 *
 *   check files, key, journal ─▶ claim the empty database: mark ─▶ key, journal ─▶ tables ─▶ compare ─▶ migrate ─▶ unmark ─▶ distribute
 */
export async function restoreBackup(deps: RestoreDeps, wish: RestoreWish): Promise<Restored> {
  const { config, log, clock } = deps;
  const { dir, existing } = wish;
  // Said before the files are read, which may take long. The lock itself needs the folder.
  const holder = holderOf(config.dataDir);
  if (holder) throw new UsageError(`${config.dataDir} is in use by process ${holder.pid}: stop it first.`);
  const manifest = await checkBackup(dir, wish.onProgress);
  const key = await keyFor(config, manifest, wish);
  mkdirSync(config.dataDir, { recursive: true, mode: 0o711 });
  const folder = await lockDataDir(config.dataDir, { log });
  try {
    const entries = await planEntries(config, { dir, saved: manifest.journal, existing });
    const lakePlan = await planLake(config, { lake: manifest.lake, existing });
    const aside = new Aside(config.dataDir, clock());
    if (existing === "replace" && config.databaseUrl === "") await aside.putCluster(log);
    const { pool, stop } = await openTarget(config, log);
    try {
      await claimDatabase(pool);
      // The settings of before. A start without the database would go by them.
      rmSync(settingsFileOf(config.dataDir), { force: true });
      if (key.kind === "boxed") {
        if (key.isOther) aside.put("secret.key");
        restoreKey(config, key.key);
      }
      const placed = await placeEntries(entries, { dir, saved: manifest.journal, aside });
      await placeLake(config, { dir, lake: manifest.lake, plan: lakePlan, aside });
      const { foreign } = await loadTables({ pool, log, clock }, { dir, manifest, onProgress: wish.onProgress });
      await assertSameSums(pool, manifest.database.sums);
      await migrate(pool, { log, clock, restore: { only: undefined } });
      const doubted = await finish(pool, { manifest, wish, nowMs: clock() });
      // Where Citus is, the rows go to their machines. `database migrate` continues this when it is interrupted.
      await migrate(pool, { log, clock, filled: "distribute" });
      return { manifest, ...placed, doubted, foreign };
    } finally {
      await stop();
    }
  } finally {
    folder.release();
  }
}

type Key = { kind: "there" } | { kind: "boxed"; key: string; isOther: boolean };

/** The key of the backup's secrets. A database without it would be of no use, so it is found before anything else. */
async function keyFor(
  config: RestoreDeps["config"],
  { key }: Manifest,
  { passphrase, existing }: RestoreWish,
): Promise<Key> {
  if (key.fingerprint === null) return { kind: "there" };
  const own = findVault(config);
  const boxed = key.box && passphrase !== undefined ? await unboxKey(key.box, passphrase) : undefined;
  if (boxed !== undefined && vaultOfKey(boxed).fingerprint !== key.fingerprint)
    throw new UsageError("The key in this backup is not the one that sealed its secrets.");
  if (own?.fingerprint === key.fingerprint) return { kind: "there" };
  const place = config.secretKey === "" ? keyFileOf(config) : "SECRET_KEY";
  if (own && (config.secretKey !== "" || existing === "refuse" || boxed === undefined))
    throw new UsageError(
      `The key in ${place} did not seal the secrets of this backup, and nothing was changed. Put the right key there (its fingerprint is ${key.fingerprint})${boxed === undefined ? "" : ", or add --replace to put the other key aside"}.`,
    );
  if (boxed !== undefined) return { kind: "boxed", key: boxed, isOther: own !== undefined };
  const box = key.box ? "give the --passphrase that opens the one in the backup" : "the backup does not hold it";
  throw new UsageError(
    `The key of this backup is missing, and nothing was changed: put it into ${place} (its fingerprint is ${key.fingerprint}); ${box}.`,
  );
}

/** Ends the restore: doubt, note and mark are one transaction. Returns the number of postbacks in doubt. */
async function finish(
  pool: pg.Pool,
  { manifest, wish, nowMs }: { manifest: Manifest; wish: RestoreWish; nowMs: number },
): Promise<number> {
  return inTransaction(pool, async (tx) => {
    const isUnsure = wish.postbacks === "unsure";
    const doubted = isUnsure ? await doubtOutbox(tx) : 0;
    await doubtPostbacksBefore(tx, isUnsure ? nowMs : 0);
    const taken = new Date(manifest.began_at_ms).toISOString();
    await addAudit(tx, {
      atMs: nowMs,
      actor: wish.by.name,
      address: wish.by.address,
      action: "backup/restore",
      appId: null,
      details: { taken, cursor: manifest.journal.cursor, postbacks: wish.postbacks, doubted },
    });
    await forgetLakes(tx);
    await removeRestoreMark(tx);
    return doubted;
  });
}
