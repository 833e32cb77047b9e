import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  advertisersOf,
  learnAdObjects,
  learnAdvertisers,
  loadAdNames,
  storeAdObjects,
  storeAdvertisers,
} from "../../src/db/ad-names.ts";
import { query, sql } from "../../src/db/engine/sql.ts";
import { makeApp, migratedDatabase, type TempDatabase } from "./temp-database.ts";

let database: TempDatabase;
let [own, other] = [0, 0];
beforeAll(async () => {
  database = await migratedDatabase();
});
beforeEach(async () => {
  await database.pool.query("truncate advertiser, ad_object");
  own = (await makeApp(database.pool)).appId;
  other = (await makeApp(database.pool)).appId;
});
afterAll(() => database.drop());

const account = (name: string) => ({ adPlatform: "tencent", advertiserId: "1", name, status: "" });
const plan = (name: string) => ({ adPlatform: "tencent", level: "plan" as const, objectId: "1", name, status: "" });

/** The names of the account and the plan that each app reads. */
async function names(): Promise<string[][]> {
  const read = async (appId: number) => {
    const found = [];
    for (const level of ["account", "plan"] as const)
      found.push(...(await loadAdNames(database.pool, { appId, level, ids: ["1"] })).map(({ name }) => name));
    return found;
  };
  return [await read(own), await read(other)];
}

test("what an app's pull tells is neither read nor changed by another app", async () => {
  await learnAdvertisers(database.pool, own, [account("Ours")]);
  await learnAdObjects(database.pool, own, [plan("Our plan")]);
  expect(await names()).toEqual([["Ours", "Our plan"], []]);
  await learnAdvertisers(database.pool, other, [account("Mine now")]);
  await learnAdObjects(database.pool, other, [plan("My plan")]);
  expect(await names()).toEqual([
    ["Ours", "Our plan"],
    ["Mine now", "My plan"],
  ]);
});

test("an import is for all apps, and holds until a pull tells another name", async () => {
  const people = { remark: "note", operator: "ann", dept: "games" };
  await learnAdvertisers(database.pool, own, [account("Pulled")]);
  await storeAdvertisers(database.pool, [{ ...account("Imported"), ...people }]);
  await learnAdObjects(database.pool, own, [plan("Pulled plan")]);
  await storeAdObjects(database.pool, [plan("Imported plan")]);
  expect(await names()).toEqual(Array(2).fill(["Imported", "Imported plan"]));
  await learnAdvertisers(database.pool, own, [account("Pulled")]);
  await learnAdObjects(database.pool, own, [{ ...plan(""), status: "on" }]);
  expect(await names()).toEqual([
    ["Pulled", "Imported plan"],
    ["Imported", "Imported plan"],
  ]);
  const [row] = await query(database.pool, sql`select * from ${advertisersOf(own)} a`);
  expect(row).toMatchObject({ name: "Pulled", ...people });
});
