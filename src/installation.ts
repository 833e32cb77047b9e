import { randomBytes } from "node:crypto";
import type pg from "pg";
import { inTransaction } from "./db/engine/pool.ts";
import type { Executor } from "./db/engine/sql.ts";
import { ErasureDigest, replacePlainDigests } from "./db/erased-user.ts";
import {
  addInstallationSecret,
  beginInstallation,
  loadInstallation,
  loadInstallationSecrets,
  lockInstallation,
} from "./db/installation.ts";
import { openAll } from "./db/sealed.ts";
import { UsageError } from "./errors.ts";
import {
  findVault,
  type KeyLocation,
  keyFileOf,
  makeVault,
  nextKeyFileOf,
  takeNextKey,
  type Vault,
  vaultOfFile,
} from "./vault.ts";

/** The keys of an installation. All but the vault's are stored sealed in the database and survive a key rotation. */
export type Keys = {
  vault: Vault;
  /** Signs the tokens of users. */
  userTokenKey: Buffer;
  /** Keys the digests of erased users. */
  erasureKey: Buffer;
};

/** "first": an empty database may become an installation. "existing": it must be one already; nothing is created. */
export type Start = "first" | "existing";

/**
 * The keys that belong to this database. A key that did not seal its secrets is refused, because no other process could
 * open what it would seal.
 *
 *   fingerprint known ──▶ the key that has it, or a refusal
 *   none, nothing sealed ──▶ begin: with the key that is there, or a new one
 *   none, something sealed (by an earlier version) ──▶ begin, once the key has opened all of it
 */
export async function openKeys(pool: pg.Pool, location: KeyLocation, start: Start): Promise<Keys> {
  const vault = await vaultOf(pool, location, start);
  const { user_token, erasure } = await loadInstallationSecrets(pool, vault);
  return { vault, userTokenKey: user_token, erasureKey: erasure };
}

async function vaultOf(pool: pg.Pool, location: KeyLocation, start: Start): Promise<Vault> {
  const known = await loadInstallation(pool);
  if (known) return vaultWith(location, known.keyFingerprint);
  return inTransaction(pool, async (tx) => {
    await lockInstallation(tx);
    const other = await loadInstallation(tx);
    return other ? vaultWith(location, other.keyFingerprint) : begin(tx, location, start);
  });
}

/**
 * The vault whose key has this fingerprint. `secret rotate` commits the new fingerprint before it replaces the key
 * file: after a crash between the two, the new key is still in the file beside it.
 */
function vaultWith(location: KeyLocation, fingerprint: string): Vault {
  const vault = findVault(location);
  if (vault?.fingerprint === fingerprint) return vault;
  const next = location.secretKey === "" ? vaultOfFile(nextKeyFileOf(location)) : undefined;
  if (next?.fingerprint !== fingerprint) throw wrongKey(location, vault);
  takeNextKey(location);
  return next;
}

async function begin(tx: Executor, location: KeyLocation, start: Start): Promise<Vault> {
  const found = findVault(location);
  const isOld = await hasSealed(tx, location, found);
  if (!found && start === "existing") throw new UsageError(NOTHING_YET);
  // The key must be on disk before the database names it.
  const vault = found ?? makeVault(location);
  await beginInstallation(tx, vault.fingerprint);
  // Earlier versions signed user tokens with a key derived from the vault's; those tokens stay valid.
  const userTokenKey = isOld ? vault.keyFor("user-token") : randomBytes(32);
  await addInstallationSecret(tx, { name: "user_token", sealed: vault.seal(userTokenKey.toString("hex")) });
  const erasureKey = randomBytes(32);
  await addInstallationSecret(tx, { name: "erasure", sealed: vault.seal(erasureKey.toString("hex")) });
  await replacePlainDigests(tx, new ErasureDigest(erasureKey));
  return vault;
}

/** Whether an earlier version has sealed secrets. The key must open all of them. */
async function hasSealed(tx: Executor, location: KeyLocation, vault: Vault | undefined): Promise<boolean> {
  try {
    // Without a key nothing opens, so a single secret is enough for a refusal.
    return (await openAll(tx, vault ?? LOST)) > 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw wrongKey(location, vault, ` ${error.message}`);
  }
}

const LOST: Pick<Vault, "open"> = {
  open() {
    throw new Error("There is no key.");
  },
};

const NOTHING_YET = "The database is empty: start the server, or create the first app with `app create`.";

function wrongKey(location: KeyLocation, vault: Vault | undefined, detail = ""): UsageError {
  const sealed = `the secrets in this database are sealed with another key.${detail}`;
  if (location.secretKey !== "") {
    return new UsageError(
      `SECRET_KEY is wrong: ${sealed} Set it to the key of the installation that uses this database, or leave it empty if that key is in ${keyFileOf(location)}.`,
    );
  }
  const file = keyFileOf(location);
  const what = vault ? `The key in ${file} is wrong` : `There is no key in ${file}`;
  return new UsageError(
    `${what}: ${sealed} Set DATA_DIR to the folder of the installation that uses this database, or SECRET_KEY to its key.`,
  );
}
