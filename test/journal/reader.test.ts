import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { JournalReader } from "../../src/journal/reader.ts";
import { bodiesOf, entryOf, FaultyDisk, newFolder, openJournal, readAll, removeFolders } from "./temp-journal.ts";

afterAll(removeFolders);

test("a reader never passes the last durable byte it knows, and continues when it learns of more", async () => {
  const journal = await openJournal(newFolder());
  const ends: number[] = [];
  for (const body of ["one", "two", "three"]) ends.push(await journal.append(entryOf(body)));
  const reader = new JournalReader(journal.dir, 0);
  expect(await reader.read({ until: 0, bytesMax: 1e6 })).toEqual([]);
  expect(bodiesOf(await reader.read({ until: ends[0]!, bytesMax: 1e6 }))).toEqual(["one"]);
  expect(await reader.read({ until: ends[0]!, bytesMax: 1e6 })).toEqual([]);
  expect(reader.position).toBe(ends[0]);
  expect(bodiesOf(await reader.read({ until: ends[2]!, bytesMax: 1e6 }))).toEqual(["two", "three"]);
  expect(reader.position).toBe(ends[2]);
  await reader.close();
  await journal.close();
});

test("a read exceeds the requested size by at most one record, and is never empty while something is there", async () => {
  const journal = await openJournal(newFolder());
  const bodies = Array.from({ length: 200 }, (_, index) => String(index).padStart(50, "x"));
  await Promise.all(bodies.map((body) => journal.append(entryOf(body))));
  const recordBytes = journal.durable / bodies.length;
  const reader = new JournalReader(journal.dir, 0);
  const sizes: number[] = [];
  for (;;) {
    const items = await reader.read({ until: journal.durable, bytesMax: recordBytes * 7 + 1 });
    if (items.length === 0) break;
    sizes.push(items.length);
  }
  expect(sizes).toEqual([...Array(25).fill(8)]);
  expect(await readAll(journal.dir, journal.durable, { bytesMax: 1 })).toHaveLength(200);
  await reader.close();
  await journal.close();
});

test("records larger than one file read, and records across its border, arrive whole", async () => {
  const journal = await openJournal(newFolder());
  const bodies = [3_000_000, 3_000_000, 9_000_000, 10, 1_000_000].map((bytes, index) => String(index).repeat(bytes));
  for (const body of bodies) await journal.append(entryOf(body));
  const items = await readAll(journal.dir, journal.durable);
  expect(bodiesOf(items).map((body) => [body[0], body.length])).toEqual(bodies.map((body) => [body[0], body.length]));
  await journal.close();
});

test("reading from the end of any record gives what follows, without a gap or an overlap", async () => {
  const journal = await openJournal(newFolder());
  const bodies = ["a", "bb", "ccc", "dddd"];
  const ends = [0];
  for (const body of bodies) ends.push(await journal.append(entryOf(body)));
  for (const [index, from] of ends.entries()) {
    const items = await readAll(journal.dir, journal.durable, { from });
    expect(bodiesOf(items)).toEqual(bodies.slice(index));
    expect(items.map((item) => [item.from, item.until])).toEqual(
      ends.slice(index, -1).map((start, at) => [start, ends[index + at + 1]]),
    );
  }
  await journal.close();
});

test("reading while others append, over any number of segments, gives every record once and in order", async () => {
  const step = fc.record({
    appends: fc.nat(5),
    newSegment: fc.boolean(),
    read: fc.boolean(),
    bytesMax: fc.integer({ min: 1, max: 1_000 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const disk = new FaultyDisk();
      const journal = await openJournal(newFolder(), { disk });
      const reader = new JournalReader(journal.dir, 0);
      const written: string[] = [];
      const read: string[] = [];
      for (const { appends, newSegment, read: reads, bytesMax } of steps) {
        const bodies = Array.from({ length: appends }, (_, copy) => `${written.length}.${copy}`);
        written.push(...bodies);
        const appending = Promise.all(bodies.map((body) => journal.append(entryOf(body))));
        if (reads) read.push(...bodiesOf(await reader.read({ until: journal.durable, bytesMax })));
        await appending;
        if (newSegment) {
          disk.faults.push("sync");
          await journal.append(entryOf("lost")).catch(() => {});
        }
      }
      for (let more = ["?"]; more.length > 0; read.push(...more))
        more = bodiesOf(await reader.read({ until: journal.durable, bytesMax: 300 }));
      expect(read).toEqual(written);
      await reader.close();
      await journal.close();
    }),
    { numRuns: 40 },
  );
});
