import type pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type App, changeApp, rotateSecret } from "../../src/db/app.ts";
import { declareEvents } from "../../src/db/metadata.ts";
import { AppDirectory } from "../../src/intake/app-directory.ts";
import { LIMITS } from "../../src/limits.ts";
import { createLog } from "../../src/log.ts";
import { makeApp, migratedDatabase, type TempDatabase, vault } from "../db/temp-database.ts";
import { eventually } from "../support/patience.ts";

let database: TempDatabase;
let directory: AppDirectory;
/** The number of rows read by each statement for some apps. */
let reads: number[];
let nowMs = 0;

beforeAll(async () => {
  database = await migratedDatabase();
  for (let index = 0; index < 20; index += 1) await makeApp(database.pool);
  const counting = {
    connect: () => database.pool.connect(),
    async query(statement: pg.QueryConfig) {
      const result = await database.pool.query(statement);
      if (statement.values?.length) reads.push(result.rows.length);
      return result;
    },
  } as unknown as pg.Pool;
  directory = new AppDirectory({ pool: counting, vault, log: createLog("silent"), now: () => nowMs });
  await directory.reload();
});
beforeEach(() => {
  reads = [];
});
afterAll(async () => {
  await directory.stop();
  await database.drop();
});

test("a new app is found, and only its own rows are read for it", async () => {
  const app = await makeApp(database.pool);
  expect(await directory.find(app.accessToken)).toMatchObject({ appId: app.appId, appKey: app.appKey });
  expect(Math.max(...reads)).toBe(1);
  const next = await makeApp(database.pool);
  expect(await directory.findById(next.appId)).toMatchObject({ accessToken: next.accessToken });
  expect(directory.byId(app.appId)).toMatchObject({ accessToken: app.accessToken });
});

test("callers that ask while the settings are being read share the next reading, whatever they look for", async () => {
  const made: App[] = [];
  for (let index = 0; index < 5; index += 1) made.push(await makeApp(database.pool));
  reads = [];
  const found = await Promise.all([
    ...made.map((app) => directory.find(app.accessToken)),
    ...made.map((app) => directory.findById(app.appId)),
    directory.find("nobody").catch((error) => error.message),
  ]);
  expect(found.slice(0, 10)).toMatchObject([...made, ...made].map(({ appId }) => ({ appId })));
  expect(found[10]).toMatch(/not known/);
  // Apps, secrets, event names and property names: at most once for the first caller and once for the rest.
  expect(reads.length).toBeLessThanOrEqual(8);
});

test("a change is notified, and takes effect, without reading the other apps", async () => {
  const app = await makeApp(database.pool);
  await directory.start();
  await changeApp(database.pool, app.appId, { name: "Renamed" });
  await expect.poll(() => directory.byId(app.appId)?.name).toBe("Renamed");
  const token = await rotateSecret(database.pool, vault, { appId: app.appId, which: "access_token" });
  await expect.poll(() => directory.peek(token!)?.appId).toBe(app.appId);
  expect(directory.peek(app.accessToken), "the old token").toBeUndefined();
  await declareEvents(database.pool, [{ appId: app.appId, name: "level_up", state: "disabled" }], 1);
  await expect.poll(() => directory.byId(app.appId)?.metadata.events.get("level_up")).toBe("disabled");
  expect(reads.filter((rows) => rows > 1)).toEqual([]);
});

test.each([["\u0000"], ["' or true --"], ["x".repeat(65)], ["\ud800"], ["令牌"]])(
  "a token that cannot be ours (%j) is not looked up",
  async (token) => {
    await expect(directory.find(token)).rejects.toThrow("access_token is not known.");
    expect(reads).toEqual([]);
  },
);

test.each([[-1], [1.5], [2 ** 31], [2 ** 53], [Number.NaN]])(
  "an id that no app can have (%d) is not known",
  async (id) => {
    await expect(directory.findById(id)).rejects.toThrow("app_id is not known.");
  },
);

test("an app that does not exist is looked up only once in a while, however often it is asked for", async () => {
  const ask = async () => {
    await expect(directory.find("nobody1")).rejects.toThrow("access_token is not known.");
    await expect(directory.findById(999_999)).rejects.toThrow("app_id is not known.");
  };
  await ask();
  expect(reads).toHaveLength(2);
  for (let times = 0; times < 10; times += 1) await ask();
  expect(reads).toHaveLength(2);
  nowMs += 10_000;
  await ask();
  expect(reads).toHaveLength(4);
});

test("a limited number of unknown apps is looked up at the same time; known ones are found meanwhile", async () => {
  const app = await makeApp(database.pool);
  await directory.find(app.accessToken);
  const strangers = Array.from({ length: LIMITS.appsLookedFor + 50 }, (_, index) => directory.find(`stranger${index}`));
  expect(await directory.find(app.accessToken)).toMatchObject({ appId: app.appId });
  const refusals = (await Promise.allSettled(strangers)).map((one) => (one as PromiseRejectedResult).reason);
  const overloaded = refusals.filter(({ reason }) => reason === "overloaded");
  expect(overloaded.length).toBeGreaterThan(0);
  expect(overloaded.length).toBeLessThanOrEqual(50);
  expect(refusals.every(({ reason }) => reason === "overloaded" || reason === "badToken")).toBe(true);
});

test("a load that gets no answer is given up, and what it brings later replaces nothing newer", async () => {
  const app = await makeApp(database.pool);
  let [isSilent, pending, answer] = [true, 0, () => {}];
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const pool = {
    async query(statement: pg.QueryConfig) {
      pending += 1;
      const result = await database.pool.query(statement);
      if (isSilent) await answered;
      pending -= 1;
      return result;
    },
  } as unknown as pg.Pool;
  const late = new AppDirectory({ pool, vault, log: createLog("silent"), loadMsMax: 50 });
  await expect(late.reload()).rejects.toThrow("No answer within 50 ms.");
  isSilent = false;
  await changeApp(database.pool, app.appId, { name: "Newer" });
  await eventually(() => late.reload());
  answer();
  await expect.poll(() => pending).toBe(0);
  expect(late.byId(app.appId)?.name).toBe("Newer");
});
