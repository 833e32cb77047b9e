import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { storeAdObjects } from "../../src/db/ad-names.ts";
import type { App } from "../../src/db/app.ts";
import { type Cost, storeCosts } from "../../src/db/cost.ts";
import { refreshOnce } from "../../src/refresh/refresh.ts";
import { runAdReport } from "../../src/report/ad/ad-report.ts";
import { type AdReportBody, readAdReport } from "../../src/report/ad/ad-report-request.ts";
import { readCell } from "../../src/report/ad/cell-request.ts";
import { explainCell } from "../../src/report/ad/explain.ts";
import { ApplyStage, NOW_MS, pay } from "./apply-stage.ts";
import { makeApp } from "./temp-database.ts";

const DAY = "2024-06-15";

let stage: ApplyStage;
let app: App;
beforeAll(async () => {
  stage = await ApplyStage.open();
});
afterAll(() => stage.close());
beforeEach(async () => {
  app = await makeApp(stage.pool);
});

/** A user who came by an ad and paid 6 yuan. */
async function comes(clientId: string, platform: string, ids: Record<string, unknown>): Promise<void> {
  const reported = {
    active_time: NOW_MS,
    active_ip: "",
    click_time: NOW_MS,
    click_ip: "",
    click_company: platform,
    ad_data: { [platform]: ids },
    os_type: "ios",
  };
  const named = { client_id: clientId, name: clientId, channel: "c", version: 1 };
  await stage.append("attributed", clientId, { ...named, ...reported }, { app: app.appId });
  await stage.collect(clientId, [pay(`order of ${clientId} ${app.appId}`, 600)], { app: app.appId });
  await stage.applyAll();
  while ((await refreshOnce(stage.pool)) > 0);
}

const BODY: Omit<AdReportBody, "app_id"> = {
  date_list: [DAY, DAY],
  metrics_list: ["AppActivateStandard", "AppRevenue", "AdCost", "AdRealCost"],
  dims_list: ["creative"],
  statistics_caliber: "user_activated_time",
  decimal_point: 2,
};

async function report(change: Partial<AdReportBody> = {}) {
  const request = readAdReport({ ...BODY, app_id: app.appId, ...change });
  const { items, total } = await runAdReport(stage.pool, request, app);
  return { items, total };
}

async function costs(...rows: (Pick<Cost, "aid" | "cid" | "costE4"> & Partial<Cost>)[]): Promise<void> {
  const ids = { appId: app.appId, day: DAY, adPlatform: "kuaishou", advertiserId: "acc", gid: "g" };
  const rest = { csite: "", channel: "", osPlatform: "", campaignId: "", impressions: 0, clicks: 0 };
  await storeCosts(
    stage.pool,
    rows.map((row) => ({ ...ids, ...rest, ...row })),
    0,
  );
}

test("users and costs stand together by creative, and costs of no creative keep a row of their own", async () => {
  await comes("u1", "kuaishou", { account_id: "acc", did: "g", aid: "a1", cid: "k1" });
  await comes("u2", "kuaishou", { account_id: "acc", did: "g", aid: "a1", cid: "k2" });
  await costs({ aid: "a1", cid: "k1", costE4: 30_000 }, { aid: "a1", cid: "", costE4: 20_000 });
  for (const statistics_caliber of ["user_activated_time", "behavior_occurred_time"] as const) {
    const { items, total } = await report({ statistics_caliber });
    expect(items).toEqual([
      { creative: "", AppActivateStandard: 0, AppRevenue: 0, AdCost: 2, AdRealCost: 2 },
      { creative: "k1", AppActivateStandard: 1, AppRevenue: 6, AdCost: 3, AdRealCost: 3 },
      { creative: "k2", AppActivateStandard: 1, AppRevenue: 6, AdCost: 0, AdRealCost: 0 },
    ]);
    expect((await report({ statistics_caliber, dims_list: ["aid"] })).total).toEqual(total);
    const kept = await report({ statistics_caliber, dims_list: [], filtering: { creative_list: ["k1"] } });
    expect(kept.total).toEqual([{ AppActivateStandard: 1, AppRevenue: 6, AdCost: 3, AdRealCost: 3 }]);
  }
});

test("a creative has a name of its own at each platform", async () => {
  await comes("u1", "kuaishou", { account_id: "acc", did: "g", aid: "a1", cid: "k1" });
  const names = [{ adPlatform: "kuaishou", level: "creative" as const, objectId: "k1", name: "Duck", status: "on" }];
  await storeAdObjects(stage.pool, [...names, { ...names[0]!, adPlatform: "tencent", name: "Dog" }]);
  const { items } = await report({
    dims_list: ["ad_platform", "creative"],
    dims_metrics_list: ["CidName", "CidStatus"],
    metrics_list: ["AppActivateStandard"],
  });
  expect(items).toEqual([
    { ad_platform: "kuaishou", creative: "k1", AppActivateStandard: 1, CidName: "Duck", CidStatus: "on" },
  ]);
});

test.each<[string, Record<string, unknown>, string]>([
  ["its creative", { cid: "7", mid3: "3" }, "7"],
  ["the video", { mid1: "1", mid2: "2", mid3: "3" }, "3"],
  ["the image of an ad without a video", { mid1: "1", mid2: "2", mid3: "0", mid4: "__MID4__" }, "1"],
  ["the title of an ad that names nothing else", { mid1: "0", mid2: "2", mid3: "" }, "2"],
  ["none", { mid1: "__MID1__", mid3: "0" }, ""],
])("the creative of an Ocean Engine ad is %s", async (_, ids, creative) => {
  await comes("u1", "bytedance", { project_id: "p", promotion_id: "q", ...ids });
  expect((await report({ metrics_list: ["AppActivateStandard"] })).items).toEqual([
    { creative, AppActivateStandard: 1 },
  ]);
});

test("materials count at Ocean Engine only", async () => {
  await comes("u1", "kuaishou", { aid: "a1", mid3: "3" });
  expect((await report({ metrics_list: ["AppActivateStandard"] })).items).toMatchObject([{ creative: "" }]);
});

test("a cell of a creative opens into its users, orders and costs", async () => {
  await comes("u1", "kuaishou", { account_id: "acc", did: "g", aid: "a1", cid: "k1" });
  await comes("u2", "kuaishou", { account_id: "acc", did: "g", aid: "a1", cid: "k2" });
  await costs({ aid: "a1", cid: "k1", costE4: 30_000 }, { aid: "a1", cid: "k2", costE4: 10_000 });
  const { metrics_list: _m, dims_list: _d, ...body } = BODY;
  const cell = readCell({ ...body, app_id: app.appId, metric: "AppROI", row: { creative: "k1" } });
  expect(await explainCell(stage.pool, cell, app)).toMatchObject({
    value: 2,
    users: [{ client_id: "u1" }],
    orders: [{ client_id: "u1", cents: 600 }],
    costs: [{ aid: "a1", creative: "k1", cost_e4: 30_000 }],
  });
});
