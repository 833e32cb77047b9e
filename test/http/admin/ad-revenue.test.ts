import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startDouyin } from "../../../sim/platforms/douyin.ts";
import { startWechat, type WechatStandIn } from "../../../sim/platforms/wechat.ts";
import { adRevenueAnswer } from "../../../src/contract/admin/ad-revenue.ts";
import { ecpmAnswer, ecpmListAnswer } from "../../../src/contract/setting/ecpm.ts";
import type { App } from "../../../src/db/app.ts";
import { calendarOf } from "../../../src/domain/calendar.ts";
import { AdminCaller, consoleUser, dataOf } from "../../support/admin-caller.ts";
import { untilTodayLasts } from "../../support/midnight.ts";
import { sharedServer } from "../../support/shared-server.ts";
import type { Row } from "../fixture.ts";

await untilTodayLasts();
const TODAY = calendarOf("Asia/Shanghai").dayOf(Date.now());
const server = sharedServer();
const admin = new AdminCaller(server);
const analyst = consoleUser(server, "analyst");

let wechat: WechatStandIn;
let app: App;
beforeAll(async () => {
  const unit = { planId: "", planName: "", adName: "", impressions: 9, clicks: 0 };
  const earned = (adId: string, cents: number) => ({ ...unit, day: TODAY, account: "wx0123456789abcdef", adId, cents });
  wechat = await startWechat({ costs: [earned("adunit-1", 1000), earned("adunit-9", 7)] });
  app = await server.createApp({ timeZone: "Asia/Shanghai" });
  for (const client of ["a", "b", "c"]) {
    await server.register(app, client);
    await server.collect(app, client, [
      { type: "track", event: "$AdShow", time: Date.now(), properties: { $ad_unit_id: "adunit-1" } },
    ]);
  }
  await server.settle();
});
afterAll(() => wechat.close());

const set = (body: Row) => admin.post("ecpms/set", { app_id: app.appId, ...body });
const range = () => ({ app_id: app.appId, from: TODAY, to: TODAY });
const compared = async () => dataOf(await admin.get("ad-revenue", range()), adRevenueAnswer);

async function reported(): Promise<unknown[]> {
  const metrics_list = ["AppAdRevenue", "AppAdReportedRevenue", "AppAdPulledRevenue", "AppAdEstimatedRevenue"];
  const body = { app_id: app.appId, date_list: [TODAY, TODAY], metrics_list, dims_list: ["date"] };
  const reading = { statistics_caliber: "user_activated_time", decimal_point: 4, roi_version: 1 };
  const { items } = (await admin.post("report/ad", { ...body, ...reading })).data;
  return metrics_list.map((name) => items[0]?.[name]);
}

describe("what ads earned", () => {
  test("is estimated by an eCPM at once, and replaced by what the platform says", async () => {
    const key = { ad_unit_id: "adunit-1", start_date: "2024-01-01" };
    expect(dataOf(await set({ ...key, ecpm: 1000 }), ecpmAnswer)).toEqual({ ...key, end_date: "", ecpm: 1000 });
    await expect.poll(reported).toEqual([3, 0, 0, 3]);
    expect(await compared()).toMatchObject({
      total: { views: 3, estimated: 3, revenue: 3, told: null, difference: null },
    });
    const account = { app_id: app.appId, ad_platform: "wechat", advertiser_id: wechat.appId };
    const values = { settings: { base_url: wechat.url }, secrets: { app_secret: wechat.secret } };
    expect(await admin.post("accounts/set", { ...account, ...values })).toMatchObject({ code: 0 });
    const pulled = await admin.post("cost/pull", { ...account, from: TODAY, to: TODAY });
    expect(pulled.data.accounts).toMatchObject([{ days: 1, rows: 2, error: "" }]);
    await expect.poll(reported).toEqual([10, 0, 10, 0]);
    expect(await compared()).toMatchObject({
      days: [
        { ad_unit_id: "adunit-1", views: 3, told_views: 9, told: 10, pulled: 10, revenue: 10, difference: 0 },
        { ad_unit_id: "adunit-9", views: 0, told: 0.07, revenue: 0, difference: -0.07 },
      ],
      total: { told: 10.07, revenue: 10, difference: -0.07 },
    });
  });

  test("is pulled by player from Douyin, and compared for all of them together", async () => {
    const records = [1_000, 500].map((cost, at) => ({
      openId: "o-dora",
      atMs: Date.now() - 1_000 - at,
      cost: cost * 100,
    }));
    const douyin = await startDouyin({
      records: [...records, { openId: "o-nobody", atMs: Date.now() - 1_000, cost: 1_000 }],
    });
    const game = await server.createApp({ timeZone: "Asia/Shanghai" });
    await server.register(game, "dora", { wx_openid: "o-dora" });
    await server.collect(game, "dora", [{ type: "track", event: "$AdShow", time: Date.now(), properties: {} }]);
    await server.settle();
    const account = { app_id: game.appId, ad_platform: "douyin", advertiser_id: douyin.appId };
    const values = { settings: { base_url: douyin.url }, secrets: { app_secret: douyin.secret } };
    expect(await admin.post("accounts/set", { ...account, ...values })).toMatchObject({ code: 0 });
    const pulled = await admin.post("cost/pull", { ...account, from: TODAY, to: TODAY });
    expect(pulled.data.accounts).toMatchObject([{ days: 1, rows: 2, error: "" }]);
    const told = async () =>
      dataOf(await admin.get("ad-revenue", { ...range(), app_id: game.appId }), adRevenueAnswer).days;
    const figures = { views: 1, told_views: 3, told: 1.51, pulled: 1.5, difference: -0.01 };
    await expect.poll(told).toMatchObject([{ told_by: "player", ad_unit_id: "", ...figures }]);
    await douyin.close();
  });

  test("can be compared for one unit, and the days must be days", async () => {
    const one = await admin.get("ad-revenue", { ...range(), ad_unit_id: "adunit-9" });
    expect(dataOf(one, adRevenueAnswer).days).toHaveLength(1);
    expect(await admin.get("ad-revenue", { ...range(), from: "2024-13-01" })).toMatchObject({ code: 1004 });
  });
});

test("overlapping periods are refused in a sentence", async () => {
  await set({ ad_unit_id: "u", start_date: "2024-01-01", ecpm: 1 });
  expect(await set({ ad_unit_id: "u", start_date: "2024-02-01", ecpm: 1 })).toMatchObject({
    code: 1004,
    msg: expect.stringContaining("the periods of ad unit u overlap: from 2024-01-01 on and from 2024-02-01 on."),
  });
  const { ecpms } = dataOf(await admin.get("ecpms", { app_id: app.appId }), ecpmListAnswer);
  expect(ecpms.filter(({ ad_unit_id }: Row) => ad_unit_id === "u")).toHaveLength(1);
});

test("an analyst may read eCPMs and the comparison, and change nothing", async () => {
  expect(await analyst.get("ecpms", { app_id: app.appId })).toMatchObject({ code: 0 });
  expect(await analyst.get("ad-revenue", range())).toMatchObject({ code: 0 });
  const key = { app_id: app.appId, ad_unit_id: "u", start_date: "2024-01-01" };
  expect(await analyst.post("ecpms/set", { ...key, ecpm: 1 })).toMatchObject({ code: 2004 });
  expect(await analyst.post("ecpms/remove", key)).toMatchObject({ code: 2004 });
});
