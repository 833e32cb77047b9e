import { Readable } from "node:stream";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { importAdvertisers, importCosts } from "../../src/cost/file-import.ts";
import { noteAdCampaigns } from "../../src/db/ad-campaign.ts";
import { createCampaign } from "../../src/db/campaign.ts";
import { runAdReport } from "../../src/report/ad/ad-report.ts";
import { readAdReport } from "../../src/report/ad/ad-report-request.ts";
import { makeApp, migratedDatabase, type TempDatabase } from "./temp-database.ts";

let database: TempDatabase;
let appId: number;
beforeAll(async () => {
  database = await migratedDatabase();
});
beforeEach(async () => {
  appId = (await makeApp(database.pool)).appId;
});
afterAll(() => database.drop());

const DAY = "2024-06-15";

describe("a cost belongs to", () => {
  const [ONE, TWO] = ["campaign00000001", "campaign00000002"];

  async function costsBy(...dims_list: string[]): Promise<Record<string, number>> {
    const request = readAdReport({
      app_id: appId,
      date_list: [DAY, DAY],
      metrics_list: ["AdCost"],
      dims_list,
      statistics_caliber: "behavior_occurred_time",
      decimal_point: 4,
    });
    const { items, total } = await runAdReport(database.pool, request, {
      payShareBp: 10_000,
      timeZone: "Asia/Shanghai",
    });
    expect(total).toEqual([{ AdCost: 63 }]);
    return Object.fromEntries(
      items.map((item) => [dims_list.map((name) => item[name]).join(" "), Number(item.AdCost)]),
    );
  }

  beforeEach(async () => {
    const campaign = { appId, name: "", adPlatform: "", operator: "", dept: "", createdAtMs: 0 };
    const fields = { channel: "store", osPlatform: "ios", operator: "ann", dept: "games" };
    await createCampaign(database.pool, { ...campaign, ...fields, campaignId: ONE });
    await createCampaign(database.pool, { ...campaign, channel: "", osPlatform: "", campaignId: TWO });
    const seen = (level: "plan" | "ad", objectId: string, campaignId: string) => ({
      appId,
      adPlatform: "tencent",
      level,
      objectId,
      campaignId,
    });
    await noteAdCampaigns(database.pool, [
      ...[seen("ad", "a1", ONE), seen("ad", "both", ONE), seen("ad", "both", TWO)],
      ...[seen("plan", "g1", ONE), seen("plan", "g2", TWO), seen("plan", "gBoth", ONE), seen("plan", "gBoth", TWO)],
    ]);
    await importAdvertisers(
      database.pool,
      Readable.from(["ad_platform,advertiser_id,operator,dept\ntencent,acc,bob,\n"]),
    );
    const header = "date,ad_platform,advertiser_id,gid,aid,channel,os_platform,turbo_promoted_object_id,cost\n";
    const rows = [
      "tencent,,g2,a1,,,,1",
      "tencent,,g2,new,own,android,,2",
      "tencent,acc,gBoth,both,,,,4",
      `tencent,,g1,a1,,,${TWO},8`,
      "kuaishou,,g1,a1,,,,16",
      "tencent,acc,g1,other,,,,32",
    ];
    const file = Readable.from([`${header}${rows.map((row) => `${DAY},${row}\n`).join("")}`]);
    expect(await importCosts(database.pool, file, { appId, changedAtMs: 1 })).toBe(6);
  });

  test("the campaign it names, else that of its ad, else that of its plan, and to none if there are two", async () => {
    expect(await costsBy("turbo_promoted_object_id")).toEqual({ [ONE]: 1 + 32, [TWO]: 2 + 8, "": 4 + 16 });
  });

  test("its own channel and device type, else to those of its campaign", async () => {
    expect(await costsBy("channel")).toEqual({ store: 1 + 32, own: 2, "": 4 + 8 + 16 });
    expect(await costsBy("os_platform")).toEqual({ ios: 1 + 32, android: 2, "": 4 + 8 + 16 });
  });

  test("the optimiser and department of its account, else of its campaign", async () => {
    expect(await costsBy("operator")).toEqual({ ann: 1, bob: 4 + 32, "": 2 + 8 + 16 });
    expect(await costsBy("dept")).toEqual({ games: 1 + 32, "": 2 + 4 + 8 + 16 });
  });

  test("exactly one row of every grouping, so that the total is always the same", async () => {
    expect(await costsBy()).toEqual({ "": 63 });
    expect(await costsBy("date")).toEqual({ [DAY]: 63 });
    expect(await costsBy("ad_platform")).toEqual({ tencent: 47, kuaishou: 16 });
    for (const dims of [["advertiser_id"], ["gid"], ["aid"], ["csite"], ["aid", "gid", "operator", "dept"]])
      expect(Object.values(await costsBy(...dims)).reduce((sum, cost) => sum + cost, 0)).toBe(63);
  });
});
