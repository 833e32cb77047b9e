import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { assertApplies, claimApply, claimPartition, type Terms } from "../../src/db/apply-holder.ts";
import { ApplyLock } from "../../src/db/lock/apply-lock.ts";
import { loadHeldPartitions } from "../../src/db/lock/partition-locks.ts";
import { SharedApplyLock } from "../../src/db/lock/shared-apply-lock.ts";
import { noteNode } from "../../src/db/node.ts";
import type { Connection } from "../../src/db/server/server.ts";
import type { Loop } from "../../src/loop.ts";
import { connectionTo } from "../support/shared-server.ts";
import { log, migratedDatabase, type TempDatabase } from "./temp-database.ts";

const PARTITIONS = 4;
const TAKEN = { code: "APPLY_TAKEN" };

let database: TempDatabase;
let connection: Connection;
let ends: (() => Promise<void>)[];

beforeAll(async () => {
  database = await migratedDatabase();
  connection = connectionTo(database.name);
});
beforeEach(() => {
  ends = [];
  return async () => {
    for (const end of ends.reverse()) await end();
    await database.pool.query("truncate apply_holder, node");
  };
});
afterAll(() => database.drop());

const options = { journalId: "log", partitions: PARTITIONS, log, clock: () => 5, isCutOff: () => false };

function newLock(nodeId: string, more: Partial<ConstructorParameters<typeof SharedApplyLock>[0]> = {}) {
  const lock = new SharedApplyLock({ ...options, nodeId, applies: true, ...more });
  ends.push(() => lock.release());
  return lock;
}

/** A process that holds its share, with what it was told. */
async function join(
  nodeId: string,
  more: Parameters<typeof newLock>[1] = {},
): Promise<{ lock: SharedApplyLock; terms: () => Terms; told: string[]; watch: Loop }> {
  const lock = newLock(nodeId, more);
  await lock.take(connection);
  let terms = await lock.claim();
  const told: string[] = [];
  const watch = lock.watch(async (next, how) => {
    terms = next;
    told.push(how);
  });
  ends.push(() => watch.stop());
  return { lock, terms: () => terms, told, watch };
}

const held = (terms: Terms) => terms.filter((term) => term !== undefined).length;
const assertOf = (term: string | undefined) => assertApplies(database.pool, term!);

test("a process alone has all partitions; a second one gets half of them, and all once the first is gone", async () => {
  const one = await join("one");
  expect(held(one.terms())).toBe(PARTITIONS);
  const before = one.terms();
  const two = await join("two");
  await expect.poll(() => [held(one.terms()), held(two.terms())]).toEqual([2, 2]);
  expect(one.told).toContain("given");
  // What was given away has another term by now; what was kept has not.
  const kept = before.filter((term) => one.terms().includes(term));
  expect(kept).toHaveLength(2);
  for (const term of kept) await assertOf(term);
  for (const term of before) if (!kept.includes(term)) await expect(assertOf(term)).rejects.toMatchObject(TAKEN);
  await one.watch.stop();
  await one.lock.release();
  await expect.poll(() => held(two.terms())).toBe(PARTITIONS);
  expect((await loadHeldPartitions(database.pool)).sort()).toEqual([0, 1, 2, 3]);
});

test("a process that cannot read the log leaves its partitions to others, and takes its share again", async () => {
  let isCutOff = false;
  const one = await join("one", { isCutOff: () => isCutOff });
  isCutOff = true;
  await expect.poll(() => held(one.terms())).toBe(0);
  isCutOff = false;
  await expect.poll(() => held(one.terms())).toBe(PARTITIONS);
});

test("a process that only collects takes no partitions", async () => {
  const lock = newLock("collector", { applies: false });
  await lock.take(connection);
  expect(held(await lock.claim())).toBe(0);
  expect(held((await join("one")).terms())).toBe(PARTITIONS);
});

test("a process that is connected and silent loses its partitions to one that is alive", async () => {
  const frozen = newLock("frozen");
  await frozen.take(connection);
  const before = await frozen.claim();
  const node = { host: "h", processId: 1, address: "a", roles: ["apply"], version: "1", trouble: "" };
  await noteNode(database.pool, { ...node, nodeId: "frozen" });
  await database.pool.query("update node set seen_at_ms = seen_at_ms - 11000");
  const alive = await join("alive");
  await expect.poll(() => held(alive.terms())).toBe(PARTITIONS);
  for (const term of before) await expect(assertOf(term)).rejects.toMatchObject(TAKEN);
});

test("terms that another process has replaced are given up", async () => {
  const one = await join("one");
  const [replaced] = one.terms();
  await claimPartition(database.pool, { journalId: "log", host: "h", processId: 1, sinceMs: 1 }, 0);
  await expect.poll(() => one.told).toContain("lost");
  await expect.poll(() => held(one.terms())).toBe(PARTITIONS);
  expect(one.terms()).not.toContain(replaced);
});

test("the connection that holds the locks is made again when it is lost", async () => {
  const one = await join("one");
  const before = one.terms();
  await database.pool.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'touchpoint apply one'",
  );
  await expect.poll(() => held(one.terms()) === PARTITIONS && one.terms()[0] !== before[0]).toBe(true);
  expect(one.told[0]).toBe("lost");
});

test("whoever applies alone and those who share a log keep each other out", async () => {
  const alone = new ApplyLock(options);
  ends.push(() => alone.release());
  const shared = newLock("one");
  await alone.take(connection);
  await expect(shared.take(connection, 1)).rejects.toThrow(/Another process applies a journal of its own/);
  await alone.release();
  await shared.take(connection);
  await expect(alone.take(connection, 1)).rejects.toThrow(/Another process applies into this database already/);
});

test("a process with another log is refused", async () => {
  await join("one");
  await expect(newLock("two", { journalId: "another" }).take(connection)).rejects.toThrow(/use another log/);
});

test("a claim of all partitions ends the terms of single ones, and the other way round", async () => {
  const holder = { journalId: "log", host: "h", processId: 1, sinceMs: 1 };
  const { pool } = database;
  const [one, two] = [await claimPartition(pool, holder, 1), await claimPartition(pool, holder, 2)];
  for (const term of [one, two]) await assertOf(term);
  const alone = await claimApply(pool, holder);
  for (const term of [one, two]) await expect(assertOf(term)).rejects.toMatchObject(TAKEN);
  await assertOf(alone);
  const again = await claimPartition(pool, holder, 1);
  await expect(assertOf(alone)).rejects.toMatchObject(TAKEN);
  const other = await claimPartition(pool, { ...holder, journalId: "another" }, 2);
  await expect(assertOf(again)).rejects.toMatchObject(TAKEN);
  await assertOf(other);
});
