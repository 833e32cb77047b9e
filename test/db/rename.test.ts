import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { loadUsers } from "../../src/db/user-account.ts";
import { ApplyStage, HOUR_MS, NOW_MS, pay, profile, track } from "./apply-stage.ts";

let stage: ApplyStage;
beforeAll(async () => {
  stage = await ApplyStage.open();
});
beforeEach(() => stage.begin());
afterAll(() => stage.close());

const rename = (from: string, to: string) => stage.append("reset_client_id", from, { new_client_id: to });

async function clientsOf(table: string): Promise<string[]> {
  const { rows } = await stage.pool.query(`select client_id from ${table} order by client_id collate "C"`);
  return rows.map((row) => row.client_id);
}

const userOf = async (clientId: string) => (await loadUsers(stage.pool, [{ appId: stage.app.appId, clientId }]))[0];

test("earlier data moves to the new id on a rename, and later data of the same batch is added there", async () => {
  await stage.register("old");
  await stage.collect("old", [pay("o1", 600), profile("profile_increment", { n: 1 })]);
  await rename("old", "new");
  await stage.collect("new", [pay("o2", 400, {}, NOW_MS + 1), profile("profile_increment", { n: 2 }, NOW_MS + 1)]);
  await stage.applyAll();
  expect(await userOf("old")).toBeUndefined();
  expect(await userOf("new")).toMatchObject({
    payCount: 2,
    payCents: 1_000,
    properties: { n: 3 },
    registeredAtMs: NOW_MS,
  });
  for (const table of ["event", "orders", "order_key", "user_day", "user_account"])
    expect([table, [...new Set(await clientsOf(table))]]).toEqual([table, ["new"]]);
  expect(await stage.ledger()).toEqual({ received: 4, stored: 4 });
});

test("a repeat of an event from before the rename, sent under the new id, is a duplicate", async () => {
  await stage.register("old");
  await stage.collect("old", [track("level_up", { level: 3 })]);
  await rename("old", "new");
  await stage.collect("new", [track("level_up", { level: 3 })]);
  await stage.applyAll();
  expect(await stage.ledger()).toEqual({ received: 2, stored: 1, duplicate: 1 });
});

test("a chain of renames in one batch ends at the last id", async () => {
  await stage.register("a");
  await stage.collect("a", [pay("o1", 600)]);
  await rename("a", "b");
  await rename("b", "c");
  await stage.applyAll();
  expect([await clientsOf("user_account"), await clientsOf("orders"), await clientsOf("event")]).toEqual([
    ["c"],
    ["c"],
    ["c"],
  ]);
});

test("two users can swap ids by way of a third", async () => {
  for (const client of ["a", "b"]) await stage.register(client);
  await rename("a", "x");
  await rename("b", "a");
  await rename("x", "b");
  await stage.applyAll();
  expect([(await userOf("a"))?.name, (await userOf("b"))?.name, await stage.count("user_account")]).toEqual([
    "b",
    "a",
    2,
  ]);
});

test.each([
  ["that is taken", "taken"],
  ["that is its own", "old"],
  ["that is empty", ""],
  ["that is too long", "x".repeat(129)],
])("a rename to an id %s changes nothing and blocks nothing", async (_, to) => {
  for (const client of ["old", "taken"]) await stage.register(client);
  await rename("old", to);
  await stage.register("behind");
  await stage.applyAll();
  expect([await clientsOf("user_account"), await stage.setAside()]).toEqual([["behind", "old", "taken"], []]);
});

test("an id of 128 characters is short enough, whatever characters they are", async () => {
  for (const [at, to] of ["x".repeat(128), "字".repeat(128), "😀".repeat(128)].entries()) {
    await stage.register(`u${at}`);
    await rename(`u${at}`, to);
  }
  await stage.applyAll();
  expect(await clientsOf("user_account")).toEqual(["x".repeat(128), "字".repeat(128), "😀".repeat(128)]);
});

test("a rename of an unknown client changes nothing", async () => {
  await rename("nobody", "somebody");
  await stage.applyAll();
  expect([await stage.count("user_account"), await stage.setAside()]).toEqual([0, []]);
});

test("the old id is free again: a client that registers with it is a new user", async () => {
  await stage.register("old");
  await stage.collect("old", [pay("o1", 600)]);
  await rename("old", "new");
  await stage.register("old", { name: "somebody else" }, { at: NOW_MS + HOUR_MS });
  await stage.applyAll();
  expect(await userOf("old")).toMatchObject({ name: "somebody else", payCount: 0, registeredAtMs: NOW_MS + HOUR_MS });
  expect(await userOf("new")).toMatchObject({ name: "old", payCount: 1 });
});
