import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import {
  bodiesOf,
  entryOf,
  FAULTS,
  FaultyDisk,
  newFolder,
  openJournal,
  readAll,
  removeFolders,
} from "./temp-journal.ts";

afterAll(removeFolders);

const OVERLOADED = expect.objectContaining({ name: "ApiError", reason: "overloaded", retryAfterS: expect.any(Number) });

test.each(FAULTS)(
  "when the disk is full (%s), those appends are refused, and the journal goes on without any trace of them",
  async (fault) => {
    const disk = new FaultyDisk();
    const journal = await openJournal(newFolder(), { disk });
    await journal.append(entryOf("before"));
    disk.faults.push(fault);
    const refused = await Promise.allSettled([journal.append(entryOf("lost 1")), journal.append(entryOf("lost 2"))]);
    expect(refused).toEqual([
      { status: "rejected", reason: OVERLOADED },
      { status: "rejected", reason: OVERLOADED },
    ]);
    const { durable } = journal;
    expect(await journal.append(entryOf("after"))).toBeGreaterThan(durable);
    expect(bodiesOf(await readAll(journal.dir, journal.durable))).toEqual(["before", "after"]);
    await journal.close();
    const reopened = await openJournal(journal.dir);
    expect(reopened.durable).toBe(journal.durable);
    expect(bodiesOf(await readAll(journal.dir, reopened.durable))).toEqual(["before", "after"]);
    await reopened.close();
  },
);

test("a disk that is full from the first byte on does no harm", async () => {
  const disk = new FaultyDisk();
  const journal = await openJournal(newFolder(), { disk });
  disk.faults.push("partial_write", "write", "sync");
  for (let times = 0; times < 3; times += 1) await expect(journal.append(entryOf("lost"))).rejects.toEqual(OVERLOADED);
  await journal.append(entryOf("first"));
  expect(bodiesOf(await readAll(journal.dir, journal.durable))).toEqual(["first"]);
  await journal.close();
});

test("whenever and however often the disk fails, the journal holds exactly what was acknowledged, in order", async () => {
  const steps = fc.array(
    fc.record({ appends: fc.integer({ min: 1, max: 4 }), fault: fc.option(fc.constantFrom(...FAULTS), { freq: 2 }) }),
    { minLength: 1, maxLength: 8 },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      const disk = new FaultyDisk();
      const journal = await openJournal(newFolder(), { disk });
      const acknowledged: string[] = [];
      for (const [index, { appends, fault }] of list.entries()) {
        if (fault) disk.faults.push(fault);
        const bodies = Array.from({ length: appends }, (_, copy) => `${index}.${copy}`);
        const outcomes = await Promise.allSettled(bodies.map((body) => journal.append(entryOf(body))));
        acknowledged.push(...bodies.filter((_, copy) => outcomes[copy]!.status === "fulfilled"));
      }
      disk.faults.length = 0;
      await journal.append(entryOf("end"));
      expect(bodiesOf(await readAll(journal.dir, journal.durable))).toEqual([...acknowledged, "end"]);
      await journal.close();
      const reopened = await openJournal(journal.dir);
      expect(reopened.durable).toBe(journal.durable);
      await reopened.close();
    }),
    { numRuns: 40 },
  );
});
