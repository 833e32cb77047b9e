import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { boxKey, unboxKey } from "../../src/backup/key-box.ts";
import { type Manifest, manifestOf, textOfManifest } from "../../src/backup/manifest.ts";
import { checkFile, packFile, RowMeter, unpackFile } from "../../src/backup/packed-file.ts";
import { newKey, vaultOfKey } from "../../src/vault.ts";

const dir = mkdtempSync(join(tmpdir(), "touchpoint-packed-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

let files = 0;
const pack = (bytes: Buffer) =>
  packFile({ dir, path: `file-${++files}.gz`, source: Readable.from([bytes], { objectMode: false }) });

test("a file that is cut, changed or gone is refused by name", async () => {
  const file = await pack(Buffer.from("one\ntwo\n".repeat(1_000)));
  await checkFile(dir, file);
  const path = join(dir, file.path);
  const content = readFileSync(path);
  writeFileSync(path, content.subarray(0, -1));
  await expect(checkFile(dir, file)).rejects.toThrow(`${path} has ${content.length - 1} bytes instead of`);
  const changed = Buffer.from(content);
  changed[20]! ^= 1;
  writeFileSync(path, changed);
  await expect(checkFile(dir, file)).rejects.toThrow(`the checksum of ${path} is wrong`);
  rmSync(path);
  await expect(checkFile(dir, file)).rejects.toThrow(`${path} is missing`);
});

test("any bytes come out as they went in", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 5_000 }), async (bytes) => {
      const file = await pack(Buffer.from(bytes));
      const chunks: Buffer[] = [];
      const target = new Writable({
        write(chunk: Buffer, _encoding, done) {
          chunks.push(chunk);
          done();
        },
      });
      await unpackFile(dir, file, target);
      expect(Buffer.concat(chunks).equals(Buffer.from(bytes))).toBe(true);
      expect(file.plain_bytes).toBe(bytes.length);
    }),
    { numRuns: 30 },
  );
});

const meterOf = (chunks: readonly Buffer[]) => {
  const meter = new RowMeter();
  for (const chunk of chunks) meter.add(chunk);
  return { rows: meter.rows, digest: meter.digest };
};

test("rows have the same digest in any order and however they are cut into chunks, and another one when a row changes", () => {
  const rows = fc.array(
    fc.string({ unit: "grapheme" }).map((text) => text.replaceAll(/[\r\n]/g, "")),
    { minLength: 1 },
  );
  fc.assert(
    fc.property(rows, fc.integer({ min: 1, max: 9 }), fc.nat(), (lines, size, which) => {
      const bytesOf = (list: readonly string[]) => Buffer.from(`${list.join("\n")}\n`);
      const whole = bytesOf(lines);
      const chunks = Array.from({ length: Math.ceil(whole.length / size) }, (_, index) =>
        whole.subarray(index * size, (index + 1) * size),
      );
      const expected = meterOf([whole]);
      expect(expected.rows).toBe(lines.length);
      expect(meterOf(chunks)).toEqual(expected);
      expect(meterOf([bytesOf(lines.toReversed())])).toEqual(expected);
      const other = lines.with(which % lines.length, `${lines[which % lines.length]}x`);
      expect(meterOf([bytesOf(other)]).digest).not.toBe(expected.digest);
    }),
  );
});

test("a key comes out of its box with the passphrase alone, however its characters are composed", async () => {
  const key = newKey();
  const box = await boxKey(vaultOfKey(key), "pass\u00e9 sentence");
  expect(JSON.stringify(box)).not.toContain(key);
  expect(await unboxKey(box, "passe\u0301 sentence")).toBe(key);
  await expect(unboxKey(box, "pass sentence")).rejects.toThrow("The passphrase is wrong");
  await expect(boxKey(vaultOfKey(key), "short")).rejects.toThrow("at least 12 characters");
});

test("a manifest that was changed or cut, or comes from a newer version, is refused", () => {
  const text = textOfManifest({ format: 1, bytes: 12 } as Manifest);
  expect(manifestOf(text, "m")).toEqual({ format: 1, bytes: 12 });
  expect(() => manifestOf(text.replace("12", "13"), "m")).toThrow("m is damaged");
  expect(() => manifestOf(text.slice(0, -3), "m")).toThrow("m is damaged");
  const newer = textOfManifest({ format: 2 } as unknown as Manifest);
  expect(() => manifestOf(newer, "m")).toThrow("a newer version of Touchpoint");
});
