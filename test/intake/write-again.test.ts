import { afterAll, expect, test } from "vitest";
import { writeAgain } from "../../src/intake/write-again.ts";
import { createLog } from "../../src/log.ts";
import {
  bodiesOf,
  entryOf,
  FaultyDisk,
  newFolder,
  openJournal,
  readAll,
  removeFolders,
} from "../journal/temp-journal.ts";

afterAll(removeFolders);

const log = createLog("silent");
const free = () => undefined;

test("a record that the journal refuses is tried again, and none is written twice", async () => {
  const disk = new FaultyDisk();
  const journal = await openJournal(newFolder(), { disk });
  for (const body of ["a", "b", "c"]) await journal.append(entryOf(body));
  const { durable } = journal;
  let looks = 0;
  const obstacle = () => {
    looks += 1;
    if (looks === 2) disk.faults.push("write");
    return looks === 1 ? "The disk is nearly full." : undefined;
  };
  expect(await writeAgain(journal, { from: 0, until: durable, durable }, { obstacle, log })).toBe(3);
  expect(bodiesOf(await readAll(journal.dir, journal.durable))).toEqual(["a", "b", "c", "a", "b", "c"]);
  await journal.close();
});

test("only records that begin before the cursor are written again: the others are applied where they are", async () => {
  const journal = await openJournal(newFolder());
  const first = await journal.append(entryOf("a"));
  for (const body of ["b", "c"]) await journal.append(entryOf(body));
  const { durable } = journal;
  const stretch = { from: 0, until: first + 1, durable };
  expect(await writeAgain(journal, stretch, { obstacle: free, log })).toBe(2);
  expect(bodiesOf(await readAll(journal.dir, journal.durable))).toEqual(["a", "b", "c", "a", "b"]);
  await journal.close();
});

test("a journal that is closed ends it, even while something is in the way", async () => {
  const journal = await openJournal(newFolder());
  await journal.append(entryOf("a"));
  const { durable } = journal;
  const writing = writeAgain(journal, { from: 0, until: durable, durable }, { obstacle: () => "full", log });
  const ended = expect(writing).rejects.toThrow("The server is stopping.");
  await journal.close();
  await ended;
});
