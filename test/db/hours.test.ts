import { afterAll, beforeAll, expect, test } from "vitest";
import { storeAdRevenue, storePlayerRevenue } from "../../src/db/ad-revenue.ts";
import type { App } from "../../src/db/app.ts";
import { inTransaction } from "../../src/db/engine/pool.ts";
import { dropEventDaysBefore } from "../../src/db/event-day.ts";
import { refreshOnce } from "../../src/refresh/refresh.ts";
import { runAdReport } from "../../src/report/ad/ad-report.ts";
import { readAdReport } from "../../src/report/ad/ad-report-request.ts";
import { ApplyStage, HOUR_MS, NOW_MS, track } from "./apply-stage.ts";
import { makeApp } from "./temp-database.ts";

const DAY = "2024-06-15";
const METRICS = ["AppDAU", "AppRegisterStandard", "AppAdShowCnt", "AppAdUserCnt", "AppAdRevenue", "AppAdPulledRevenue"];

let stage: ApplyStage;
let app: App;
beforeAll(async () => {
  stage = await ApplyStage.open();
  app = await makeApp(stage.pool);
  for (const client of ["ann", "bob"]) await stage.register(client, { wx_openid: `o-${client}` }, head());
  // Noon, when both register, and the two hours after it.
  await did("ann", "$AppRegister", 1);
  await did("ann", "$AppRegister", 2);
  for (const hours of [0, 1, 1, 2]) await did("ann", "$AdShow", hours, { $ad_unit_id: "a" });
  await did("bob", "$AdShow", 1, { $ad_unit_id: "a" });
  await did("bob", "$AdShow", 2, { $ad_unit_id: "a", $ecpm: 2000 });
  await did("bob", "$RefundEvent", 3, { $order_id: "unknown" });
  await stage.applyAll();
});
afterAll(() => stage.close());

const head = () => ({ app: app.appId, at: NOW_MS });
let place = 0;
async function did(client: string, event: string, hours: number, properties: object = {}): Promise<void> {
  place += 1;
  await stage.collect(client, [track(event, properties, NOW_MS + hours * HOUR_MS + place)], {
    app: app.appId,
    at: NOW_MS + 4 * HOUR_MS,
  });
}

const key = { appId: 0, adPlatform: "wechat", advertiserId: "x" };
async function settle(): Promise<void> {
  while ((await refreshOnce(stage.pool)) > 0);
}

async function byHour(dims_list: readonly string[] = ["hour"]) {
  const body = { app_id: app.appId, date_list: [DAY, DAY], metrics_list: METRICS, dims_list };
  const reading = { statistics_caliber: "behavior_occurred_time", decimal_point: 4 } as const;
  const { items, total } = await runAdReport(stage.pool, readAdReport({ ...body, ...reading }), {
    payShareBp: 10_000,
    timeZone: app.timeZone,
  });
  const figures = (row: Record<string, unknown>) => METRICS.map((name) => row[name]);
  return { ...Object.fromEntries(items.map((row) => [row.hour, figures(row)])), total: total.map(figures)[0] };
}

test("users count in each hour in which they did something, and once in all", async () => {
  expect(await byHour()).toEqual({
    "12": [2, 0, 1, 1, 0, 0],
    "13": [2, 1, 3, 2, 0, 0],
    "14": [2, 0, 2, 2, 2, 0],
    total: [2, 1, 6, 2, 2, 0],
  });
});

test("pulled revenue is with each ad in its hour, and adds up to that of the day", async () => {
  const units = [{ adUnit: "a", views: 6, micros: 7_000_003 }];
  await inTransaction(stage.pool, (tx) =>
    storeAdRevenue(tx, { ...key, appId: app.appId }, { day: DAY, units, pulledAtMs: NOW_MS }),
  );
  await settle();
  // Five ads share 5.000003: the first three, which are Ann's, get a millionth more.
  const shared = await byHour();
  expect(shared).toMatchObject({ "12": [2, 0, 1, 1, 1, 1], "13": [2, 1, 3, 2, 3, 3], "14": [2, 0, 2, 2, 3, 1] });
  expect(shared.total).toEqual([2, 1, 6, 2, 7, 5]);
  const players = [{ openId: "o-ann", views: 4, micros: 8_000_000 }];
  await inTransaction(stage.pool, (tx) =>
    storePlayerRevenue(
      tx,
      { ...key, appId: app.appId, adPlatform: "douyin" },
      { day: DAY, players, pulledAtMs: NOW_MS },
    ),
  );
  await settle();
  expect(await byHour()).toMatchObject({
    "12": [2, 0, 1, 1, 2, 2],
    "13": [2, 1, 3, 2, 9, 9],
    "14": [2, 0, 2, 2, 4, 2],
    total: [2, 1, 6, 2, 15, 13],
  });
});

test("a unit's id that is too long is cut by the hour as it is by the day", async () => {
  const before = app;
  app = await makeApp(stage.pool);
  await stage.register("ann", {}, head());
  await did("ann", "$AdShow", 1, { $ad_unit_id: "夏".repeat(70) });
  await stage.applyAll();
  const units = [{ adUnit: "夏".repeat(66), views: 1, micros: 1_000_000 }];
  await inTransaction(stage.pool, (tx) =>
    storeAdRevenue(tx, { ...key, appId: app.appId }, { day: DAY, units, pulledAtMs: NOW_MS }),
  );
  await settle();
  expect(await byHour()).toMatchObject({ "13": [1, 0, 1, 1, 1, 1], total: [1, 0, 1, 1, 1, 1] });
  app = before;
});

test("a day whose events are no longer kept is refused by the hour, and answered by the day", async () => {
  await dropEventDaysBefore(stage.pool, "2024-06-16");
  await expect(byHour()).rejects.toThrow(
    `The events of ${DAY} are no longer kept, so what users did is known by the day only. Ask without hour, or for payments, users and costs alone.`,
  );
  expect(await byHour(["ad_platform"])).toMatchObject({ total: [2, 1, 6, 2, 15, 13] });
});
