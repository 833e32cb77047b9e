import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FAULTS, faultNamed } from "../../sim/chaos/faults/faults.ts";
import { JournalBook } from "../../sim/chaos/journal-book.ts";
import { scheduleOf } from "../../sim/chaos/schedule.ts";
import { poolDisk } from "../../src/journal/disk.ts";
import { Journal } from "../../src/journal/journal.ts";
import { createLog } from "../../src/log.ts";

test("the same seed gives the same faults, and another seed gives others", () => {
  const names = (seed: number) => scheduleOf(FAULTS, { rounds: 60, seed }).map(({ name }) => name);
  expect(names(1)).toEqual(names(1));
  expect(names(1)).not.toEqual(names(2));
});

test("in 100 rounds every fault occurs, and most rounds are kills", () => {
  const schedule = scheduleOf(FAULTS, { rounds: 100, seed: 1 });
  expect(schedule).toHaveLength(100);
  expect(FAULTS.filter((fault) => !schedule.includes(fault))).toEqual([]);
  expect(schedule.filter(({ kind }) => kind === "kill").length).toBeGreaterThan(75);
});

test("with fewer rounds than faults, or without kills, there are exactly as many rounds as requested", () => {
  expect(scheduleOf(FAULTS, { rounds: 3, seed: 1 })).toHaveLength(3);
  const clock = faultNamed("clock_step")!;
  expect(scheduleOf([clock], { rounds: 4, seed: 1 })).toEqual([clock, clock, clock, clock]);
});

test("the names of faults are unique", () => {
  expect(new Set(FAULTS.map(({ name }) => name)).size).toBe(FAULTS.length);
});

const CLIENT = "p000001abcdef";
const event = (serial: string) => ({ type: "track", event: "e", time: 1, properties: { serial } });

test("only events in no other record than the destroyed ones may be missing", async () => {
  const dir = mkdtempSync(join(tmpdir(), "touchpoint-book-"));
  const journal = await Journal.open(dir, { log: createLog("silent"), disk: poolDisk, pendingBytesMax: 1024 * 1024 });
  const head = { app: 1, at: 1, ip: "", ua: "" } as const;
  const collect = (serials: string[], registered: "yes" | "unknown" = "yes") =>
    journal.append({
      head: { ...head, kind: "collect", client: CLIENT, registered },
      body: Buffer.from(JSON.stringify({ client_id: CLIENT, event_list: serials.map(event) })),
    });
  try {
    await journal.append({
      head: { ...head, kind: "register", client: CLIENT, registered: "yes" },
      body: Buffer.from("{}"),
    });
    await collect(["a", "b"]);
    await collect(["b", "c"]);
    const durable = await collect(["d"], "unknown");
    const book = new JournalBook(dir);
    const records = await book.recordsFrom(0, durable);
    expect(records.map(({ kind, serials }) => [kind, serials])).toEqual([
      ["register", []],
      ["collect", ["a", "b"]],
      ["collect", ["b", "c"]],
      ["collect", ["d"]],
    ]);
    expect(book.sumsOf(1)).toEqual({ events: 5, touches: 0 });
    const excused = () => ["a", "b", "c", "d", "never sent"].filter((serial) => book.isExcused(serial, CLIENT));
    expect(excused()).toEqual([]);
    await book.strike([records[1]!], [records[1]!]);
    expect(excused(), "b is in another record, too").toEqual(["a"]);
    expect(book.sumsOf(1)).toEqual({ events: 3, touches: 0 });
    await book.strike([records[0]!], [records[0]!]);
    // The client's registration was left to apply, which now finds none.
    expect(excused()).toEqual(["a", "d"]);
    expect([book.isUnregistered(CLIENT), [...book.struckPeople]]).toEqual([true, [CLIENT]]);
    await book.close();
  } finally {
    await journal.close();
    rmSync(dir, { recursive: true, force: true });
  }
});
