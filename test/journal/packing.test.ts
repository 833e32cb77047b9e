import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { Packing } from "../../src/journal/packing.ts";
import { listSegments, packedPath, type Segment, segmentPath } from "../../src/journal/segment.ts";
import { createLog } from "../../src/log.ts";
import { bodiesOf, entryOf, journalOfSegments, openJournal, readAll, removeFolders } from "./temp-journal.ts";

afterAll(removeFolders);

const EVER = Number.MAX_SAFE_INTEGER;
const QUIET = { isBusy: false };
const log = createLog("silent");
const large = (letter: string) => Buffer.alloc(1_100_000, letter);

async function packedOf(dir: string): Promise<boolean[]> {
  return (await listSegments(dir)).map(({ isPacked }) => isPacked);
}

async function packAll(packing: Packing, applied: number): Promise<number> {
  let packed = 0;
  while (await packing.packOne({ applied, ...QUIET })) packed += 1;
  return packed;
}

test.each<[string, (segments: Segment[]) => number, boolean[]]>([
  ["nothing is applied", () => 0, [false, false, false]],
  ["all but one byte of the first is applied", ([first]) => first!.bytes - 1, [false, false, false]],
  ["the first is applied", ([first]) => first!.bytes, [true, false, false]],
  ["everything is applied", () => EVER, [true, true, false]],
])("when %s, segments that are applied and no longer written are packed", async (_, appliedOf, packed) => {
  const journal = await journalOfSegments([[large("a")], [large("b")], [large("c")]]);
  const { dir } = journal;
  await packAll(new Packing(journal, log), appliedOf(await listSegments(dir)));
  expect(await packedOf(dir)).toEqual(packed);
  await journal.append(entryOf("more"));
  expect(bodiesOf(await readAll(dir, journal.durable)).map((body) => body[0])).toEqual(["a", "b", "c", "m"]);
  await journal.close();
});

test("a small segment is not worth packing", async () => {
  const journal = await journalOfSegments([["a"], ["b"]]);
  expect(await packAll(new Packing(journal, log), EVER)).toBe(0);
  await journal.close();
});

test("while requests keep the processor busy, sixteen segments wait", async () => {
  const journal = await journalOfSegments([["a"]]);
  const { dir } = journal;
  // Such as a journal has that was not packed before.
  renameSync(segmentPath(dir, 0), segmentPath(dir, 10_000_000_000));
  for (let from = 0; from < 17 * 2_000_000; from += 2_000_000) writeFileSync(segmentPath(dir, from), large("x"));
  const packing = new Packing(await openJournal(dir), log);
  expect(await packing.packOne({ applied: EVER, isBusy: true })).toBe(true);
  expect(await packing.packOne({ applied: EVER, isBusy: true })).toBe(false);
  expect((await packedOf(dir)).filter((isPacked) => isPacked)).toHaveLength(1);
  expect(await packAll(packing, EVER)).toBe(16);
});

test("a segment that cannot be packed stays as it is and holds up no other", async () => {
  const journal = await journalOfSegments([[large("a")], [large("b")], ["c"]]);
  const { dir } = journal;
  const [first] = await listSegments(dir);
  // A folder that is not empty is in the place of its packed file.
  mkdirSync(join(packedPath(dir, first!), "x"), { recursive: true });
  expect(await packAll(new Packing(journal, log), EVER)).toBe(2);
  expect(existsSync(first!.path)).toBe(true);
  expect((await packedOf(dir)).slice(0, 2)).toEqual([false, true]);
  await journal.close();
});
