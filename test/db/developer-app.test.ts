import { afterAll, beforeAll, expect, test } from "vitest";
import {
  changeDeveloperApp,
  createDeveloperApp,
  DEFAULT_RATE,
  decideDeveloperApp,
  findDeveloperApp,
  loadDeveloperApps,
  type RateLevel,
} from "../../src/db/developer-app.ts";
import { giveCallBack, takeCall } from "../../src/db/report-call.ts";
import { migratedDatabase, type TempDatabase, vault } from "./temp-database.ts";

const NOW_MS = Date.UTC(2026, 10, 15);

let database: TempDatabase;
beforeAll(async () => {
  database = await migratedDatabase();
});
afterAll(() => database.drop());

const make = (apps: "all" | number[] = "all", rate: RateLevel = DEFAULT_RATE) =>
  createDeveloperApp(database.pool, vault, { name: "BI", purpose: "daily pull", apps, rate, createdAtMs: NOW_MS });

test("a developer application is found by its key, which is stored only once and never in the clear", async () => {
  const [first, second] = [await make("all"), await make([1, 2])];
  expect(first).toMatchObject({ state: "requested", apps: "all", rate: { calls: 1, windowS: 600 }, decidedAtMs: null });
  expect(await findDeveloperApp(database.pool, vault, second.appKey)).toEqual(second);
  expect(await findDeveloperApp(database.pool, vault, `${second.appKey}x`)).toBeUndefined();
  expect(first.appKey).not.toBe(second.appKey);
  const { rows } = await database.pool.query("select * from developer_app");
  expect(JSON.stringify(rows)).not.toContain(first.appKey);
});

test("a developer application is decided on and changed by its id", async () => {
  const { developerId, appKey } = await make();
  const decision = { developerId, state: "refused" as const, reason: "no contract", decidedAtMs: NOW_MS + 1 };
  expect(await decideDeveloperApp(database.pool, decision)).toBe(true);
  expect(await decideDeveloperApp(database.pool, { ...decision, developerId: 999_999 })).toBe(false);
  const rate = { calls: 5, windowS: 60 };
  expect(await changeDeveloperApp(database.pool, { developerId, apps: [7], rate })).toBe(true);
  const changed = { state: "refused", reason: "no contract", decidedAtMs: NOW_MS + 1, apps: [7], rate };
  expect(await findDeveloperApp(database.pool, vault, appKey)).toMatchObject(changed);
  expect((await loadDeveloperApps(database.pool, vault)).map((one) => one.developerId)).toContain(developerId);
});

test("no span of the window grants more calls than the rate allows", async () => {
  const rate = { calls: 2, windowS: 60 };
  const { developerId } = await make("all", rate);
  const at = (seconds: number) => takeCall(database.pool, { developerId, rate, nowMs: NOW_MS + seconds * 1000 });
  expect(await at(0)).toMatchObject({ kind: "granted", remaining: 1 });
  expect(await at(30)).toMatchObject({ kind: "granted", remaining: 0 });
  expect(await at(59.999)).toEqual({ kind: "used_up", resetAtMs: NOW_MS + 60_000 });
  expect(await at(60)).toMatchObject({ kind: "granted", remaining: 0 });
  expect(await at(89)).toEqual({ kind: "used_up", resetAtMs: NOW_MS + 90_000 });
});

test("a refunded call does not count, and each application has its own count", async () => {
  const [one, other] = [await make(), await make()];
  const take = (developerId: number) => takeCall(database.pool, { developerId, rate: DEFAULT_RATE, nowMs: NOW_MS });
  const granted = await take(one.developerId);
  expect(granted.kind).toBe("granted");
  if (granted.kind === "granted") await giveCallBack(database.pool, { developerId: one.developerId, ...granted });
  expect((await take(one.developerId)).kind).toBe("granted");
  expect((await take(one.developerId)).kind).toBe("used_up");
  expect((await take(other.developerId)).kind).toBe("granted");
});

test("of many simultaneous calls only as many are granted as the rate allows", async () => {
  const rate = { calls: 3, windowS: 600 };
  const { developerId } = await make("all", rate);
  const calls = Array.from({ length: 12 }, () => takeCall(database.pool, { developerId, rate, nowMs: NOW_MS }));
  const kinds = (await Promise.all(calls)).map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === "granted")).toHaveLength(3);
});

test("a lower rate applies at once, including calls already made", async () => {
  const { developerId } = await make("all", { calls: 3, windowS: 600 });
  const take = (calls: number) =>
    takeCall(database.pool, { developerId, rate: { calls, windowS: 600 }, nowMs: NOW_MS });
  for (let call = 0; call < 3; call += 1) expect((await take(3)).kind).toBe("granted");
  expect(await take(1)).toEqual({ kind: "used_up", resetAtMs: NOW_MS + 600_000 });
});
