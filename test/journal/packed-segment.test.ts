import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { packSegment } from "../../src/journal/packed-segment.ts";
import { listSegments, segmentPath } from "../../src/journal/segment.ts";
import { readSegment } from "../../src/journal/segment-content.ts";
import {
  bodiesOf,
  entryOf,
  journalOfSegments,
  newFolder,
  openJournal,
  readAll,
  removeFolders,
} from "./temp-journal.ts";

afterAll(removeFolders);

const MIB = 1024 * 1024;
const EVER = Number.MAX_SAFE_INTEGER;

/** Two in each of two closed segments, and one in the last. */
const BODIES = ["a", "b", "c", "d", "e"].map((letter) => Buffer.alloc(1.4 * MIB, `{"letter":"${letter}"}`));

async function journalOfThree() {
  const journal = await journalOfSegments([BODIES.slice(0, 2), BODIES.slice(2, 4), BODIES.slice(4)]);
  const segments = await listSegments(journal.dir);
  expect(segments).toHaveLength(3);
  return { dir: journal.dir, journal, segments };
}

function expectBodies(items: Awaited<ReturnType<typeof readAll>>, bodies: readonly Buffer[]): void {
  expect(items.map(({ kind }) => kind)).toEqual(bodies.map(() => "record"));
  bodies.forEach((body, index) => {
    expect(items[index]!.payload.subarray(-body.length).equals(body)).toBe(true);
  });
}

test("packed segments are read as before, shrink, and gzip unpacks them to the plain ones", async () => {
  const { dir, journal, segments } = await journalOfThree();
  const plain = segments.map(({ path }) => readFileSync(path));
  const before = await readAll(dir, journal.durable);
  for (const segment of segments.slice(0, 2)) expect(await packSegment(segment)).toBe(true);
  const packed = await listSegments(dir);
  expect(packed.map(({ isPacked }) => isPacked)).toEqual([true, true, false]);
  expect(packed.map(({ from, bytes }) => [from, bytes])).toEqual(segments.map(({ from, bytes }) => [from, bytes]));
  expect(packed[0]!.fileBytes).toBeLessThan(packed[0]!.bytes / 20);
  const after = await readAll(dir, journal.durable);
  expect(after.map(({ from, until }) => [from, until])).toEqual(before.map(({ from, until }) => [from, until]));
  expectBodies(after, BODIES);
  // From the middle of a packed segment, as a reader that begins at a cursor.
  expectBodies(await readAll(dir, journal.durable, { from: after[1]!.from }), BODIES.slice(1));
  expect((await readSegment(packed[1]!)).equals(plain[1]!)).toBe(true);
  const unpacked = execFileSync("gzip", ["-dc", packed[0]!.path], { maxBuffer: 16 * MIB });
  expect(unpacked.equals(plain[0]!)).toBe(true);
  await journal.close();
});

test.each([1, 63, 64])("a segment whose last block has %i bytes is packed", async (bytes) => {
  const path = segmentPath(newFolder(), 0);
  writeFileSync(path, Buffer.alloc(MIB + bytes, "x"));
  const [segment] = await listSegments(dirname(path));
  expect(await packSegment(segment!)).toBe(true);
  const [packed] = await listSegments(dirname(path));
  expect((await readSegment(packed!)).equals(Buffer.alloc(MIB + bytes, "x"))).toBe(true);
});

test("a packed segment keeps its age, and is removed at the end of it", async () => {
  const { dir, journal, segments } = await journalOfThree();
  const [first] = segments;
  await packSegment(first!);
  const [packed] = await listSegments(dir);
  expect(Math.abs(packed!.modifiedAtMs - first!.modifiedAtMs)).toBeLessThan(1);
  expect(statSync(packed!.path).mode & 0o777).toBe(0o600);
  expect(await journal.prune(0, { applied: first!.bytes, writtenBeforeMs: EVER })).toBe(1);
  expect((await listSegments(dir)).map(({ from }) => from)).toEqual(segments.slice(1).map(({ from }) => from));
  await journal.close();
});

test("a packing that is stopped between two blocks leaves the plain segment and nothing else", async () => {
  const { dir, journal, segments } = await journalOfThree();
  const files = readdirSync(dir);
  let looks = 0;
  const signal = {
    get aborted() {
      looks += 1;
      return looks > 1;
    },
  } as AbortSignal;
  expect(await packSegment(segments[0]!, signal)).toBe(false);
  expect(looks).toBe(2);
  expect(readdirSync(dir)).toEqual(files);
  await journal.close();
});

test("a segment that a crash left both plain and packed is read once, and packed again", async () => {
  const { dir, journal, segments } = await journalOfThree();
  const [first] = segments;
  const copy = join(newFolder(), "plain");
  copyFileSync(first!.path, copy);
  await packSegment(first!);
  copyFileSync(copy, first!.path);
  // An earlier crash may also have left a draft.
  writeFileSync(join(dir, "packing.draft"), "x");
  expect((await listSegments(dir)).map(({ isPacked }) => isPacked)).toEqual([false, false, false]);
  expectBodies(await readAll(dir, journal.durable), BODIES);
  await packSegment((await listSegments(dir))[0]!);
  expect([existsSync(first!.path), existsSync(join(dir, "packing.draft"))]).toEqual([false, false]);
  expectBodies(await readAll(dir, journal.durable), BODIES);
  await journal.close();
});

test("a journal whose last segment is packed goes on in a new one", async () => {
  const { dir, journal, segments } = await journalOfThree();
  await journal.close();
  const [first, second, last] = segments;
  for (const segment of [first!, second!, last!]) await packSegment(segment);
  const opened = await openJournal(dir);
  expect(opened.durable).toBe(last!.from + last!.bytes);
  await opened.append(entryOf("more"));
  const items = await readAll(dir, opened.durable);
  expectBodies(items.slice(0, -1), BODIES);
  expect(bodiesOf(items.slice(-1))).toEqual(["more"]);
  await opened.close();
});

/** A journal whose first segment is packed, and its records before anything happened to it. */
async function packedJournal() {
  const small = Array.from({ length: 60 }, (_, index) => Buffer.alloc(100_000, `${index} `));
  const journal = await journalOfSegments([small, ["last"]]);
  const records = await readAll(journal.dir, journal.durable);
  await packSegment((await listSegments(journal.dir))[0]!);
  const [segment] = await listSegments(journal.dir);
  return { dir: journal.dir, journal, records, path: segment!.path };
}

test.each<[string, (file: Buffer, starts: number[]) => void]>([
  ["in the middle of a block", (file, starts) => file.fill("x", starts[3]! + 500, starts[3]! + 510)],
  ["in the beginning of a block's header", (file, starts) => file.fill("x", starts[3]!, starts[3]! + 1)],
  ["in the length of a block", (file, starts) => file.fill("x", starts[3]! + 17, starts[3]! + 18)],
  ["that makes the length of a block 0", (file, starts) => file.fill(0, starts[3]! + 16, starts[3]! + 20)],
  ["that gives a block the number of an earlier one", (file, starts) => file.writeUInt32LE(1, starts[3]! + 20)],
  ["that gives a block the number of a later one", (file, starts) => file.writeUInt32LE(4, starts[3]! + 20)],
  ["in the checksum of a block", (file, starts) => file.fill("x", starts[4]! - 8, starts[4]! - 4)],
])("damage %s costs that block and no other", async (_, damage) => {
  const { dir, journal, records, path } = await packedJournal();
  const file = readFileSync(path);
  damage(file, startsOf(file));
  writeFileSync(path, file);
  const items = await readAll(dir, journal.durable);
  const damaged = items.filter(({ kind }) => kind === "damage");
  expect(damaged).toHaveLength(1);
  const { from, until } = damaged[0]!;
  // The records that lie in the block, wholly or in part.
  expect([from <= 3 * MIB, until >= 4 * MIB, until - from < 1.3 * MIB]).toEqual([true, true, true]);
  const kept = records.filter((record) => record.until <= from || record.from >= until);
  const found = items.filter(({ kind }) => kind === "record");
  expect(found.map((record) => record.from)).toEqual(kept.map((record) => record.from));
  found.forEach(({ payload }, index) => {
    expect(payload.equals(kept[index]!.payload)).toBe(true);
  });
  await journal.close();
});

/** Where the members of a packed file begin: at the fixed beginning of their headers. */
function startsOf(file: Buffer): number[] {
  const starts: number[] = [];
  const beginning = file.subarray(0, 16);
  for (let at = 0; at >= 0; at = file.indexOf(beginning, at + 1)) starts.push(at);
  return starts;
}
