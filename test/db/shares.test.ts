import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { editApp } from "../../src/admin/apps.ts";
import { setShares } from "../../src/admin/setting/shares.ts";
import type { GivenRule } from "../../src/contract/setting/share.ts";
import type { App } from "../../src/db/app.ts";
import { loadDirtySlices } from "../../src/db/dirty-day.ts";
import { refreshOnce } from "../../src/refresh/refresh.ts";
import { runAdReport } from "../../src/report/ad/ad-report.ts";
import { readAdReport } from "../../src/report/ad/ad-report-request.ts";
import { readCell } from "../../src/report/ad/cell-request.ts";
import { explainCell } from "../../src/report/ad/explain.ts";
import { ApplyStage, DAY_MS, NOW_MS, pay, track } from "./apply-stage.ts";
import { makeApp, vault } from "./temp-database.ts";

const [DAY, NEXT_DAY] = ["2024-06-15", "2024-06-16"];

let stage: ApplyStage;
let app: App;
beforeAll(async () => {
  stage = await ApplyStage.open();
});
afterAll(() => stage.close());
beforeEach(async () => {
  app = { ...(await makeApp(stage.pool)), payShareBp: 5_000 };
  await stage.register("ios", { channel: "store", device_info: { os_name: "iOS 17", idfa: "i-1" } }, head());
  await stage.register("other", { channel: "web" }, head());
});

const head = () => ({ app: app.appId, at: NOW_MS });
const desk = () => ({ pool: stage.pool, vault, clock: () => NOW_MS, by: { name: "mei", address: "" } });
const set = (...rules: GivenRule[]) => setShares(desk(), { app_id: app.appId, rules });
const pays = (client: string, cents: number, more: object = {}, time = NOW_MS) =>
  stage.collect(client, [pay(`${client} ${cents} of ${app.appId}`, cents, more, time)], head());

async function refresh(): Promise<void> {
  await stage.applyAll();
  while ((await refreshOnce(stage.pool)) > 0);
}

const asked = { date_list: [DAY, NEXT_DAY] as [string, string], decimal_point: 4 as const, roi_version: 2 as const };

/** Payments after share by day, in the second caliber; and in the first one, all of them and those of 24 hours. */
async function shared(): Promise<{ days: Record<string, unknown>; all: unknown; day: unknown }> {
  await refresh();
  const report = async (statistics_caliber: "user_activated_time" | "behavior_occurred_time", dims_list: string[]) => {
    const metrics_list = ["AppGamePayNetAmount", "App24hPayAmount"];
    const body = { app_id: app.appId, ...asked, metrics_list, dims_list, statistics_caliber };
    return runAdReport(stage.pool, readAdReport(body), app);
  };
  const { items } = await report("behavior_occurred_time", ["date"]);
  const { total } = await report("user_activated_time", []);
  return {
    days: Object.fromEntries(items.map((item) => [item.date, item.AppGamePayNetAmount])),
    all: total[0]!.AppGamePayNetAmount,
    day: total[0]!.App24hPayAmount,
  };
}

describe("share rules", () => {
  test("without any, every payment counts by the app's own share", async () => {
    await pays("ios", 1_000);
    await pays("other", 333);
    expect(await shared()).toEqual({ days: { [DAY]: 6.665 }, all: 6.665, day: 6.665 });
  });

  test("the first one that fits counts, by system, channel, method, kind and day of the order", async () => {
    await pays("ios", 1_000);
    await pays("ios", 200, { $pay_method: "midas", $is_virtual: true }, NOW_MS + DAY_MS);
    await pays("other", 333, { $pay_method: "midas" });
    await set(
      { os_platform: "ios", start_date: NEXT_DAY, share: 0.9 },
      { os_platform: "ios", end_date: DAY, share: 0.7 },
      { pay_method: "midas", is_virtual: true, share: 0 },
      { channel: "web", end_date: DAY, share: 0.3333 },
    );
    // 10 × 0.7 + 3.33 × 0.3333; 2 × 0.9 on the next day, beyond 24 hours.
    expect(await shared()).toEqual({ days: { [DAY]: 8.1099, [NEXT_DAY]: 1.8 }, all: 9.9099, day: 8.1099 });
    await set({ pay_method: "midas", is_virtual: true, share: 0 });
    expect(await shared()).toEqual({ days: { [DAY]: 6.665, [NEXT_DAY]: 0 }, all: 6.665, day: 6.665 });
    await set();
    expect(await shared()).toEqual({ days: { [DAY]: 6.665, [NEXT_DAY]: 1 }, all: 7.665, day: 6.665 });
  });

  test("a refund goes by the rule of its order, on whichever day it counts", async () => {
    await pays("ios", 1_000);
    await set({ os_platform: "ios", end_date: DAY, share: 0.7 });
    const ids = { $order_id: `ios 1000 of ${app.appId}`, $pay_amount: 400 };
    await stage.collect("ios", [track("$RefundEvent", ids, NOW_MS + DAY_MS)], head());
    expect(await shared()).toEqual({ days: { [DAY]: 4.2 }, all: 4.2, day: 4.2 });
    await editApp(desk(), { app_id: app.appId, refunds_on: "refund" });
    expect(await shared()).toEqual({ days: { [DAY]: 7, [NEXT_DAY]: -2.8 }, all: 4.2, day: 7 });
  });

  test("a change of the rules marks only what counts payments, and the app's own share needs none", async () => {
    await pays("ios", 1_000);
    await pays("other", 333, {}, NOW_MS + DAY_MS);
    await stage.register("quiet", {}, { app: app.appId, at: NOW_MS + 5 * DAY_MS });
    await set({ os_platform: "ios", share: 0.7 });
    await refresh();
    await set({ os_platform: "ios", share: 0.8 });
    const marked = (await loadDirtySlices(stage.pool, 100)).filter(({ appId }) => appId === app.appId);
    expect(marked.map(({ cohort, day }) => `${cohort} ${day}`).sort()).toEqual([
      `occurred ${DAY}`,
      `occurred ${NEXT_DAY}`,
      `registered ${DAY}`,
      `touch ${DAY}`,
    ]);
    await refresh();
    app = { ...app, payShareBp: 10_000 };
    expect(await shared()).toMatchObject({ all: 11.33 });
  });

  test("a number opens into orders with their shares, and into users who add up", async () => {
    await pays("ios", 1_000);
    await pays("other", 300);
    await set({ os_platform: "ios", share: 0.7 });
    await refresh();
    const cell = readCell({
      app_id: app.appId,
      ...asked,
      metric: "AppGamePayNetAmount",
      statistics_caliber: "behavior_occurred_time",
    });
    const explained = await explainCell(stage.pool, cell, app);
    expect(explained).toMatchObject({
      value: 8.5,
      pay_share: 0.5,
      formula: { of: ["pay_cents", "ruled_cents", "share_micros"], has_pay_share: true },
      sums: { pay_cents: 1_300, ruled_cents: 1_000, share_micros: 7_000_000 },
      users: [
        { client_id: "ios", pay_cents: 1_000, ruled_cents: 1_000, share_micros: 7_000_000 },
        { client_id: "other", pay_cents: 300, ruled_cents: 0, share_micros: 0 },
      ],
    });
    expect(explained.orders.map(({ cents, share }) => [cents, share]).sort()).toEqual([
      [1_000, 0.7],
      [300, 0.5],
    ]);
    expect(explained.added.users).toEqual(explained.sums);
  });
});
