import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";

/** 32 MiB and about a tenth of a second: too expensive for guessing, cheap enough for signing in. */
const COST: ScryptOptions = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };
const SALT_BYTES = 16;
const KEY_BYTES = 32;

const PASSWORD_LENGTH_MIN = 10;
const PASSWORD_LENGTH_MAX = 200;

/** Why the password is rejected, or undefined when it is acceptable. */
export function passwordProblem(password: string): string | undefined {
  if (password.length < PASSWORD_LENGTH_MIN)
    return `The password must have at least ${PASSWORD_LENGTH_MIN} characters.`;
  if (password.length > PASSWORD_LENGTH_MAX) return `The password must have at most ${PASSWORD_LENGTH_MAX} characters.`;
  return new Set(password).size < 4 ? "The password must have at least four different characters." : undefined;
}

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const key = await derive(password, salt, COST);
  return `scrypt$${COST.N}$${COST.r}$${COST.p}$${salt.toString("base64url")}$${key.toString("base64url")}`;
}

const HASH = /^scrypt\$(\d+)\$(\d+)\$(\d+)\$([\w-]+)\$([\w-]+)$/;

/**
 * Whether the password matches the hash. Without a hash, because nobody has that name or has set a password yet, it
 * takes just as long, so that the time does not reveal who exists or was invited.
 */
export async function isPassword(password: string, hash: string | undefined): Promise<boolean> {
  const [, n, r, p, salt = "", key = ""] = HASH.exec(hash ?? "") ?? [];
  if (n === undefined) {
    await derive(password, Buffer.alloc(SALT_BYTES), COST);
    return false;
  }
  const expected = Buffer.from(key, "base64url");
  const cost = { ...COST, N: Number(n), r: Number(r), p: Number(p) };
  return timingSafeEqual(await derive(password, Buffer.from(salt, "base64url"), cost), expected);
}

/** Derives the key from the normalised password, because it may be typed as composed or decomposed characters. */
function derive(password: string, salt: Buffer, cost: ScryptOptions): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password.normalize("NFKC"), salt, KEY_BYTES, cost, (error, key) => (error ? reject(error) : resolve(key)));
  });
}
