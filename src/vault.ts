import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { UsageError } from "./errors.ts";

/** Encrypts secrets at rest: AES-256-GCM under a key from the environment or from a file that only we can read. */
export class Vault {
  readonly #key: Buffer;
  /** Identifies the key without revealing it: two vaults with the same fingerprint have the same key. */
  readonly fingerprint: string;

  constructor(key: Buffer) {
    this.#key = key;
    this.fingerprint = this.keyFor("fingerprint").toString("hex");
  }

  seal(secret: string): string {
    const nonce = randomBytes(12);
    const cipher = createCipheriv("aes-256-gcm", this.#key, nonce);
    const sealed = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
    return `v1.${Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64url")}`;
  }

  open(sealed: string): string {
    const bytes = Buffer.from(sealed.slice("v1.".length), "base64url");
    const decipher = createDecipheriv("aes-256-gcm", this.#key, bytes.subarray(0, 12));
    decipher.setAuthTag(bytes.subarray(12, 28));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString("utf8");
    } catch {
      throw new Error("A secret in the database does not open with this SECRET_KEY (or DATA_DIR/secret.key).");
    }
  }

  /** This vault's own key, sealed by another vault. */
  sealedBy(other: Vault): string {
    return other.seal(this.#key.toString("hex"));
  }

  /** A derived key for one purpose, so that no key serves two purposes. */
  keyFor(purpose: string): Buffer {
    return Buffer.from(hkdfSync("sha256", this.#key, "", purpose, 32));
  }
}

export type SecretOpener = Pick<Vault, "open">;

/** Opens each secret once, however often the database is read. A secret that a whole round does not ask for is forgotten. */
export class OpenedSecrets implements SecretOpener {
  readonly #vault: SecretOpener;
  #opened = new Map<string, string>();
  #lastRound = new Map<string, string>();

  constructor(vault: SecretOpener) {
    this.#vault = vault;
  }

  beginRound(): void {
    this.#lastRound = this.#opened;
    this.#opened = new Map();
  }

  open(sealed: string): string {
    const secret = this.#opened.get(sealed) ?? this.#lastRound.get(sealed) ?? this.#vault.open(sealed);
    this.#opened.set(sealed, secret);
    return secret;
  }
}

/** Where the key is: in the setting, or, when that is empty, in a file in DATA_DIR. */
export type KeyLocation = { dataDir: string; secretKey: string };

export const keyFileOf = ({ dataDir }: KeyLocation): string => join(dataDir, "secret.key");
/** The file of the next key during `secret rotate`; see admin/key-rotation.ts. */
export const nextKeyFileOf = (location: KeyLocation): string => `${keyFileOf(location)}.new`;

/** The vault of the existing key. Never creates a key. */
export function openVault(location: KeyLocation): Vault {
  const vault = findVault(location);
  if (!vault)
    throw new UsageError(`There is no key: SECRET_KEY is not set, and ${keyFileOf(location)} does not exist.`);
  return vault;
}

export function findVault(location: KeyLocation): Vault | undefined {
  return location.secretKey === "" ? vaultOfFile(keyFileOf(location)) : vaultOfKey(location.secretKey);
}

export function vaultOfKey(key: string): Vault {
  return new Vault(Buffer.from(key, "hex"));
}

export function vaultOfFile(path: string): Vault | undefined {
  if (!existsSync(path)) return undefined;
  const key = readFileSync(path, "utf8").trim();
  if (!/^[0-9a-f]{64}$/.test(key)) throw new UsageError(`${path} does not hold a key: restore the right one.`);
  return vaultOfKey(key);
}

/** The vault of the existing key or of a new one. Only for an installation that has sealed nothing yet. */
export function makeVault(location: KeyLocation): Vault {
  const known = findVault(location);
  if (known) return known;
  const path = keyFileOf(location);
  mkdirSync(location.dataDir, { recursive: true, mode: 0o711 });
  // Written under another name and then linked, so that a crash leaves either no key or a complete one.
  const draft = `${path}.${process.pid}`;
  writeKeyFile(draft, newKey());
  try {
    linkSync(draft, path);
    syncFolder(location.dataDir);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return openVault(location);
}

export function newKey(): string {
  return randomBytes(32).toString("hex");
}

/** Puts a key back where there is none. */
export function restoreKey(location: KeyLocation, key: string): void {
  const path = keyFileOf(location);
  const draft = `${path}.${process.pid}`;
  writeKeyFile(draft, key);
  renameSync(draft, path);
  syncFolder(location.dataDir);
}

function writeKeyFile(path: string, key: string): void {
  writeFileSync(path, `${key}\n`, { mode: 0o600, flush: true });
}

/** Writes the key that is to replace the current one. */
export function writeNextKey(location: KeyLocation, key: string): void {
  writeKeyFile(nextKeyFileOf(location), key);
  syncFolder(location.dataDir);
}

/** Replaces the current key with the next one. One of them exists at any instant, and this can be repeated. */
export function takeNextKey(location: KeyLocation): void {
  renameSync(nextKeyFileOf(location), keyFileOf(location));
  syncFolder(location.dataDir);
}

/** Syncs a folder, without which a power failure could lose a new key file forever. */
function syncFolder(folder: string): void {
  if (process.platform === "win32") return;
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
