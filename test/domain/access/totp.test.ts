import { expect, test } from "vitest";
import { base32, stepOfCode, totpCode, totpStep, totpUri } from "../../../src/domain/access/totp.ts";

const digits = (length: number) => Buffer.from("1234567890".repeat(7).slice(0, length));

/** RFC 6238, appendix B. */
const VECTORS: readonly [seconds: number, sha1: string, sha256: string, sha512: string][] = [
  [59, "94287082", "46119246", "90693936"],
  [1_111_111_109, "07081804", "68084774", "25091201"],
  [1_111_111_111, "14050471", "67062674", "99943326"],
  [1_234_567_890, "89005924", "91819424", "93441116"],
  [2_000_000_000, "69279037", "90698825", "38618901"],
  [20_000_000_000, "65353130", "77737706", "47863826"],
];

test.each(VECTORS)("the codes of the standard at %d s", (seconds, sha1, sha256, sha512) => {
  const step = totpStep(seconds * 1000);
  expect(totpCode(digits(20), step, { hash: "sha1", digits: 8 })).toBe(sha1);
  expect(totpCode(digits(32), step, { hash: "sha256", digits: 8 })).toBe(sha256);
  expect(totpCode(digits(64), step, { hash: "sha512", digits: 8 })).toBe(sha512);
  expect(totpCode(digits(20), step)).toBe(sha1.slice(2));
});

/** RFC 4648, section 10, without padding. */
test.each([
  ["", ""],
  ["f", "MY"],
  ["fo", "MZXQ"],
  ["foo", "MZXW6"],
  ["foob", "MZXW6YQ"],
  ["fooba", "MZXW6YTB"],
  ["foobar", "MZXW6YTBOI"],
])("%j in base 32 is %j", (text, expected) => {
  expect(base32(Buffer.from(text))).toBe(expected);
});

test("a code counts in its own half minute and in the ones beside it", () => {
  const [secret, nowMs] = [digits(20), 1_700_000_010_000];
  const step = totpStep(nowMs);
  const around = [-2, -1, 0, 1, 2].map((more) => stepOfCode(secret, totpCode(secret, step + more), nowMs));
  expect(around).toEqual([undefined, step - 1, step, step + 1, undefined]);
  expect(stepOfCode(secret, "", nowMs)).toBeUndefined();
});

test("the address for authenticator apps names the installation and the person", () => {
  expect(totpUri({ secret: digits(20), account: "lin&co@example.com", issuer: "Touchpoint" })).toBe(
    "otpauth://totp/Touchpoint:lin%26co%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Touchpoint",
  );
});
