import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { countSetAside, listSetAside, markReplayed, requestReplay, setAside } from "../../src/db/set-aside.ts";
import { segmentPath } from "../../src/journal/segment.ts";
import { LIMITS } from "../../src/limits.ts";
import { ApplyStage, NOW_MS, pay, track } from "./apply-stage.ts";

let stage: ApplyStage;
beforeAll(async () => {
  stage = await ApplyStage.open();
});
beforeEach(() => stage.begin());
afterAll(() => stage.close());

const usersOf = async () =>
  (await stage.pool.query("select client_id from user_account order by 1")).rows.map((row) => row.client_id);

test.each<[string, (stage: ApplyStage) => Promise<unknown>]>([
  ["a kind from the future", (s) => s.append("tomorrow" as never, "u", {})],
  ["a body that is no JSON", (s) => s.append("register", "u", "{")],
  ["a body that begins with NUL", (s) => s.append("register", "u", "\u0000")],
  ["a body that is a list", (s) => s.append("register", "u", "[]")],
  ["a collect body without its list", (s) => s.append("collect", "u", {})],
  ["an event that is null", (s) => s.append("collect", "u", { event_list: [null] })],
  [
    "an event without a time",
    (s) => s.append("collect", "u", { event_list: [{ type: "track", event: "e", properties: {} }] }),
  ],
  ["an event in a year that no calendar has", (s) => s.append("collect", "u", { event_list: [track("e", {}, 1e300)] })],
  [
    "an event in the year 20000",
    (s) => s.append("collect", "u", { event_list: [track("e", {}, Date.UTC(20_000, 0))] }),
  ],
  ["a head without a time", (s) => s.append("register", "u", {}, { at: undefined as never })],
  ["a head with an app that no table can hold", (s) => s.append("register", "u", {}, { app: 2 ** 40 })],
  ["an app that does not exist", (s) => s.append("register", "u", {}, { app: 7 })],
])("%s is set aside with its reason, and the entries before and after it are applied", async (_, appendBad) => {
  await stage.register("before");
  await appendBad(stage);
  await stage.register("behind");
  await stage.applyAll();
  expect(await usersOf()).toEqual(["before", "behind"]);
  expect(await stage.setAside()).toMatchObject([
    { journalId: stage.journal.id, state: "waiting", reason: expect.stringMatching(/./) },
  ]);
  expect(stage.applied.reduce((sum, applied) => sum + applied.setAside, 0)).toBe(1);
});

test("damage in the journal is set aside with its bytes, and stays damage when it is replayed", async () => {
  await stage.register("before");
  await stage.register("damaged");
  await stage.register("behind");
  const path = segmentPath(stage.journal.dir, 0);
  const bytes = readFileSync(path);
  bytes[bytes.indexOf('"damaged"')] = 0;
  writeFileSync(path, bytes);
  await stage.applyAll();
  expect(await usersOf()).toEqual(["before", "behind"]);
  const [row] = await stage.setAside();
  expect(row).toMatchObject({ appId: null, receivedAtMs: null });
  expect(row!.payload.equals(bytes.subarray(row!.from, row!.until))).toBe(true);
  await requestReplay(stage.pool);
  while (await stage.applier.replayOne());
  expect(await stage.setAside()).toEqual([row]);
});

/** Makes the database refuse valid rows, as a fault in our own statements would. */
const forbid = () => stage.pool.query("alter table user_account add constraint poison check (name not like 'poison%')");
const allow = () => stage.pool.query("alter table user_account drop constraint if exists poison");
afterEach(allow);

test.each([
  [0, 1],
  [7, 16],
  [15, 16],
  [30, 31],
])(
  "an entry that the database refuses, at place %d of %d, is found by halving, and only it is set aside",
  async (failing, total) => {
    await forbid();
    for (let index = 0; index < total; index += 1) {
      const client = `u${String(index).padStart(2, "0")}`;
      await stage.register(client, index === failing ? { name: "poison" } : {});
      if (index !== failing) await stage.collect(client, [pay(`o${index}`, 100)]);
    }
    await stage.applyAll();
    expect(await stage.setAside()).toMatchObject([
      { appId: stage.app.appId, receivedAtMs: NOW_MS, reason: expect.stringContaining("poison") },
    ]);
    expect(await usersOf()).toHaveLength(total - 1);
    expect(await stage.count("orders")).toBe(total - 1);
    if (total > 1) expect(await stage.ledger()).toEqual({ received: total - 1, stored: total - 1 });
  },
);

test("several bad entries in a batch are each set aside, and the good ones between them are applied", async () => {
  await forbid();
  for (const name of ["a", "poison 1", "b", "poison 2", "poison 3", "c"]) await stage.register(name);
  await stage.applyAll();
  expect(await usersOf()).toEqual(["a", "b", "c"]);
  expect(await countSetAside(stage.pool)).toBe(3);
});

test("an entry set aside takes effect once when it is replayed after its cause is gone", async () => {
  await forbid();
  await stage.register("poison");
  await stage.register("fine");
  await stage.applyAll();
  expect(await stage.applier.replayOne()).toBe(false);
  await allow();
  expect(await requestReplay(stage.pool)).toBe(1);
  expect(await stage.applier.replayOne()).toBe(true);
  expect(await stage.applier.replayOne()).toBe(false);
  expect([await usersOf(), await countSetAside(stage.pool)]).toEqual([["fine", "poison"], 0]);
  expect(await requestReplay(stage.pool)).toBe(0);
});

test("an entry that still cannot be applied stays set aside with the new reason", async () => {
  await stage.append("register", "u", "{");
  await stage.applyAll();
  await requestReplay(stage.pool);
  expect(await stage.applier.replayOne()).toBe(true);
  expect(await stage.applier.replayOne()).toBe(false);
  expect(await stage.setAside()).toMatchObject([{ state: "waiting", reason: expect.stringContaining("JSON") }]);
});

/** Hides a table, as if a migration had been undone by hand. */
const hide = () => stage.pool.query("alter table user_account rename to user_account_gone");
const show = () => stage.pool.query("alter table if exists user_account_gone rename to user_account");
afterEach(show);

test("a problem that the operator must fix sets nothing aside, and once it is fixed everything is applied", async () => {
  for (const client of ["a", "b", "c"]) await stage.register(client);
  await hide();
  await expect(stage.applier.turn()).rejects.toMatchObject({ code: "42P01" });
  await expect(stage.applier.turn()).rejects.toMatchObject({ code: "42P01" });
  expect(await stage.setAside()).toEqual([]);
  await show();
  await stage.applyAll();
  expect([await usersOf(), await stage.setAside()]).toEqual([["a", "b", "c"], []]);
});

test("a replay waits until the operator has fixed the problem", async () => {
  await forbid();
  await stage.register("poison");
  await stage.applyAll();
  await allow();
  await requestReplay(stage.pool);
  await hide();
  await expect(stage.applier.replayOne()).rejects.toMatchObject({ code: "42P01" });
  expect(await stage.setAside()).toMatchObject([{ state: "requested", reason: expect.stringContaining("poison") }]);
  await show();
  expect(await stage.applier.replayOne()).toBe(true);
  expect([await usersOf(), await stage.setAside()]).toEqual([["poison"], []]);
});

test("a reason with characters that the database cannot hold is stored without them, and cut", async () => {
  const payload = Buffer.from("x");
  const reason = `a\0b ${"long ".repeat(1_000)}`;
  await setAside(stage.pool, [
    { ...stage.cursor, from: 0, until: 1, appId: null, receivedAtMs: null, reason, payload },
  ]);
  const [row] = await stage.setAside();
  expect(row!.reason).toMatch(/^a\ufffdb long long /);
  expect(row!.reason).toHaveLength(LIMITS.setAsideReasonLength);
});

test("an entry can be marked as replayed once", async () => {
  await stage.append("register", "u", "{");
  await stage.applyAll();
  const [row] = await listSetAside(stage.pool, { limit: 1 });
  expect([await markReplayed(stage.pool, row!), await markReplayed(stage.pool, row!)]).toEqual([true, false]);
});
