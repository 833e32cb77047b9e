import { existsSync, readdirSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { storeCosts } from "../../src/db/cost.ts";
import { emptyFacts } from "../../src/db/facts.ts";
import { moveReadUntil } from "../../src/db/lake-app.ts";
import type { MergeTask, PackTask, RepackTask } from "../../src/lake/engine.ts";
import { Lake } from "../../src/lake/lake.ts";
import { LakeWriter } from "../../src/lake/lake-writer.ts";
import { verifyLake } from "../../src/lake/verify.ts";
import { claim, DAY_MS, HOUR_MS, NOW_MS, pay, profile, track } from "../db/apply-stage.ts";
import { log } from "../db/temp-database.ts";
import { LakeStage } from "./lake-stage.ts";

let stage: LakeStage;
beforeAll(async () => {
  stage = await LakeStage.open();
});
beforeEach(async () => {
  await stage.apply.pool.query("delete from cost");
  await stage.begin();
});
afterAll(() => stage.close());

async function expectExact(): Promise<void> {
  const { lake, tables } = await stage.both();
  expect(lake).toEqual(tables);
}

const events = async () => (await stage.files()).filter(({ kind }) => kind === "events");

/** Sends events and has them written as a part. */
async function part(client: string, sent: object[], at = NOW_MS): Promise<void> {
  await stage.apply.collect(client, sent, { at });
  await stage.apply.applyAll();
  await stage.lake.catchUp();
}

test("files hold what the tables hold: events, users, orders, costs", async () => {
  const { apply } = stage;
  await apply.register("a", {});
  await apply.collect("a", [
    track("e", { text: 'quotes " and , and \n and 😀', empty: "", list: [1, "x"], n: 1.5, yes: true, none: null }),
    // Written as CSV on the way: with a quote of CSV in it, a comma and the end of a row.
    pay("o\x01,\x01\n1", 600, { note: "\r\n" }),
    track("$RefundEvent", { $order_id: "o\x01,\x01\n1", $pay_amount: 100 }, NOW_MS + HOUR_MS),
    profile("profile_set", { level: 7 }),
    track("e", {}, NOW_MS - 2 * DAY_MS),
  ]);
  await apply.applyAll();
  await stage.lake.catchUp();
  const ad = { advertiserId: "1", gid: "2", aid: "3", cid: "", csite: "", channel: "", osPlatform: "", campaignId: "" };
  const cost = { appId: apply.app.appId, adPlatform: "vivo", ...ad, impressions: 9, clicks: 3, costE4: 120_001 };
  await storeCosts(apply.pool, [{ ...cost, day: "2024-06-14" }], NOW_MS);
  await stage.lake.catchUp();
  const { lake } = await stage.both();
  expect(lake.events).toHaveLength(5);
  expect([lake.users.length, lake.orders.length, lake.costs.length]).toEqual([1, 1, 1]);
  await expectExact();
});

test("what comes later makes a part of its own, which holds nothing else", async () => {
  await stage.apply.register("a");
  await part("a", [track("e", { n: 1 })]);
  await part("a", [track("e", { n: 2 }), track("e", { n: 3 })], NOW_MS + 1_000);
  expect((await events()).map(({ rows }) => rows).sort()).toEqual([1, 2]);
  await stage.lake.catchUp();
  expect(await events()).toHaveLength(2);
  await expectExact();
});

test("an event whose receipt lies before others that are written is found by its key", async () => {
  await stage.apply.register("a", {}, { at: NOW_MS - DAY_MS });
  await part("a", [track("e", { n: 1 })]);
  await part("a", [track("e", { n: 2 })], NOW_MS - HOUR_MS);
  expect(await stage.apply.count("lake_late")).toBe(0);
  await expectExact();
});

test("events that are stored but not yet read wait for the next part, also when their day is written anew", async () => {
  const { apply } = stage;
  await apply.register("a");
  await apply.register("b");
  await part("a", [track("e", { n: 1 })]);
  await part("b", [track("e", { n: 2 })], NOW_MS + 1);
  await apply.collect("a", [track("e", { n: 3 })], { at: NOW_MS + HOUR_MS });
  await apply.append("erase", "b", {}, { at: NOW_MS + HOUR_MS });
  await apply.applyAll();
  // Not moved on: the day alone is written.
  const writer = new LakeWriter({
    pool: apply.pool,
    folder: stage.folder,
    engine: stage.engine,
    clock: () => NOW_MS,
    assertRoom: async () => {},
  });
  const read = await writer.readDay({ appId: apply.app.appId, kind: "events", day: "2024-06-15" });
  await writer.writeDay(read!);
  expect((await stage.rowsOf("events")).map((row) => row.properties)).toEqual(['{"n":1}']);
  await stage.lake.catchUp();
  await expectExact();
});

test("a renamed user has the new id in every file, and the old one is in none", async () => {
  const { apply } = stage;
  await apply.register("before");
  await part("before", [track("e"), pay("o", 600), track("e", {}, NOW_MS - 2 * DAY_MS)]);
  await apply.append("reset_client_id", "before", { new_client_id: "after" }, { at: NOW_MS });
  await apply.applyAll();
  await stage.lake.catchUp();
  const { lake } = await stage.both();
  expect(lake.events).toHaveLength(3);
  expect(JSON.stringify(lake)).not.toContain("before");
  await expectExact();
});

test("an erased user is in no file within the hour, old files included", async () => {
  const { apply, folder } = stage;
  await apply.register("gone");
  await apply.register("stays");
  await part("gone", [track("e", { mark: "gone" }), pay("o", 600)]);
  await part("stays", [track("e")], NOW_MS + 1);
  await apply.append("erase", "gone", {}, { at: NOW_MS + 2 });
  await apply.applyAll();
  for (let time = 0; time < 3; time += 1) {
    stage.nowMs += 10 * 60_000;
    await stage.lake.turn({ signal: new AbortController().signal, forMs: 60_000 });
  }
  await expectExact();
  const kept = new Set((await stage.files()).map((file) => folder.pathOf(file)));
  for (const path of kept)
    for (const name of readdirSync(dirname(path))) expect(kept).toContain(join(dirname(path), name));
  expect(JSON.stringify(await stage.both())).not.toContain("gone");
});

test("parts are merged into one, which holds the same rows", async () => {
  await stage.apply.register("a");
  for (let n = 0; n < 8; n += 1) await part("a", [track("e", { n })], NOW_MS + n);
  expect(await events()).toHaveLength(8);
  const { signal } = new AbortController();
  await stage.lake.turn({ signal, forMs: 60_000 });
  expect(await events()).toHaveLength(1);
  await expectExact();
  // A day that is over becomes one file, however few its parts are.
  await part("a", [track("e", { n: "late" })], NOW_MS + HOUR_MS);
  stage.nowMs += 2 * DAY_MS;
  await stage.lake.turn({ signal, forMs: 60_000 });
  expect(await events()).toHaveLength(1);
  await expectExact();
});

test("a file that no transaction has named does not count, and is swept", async () => {
  await stage.apply.register("a");
  await part("a", [track("e")]);
  const [file] = await events();
  const orphan = join(dirname(stage.folder.pathOf(file!)), "left-over.parquet");
  await writeFile(orphan, "half of a file");
  stage.lake = stage.newLake();
  await stage.lake.begin();
  expect([existsSync(orphan), existsSync(stage.folder.pathOf(file!))]).toEqual([false, true]);
  await expectExact();
});

test("a day whose file somebody has removed is written again at the next start", async () => {
  await stage.apply.register("a");
  await part("a", [track("e")]);
  await rm(stage.folder.pathOf((await events())[0]!));
  stage.lake = stage.newLake();
  await stage.lake.begin();
  await stage.lake.catchUp();
  await expectExact();
});

test("a replay of the whole journal begins the lake anew", async () => {
  const { apply } = stage;
  await apply.register("a");
  await part("a", [track("e"), pay("o", 600)]);
  await apply.restart();
  await emptyFacts(apply.pool, apply.term);
  expect(await stage.files()).toEqual([]);
  await apply.applyAll();
  await stage.lake.catchUp();
  await stage.lake.catchUp();
  await expectExact();
  expect(await events()).toHaveLength(1);
});

test("days whose events are dropped leave the lake", async () => {
  await stage.apply.register("a");
  await part("a", [track("e"), track("e", {}, NOW_MS - 2 * DAY_MS)]);
  await stage.apply.applier.dropDaysBefore("2024-06-14");
  await stage.lake.turn({ signal: new AbortController().signal, forMs: 60_000 });
  expect((await events()).map(({ day }) => day)).toEqual(["2024-06-15"]);
});

test("while an earlier version applies the lake waits, and afterwards begins anew", async () => {
  const { apply } = stage;
  const { signal } = new AbortController();
  await apply.register("a");
  await part("a", [track("e")]);
  await apply.pool.query("update apply_holder set term = 'of an earlier version'");
  apply.term = "of an earlier version";
  stage.lake = stage.newLake();
  await stage.lake.turn({ signal, forMs: 60_000 });
  expect(await stage.files()).toEqual([]);
  apply.term = await claim(apply.pool);
  await apply.restart();
  await part("a", [track("f")], NOW_MS + 1);
  await stage.lake.catchUp();
  await expectExact();
});

test("an event noted by key that also lies in the range being read is written once", async () => {
  const { apply } = stage;
  await apply.register("a", {}, { at: NOW_MS - DAY_MS });
  await part("a", [track("e", { n: 1 })]);
  await apply.collect("a", [track("e", { n: 2 })], { at: NOW_MS + 1_000 });
  await apply.applyAll();
  // Moved on, but not written yet.
  await moveReadUntil(apply.pool, stage.folder.id, async () => [{ appId: apply.app.appId, untilMs: NOW_MS + 2_000 }]);
  await apply.collect("a", [track("e", { n: 3 })], { at: NOW_MS + 500 });
  await apply.applyAll();
  expect(await apply.count("lake_late")).toBe(1);
  await stage.lake.catchUp();
  await expectExact();
});

test("a user who registers again with another version is written anew", async () => {
  await stage.apply.register("a", { version: 1 });
  await part("a", [track("e")]);
  await stage.apply.register("a", { version: 2 }, { at: NOW_MS + 1 });
  await stage.apply.applyAll();
  await stage.lake.catchUp();
  expect((await stage.rowsOf("users")).map((row) => Number(row.version))).toEqual([2]);
  await expectExact();
});

test("a day that cannot be written keeps no other waiting, and is told", async () => {
  const { apply, folder, engine } = stage;
  const { signal } = new AbortController();
  await apply.register("a");
  await part("a", [track("e"), track("e", {}, NOW_MS - 2 * DAY_MS)]);
  await apply.append("reset_client_id", "a", { new_client_id: "b" });
  await apply.applyAll();
  stage.nowMs += HOUR_MS;
  const broken = {
    pack: (task: PackTask) => {
      if (task.days.some(({ day }) => day === "2024-06-15")) throw new Error("Broken.");
      return engine.pack(task);
    },
    repack: (task: RepackTask) => engine.repack(task),
    merge: (task: MergeTask) => engine.merge(task),
    row: (statement: string) => engine.row(statement),
  };
  const journal = { id: apply.journal.id, partitionOf: () => 0 };
  const parts = { pool: apply.pool, folder, engine: broken, journal, clock: () => stage.nowMs, log };
  const lake = new Lake({ ...parts, assertRoom: async () => {} });
  await expect(lake.turn({ signal, forMs: 60_000 })).rejects.toThrow("Broken.");
  const events = await stage.rowsOf("events");
  expect(events.map(({ day, client_id: client }) => [day, client])).toEqual([
    ["2024-06-13", "b"],
    ["2024-06-15", "a"],
  ]);
  stage.nowMs += HOUR_MS;
  await stage.lake.turn({ signal, forMs: 60_000 });
  await expectExact();
});

test("verify finds every day equal, and names a day whose file holds something else", async () => {
  const { apply, folder, engine } = stage;
  await apply.register("a");
  await part("a", [
    track("e", { text: "ä\n" }),
    pay("o", 600),
    profile("profile_set", { n: 1 }),
    track("f", {}, NOW_MS - DAY_MS),
  ]);
  const parts = { pool: apply.pool, folder, engine };
  const whole = await verifyLake(parts, apply.app.appId);
  expect(whole.days.map(({ kind, outcome, rows }) => [kind, outcome, rows])).toEqual([
    ["events", "equal", 1],
    ["events", "equal", 3],
    ["users", "equal", 1],
    ["orders", "equal", 1],
  ]);
  expect([whole.ledger, whole.events]).toEqual([4, 4]);
  await apply.pool.query("update event set properties_text = '{\"n\": 2}' where event = 'f'");
  await apply.pool.query("update orders set cents = 601");
  const changed = await verifyLake(parts, apply.app.appId);
  expect(changed.days.map(({ outcome }) => outcome)).toEqual(["different", "equal", "equal", "different"]);
});
