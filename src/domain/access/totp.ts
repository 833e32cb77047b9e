import { createHmac } from "node:crypto";

/** Codes by time, RFC 6238: what authenticator apps show. */
const STEP_MS = 30_000;
const DIGITS = 6;
/** Steps before and after the present one whose codes are accepted, because clocks differ. */
const STEPS_AROUND = 1;

type Hash = "sha1" | "sha256" | "sha512";

export function totpStep(nowMs: number): number {
  return Math.floor(nowMs / STEP_MS);
}

/** The code of a step. Apps agree only on SHA-1 and six digits; the standard's own examples use others, too. */
export function totpCode(secret: Buffer, step: number, { hash = "sha1" as Hash, digits = DIGITS } = {}): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac(hash, secret).update(counter).digest();
  // The last half byte says where the four bytes begin, of which the first bit does not count.
  const at = mac.at(-1)! & 15;
  const number = mac.readUInt32BE(at) & 0x7fff_ffff;
  return String(number % 10 ** digits).padStart(digits, "0");
}

/** The step around now whose code was given, or undefined. */
export function stepOfCode(secret: Buffer, code: string, nowMs: number): number | undefined {
  const now = totpStep(nowMs);
  const steps = Array.from({ length: 2 * STEPS_AROUND + 1 }, (_, index) => now - STEPS_AROUND + index);
  return steps.find((step) => totpCode(secret, step) === code);
}

/** The address that a QR code hands to an authenticator app. */
export function totpUri({ secret, account, issuer }: { secret: Buffer; account: string; issuer: string }): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  return `otpauth://totp/${label}?secret=${base32(secret)}&issuer=${encodeURIComponent(issuer)}`;
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** RFC 4648 without padding. */
export function base32(bytes: Uint8Array): string {
  let [text, bits, held] = ["", 0, 0];
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xfff;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += ALPHABET[(held >> (bits - 5)) & 31];
  }
  return bits === 0 ? text : text + ALPHABET[(held << (5 - bits)) & 31];
}
