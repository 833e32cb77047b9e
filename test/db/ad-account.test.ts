import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { storeAdvertisers } from "../../src/db/ad-names.ts";
import type { App } from "../../src/db/app.ts";
import { type Cost, storeCosts } from "../../src/db/cost.ts";
import { refreshOnce } from "../../src/refresh/refresh.ts";
import { runAdReport } from "../../src/report/ad/ad-report.ts";
import { readAdReport } from "../../src/report/ad/ad-report-request.ts";
import { readUserList, runUserList } from "../../src/report/list/user-list.ts";
import { viewUser } from "../../src/report/user/user-view.ts";
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

/** A user who came by an ad, and whose launch did not name the account, unless given. */
async function comes(clientId: string, ids: { campaign_id?: string; adgroup_id?: string; account_id?: string }) {
  const reported = {
    active_time: NOW_MS,
    active_ip: "",
    click_time: NOW_MS,
    click_ip: "",
    click_company: "tencent",
    ad_data: { tencent: ids },
    os_type: "ios",
  };
  const named = { client_id: clientId, name: clientId, channel: "c", version: 1 };
  await stage.append("attributed", clientId, { ...named, ...reported }, { app: app.appId });
  await stage.collect(clientId, [pay(`order of ${clientId} ${app.appId}`, 600)], { app: app.appId });
}

async function costs(...ads: Pick<Cost, "advertiserId" | "gid" | "aid">[]): Promise<void> {
  const rows = ads.map((ad): Cost => {
    const texts = { cid: "", csite: "", channel: "", osPlatform: "", campaignId: "" };
    const counts = { impressions: 0, clicks: 0, costE4: 10_000 };
    return { ...ad, ...texts, ...counts, appId: app.appId, day: DAY, adPlatform: "tencent" };
  });
  await storeCosts(stage.pool, rows, NOW_MS);
}

/** Cost and users by a dimension, in both calibers, which must agree. */
async function reported(
  dimension: "advertiser_id" | "operator",
): Promise<Record<string, [cost: unknown, users: unknown]>> {
  while ((await refreshOnce(stage.pool)) > 0);
  const [first, second] = await Promise.all(
    (["user_activated_time", "behavior_occurred_time"] as const).map(async (statistics_caliber) => {
      const request = readAdReport({
        app_id: app.appId,
        date_list: [DAY, DAY],
        metrics_list: ["AdCost", "AppActivateStandard", "AppGamePayAmountStandard"],
        dims_list: [dimension],
        statistics_caliber,
        decimal_point: 2,
      });
      const { items } = await runAdReport(stage.pool, request, { payShareBp: 10_000, timeZone: "Asia/Shanghai" });
      return Object.fromEntries(
        items.map((item) => {
          expect(item.AppGamePayAmountStandard).toBe(6 * Number(item.AppActivateStandard));
          return [item[dimension], [item.AdCost, item.AppActivateStandard] as [unknown, unknown]];
        }),
      );
    }),
  );
  expect(second).toEqual(first);
  return first!;
}

test("users whose launch names only the ad are counted with its account, also when its costs come later", async () => {
  await comes("by ad", { adgroup_id: "a1" });
  await comes("by plan", { campaign_id: "g1" });
  await comes("by unknown ad", { adgroup_id: "a9" });
  await comes("by other account", { adgroup_id: "a1", account_id: "acc2" });
  await stage.applyAll();
  expect(await reported("advertiser_id")).toEqual({ "": [0, 3], acc2: [0, 1] });
  await costs({ advertiserId: "acc1", gid: "g1", aid: "a1" });
  expect(await reported("advertiser_id")).toEqual({ "": [0, 1], acc1: [1, 2], acc2: [0, 1] });
  await comes("later", { adgroup_id: "a1" });
  await stage.applyAll();
  expect(await reported("advertiser_id")).toEqual({ "": [0, 1], acc1: [1, 3], acc2: [0, 1] });
});

test("the optimiser of the account has its users beside its cost", async () => {
  const account = { adPlatform: "tencent", advertiserId: "acc7", name: "Seven", status: "", remark: "", dept: "" };
  await storeAdvertisers(stage.pool, [{ ...account, operator: "ann" }]);
  await comes("by ad", { adgroup_id: "a1" });
  await stage.applyAll();
  await costs({ advertiserId: "acc7", gid: "", aid: "a1" });
  expect(await reported("operator")).toEqual({ ann: [1, 1] });
});

test("an ad in the costs of several accounts belongs to none; then its plan tells the account", async () => {
  await comes("by ad", { adgroup_id: "a1", campaign_id: "g1" });
  await comes("by ad alone", { adgroup_id: "a1" });
  await stage.applyAll();
  await costs({ advertiserId: "acc1", gid: "", aid: "a1" });
  expect(await reported("advertiser_id")).toEqual({ acc1: [1, 2] });
  await costs({ advertiserId: "acc2", gid: "", aid: "a1" }, { advertiserId: "acc3", gid: "g1", aid: "" });
  expect(await reported("advertiser_id")).toEqual({ "": [0, 1], acc1: [1, 0], acc2: [1, 0], acc3: [1, 1] });
});

test("lists find the user by the account of the report, and show it", async () => {
  await comes("by ad", { adgroup_id: "a1" });
  await comes("by no ad", {});
  await stage.applyAll();
  await costs({ advertiserId: "acc1", gid: "", aid: "a1" });
  expect(await reported("advertiser_id")).toEqual({ "": [0, 1], acc1: [1, 1] });
  const find = async (advertiser: string) => {
    const body = { app_id: app.appId, user_filtering: { advertiser_id_list: [advertiser] }, event_filtering: {} };
    const { list, page_info } = await runUserList(stage.pool, readUserList(body, app), app);
    expect(page_info.total_number).toBe(list.length);
    return list.map(({ ClientID, AdvertiserID }) => [ClientID, AdvertiserID]);
  };
  expect(await find("acc1")).toEqual([["by ad", "acc1"]]);
  expect(await find("")).toEqual([["by no ad", ""]]);
  expect((await viewUser(stage.pool, app, "by ad"))?.source).toMatchObject({ advertiser_id: "acc1" });
});
