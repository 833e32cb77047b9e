import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { ApiError } from "../../src/errors.ts";
import { type Disk, poolDisk } from "../../src/journal/disk.ts";
import type { Appended } from "../../src/journal/entry-log.ts";
import type { JournalOptions } from "../../src/journal/journal.ts";
import { listSegments } from "../../src/journal/segment.ts";
import { LIMITS } from "../../src/limits.ts";
import {
  bodiesOf,
  entryOf,
  FaultyDisk,
  journalOfSegments,
  newFolder,
  openJournal,
  readAll,
  removeFolders,
} from "./temp-journal.ts";

afterAll(removeFolders);

const MIB = 1024 * 1024;
const OVERLOADED = expect.objectContaining({ name: "ApiError", reason: "overloaded" });

/** A disk whose syncs wait until they are let through; `reached` resolves at the first one. */
function gatedDisk(): Disk & { open(): void; reached: Promise<void> } {
  let [open, arrive] = [() => {}, () => {}];
  const gate = new Promise<void>((resolve) => (open = resolve));
  const reached = new Promise<void>((resolve) => (arrive = resolve));
  const sync: Disk["sync"] = (fd) => {
    arrive();
    return gate.then(() => poolDisk.sync(fd));
  };
  const { write, truncate, syncFolder } = poolDisk;
  return { write, truncate, syncFolder, sync, open: () => open(), reached };
}

test("appends that arrive together share one write and one sync, and keep their order", async () => {
  const disk = new FaultyDisk();
  const flushes: number[] = [];
  const onAppended: JournalOptions["onAppended"] = (flush) => flushes.push(flush.records);
  const journal = await openJournal(newFolder(), { disk, onAppended });
  const bodies = Array.from({ length: 100 }, (_, index) => `body ${index}`);
  const ends = await Promise.all(bodies.map((body) => journal.append(entryOf(body))));
  expect([disk.writes, disk.syncs, flushes]).toEqual([1, 1, [100]]);
  expect(ends).toEqual(ends.toSorted((a, b) => a - b));
  expect(ends.at(-1)).toBe(journal.durable);
  expect(bodiesOf(await readAll(journal.dir, journal.durable))).toEqual(bodies);
  await journal.close();
});

test("appends that arrive during a sync share the next one", async () => {
  const disk = new FaultyDisk();
  const journal = await openJournal(newFolder(), { disk });
  const first = journal.append(entryOf("first"));
  while (disk.writes === 0) await sleep(0);
  const rest = Array.from({ length: 50 }, (_, index) => journal.append(entryOf(`late ${index}`)));
  await Promise.all([first, ...rest]);
  expect(disk.syncs).toBe(2);
  await journal.close();
});

test("an append resolves only after the sync, and its bytes are not durable before", async () => {
  const disk = gatedDisk();
  const journal = await openJournal(newFolder(), { disk });
  let acknowledged = false;
  const appended = journal.append(entryOf("x")).then(() => {
    acknowledged = true;
  });
  await disk.reached;
  await sleep(30);
  expect([acknowledged, journal.durable]).toEqual([false, 0]);
  disk.open();
  await appended;
  expect(journal.durable).toBeGreaterThan(0);
  await journal.close();
});

test("a reopened journal keeps its name and continues where it ended", async () => {
  const dir = newFolder();
  const first = await openJournal(dir);
  await first.append(entryOf("one"));
  const { id, durable } = first;
  await first.close();
  const second = await openJournal(dir);
  expect([second.id, second.durable]).toEqual([id, durable]);
  await second.append(entryOf("two"));
  expect(bodiesOf(await readAll(dir, second.durable))).toEqual(["one", "two"]);
  expect(await listSegments(dir)).toHaveLength(1);
  await second.close();
});

test("each journal has its own name", async () => {
  const [first, second] = await Promise.all([openJournal(newFolder()), openJournal(newFolder())]);
  expect(first.id).not.toBe(second.id);
  await Promise.all([first.close(), second.close()]);
});

test("appends beyond the bytes that may wait are refused as overloaded, and accepted again afterwards", async () => {
  const disk = gatedDisk();
  const journal = await openJournal(newFolder(), { disk, pendingBytesMax: 10_000 });
  const first = journal.append(entryOf("in flight"));
  await disk.reached;
  const sized = (bytes: number, app: number) => journal.append(entryOf("x".repeat(bytes), { app }));
  const waiting = [sized(4_000, 1), sized(2_000, 2), sized(1_200, 3), sized(800, 4), sized(500, 5)];
  await expect(sized(4_000, 6)).rejects.toEqual(OVERLOADED);
  const small = journal.append(entryOf("small enough", { app: 6 }));
  expect(journal.waitingBytes).toBeLessThanOrEqual(10_000);
  disk.open();
  await Promise.all([first, ...waiting, small]);
  expect(journal.waitingBytes).toBe(0);
  await sized(4_000, 1);
  await journal.close();
});

test("beyond half of the bytes that may wait, only an app with more than an even share is refused", async () => {
  const disk = gatedDisk();
  const overShare = (app: number) => new ApiError("overBudget", `App ${app} has too much.`);
  const journal = await openJournal(newFolder(), { disk, pendingBytesMax: 10_000, overShare });
  const first = journal.append(entryOf("in flight"));
  await disk.reached;
  const sized = (bytes: number, app: number) => journal.append(entryOf("x".repeat(bytes), { app }));
  const waiting = [sized(4_500, 1)];
  await expect(sized(1_000, 1)).rejects.toThrow("App 1 has too much.");
  waiting.push(sized(1_000, 2), sized(1_000, 2));
  disk.open();
  await Promise.all([first, ...waiting]);
  await sized(1_000, 1);
  await journal.close();
});

test("a flush says how many bytes of each app it has written, packed ones by their unpacked size", async () => {
  const flushes: Appended[] = [];
  const disk = gatedDisk();
  const journal = await openJournal(newFolder(), { disk, onAppended: (flush) => flushes.push(flush) });
  const first = journal.append(entryOf("in flight"));
  await disk.reached;
  const rest = [entryOf("a"), entryOf("b", { app: 2 }), entryOf("c", { gzip: 1_000_000 })].map((entry) =>
    journal.append(entry),
  );
  disk.open();
  const [begin, ...ends] = await Promise.all([first, ...rest]);
  const byApp = new Map([
    [1, ends[0]! - begin! + ends[2]! - ends[1]! + 1_000_000],
    [2, ends[1]! - ends[0]!],
  ]);
  expect(flushes.map(({ byApp }) => byApp)).toEqual([new Map([[1, begin]]), byApp]);
  await journal.close();
});

test("entries that arrive during a write do not change what is written, however many groups wait", async () => {
  const { sync, truncate, syncFolder } = poolDisk;
  // Reads the bytes only when the next ones have arrived.
  const write: Disk["write"] = (fd, bytes, at) => sleep(2).then(() => poolDisk.write(fd, bytes, at));
  const journal = await openJournal(newFolder(), { disk: { write, sync, truncate, syncFolder } });
  const bodies = Array.from({ length: 40 }, (_, index) => Buffer.alloc(1.5 * MIB, `${index} `));
  const early = bodies.slice(0, 20).map((body) => journal.append(entryOf(body)));
  await early[0];
  await Promise.all([...early, ...bodies.slice(20).map((body) => journal.append(entryOf(body)))]);
  const items = await readAll(journal.dir, journal.durable);
  expect(items).toHaveLength(bodies.length);
  items.forEach(({ payload }, index) => {
    const body = bodies[index]!;
    expect(payload.subarray(-body.length).equals(body)).toBe(true);
  });
  await journal.close();
});

test("closing writes what waits, and refuses later appends", async () => {
  const journal = await openJournal(newFolder());
  const appended = journal.append(entryOf("last"));
  const closed = journal.close();
  await expect(journal.append(entryOf("too late"))).rejects.toEqual(OVERLOADED);
  const end = await appended;
  await closed;
  expect(bodiesOf(await readAll(journal.dir, end))).toEqual(["last"]);
});

test("an entry that fits no segment is refused as too large", async () => {
  const journal = await openJournal(newFolder());
  const tooLarge = entryOf(Buffer.alloc(LIMITS.segmentBytes));
  await expect(journal.append(tooLarge)).rejects.toMatchObject({ reason: "bodyTooLarge" });
  await journal.close();
});

test("no segment exceeds its maximum, and the reader moves from one to the next", async () => {
  const dir = newFolder();
  const journal = await openJournal(dir);
  const bodies = ["a", "b", "c"].map((letter) => Buffer.alloc(30 * MIB, letter));
  await Promise.all(bodies.map((body) => journal.append(entryOf(body))));
  await journal.append(entryOf("small"));
  const segments = await listSegments(dir);
  expect(segments.map((segment) => segment.bytes <= LIMITS.segmentBytes)).toEqual([true, true]);
  expect(segments[1]!.from).toBe(segments[0]!.bytes);
  const items = await readAll(dir, journal.durable, { bytesMax: 1 });
  expect(items.map((item) => item.kind)).toEqual(["record", "record", "record", "record"]);
  bodies.forEach((body, index) => {
    expect(items[index]!.payload.subarray(-body.length).equals(body)).toBe(true);
  });
  await journal.close();
});

const EVER = Number.MAX_SAFE_INTEGER;

test.each<[string, (ends: number[]) => { applied: number; writtenBeforeMs: number }, number]>([
  ["nothing was applied", () => ({ applied: 0, writtenBeforeMs: EVER }), 0],
  ["all but one byte of the first was applied", ([first]) => ({ applied: first! - 1, writtenBeforeMs: EVER }), 0],
  ["the first was applied", ([first]) => ({ applied: first!, writtenBeforeMs: EVER }), 1],
  ["half of the second was applied", ([first]) => ({ applied: first! + 1, writtenBeforeMs: EVER }), 1],
  ["everything was applied", ([, , last]) => ({ applied: last!, writtenBeforeMs: EVER }), 2],
  ["everything was applied but is too young", ([, , last]) => ({ applied: last!, writtenBeforeMs: 0 }), 0],
])(
  "with three segments, when %s, pruning removes what it may and never the active one",
  async (_, optionsOf, removed) => {
    const journal = await journalOfSegments([["one"], ["two"], ["three"]]);
    const segments = await listSegments(journal.dir);
    const ends = segments.map((segment) => segment.from + segment.bytes);
    expect(await journal.prune(0, optionsOf(ends))).toBe(removed);
    expect(await listSegments(journal.dir)).toEqual(segments.slice(removed));
    await journal.append(entryOf("four"));
    const left = ["one", "two", "three", "four"].slice(removed);
    expect(bodiesOf(await readAll(journal.dir, journal.durable, { from: segments[removed]!.from }))).toEqual(left);
    await journal.close();
  },
);

test("a segment that is just being begun is not pruned, however much was applied", async () => {
  let gate: Promise<void> | undefined;
  let goOn = () => {};
  const disk = Object.assign(new FaultyDisk(), {
    syncFolder: async (dir: string) => {
      await gate;
      await poolDisk.syncFolder(dir);
    },
  });
  const journal = await openJournal(newFolder(), { disk });
  await journal.append(entryOf("first"));
  // The file of the next segment will be there, but not written before its name is durable.
  gate = new Promise((resolve) => (goOn = resolve));
  disk.faults.push("sync");
  await journal.append(entryOf("lost")).catch(() => {});
  const second = journal.append(entryOf("second"));
  while ((await listSegments(journal.dir)).length < 2) await sleep(0);
  expect(await journal.prune(0, { applied: EVER, writtenBeforeMs: EVER })).toBe(0);
  goOn();
  await second;
  expect(bodiesOf(await readAll(journal.dir, journal.durable))).toEqual(["first", "second"]);
  await journal.close();
});

test("what a killed process has left of packing is removed", async () => {
  const journal = await openJournal(newFolder());
  const draft = join(journal.dir, "packing.draft");
  await journal.close();
  writeFileSync(draft, "what users have sent");
  await (await openJournal(journal.dir)).close();
  expect(existsSync(draft)).toBe(false);
});
