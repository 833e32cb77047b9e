import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "./errors.ts";

/** Encrypts secrets at rest: AES-256-GCM under a key from the environment or from a file that only we can read. */
export class Vault {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
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

  /** A key for one purpose, so that no key is used for two things. */
  keyFor(purpose: string): Buffer {
    return Buffer.from(hkdfSync("sha256", this.#key, "", purpose, 32));
  }
}

export function openVault(config: { dataDir: string; secretKey: string }): Vault {
  if (config.secretKey !== "") return new Vault(Buffer.from(config.secretKey, "hex"));
  const path = join(config.dataDir, "secret.key");
  if (!existsSync(path)) makeKeyFile(config.dataDir, path);
  const key = readFileSync(path, "utf8").trim();
  if (!/^[0-9a-f]{64}$/.test(key)) throw new UsageError(`${path} does not hold a key: put the right one back.`);
  return new Vault(Buffer.from(key, "hex"));
}

/** Written whole under another name and then linked: a crash leaves either no key or a whole one. */
function makeKeyFile(dataDir: string, path: string): void {
  mkdirSync(dataDir, { recursive: true });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${randomBytes(32).toString("hex")}\n`, { mode: 0o600, flush: true });
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}
