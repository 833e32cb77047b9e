import { afterAll, beforeAll, expect, test } from "vitest";
import { adminToken } from "../../src/admin/session/admin-token.ts";
import { raiseAdminTokenGeneration } from "../../src/db/installation.ts";
import { AdminTokens } from "../../src/http/admin/admin-token.ts";
import { migratedDatabase, type TempDatabase, vault } from "./temp-database.ts";

let database: TempDatabase;
beforeAll(async () => {
  database = await migratedDatabase();
});
afterAll(() => database.drop());

test("raising the generation revokes every earlier token at once, in every process", async () => {
  const processes = [1, 2].map(() => new AdminTokens({ pool: database.pool, vault }));
  const first = adminToken(vault);
  for (const tokens of processes) expect(await tokens.generationOf(first)).toBe(0);
  const second = adminToken(vault, await raiseAdminTokenGeneration(database.pool));
  expect(second).not.toBe(first);
  for (const tokens of processes) {
    expect(await tokens.generationOf(first)).toBeUndefined();
    expect(await tokens.generationOf(second)).toBe(1);
    expect([await tokens.isCurrent(0), await tokens.isCurrent(1)]).toEqual([false, true]);
  }
  await raiseAdminTokenGeneration(database.pool);
  for (const tokens of processes) {
    expect(await tokens.generationOf(second)).toBeUndefined();
    for (const wrong of ["", "x", first, second.slice(1), `${second} `])
      expect(await tokens.generationOf(wrong)).toBeUndefined();
  }
});

test("wrong tokens query the database at most once a second", async () => {
  let asked = 0;
  const counting = {
    query: (...args: Parameters<typeof database.pool.query>) => {
      asked += 1;
      return database.pool.query(...args);
    },
  } as unknown as typeof database.pool;
  const tokens = new AdminTokens({ pool: counting, vault });
  const startedMs = performance.now();
  for (let guess = 0; guess < 200; guess += 1) expect(await tokens.generationOf(`${guess}`)).toBeUndefined();
  expect(asked).toBeLessThanOrEqual(1 + (performance.now() - startedMs) / 1_000);
});

test("while the database is away, the last valid token stays valid", async () => {
  const gone = await migratedDatabase();
  const tokens = new AdminTokens({ pool: gone.pool, vault });
  expect(await tokens.generationOf(adminToken(vault))).toBe(0);
  const away = Object.assign(new Error("away"), { code: "ECONNREFUSED" });
  gone.pool.query = () => Promise.reject(away);
  expect(await tokens.generationOf(adminToken(vault))).toBe(0);
  expect(await tokens.generationOf("x")).toBeUndefined();
  await gone.drop();
});
