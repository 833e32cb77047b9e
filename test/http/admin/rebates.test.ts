import { beforeAll, describe, expect, test } from "vitest";
import { filePreviewAnswer } from "../../../src/contract/admin/cost.ts";
import { rebateAnswer, rebateListAnswer } from "../../../src/contract/setting/rebate.ts";
import type { App } from "../../../src/db/app.ts";
import { AdminCaller, consoleUser, dataOf } from "../../support/admin-caller.ts";
import { sharedServer } from "../../support/shared-server.ts";
import type { Row } from "../fixture.ts";

const server = sharedServer();
const admin = new AdminCaller(server);
const analyst = consoleUser(server, "analyst");
const DAY = "2024-06-15";

let app: App;
beforeAll(async () => {
  app = await server.createApp();
  const csv = `date,ad_platform,advertiser_id,cost\n${DAY},tencent,7,110\n${DAY},vivo,8,40\n`;
  expect(await admin.post("cost/import", { app_id: app.appId, csv })).toMatchObject({ code: 0 });
});

const set = async (body: Row) => dataOf(await admin.post("rebates/set", { app_id: app.appId, ...body }), rebateAnswer);
const list = async () => dataOf(await admin.get("rebates", { app_id: app.appId }), rebateListAnswer).rebates;

/** What the ad report says of the day. */
async function reported(): Promise<Row> {
  const body = {
    app_id: app.appId,
    date_list: [DAY, DAY],
    metrics_list: ["AdCost", "AdRealCost"],
    dims_list: ["advertiser_id"],
    statistics_caliber: "user_activated_time",
    decimal_point: 2,
    roi_version: 1,
  };
  const { items } = (await admin.post("report/ad", body)).data;
  return Object.fromEntries(items.map((item: Row) => [item.advertiser_id, [item.AdCost, item.AdRealCost]]));
}

describe("a rebate", () => {
  test("changes the real cost at once, and never the platform's figure", async () => {
    expect(await reported()).toEqual({ 7: [110, 110], 8: [40, 40] });
    const key = { ad_platform: "tencent", advertiser_id: "7", start_date: "2024-06-01" };
    await set({ ...key, credit_percent: 10 });
    expect(await reported()).toEqual({ 7: [110, 100], 8: [40, 40] });
    await set({ ...key, end_date: DAY, cash_percent: 50 });
    expect(await reported()).toEqual({ 7: [110, 55], 8: [40, 40] });
    expect(await list()).toEqual([{ ...key, end_date: DAY, cash_percent: 50, credit_percent: 0 }]);
    expect(await admin.post("rebates/remove", { app_id: app.appId, ...key })).toMatchObject({ code: 0 });
    expect(await reported()).toEqual({ 7: [110, 110], 8: [40, 40] });
  });

  test("can be read by an analyst, and changed by an admin only", async () => {
    expect(await analyst.get("rebates", { app_id: app.appId })).toMatchObject({ code: 0 });
    const body = { app_id: app.appId, ad_platform: "vivo", advertiser_id: "8", start_date: DAY };
    expect(await analyst.post("rebates/set", body)).toMatchObject({ code: 2004 });
    expect(await analyst.post("rebates/remove", body)).toMatchObject({ code: 2004 });
  });
});

test("the preview of a file names what it replaces, its wrong lines, and an overlap with what is stored", async () => {
  const key = { ad_platform: "oppo", advertiser_id: "9", start_date: "2024-01-01" };
  await set({ ...key, cash_percent: 5 });
  const header = "ad_platform,advertiser_id,start_date,end_date,cash_percent\n";
  const preview = async (...lines: string[]) => {
    const csv = `${header}${lines.join("\n")}\n`;
    return dataOf(await admin.post("rebate/import/preview", { app_id: app.appId, csv }), filePreviewAnswer);
  };
  const replacing = await preview("oppo,9,2024-01-01,2024-12-31,6", "oppo,9,2025-01-01,,7");
  expect(replacing).toMatchObject({ rows: { new: 1, replaces: 1, same: 0 }, problems: [] });
  expect(replacing.first_replacing[0]).toMatchObject({ before: { cash_percent: 5, end_date: "" } });
  expect((await preview("oppo,9,2025-01-01,,7")).problems).toEqual([
    { line: 0, problem: "the rebates of oppo 9 overlap: from 2024-01-01 on and from 2025-01-01 on" },
  ]);
  expect((await preview("oppo,9,soon,,7")).problems).toEqual([
    { line: 2, problem: "start_date must look like 2026-11-15" },
  ]);
  expect((await list()).filter(({ ad_platform }: Row) => ad_platform === "oppo")).toHaveLength(1);
});
