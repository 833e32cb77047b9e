import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Entry } from "../../src/journal/entry.ts";
import { beginningOf, journaledBody, plainBody } from "../../src/journal/packed-body.ts";
import { LIMITS } from "../../src/limits.ts";
import { entryOf } from "./temp-journal.ts";

const packedEntry = (body: Buffer, gzip: number): Entry => {
  const { head } = entryOf("");
  return { head: { ...head, gzip }, body };
};
const kept = (plain: Buffer, packed?: Buffer): Entry => {
  const { body, gzip } = journaledBody(plain, packed);
  return gzip === undefined ? { ...entryOf(""), body } : packedEntry(body, gzip);
};

test("a packed body is kept as sent, unless that makes it longer", () => {
  const long = Buffer.alloc(100_000, " ");
  expect(kept(long, gzipSync(long)).body.length).toBeLessThan(1_000);
  expect(kept(Buffer.from("{}"), gzipSync("{}")).body.toString()).toBe("{}");
});

test("whatever is kept is read back unchanged", () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.nat(1_000), (bytes, times) => {
      const plain = Buffer.concat(Array(times % 20).fill(Buffer.from(bytes)));
      expect(plainBody(kept(plain))).toEqual(plain);
      expect(plainBody(kept(plain, gzipSync(plain)))).toEqual(plain);
    }),
  );
});

test("a packed body that differs from its head is never unpacked beyond the head's size", () => {
  const bomb = gzipSync(Buffer.alloc(10_000_000));
  expect(() => plainBody(packedEntry(bomb, 1_000))).toThrow();
  expect(() => plainBody(packedEntry(bomb, 20_000_000))).toThrow(/unpack/);
  expect(() => plainBody(packedEntry(bomb, LIMITS.bodyUnpackedBytes + 1))).toThrow(/more than the limit/);
  expect(() => plainBody(packedEntry(Buffer.from("no gzip"), 10))).toThrow();
});

test("the beginning of a body can be shown even if not all of it is there", async () => {
  const plain = Buffer.from(Array.from({ length: 20_000 }, (_, index) => `${index}`).join());
  const packed = gzipSync(plain);
  const whole = packedEntry(packed, plain.length);
  expect(await beginningOf(whole, 1_000)).toEqual(plain.subarray(0, 1_000));
  const cut = packedEntry(packed.subarray(0, packed.length >> 1), plain.length);
  expect(await beginningOf(cut, 1_000)).toEqual(plain.subarray(0, 1_000));
  expect(await beginningOf(packedEntry(Buffer.from("no gzip"), 10), 1_000)).toEqual(Buffer.alloc(0));
  expect(await beginningOf(kept(plain), 10)).toEqual(plain.subarray(0, 10));
});
