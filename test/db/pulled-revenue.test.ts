import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { setEcpm } from "../../src/admin/setting/ecpms.ts";
import { storeAdRevenue } from "../../src/db/ad-revenue.ts";
import type { App } from "../../src/db/app.ts";
import { inTransaction } from "../../src/db/engine/pool.ts";
import { refreshOnce } from "../../src/refresh/refresh.ts";
import { runAdReport } from "../../src/report/ad/ad-report.ts";
import { readAdReport } from "../../src/report/ad/ad-report-request.ts";
import { whatIf } from "../../src/report/attribution/what-if.ts";
import { readTimeline, readTimelineWish } from "../../src/report/user/timeline.ts";
import { ApplyStage, NOW_MS, pay, track } from "./apply-stage.ts";
import { makeApp, vault } from "./temp-database.ts";

const DAY = "2024-06-15";
const METRICS = ["AppAdRevenue", "AppAdReportedRevenue", "AppAdPulledRevenue", "AppAdEstimatedRevenue"];

let stage: ApplyStage;
let app: App;
beforeAll(async () => {
  stage = await ApplyStage.open();
});
afterAll(() => stage.close());
beforeEach(async () => {
  app = await makeApp(stage.pool);
  for (const client of ["ann", "bob", "cleo"]) await stage.register(client, {}, head());
  const desk = { pool: stage.pool, vault, clock: () => NOW_MS, by: { name: "mei", address: "" } };
  await setEcpm(desk, { app_id: app.appId, ad_unit_id: "a", ecpm: 1000, start_date: "2024-01-01" });
});

const head = (at = NOW_MS) => ({ app: app.appId, at });
let at = NOW_MS;
async function show(client: string, times: number, properties: object = {}): Promise<void> {
  for (let left = times; left > 0; left -= 1) {
    at += 1;
    await stage.collect(client, [track("$AdShow", { $ad_unit_id: "a", ...properties }, at)], head());
  }
  await stage.applyAll();
}

const pull = (micros: number | null, advertiserId = "wx1") =>
  inTransaction(stage.pool, (tx) =>
    storeAdRevenue(
      tx,
      { appId: app.appId, adPlatform: "wechat", advertiserId },
      { day: DAY, units: micros === null ? [] : [{ adUnit: "a", views: 9, micros }], pulledAtMs: NOW_MS },
    ),
  );

async function settle(options: Parameters<typeof refreshOnce>[1] = {}): Promise<void> {
  await stage.applyAll();
  while ((await refreshOnce(stage.pool, options)) > 0);
}

/** All ad revenue, reported, pulled and estimated, of the day, in major units. */
async function revenue(): Promise<unknown[]> {
  await settle();
  const request = readAdReport({
    app_id: app.appId,
    date_list: [DAY, DAY],
    metrics_list: METRICS,
    dims_list: [],
    statistics_caliber: "behavior_occurred_time",
    decimal_point: 4,
  });
  const { items } = await runAdReport(stage.pool, request, { payShareBp: 10_000, timeZone: "Asia/Shanghai" });
  return METRICS.map((name) => items[0]?.[name]);
}

async function shares(): Promise<Record<string, number | null>> {
  await settle();
  const { rows } = await stage.pool.query(
    "select client_id, sum(pulled_micros)::bigint as micros from user_ad_day where app_id = $1 group by 1 order by 1",
    [app.appId],
  );
  return Object.fromEntries(rows.map(({ client_id, micros }) => [client_id, micros]));
}

describe("revenue that the platform told", () => {
  test("replaces the estimate, and is spread over the day's ads to the last millionth", async () => {
    await show("ann", 2);
    await show("bob", 3);
    await show("cleo", 2);
    expect(await revenue()).toEqual([7, 0, 0, 7]);
    await pull(10_000_006);
    expect(await revenue()).toEqual([10, 0, 10, 0]);
    // 1.428572 for each of seven ads, and the last two millionths to the first two ads.
    expect(await shares()).toEqual({ ann: 2_857_146, bob: 4_285_716, cleo: 2_857_144 });
  });

  test("is what is left after what clients reported themselves, and never less than nothing", async () => {
    await show("ann", 1, { $ecpm: 2000 });
    await show("bob", 4);
    await pull(10_000_000);
    expect(await revenue()).toEqual([10, 2, 8, 0]);
    await pull(1_000_000);
    expect(await revenue()).toEqual([2, 2, 0, 0]);
  });

  test("is spread again over ads that come late", async () => {
    await show("ann", 1);
    await pull(9_000_000);
    expect(await shares()).toEqual({ ann: 9_000_000 });
    await show("bob", 2);
    expect(await shares()).toEqual({ ann: 3_000_000, bob: 6_000_000 });
    expect(await revenue()).toEqual([9, 0, 9, 0]);
  });

  test("may wait with late ads, which are estimated meanwhile, so that a trickle does not recount all cohorts", async () => {
    await show("ann", 1);
    await pull(9_000_000);
    await settle();
    await show("bob", 1);
    await settle({ adChanges: "rare" });
    const { rows } = await stage.pool.query(
      "select sum(ad_pulled_micros)::bigint as pulled, sum(ad_estimated_micros)::bigint as estimated from cube where app_id = $1 and cohort = 'occurred'",
      [app.appId],
    );
    expect(rows).toEqual([{ pulled: 9_000_000, estimated: 1_000_000 }]);
    expect(await revenue()).toEqual([9, 0, 9, 0]);
  });

  test("follows corrections, adds up over accounts, and gives way to the estimate when it is withdrawn", async () => {
    await show("ann", 2);
    await pull(5_000_000);
    expect(await revenue()).toEqual([5, 0, 5, 0]);
    await pull(6_000_000);
    await pull(1_000_000, "wx2");
    expect(await revenue()).toEqual([7, 0, 7, 0]);
    await pull(null);
    await pull(null, "wx2");
    expect(await revenue()).toEqual([2, 0, 0, 2]);
  });

  const told = async () => {
    await settle();
    const wish = readTimelineWish("ann", { event: "$AdShow" });
    const timeline = await readTimeline(stage.pool, { appId: app.appId, timeZone: app.timeZone }, wish);
    return timeline!.items.map((item) => (item.kind === "event" ? item.ad_revenue : item.kind));
  };

  test("is told for each ad in the user's timeline, as reported, pulled or estimated", async () => {
    await show("ann", 1, { $ecpm: 2000 });
    await show("ann", 1);
    await show("ann", 1, { $ad_unit_id: "b" });
    const reported = { origin: "reported", amount: 2 };
    expect(await told()).toEqual([undefined, { origin: "estimated", amount: 1 }, reported]);
    await pull(5_000_000);
    expect(await told()).toEqual([undefined, { origin: "pulled", amount: 3 }, reported]);
  });

  test("is told so that the ads of a timeline add up to it", async () => {
    await show("ann", 3);
    await pull(100);
    expect(await told()).toEqual([33, 33, 34].map((micros) => ({ origin: "pulled", amount: micros / 1_000_000 })));
  });

  const revenueThen = async () => {
    await settle();
    const range = { fromDay: DAY, toDay: DAY };
    const tried = { kind: "everywhere", rules: {} } as const;
    const { rows } = await whatIf(stage.pool, { appId: app.appId, timeZone: app.timeZone }, range, tried);
    return rows.map(({ revenue_cents, revenue_then_cents }) => [revenue_cents, revenue_then_cents]);
  };

  test("counts in a what-if once parts of cents are added up", async () => {
    for (const client of ["ann", "bob", "cleo"]) await show(client, 1, { $ecpm: 4 });
    expect(await revenueThen()).toEqual([[1, 1]]);
  });

  test("counts in a what-if as it does in the reports, beside payments less refunds", async () => {
    await show("ann", 2);
    await show("bob", 1, { $ecpm: 500 });
    await stage.collect("ann", [pay("order-1", 1000)], head());
    const refund = { $order_id: "order-1", $pay_amount: 400, $pay_type: "CNY" };
    await stage.collect("ann", [track("$RefundEvent", refund, NOW_MS + 1)], head());
    expect(await revenueThen()).toEqual([[850, 850]]);
    await pull(5_500_000);
    expect(await revenueThen()).toEqual([[1150, 1150]]);
  });

  test("recounts nothing when a pull finds the same again", async () => {
    await show("ann", 2);
    await pull(5_000_000);
    await settle();
    await pull(5_000_000);
    expect(await refreshOnce(stage.pool)).toBe(0);
  });

  test("stays whole when a user gets another id or is erased", async () => {
    await show("ann", 1);
    await show("bob", 1);
    await pull(5_000_001);
    expect(await shares()).toEqual({ ann: 2_500_001, bob: 2_500_000 });
    await stage.append("reset_client_id", "ann", { new_client_id: "zoe" }, head());
    expect(await shares()).toEqual({ bob: 2_500_001, zoe: 2_500_000 });
    await stage.append("erase", "bob", {}, head());
    expect(await shares()).toEqual({ zoe: 5_000_001 });
    expect(await revenue()).toEqual([5, 0, 5, 0]);
  });
});
