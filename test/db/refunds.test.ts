import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { editApp } from "../../src/admin/apps.ts";
import type { App } from "../../src/db/app.ts";
import { storeRuleSettings } from "../../src/db/attribution-setting.ts";
import { storeCosts } from "../../src/db/cost.ts";
import { refreshOnce } from "../../src/refresh/refresh.ts";
import { runAdReport } from "../../src/report/ad/ad-report.ts";
import { readAdReport } from "../../src/report/ad/ad-report-request.ts";
import { ApplyStage, DAY_MS, NOW_MS, pay, track } from "./apply-stage.ts";
import { makeApp, vault } from "./temp-database.ts";

const [DAY, NEXT_DAY] = ["2024-06-15", "2024-06-16"];
const METRICS = ["AppGamePayAmountStandard", "AppGamePayCntStandard", "AppRefundAmount", "AppRefundCnt", "AppDAU"];

let stage: ApplyStage;
let app: App;
beforeAll(async () => {
  stage = await ApplyStage.open();
});
afterAll(() => stage.close());
beforeEach(async () => {
  app = await makeApp(stage.pool);
  await stage.register("player", {}, head());
});

const head = (at = NOW_MS) => ({ app: app.appId, at });
/** Trace ids belong to an app; this one's name keeps the tests apart when they are read. */
const order = (name: string) => `${name} of ${app.appId}`;
const refund = (name: string, more: object = {}, time = NOW_MS + DAY_MS) =>
  track("$RefundEvent", { $order_id: order(name), ...more }, time);
const collect = (event: object, client = "player") => stage.collect(client, [event], head());
const pays = (name: string, cents: number, client = "player") => collect(pay(order(name), cents), client);

/** By day: payments, orders, refunds, number of refunds, active users, in the second caliber. */
const days = () => figuresBy("date");

async function figuresBy(dimension: "date" | "ad_platform" | "advertiser_id"): Promise<Record<string, unknown[]>> {
  await stage.applyAll();
  while ((await refreshOnce(stage.pool)) > 0);
  const request = readAdReport({
    app_id: app.appId,
    date_list: [DAY, NEXT_DAY],
    metrics_list: METRICS,
    dims_list: [dimension],
    statistics_caliber: "behavior_occurred_time",
    decimal_point: 2,
  });
  const { items } = await runAdReport(stage.pool, request, { payShareBp: 10_000, timeZone: "Asia/Shanghai" });
  return Object.fromEntries(items.map((item) => [item[dimension], METRICS.map((name) => item[name])]));
}

const desk = () => ({ pool: stage.pool, vault, clock: () => NOW_MS, by: { name: "mei", address: "" } });

describe("a refund", () => {
  test("lowers payments on the day of its order, and is no activity of the user", async () => {
    await pays("a", 1_000);
    await collect(refund("a", { $pay_amount: 300 }));
    expect(await days()).toEqual({ [DAY]: [7, 1, 3, 1, 1] });
  });

  test("lowers payments on its own day if the app has chosen so, at once for all refunds", async () => {
    await pays("a", 1_000);
    await collect(refund("a"));
    expect(await days()).toEqual({ [DAY]: [0, 1, 10, 1, 1] });
    await editApp(desk(), { app_id: app.appId, refunds_on: "refund" });
    expect(await days()).toEqual({ [DAY]: [10, 1, 0, 0, 1], [NEXT_DAY]: [-10, 0, 10, 1, 0] });
    await editApp(desk(), { app_id: app.appId, refunds_on: "order" });
    expect(await days()).toEqual({ [DAY]: [0, 1, 10, 1, 1] });
  });

  test("counts once, however often it is reported, by its own id", async () => {
    await pays("a", 1_000);
    await collect(refund("a", { $pay_amount: 300, $refund_id: "r1" }));
    await collect(refund("a", { $pay_amount: 300, $refund_id: "r1" }, NOW_MS + DAY_MS + 1));
    await collect(refund("a", { $pay_amount: 300 }));
    await collect(refund("a", { $pay_amount: 300 }));
    expect(await days()).toEqual({ [DAY]: [4, 1, 6, 2, 1] });
  });

  test("never takes more than is left of its order", async () => {
    await pays("a", 1_000);
    await pays("b", 500);
    for (const at of [1, 2, 3]) await collect(refund("a", { $pay_amount: 400 }, NOW_MS + at));
    expect(await days()).toEqual({ [DAY]: [5, 2, 10, 3, 1] });
  });

  test("that comes before its order waits for it; that of an unknown order changes nothing", async () => {
    await collect(refund("a", { $pay_amount: 300 }));
    await collect(refund("nowhere", { $pay_amount: 300 }));
    expect(await days()).toEqual({ [DAY]: [0, 0, 0, 0, 1] });
    await pays("a", 1_000);
    expect(await days()).toEqual({ [DAY]: [7, 1, 3, 1, 1] });
  });

  test("belongs to who paid the order, whoever reports it", async () => {
    await stage.register("server", {}, head());
    await pays("a", 1_000);
    await collect(refund("a"), "server");
    await days();
    const { rows } = await stage.pool.query("select client_id, cents from refund where app_id = $1", [app.appId]);
    expect(rows).toEqual([{ client_id: "player", cents: 1_000 }]);
  });

  test("follows its payer to another id, and goes with an erased one", async () => {
    await pays("a", 1_000);
    await collect(refund("a", { $pay_amount: 300 }));
    await stage.append("reset_client_id", "player", { new_client_id: "renamed" }, head());
    expect(await days()).toEqual({ [DAY]: [7, 1, 3, 1, 1] });
    await stage.append("erase", "renamed", {}, head());
    expect(await days()).toEqual({});
    const { rows } = await stage.pool.query("select 1 from refund where app_id = $1", [app.appId]);
    expect(rows).toEqual([]);
  });
});

test.each<[string, () => Promise<unknown>]>([
  [
    "collect",
    () =>
      stage.collect("player", [refund("a", { $pay_amount: "300", amount: 200 })], {
        ...head(),
        omitted: [[0, "$pay_amount"]],
      }),
  ],
  [
    "handle_event",
    () => {
      const properties = { $pay_amount: "300", amount: 200 };
      return stage.append("handle_event", "player", { event_type: "refund", trace_id: order("a"), properties }, head());
    },
  ],
])("a refund by %s whose amount is no number takes nothing back", async (_, send) => {
  await pays("a", 1_000);
  await send();
  expect(await days()).toEqual({ [DAY]: [10, 1, 0, 0, 1] });
});

test.each<[string, string]>([
  ["$RefundEvent", "vivo"],
  ["login", ""],
])("90 days of silence but for %s: the return belongs to %j", async (event, expected) => {
  const rules = { reattribution: true, reclickDays: 1_000, refluxDays: 90 };
  await storeRuleSettings(stage.pool, { appId: app.appId, platform: "", rules, changedAtMs: 0 });
  const later = (days: number) => head(NOW_MS + days * DAY_MS);
  const device = { device_info: { os_name: "android", oaid: "oaid-1" } };
  await stage.register("player", device, head());
  await stage.collect("player", [track(event, { $order_id: order("a") }, later(9).at)], later(9));
  await stage.append("click", "", `company=vivo&oaid=oaid-1&aid=7&ts=${later(90).at}`, later(90));
  await stage.register("player", device, later(91));
  await stage.applyAll();
  const { rows } = await stage.pool.query("select ad_platform from user_account where app_id = $1", [app.appId]);
  expect(rows).toEqual([{ ad_platform: expected }]);
});

describe("a refund of a client that nobody knows, in an app that requires no registration", () => {
  const send = (name: string, client: string) =>
    stage.collect(client, [refund(name, { $pay_amount: 300 })], { ...head(), registered: "not_required" });
  const clients = async () => {
    await stage.applyAll();
    const { rows } = await stage.pool.query(
      `select 'user' as kind, client_id from user_account where app_id = $1
        union all select 'refund', client_id from refund where app_id = $1 order by 1, 2`,
      [app.appId],
    );
    return rows.map(({ kind, client_id }) => [kind, client_id]);
  };

  test("counts, and makes no user", async () => {
    await send("a", "server");
    expect(await clients()).toEqual([
      ["refund", ""],
      ["user", "player"],
    ]);
    await pays("a", 1_000);
    await send("a", "server");
    expect(await days()).toEqual({ [DAY]: [7, 1, 3, 1, 1] });
  });

  test("does not bring an erased payer back", async () => {
    await pays("a", 1_000);
    await stage.append("erase", "player", {}, head());
    await send("a", "player");
    expect(await clients()).toEqual([["refund", ""]]);
    expect(await days()).toEqual({});
  });
});

describe("a refund on a day of its own, on which the payer did nothing", () => {
  beforeEach(async () => {
    await editApp(desk(), { app_id: app.appId, refunds_on: "refund" });
    await pays("a", 1_000);
    await collect(refund("a"));
    expect(await days()).toEqual({ [DAY]: [10, 1, 0, 0, 1], [NEXT_DAY]: [-10, 0, 10, 1, 0] });
  });

  test("goes with an erased payer", async () => {
    await stage.append("erase", "player", {}, head());
    expect(await days()).toEqual({});
  });

  test("moves with its payer to the platform of a late touch, and to the account that costs tell", async () => {
    await stage.register("player", { device_info: { os_name: "android", oaid: "oaid-1" } }, head());
    await stage.append("click", "", `company=vivo&oaid=oaid-1&aid=7&ts=${NOW_MS - 1_000}`, head());
    expect(await figuresBy("ad_platform")).toEqual({ vivo: [0, 1, 10, 1, 1] });
    const ids = { advertiserId: "acc1", gid: "", aid: "7", cid: "", csite: "", channel: "", osPlatform: "" };
    const cost = { ...ids, campaignId: "", impressions: 0, clicks: 0, costE4: 0 };
    await storeCosts(stage.pool, [{ ...cost, appId: app.appId, day: DAY, adPlatform: "vivo" }], NOW_MS);
    expect(await figuresBy("advertiser_id")).toEqual({ acc1: [0, 1, 10, 1, 1] });
  });
});

test.each<[string, "consumer_event" | "handle_event", () => object]>([
  ["the consumer event REFUND", "consumer_event", () => ({ event_type: "REFUND", ts: NOW_MS, real_amount: 300 })],
  ["handle_event's refund", "handle_event", () => ({ event_type: "refund", properties: { amount: 300 } })],
])("%s is a refund too", async (_, kind, body) => {
  await pays("a", 1_000);
  await stage.append(kind, "player", { ...body(), trace_id: order("a") }, head());
  expect(await days()).toEqual({ [DAY]: [7, 1, 3, 1, 1] });
});
