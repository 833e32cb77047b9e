import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listSegments, segmentPath } from "../../src/journal/segment.ts";
import { bodiesOf, entryOf, FaultyDisk, newFolder, openJournal, readAll, removeFolders } from "./temp-journal.ts";

/** Three records as they are on disk, and where each ends. */
let content: Buffer;
let ends: number[];

beforeAll(async () => {
  const journal = await openJournal(newFolder());
  ends = [];
  for (const body of ["one", "two", "three"]) ends.push(await journal.append(entryOf(body)));
  await journal.close();
  content = readFileSync(segmentPath(journal.dir, 0));
});

afterAll(removeFolders);

const parent = newFolder();
let copies = 0;

function folderWith(bytes: Buffer): string {
  copies += 1;
  const dir = join(parent, String(copies));
  mkdirSync(dir);
  writeFileSync(segmentPath(dir, 0), bytes);
  return dir;
}

/** The records after a restart and one more append. */
async function recovered(dir: string): Promise<string[]> {
  const journal = await openJournal(dir);
  await journal.append(entryOf("new"));
  const bodies = bodiesOf(await readAll(dir, journal.durable));
  await journal.close();
  rmSync(dir, { recursive: true });
  return bodies;
}

test("a tail torn at any length is cut off, and no whole record is lost", async () => {
  for (let length = 0; length <= content.length; length += 1) {
    const whole = ["one", "two", "three"].slice(0, ends.filter((end) => end <= length).length);
    expect([length, await recovered(folderWith(content.subarray(0, length)))]).toEqual([length, [...whole, "new"]]);
  }
});

test("a tail of zeros or garbage is cut off like a torn one", async () => {
  const rubbish = fc.oneof(
    fc.nat({ max: 5_000 }).map((length) => Buffer.alloc(length)),
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    fc.constant(Buffer.from("TPJ1")),
  );
  await fc.assert(
    fc.asyncProperty(rubbish, fc.nat({ max: 60 }), async (tail, torn) => {
      const bytes = Buffer.concat([content.subarray(0, content.length - 60 + torn), tail]);
      const whole = torn === 60 ? ["one", "two", "three"] : ["one", "two"];
      expect(await recovered(folderWith(bytes))).toEqual([...whole, "new"]);
    }),
    { numRuns: 40 },
  );
});

test("whichever byte of the middle record is damaged, it is one piece of damage and the others survive", async () => {
  for (let at = ends[0]!; at < ends[1]!; at += 1) {
    const bytes = Buffer.from(content);
    bytes[at]! ^= 0xff;
    expect([at, await recovered(folderWith(bytes))]).toEqual([at, ["one", "damage", "three", "new"]]);
  }
});

test("damage is returned whole, with its bytes and position", async () => {
  const bytes = Buffer.from(content);
  bytes.fill(0, ends[0]!, ends[1]!);
  const items = await readAll(folderWith(bytes), content.length);
  expect(items[1]).toEqual({
    kind: "damage",
    from: ends[0],
    until: ends[1],
    payload: bytes.subarray(ends[0], ends[1]),
  });
});

test("damage across several records loses only the records it touches", async () => {
  const bytes = Buffer.from(content);
  bytes.fill(0x54, ends[0]! - 5, ends[1]! - 5);
  expect(await recovered(folderWith(bytes))).toEqual(["damage", "three", "new"]);
});

async function journalWithSegments(bodies: readonly string[]) {
  const disk = new FaultyDisk();
  const journal = await openJournal(newFolder(), { disk });
  for (const body of bodies) {
    await journal.append(entryOf(body));
    disk.faults.push("sync");
    await journal.append(entryOf("lost")).catch(() => {});
  }
  await journal.append(entryOf("last"));
  await journal.close();
  return { dir: journal.dir, durable: journal.durable, segments: await listSegments(journal.dir) };
}

test("damage at the end of a segment does not reach into the next one", async () => {
  const { dir, durable, segments } = await journalWithSegments(["one", "two"]);
  const bytes = readFileSync(segments[0]!.path);
  bytes[bytes.length - 1]! ^= 1;
  writeFileSync(segments[0]!.path, bytes);
  expect(bodiesOf(await readAll(dir, durable))).toEqual(["damage", "two", "last"]);
});

test("a hole left by a missing segment is skipped as damage", async () => {
  const { dir, durable, segments } = await journalWithSegments(["one", "two", "three"]);
  rmSync(segments[1]!.path);
  const items = await readAll(dir, durable);
  expect(bodiesOf(items)).toEqual(["one", "damage", "three", "last"]);
  expect(items[1]).toMatchObject({ from: segments[1]!.from, until: segments[2]!.from });
  expect(await recovered(dir)).toEqual(["one", "damage", "three", "last", "new"]);
});

test("a reader that starts before the oldest segment skips what is gone", async () => {
  const { dir, durable, segments } = await journalWithSegments(["one", "two"]);
  rmSync(segments[0]!.path);
  expect(bodiesOf(await readAll(dir, durable))).toEqual(["damage", "two", "last"]);
});

test("an older copy of the journal that is restored never reuses positions that were applied before", async () => {
  const dir = folderWith(content.subarray(0, ends[0]));
  const journal = await openJournal(dir);
  const applied = content.length;
  await journal.skipTo(applied);
  expect(journal.durable).toBe(applied);
  const end = await journal.append(entryOf("new"));
  expect(end).toBeGreaterThan(applied);
  expect(bodiesOf(await readAll(dir, end, { from: applied }))).toEqual(["new"]);
  await journal.skipTo(applied);
  expect(journal.durable).toBe(end);
  await journal.close();
  expect(await recovered(dir)).toEqual(["one", "damage", "new", "new"]);
});

test("files that are no segments are left alone", async () => {
  const dir = folderWith(content);
  writeFileSync(join(dir, "notes.txt"), "x");
  writeFileSync(join(dir, "12.journal"), "x");
  expect((await listSegments(dir)).map((segment) => segment.path)).toEqual([segmentPath(dir, 0)]);
  expect(await recovered(dir)).toEqual(["one", "two", "three", "new"]);
});
