import { randomBytes, scrypt } from "node:crypto";
import { promisify } from "node:util";
import { UsageError } from "../errors.ts";
import { LIMITS, MIB } from "../limits.ts";
import { Vault } from "../vault.ts";

const derive = promisify<string, Buffer, number, object, Buffer>(scrypt);

/** 64 MiB and about a fifth of a second per guess: whoever has the backup can try passphrases without being seen. */
const COST = { n: 65_536, r: 8, p: 1 };
const MEMORY_BYTES_MAX = 256 * MIB;

/** A key under a passphrase: the key of AES-256-GCM comes from the passphrase by scrypt. */
export type KeyBox = { kdf: "scrypt"; n: number; r: number; p: number; salt: string; sealed: string };

export async function boxKey(vault: Vault, passphrase: string): Promise<KeyBox> {
  assertPassphrase(passphrase);
  const salt = randomBytes(16).toString("hex");
  const lid = await lidOf({ ...COST, salt }, passphrase);
  return { kdf: "scrypt", ...COST, salt, sealed: vault.sealedBy(lid) };
}

/** The key as hex. */
export async function unboxKey(box: KeyBox, passphrase: string): Promise<string> {
  const lid = await lidOf(box, passphrase);
  try {
    return lid.open(box.sealed);
  } catch {
    throw new UsageError("The passphrase is wrong: it does not open the key in this backup.");
  }
}

export function assertPassphrase(passphrase: string): void {
  if ([...passphrase].length < LIMITS.passphraseLengthMin)
    throw new UsageError(`A passphrase must have at least ${LIMITS.passphraseLengthMin} characters.`);
}

async function lidOf({ n, r, p, salt }: Omit<KeyBox, "kdf" | "sealed">, passphrase: string): Promise<Vault> {
  const options = { N: n, r, p, maxmem: MEMORY_BYTES_MAX };
  return new Vault(await derive(passphrase.normalize("NFKC"), Buffer.from(salt, "hex"), 32, options));
}
