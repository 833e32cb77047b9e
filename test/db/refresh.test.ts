import type pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { replaceSlice } from "../../src/db/cube.ts";
import {
  loadDirtySlices,
  lockSlice,
  markRefreshed,
  markSlices,
  oldestMarkMs,
  refreshProgress,
} from "../../src/db/dirty-day.ts";
import { emptyFacts } from "../../src/db/facts.ts";
import { refreshOnce } from "../../src/refresh/refresh.ts";
import { ApplyStage, DAY_MS, HOUR_MS, NOW_MS, pay, track } from "./apply-stage.ts";
import { countWaiting, rowsOf } from "./temp-database.ts";

let stage: ApplyStage;
beforeAll(async () => {
  stage = await ApplyStage.open();
});
beforeEach(() => stage.begin());
afterAll(() => stage.close());

const TODAY = "2024-06-15";

async function refreshAll(): Promise<void> {
  while ((await refreshOnce(stage.pool)) > 0);
}

const dirtyCount = async () => (await loadDirtySlices(stage.pool, 1_000)).length;

/** Totals of the cube over all its rows. */
async function sums(): Promise<{ users: number; active: number; cents: number }> {
  const { rows } = await stage.pool.query(`select coalesce(sum(users) filter (where cohort = 'touch'), 0)::int as users,
      coalesce(sum(active_users) filter (where cohort = 'occurred'), 0)::int as active,
      coalesce(sum(pay_cents) filter (where cohort = 'occurred'), 0)::int as cents from cube`);
  return rows[0];
}

/** Holds the transaction open until `end` is called. */
async function holding(
  work: (tx: pg.PoolClient) => Promise<void>,
): Promise<{ end: (how: "commit" | "rollback") => Promise<void> }> {
  const tx = await stage.pool.connect();
  await tx.query("begin");
  await work(tx);
  return {
    end: async (how) => {
      await tx.query(how);
      tx.release();
    },
  };
}

/** A user with a payment on each of some days, the last one today. */
async function userWithOrders(clientId: string, days: number): Promise<void> {
  await stage.register(clientId, {}, { at: NOW_MS - days * DAY_MS });
  const orders = Array.from({ length: days }, (_, index) =>
    pay(`${clientId}-${index}`, 100, {}, NOW_MS - index * DAY_MS),
  );
  await stage.collect(clientId, orders);
  await stage.applyAll();
}

describe("a refresh", () => {
  test("counts every slice once, newest day first, and then has nothing to do", async () => {
    await userWithOrders("u", 3);
    const slices = await loadDirtySlices(stage.pool, 1_000);
    expect(slices.map(({ day }) => day)).toEqual(
      slices
        .map(({ day }) => day)
        .sort()
        .reverse(),
    );
    expect(slices).toHaveLength(6);
    expect(await refreshOnce(stage.pool)).toBe(6);
    expect(await refreshOnce(stage.pool)).toBe(0);
    expect(await sums()).toEqual({ users: 1, active: 4, cents: 300 });
  });

  test("that is stopped counts no further slice", async () => {
    await userWithOrders("u", 3);
    const stop = new AbortController();
    stop.abort();
    expect(await refreshOnce(stage.pool, { signal: stop.signal })).toBe(0);
    expect(await dirtyCount()).toBe(6);
  });

  test("removes rows whose facts are gone", async () => {
    const device_info = { os_name: "android", oaid: "oaid-1" };
    await stage.register("u", { device_info });
    await stage.applyAll();
    await refreshAll();
    await stage.append("click", "", `company=vivo&oaid=oaid-1&aid=7&ts=${NOW_MS - DAY_MS}`);
    await stage.applyAll();
    await refreshAll();
    const { rows } = await stage.pool.query("select cohort, day, ad_platform, aid from cube order by cohort");
    expect(rows).toEqual([
      { cohort: "occurred", day: TODAY, ad_platform: "vivo", aid: "7" },
      { cohort: "registered", day: TODAY, ad_platform: "vivo", aid: "7" },
      { cohort: "touch", day: "2024-06-14", ad_platform: "vivo", aid: "7" },
    ]);
  });

  test("heals a cube that lost rows or has them twice", async () => {
    await userWithOrders("u", 2);
    await refreshAll();
    const cube = await rowsOf(stage.pool, "cube");
    await stage.pool.query("insert into cube select * from cube");
    await stage.pool.query("delete from cube where cohort = 'touch'");
    await markSlices(stage.pool, await everySlice(), NOW_MS);
    await refreshAll();
    expect(await rowsOf(stage.pool, "cube")).toEqual(cube);
  });

  test("that broke off in the middle leaves the old numbers and the mark", async () => {
    await userWithOrders("u", 1);
    await refreshAll();
    const cube = await rowsOf(stage.pool, "cube");
    await stage.collect("u", [pay("late", 7)]);
    await stage.applyAll();
    const [slice] = await loadDirtySlices(stage.pool, 1);
    const broken = await holding(async (tx) => {
      await replaceSlice(tx, slice!);
      await markRefreshed(tx, slice!);
    });
    await broken.end("rollback");
    expect(await rowsOf(stage.pool, "cube")).toEqual(cube);
    expect(await loadDirtySlices(stage.pool, 1)).toEqual([slice]);
    await refreshAll();
    expect((await sums()).cents).toBe(107);
  });
});

async function everySlice() {
  const { rows } = await stage.pool.query(`select app_id as "appId", cohort, day from dirty_day`);
  return rows;
}

describe("data that arrives while a slice is being counted", () => {
  test("is counted the next time, if it comes after the counting and before the mark is removed", async () => {
    await userWithOrders("u", 1);
    const slice = (await loadDirtySlices(stage.pool, 10)).find(({ cohort }) => cohort === "occurred")!;
    const counting = await holding(async (tx) => {
      expect(await lockSlice(tx, slice)).toBe(true);
      await replaceSlice(tx, slice);
      await stage.collect("u", [pay("late", 7)]);
      await stage.applyAll();
      await markRefreshed(tx, slice);
    });
    await counting.end("commit");
    expect(await sums()).toMatchObject({ cents: 100 });
    expect((await loadDirtySlices(stage.pool, 10)).map(({ cohort }) => cohort)).toContain("occurred");
    await refreshAll();
    expect(await sums()).toEqual({ users: 1, active: 2, cents: 107 });
  });

  test("waits for the commit and marks the slice again, if it comes after the mark is removed", async () => {
    await userWithOrders("u", 1);
    const slice = (await loadDirtySlices(stage.pool, 10)).find(({ cohort }) => cohort === "occurred")!;
    const counting = await holding(async (tx) => {
      await replaceSlice(tx, slice);
      await markRefreshed(tx, slice);
    });
    await stage.collect("u", [pay("late", 7)]);
    let isApplied = false;
    const applying = stage.applyAll().then(() => {
      isApplied = true;
    });
    await waitForLock();
    expect(isApplied).toBe(false);
    await counting.end("commit");
    await applying;
    await refreshAll();
    expect(await sums()).toMatchObject({ cents: 107 });
  });
});

/** Waits until a statement waits for another transaction. */
async function waitForLock(): Promise<void> {
  while ((await countWaiting(stage.pool)) === 0);
}

test("slices that another process counts are skipped, and nothing is lost or counted twice", async () => {
  await userWithOrders("u", 2);
  const all = (await everySlice()).length;
  const other = await holding(async (tx) => {
    for (const slice of await loadDirtySlices(tx, 2)) {
      expect(await lockSlice(tx, slice)).toBe(true);
      await replaceSlice(tx, slice);
      await markRefreshed(tx, slice);
    }
  });
  expect(await refreshOnce(stage.pool, { atOnce: 2 })).toBe(all - 2);
  expect(await loadDirtySlices(stage.pool, 10)).toHaveLength(2);
  await other.end("commit");
  expect(await refreshOnce(stage.pool)).toBe(0);
  expect(await sums()).toEqual({ users: 1, active: 3, cents: 200 });
});

test("a slice that another process has counted meanwhile is not counted again", async () => {
  await userWithOrders("u", 1);
  const [slice] = await loadDirtySlices(stage.pool, 1);
  await refreshAll();
  const late = await holding(async (tx) => expect(await lockSlice(tx, slice!)).toBe(false));
  await late.end("rollback");
});

test("several slices counted in parallel give the same as one after another", async () => {
  await userWithOrders("u", 5);
  await userWithOrders("v", 3);
  await refreshAll();
  const cube = await rowsOf(stage.pool, "cube");
  await markSlices(stage.pool, await everySlice(), 0);
  while ((await refreshOnce(stage.pool, { atOnce: 4 })) > 0);
  expect(await rowsOf(stage.pool, "cube")).toEqual(cube);
});

describe("the progress of the refresh", () => {
  test("is zero of zero at first", async () => {
    expect(await refreshProgress(stage.pool)).toEqual({ marked: 0, refreshed: 0 });
    expect(await oldestMarkMs(stage.pool, stage.app.appId)).toBeUndefined();
  });

  test("reaches the marks only when all slices are counted", async () => {
    await userWithOrders("u", 3);
    const first = await refreshProgress(stage.pool);
    expect(first.marked).toBeGreaterThan(0);
    expect(first.refreshed).toBeLessThan(first.marked);
    const [newest] = await loadDirtySlices(stage.pool, 1);
    const one = await holding(async (tx) => markRefreshed(tx, newest!));
    await one.end("commit");
    expect(await refreshProgress(stage.pool)).toEqual(first);
    await refreshAll();
    expect(await refreshProgress(stage.pool)).toEqual({ marked: first.marked, refreshed: first.marked });

    await stage.collect("u", [track("login", {}, NOW_MS + 1)]);
    await stage.applyAll();
    const second = await refreshProgress(stage.pool);
    expect(second.marked).toBeGreaterThan(first.marked);
    expect(second.refreshed).toBeGreaterThanOrEqual(first.marked);
    expect(second.refreshed).toBeLessThan(second.marked);
  });

  test("does not reach a mark made while its slice was being counted", async () => {
    await stage.register("u");
    await stage.applyAll();
    const slices = await loadDirtySlices(stage.pool, 10);
    await stage.collect("u", [pay("1", 5)]);
    await stage.applyAll();
    const target = await refreshProgress(stage.pool);
    const counting = await holding(async (tx) => {
      for (const slice of slices) await markRefreshed(tx, slice);
    });
    await counting.end("commit");
    const { refreshed } = await refreshProgress(stage.pool);
    expect(refreshed).toBe(slices[0]!.marked);
    expect(refreshed).toBeLessThan(target.marked);
    await refreshAll();
    expect(await refreshProgress(stage.pool)).toEqual({ marked: target.marked, refreshed: target.marked });
  });

  test("knows since when the oldest mark waits", async () => {
    const { appId } = stage.app;
    await stage.register("u", {}, { at: NOW_MS });
    await stage.applyAll();
    expect(await oldestMarkMs(stage.pool, appId)).toBe(NOW_MS);
    await stage.collect("u", [track("login")], { at: NOW_MS + HOUR_MS });
    await stage.applyAll();
    expect(await oldestMarkMs(stage.pool, appId)).toBe(NOW_MS);
    expect(await oldestMarkMs(stage.pool, appId + 1)).toBeUndefined();
    await refreshAll();
    expect(await oldestMarkMs(stage.pool, appId)).toBeUndefined();
    await stage.collect("u", [track("logout")], { at: NOW_MS + 2 * HOUR_MS });
    await stage.applyAll();
    expect(await oldestMarkMs(stage.pool, appId)).toBe(NOW_MS + 2 * HOUR_MS);
  });
});

test("facts that are emptied and applied again give the same cube", async () => {
  const device_info = { os_name: "android", oaid: "oaid-1" };
  await stage.register("a", { device_info }, { at: NOW_MS - 3 * DAY_MS });
  await userWithOrders("b", 4);
  await refreshAll();
  await stage.append("click", "", `company=vivo&oaid=oaid-1&aid=7&ts=${NOW_MS - 4 * DAY_MS}`);
  await stage.append("reset_client_id", "b", { new_client_id: "c" });
  await stage.collect("c", [pay("more", 9), track("$AppRegister", {}, NOW_MS - DAY_MS)]);
  await stage.applyAll();
  await refreshAll();
  const cube = await rowsOf(stage.pool, "cube");
  await stage.restart();
  await emptyFacts(stage.pool, stage.term);
  expect(await stage.count("cube")).toBe(0);
  await stage.applyAll();
  await refreshAll();
  expect(await rowsOf(stage.pool, "cube")).toEqual(cube);
  expect(cube.length).toBeGreaterThan(5);
});
