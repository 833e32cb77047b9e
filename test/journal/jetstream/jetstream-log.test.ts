import { RetentionPolicy, StorageType } from "@nats-io/jetstream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { UsageError } from "../../../src/errors.ts";
import { decodeEntry } from "../../../src/journal/entry.ts";
import type { Appended, EntryLog, LogItem } from "../../../src/journal/entry-log.ts";
import { KIB, MIB } from "../../../src/limits.ts";
import { eventually, PATIENCE_MS } from "../../support/patience.ts";
import { bodiesOf, entryOf } from "../temp-journal.ts";
import { Nats, type Wish } from "./nats.ts";

let nats: Nats;
let logs = 0;
beforeAll(async () => {
  nats = await Nats.start(1);
});
afterAll(() => nats.stop());

/** A log of its own for a test, which waits for a machine that is busy with others. */
const newLog = async (options: Wish = {}) => {
  logs += 1;
  const name = `log${logs}`;
  return { name, log: await nats.open({ name, appendMsMax: PATIENCE_MS, ...options }) };
};

async function readAll(log: EntryLog, { partition = 0, from = 0 } = {}): Promise<LogItem[]> {
  const reader = log.read(partition, from);
  const items: LogItem[] = [];
  for (let item = await reader.next(log.end(partition)); item; item = await reader.next(log.end(partition)))
    items.push(item);
  await reader.close();
  return items;
}

const EVER = Number.MAX_SAFE_INTEGER;

describe("entries", () => {
  test("are read as they were appended, in the order of their positions", async () => {
    const { log } = await newLog();
    const bodies = Array.from({ length: 2_500 }, (_, number) => `body ${number}`);
    const positions = await Promise.all(bodies.map((body) => log.append(entryOf(body))));
    expect(positions).toEqual(bodies.map((_, number) => number + 1));
    expect(log.end(0)).toBe(bodies.length);
    const items = await readAll(log);
    expect(bodiesOf(items)).toEqual(bodies);
    expect(items.map(({ from, until }) => [from, until])).toEqual(bodies.map((_, number) => [number, number + 1]));
    const { head, body } = entryOf("x", { client: "é", ip: "::1", gzip: 7, rejected: [[0, "too_old"]] });
    await log.append({ head, body });
    expect(decodeEntry((await readAll(log, { from: bodies.length }))[0]!.payload)).toEqual({ head, body });
  });

  test("of an app are in one partition, and those of many apps in all", async () => {
    const { log } = await newLog({ partitions: 4 });
    const apps = Array.from({ length: 40 }, (_, number) => number + 1);
    await Promise.all([...apps, ...apps].map((app) => log.append(entryOf("x", { app }))));
    const found: number[][] = [];
    for (const partition of [0, 1, 2, 3])
      found.push((await readAll(log, { partition })).map(({ payload }) => decodeEntry(payload).head.app));
    expect(found.every((inPartition) => inPartition.length > 0)).toBe(true);
    expect(found).toEqual(
      found.map((_, partition) => {
        const own = apps.filter((app) => log.partitionOf(app) === partition);
        return [...own, ...own];
      }),
    );
  });

  test("that are acknowledged together are told together, with their unpacked bytes by app", async () => {
    const told: Appended[] = [];
    const { log } = await newLog({ onAppended: (appended) => told.push(appended) });
    await Promise.all([1, 2, 2].map((app) => log.append(entryOf("x", { app, gzip: 1_000 }))));
    await log.close();
    expect(told.at(-1)!.until).toBe(3);
    expect(told.reduce((sum, { records }) => sum + records, 0)).toBe(3);
    const bytes = told.flatMap(({ byApp }) => [...byApp]).reduce((sum, [, one]) => sum + one, 0);
    expect(bytes).toBe(log.writtenBytes + 3_000);
  });

  test("of a closed log are refused, after those on their way are stored", async () => {
    const { name, log } = await newLog();
    const appended = log.append(entryOf("on its way"));
    const closed = log.close();
    await expect(log.append(entryOf("late"))).rejects.toMatchObject({ reason: "overloaded" });
    expect(await appended).toBe(1);
    await closed;
    expect(bodiesOf(await readAll(await nats.open({ name })))).toEqual(["on its way"]);
  });
});

describe("an entry is refused", () => {
  test("when it is longer than an entry may be", async () => {
    const { log } = await newLog({ entryBytesMax: KIB });
    await expect(log.append(entryOf("x".repeat(KIB)))).rejects.toMatchObject({ reason: "bodyTooLarge" });
    expect(log.waitingBytes).toBe(0);
  });

  test("when more waits for its acknowledgement than there is room for", async () => {
    const { log } = await newLog({ pendingBytesMax: 20 * KIB });
    const sent = Array.from({ length: 30 }, () => log.append(entryOf("x".repeat(KIB))));
    const outcomes = await Promise.allSettled(sent);
    const stored = outcomes.filter(({ status }) => status === "fulfilled").length;
    expect(stored).toBeGreaterThan(0);
    expect(stored).toBeLessThan(30);
    expect(await log.append(entryOf("later"))).toBe(stored + 1);
  });

  test("as overloaded when the log is full, until something applied is pruned; nothing is dropped", async () => {
    const { log } = await newLog({ bytesMax: 64 * KIB });
    const stored: string[] = [];
    let refusal: unknown;
    while (refusal === undefined) {
      const body = `${stored.length} ${"x".repeat(4 * KIB)}`;
      await log.append(entryOf(body)).then(
        () => stored.push(body),
        (error: unknown) => (refusal = error),
      );
    }
    expect(refusal).toMatchObject({ reason: "overloaded", retryAfterS: 5, message: expect.stringMatching(/is full/) });
    expect(stored.length).toBeGreaterThan(10);
    expect(bodiesOf(await readAll(log))).toEqual(stored);
    expect(await log.prune(0, { applied: 5, writtenBeforeMs: EVER })).toBe(5);
    expect(await log.append(entryOf("again"))).toBe(stored.length + 1);
  });
});

describe("pruning removes", () => {
  test.each<[string, { applied: number; writtenBeforeMs: number }, number]>([
    ["nothing when nothing was applied", { applied: 0, writtenBeforeMs: EVER }, 0],
    ["what was applied, and nothing behind it", { applied: 3, writtenBeforeMs: EVER }, 3],
    ["everything when everything was applied", { applied: 5, writtenBeforeMs: EVER }, 5],
    ["nothing that is too young", { applied: 5, writtenBeforeMs: 0 }, 0],
  ])("%s", async (_, before, removed) => {
    const { log } = await newLog();
    for (const body of ["1", "2", "3", "4", "5"]) await log.append(entryOf(body));
    expect(await log.prune(0, before)).toBe(removed);
    expect(await log.prune(0, before)).toBe(0);
    expect(bodiesOf(await readAll(log, { from: removed }))).toEqual(["1", "2", "3", "4", "5"].slice(removed));
    expect([log.end(0), await log.append(entryOf("6"))]).toEqual([5, 6]);
  });

  test("only what is old enough, wherever that ends", async () => {
    const { name, log } = await newLog();
    for (let number = 1; number <= 9; number += 1) await log.append(entryOf(`${number}`));
    const { manager } = await nats.operator();
    for (const young of [4, 6, 9]) {
      const message = await manager.streams.getMessage(`${name}-0`, { seq: young });
      await log.prune(0, { applied: 9, writtenBeforeMs: message!.time.getTime() });
      const { state } = await manager.streams.info(`${name}-0`);
      // Messages of the same millisecond are equally young.
      const first = await manager.streams.getMessage(`${name}-0`, { seq: state.first_seq });
      expect(first!.time.getTime()).toBe(message!.time.getTime());
      expect(state.first_seq).toBeLessThanOrEqual(young);
    }
  });
});

describe("a missing sequence is damage:", () => {
  test("at the beginning, in the middle and at the end", async () => {
    const { name, log } = await newLog();
    for (const body of ["1", "2", "3", "4", "5", "6", "7", "8"]) await log.append(entryOf(body));
    const { manager } = await nats.operator();
    await manager.streams.purge(`${name}-0`, { seq: 3 });
    for (const sequence of [4, 5, 7, 8]) await manager.streams.deleteMessage(`${name}-0`, sequence);
    const items = await readAll(log);
    expect(items.map(({ kind, from, until }) => [kind, from, until])).toEqual([
      ["damage", 0, 2],
      ["record", 2, 3],
      ["damage", 3, 5],
      ["record", 5, 6],
      ["damage", 6, 8],
    ]);
    expect(bodiesOf(items)).toEqual(["damage", "3", "damage", "6", "damage"]);
  });

  test("but not one that was only lost on the way", async () => {
    const { name, log } = await newLog();
    for (let number = 1; number <= 6; number += 1) await log.append(entryOf(`${number}`));
    const { manager } = await nats.operator();
    const reader = log.read(0, 0);
    const read: LogItem[] = [(await reader.next(2))!, (await reader.next(2))!];
    // Takes the next ones away from the reader's consumer, as a broken connection would.
    const { connection } = await nats.operator();
    const [consumer] = await manager.consumers.list(`${name}-0`).next();
    const next = `$JS.API.CONSUMER.MSG.NEXT.${name}-0.${consumer!.name}`;
    const stolen = await connection.requestMany(next, '{"batch":2,"no_wait":true}', {
      strategy: "count",
      maxMessages: 2,
      maxWait: 60_000,
      noMux: true,
    });
    let count = 0;
    for await (const _ of stolen) count += 1;
    expect(count).toBe(2);
    for (let item = await reader.next(6); item; item = await reader.next(6)) read.push(item);
    await reader.close();
    expect(bodiesOf(read)).toEqual(["1", "2", "3", "4", "5", "6"]);
  });

  test("and a reader whose consumer is gone goes on", async () => {
    const { name, log } = await newLog();
    for (let number = 1; number <= 4; number += 1) await log.append(entryOf(`${number}`));
    const { manager } = await nats.operator();
    const reader = log.read(0, 0);
    const read: LogItem[] = [(await reader.next(1))!];
    for (const { name: consumer } of await manager.consumers.list(`${name}-0`).next())
      await manager.consumers.delete(`${name}-0`, consumer);
    for (let item = await reader.next(4); item; item = await reader.next(4)) read.push(item);
    await reader.close();
    expect(bodiesOf(read)).toEqual(["1", "2", "3", "4"]);
  });

  test("a stream that ends before what is known is an error, not an end", async () => {
    const { log } = await newLog();
    await log.append(entryOf("1"));
    const reader = log.read(0, 1);
    await expect(reader.next(5)).rejects.toThrow(/ends at 1, but/);
    await reader.close();
  });
});

describe("a log that is opened again", () => {
  test("has the same id, the same partitions and the same ends", async () => {
    const { name, log } = await newLog({ partitions: 3 });
    const until = await log.append(entryOf("x", { app: 7 }));
    const again = await nats.open({ name, partitions: 5, bytesMax: MIB });
    expect([again.id, again.partitions, again.end(log.partitionOf(7))]).toEqual([log.id, 3, until]);
    const { manager } = await nats.operator();
    expect((await manager.streams.info(`${name}-2`)).config.max_bytes).toBe(MIB);
  });

  test("is one log when several processes make it at once", async () => {
    const name = "at-once";
    const opened = await Promise.all(Array.from({ length: 3 }, () => nats.open({ name, partitions: 3 })));
    expect(new Set(opened.map(({ id }) => id)).size).toBe(1);
  });

  test("knows what other processes have appended when it asks, and is told soon without asking", async () => {
    const { name, log } = await newLog();
    const other = await nats.open({ name });
    for (let number = 0; number < 3; number += 1) await other.append(entryOf("x".repeat(1_000)));
    expect([await log.freshEnd(0), log.end(0)]).toEqual([3, 3]);
    await other.append(entryOf("y"));
    await expect.poll(() => log.end(0)).toBe(4);
    expect(log.bytesBehind([0])).toBeGreaterThan(3_000);
    expect([log.bytesBehind([4]), log.positionBefore(0, { bytes: 1 }), log.positionBefore(0, { bytes: MIB })]).toEqual([
      0, 3, 0,
    ]);
  });

  test("says that one of its streams is gone, instead of beginning again where the cursor has been", async () => {
    const { name, log } = await newLog({ partitions: 2 });
    await log.close();
    const { manager } = await nats.operator();
    await manager.streams.delete(`${name}-1`);
    await expect(nats.tryOpen({ name })).rejects.toThrow(`The stream ${name}-1 is gone`);
  });

  test("does not take the streams of somebody else", async () => {
    const { manager } = await nats.operator();
    const subjects = ["elsewhere.>"];
    const theirs = { subjects, retention: RetentionPolicy.Limits, storage: StorageType.File };
    await manager.streams.add({ name: "foreign-0", ...theirs });
    const opening = nats.tryOpen({ name: "foreign" });
    await expect(opening).rejects.toThrow(UsageError);
    await expect(opening).rejects.toThrow(/foreign-0 is used by something else/);
  });
});

test("a server that takes only shorter messages than our longest is refused, with the setting to change", async () => {
  const small = await Nats.start(1, { maxPayload: MIB });
  try {
    const opening = eventually(async () => {
      const error: unknown = await small.tryOpen({ entryBytesMax: 2 * MIB }).catch((failure) => failure);
      if (!(error instanceof UsageError)) throw error;
      return error.message;
    });
    expect(await opening).toMatch(/at most 1048576 bytes.* set `max_payload: 2097152` or more/);
  } finally {
    await small.stop();
  }
});

test("while the server is away entries are refused at once, and taken again when it is back", async () => {
  const alone = await Nats.start(1);
  try {
    const log = await alone.open();
    expect(await log.append(entryOf("1"))).toBe(1);
    await alone.kill(0);
    await eventually(() => expect(log.append(entryOf("lost"))).rejects.toThrow("The log cannot be reached"));
    expect(log.waitingBytes).toBe(0);
    alone.run(0);
    const until = await eventually(() => log.append(entryOf("2")));
    expect(bodiesOf(await readAll(log)).filter((body) => body !== "lost")).toEqual(["1", "2"]);
    expect(until).toBe(log.end(0));
  } finally {
    await alone.stop();
  }
});
