import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import type { DeveloperApp } from "../../../src/db/developer-app.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { attributedRegistration } from "../endpoints.ts";
import { type Row, Tables, track } from "../fixture.ts";
import { adReportOf, dayOf, listOf, Reports } from "./reports.ts";

const server = sharedServer();
const tables = new Tables(server);
const reports = new Reports(server);

let developer: DeveloperApp;
beforeAll(async () => {
  developer = await reports.developer();
});

/** The report's data. */
async function pull(app: App, more: Row = {}): Promise<Row> {
  const answer = await reports.call(developer, "combo_sql", adReportOf(app, more));
  expect(answer).toMatchObject({ status: 200, code: 0, msg: "success" });
  return answer.data;
}

/** A user of an account, plan and ad whose ids no other test uses. */
function paidUser(app: App, clientId: string, more: Row = {}): Row {
  const tencent = {
    account_id: `acc-${app.appId}`,
    campaign_id: `plan-${app.appId}`,
    adgroup_id: `ad-${app.appId}`,
    site_set_name: "feed",
  };
  return { ...attributedRegistration(clientId), ad_data: { tencent }, ...more };
}

test("a report without data has all five containers, with the requested labels and definitions", async () => {
  const app = await server.createApp();
  const data = await pull(app, { metrics_list: ["AppROI", "AdCost"], dims_list: ["csite", "date"] });
  expect(data).toEqual({
    columns: ["AppROI", "AdCost"],
    items: [],
    total: [],
    tips: { ROI: expect.stringMatching(/./), "Ad cost": expect.stringMatching(/./) },
    static: ["Placement", "Date"],
  });
});

describe("the answer", () => {
  let app: App;
  let ids: { advertiser_id: string; gid: string; aid: string };
  beforeAll(async () => {
    app = await server.createApp();
    ids = { advertiser_id: `acc-${app.appId}`, gid: `plan-${app.appId}`, aid: `ad-${app.appId}` };
    await server.post("user/register/attributed/", app, paidUser(app, "u"));
    await server.register(app, "organic");
    const cost = `${dayOf(Date.now())},tencent,${ids.advertiser_id},${ids.gid},${ids.aid},12.5`;
    await reports.takeInCosts(app, ["date,ad_platform,advertiser_id,gid,aid,cost", cost]);
    await reports.admin("advertiser/import", {
      csv: `ad_platform,advertiser_id,name,status,remark,operator,dept\ntencent,${ids.advertiser_id},"Acme, 甲",on,vip,Ann,Growth`,
    });
    const objects = [`tencent,plan,${ids.gid},Autumn,running`, `tencent,ad,${ids.aid},Blue,paused`];
    await reports.admin("ad-object/import", { csv: ["ad_platform,level,id,name,status", ...objects].join("\n") });
    await reports.counted(developer, app, 2);
  });

  const ASSOCIATED = {
    advertiser_name: "Acme, 甲",
    advertiser_status: "on",
    advertiser_remark: "vip",
    gName: "Autumn",
    gStatus: "running",
    AidName: "Blue",
    AidStatus: "paused",
  };
  const NONE = Object.fromEntries(Object.keys(ASSOCIATED).map((name) => [name, ""]));

  test("has only dimensions, metrics and associated values in its items", async () => {
    const metrics_list = ["AppActivateStandard", "AdCost", "AppActivateCost"];
    const dims_list = ["ad_platform", "aid", "gid", "advertiser_id"];
    const data = await pull(app, { metrics_list, dims_list, dims_metrics_list: Object.keys(ASSOCIATED) });
    const paid = { AppActivateStandard: 1, AdCost: 12.5, AppActivateCost: 12.5 };
    const organic = { ad_platform: "natural", advertiser_id: "", gid: "", aid: "" };
    expect(data).toEqual({
      columns: metrics_list,
      items: [
        { ...organic, AppActivateStandard: 1, AdCost: 0, AppActivateCost: 0, ...NONE },
        { ad_platform: "tencent", ...ids, ...paid, ...ASSOCIATED },
      ],
      total: [{ AppActivateStandard: 2, AdCost: 12.5, AppActivateCost: 6.25 }],
      tips: {
        Activations: expect.stringMatching(/\.$/),
        "Ad cost": expect.stringMatching(/\.$/),
        "Cost per activation": expect.stringMatching(/\.$/),
      },
      static: ["Ad platform", "Ad", "Plan", "Account"],
    });
  });

  test("names accounts, plans and ads even if it is not grouped by platform", async () => {
    const dims_metrics_list = ["advertiser_name", "gName"];
    const { items } = await pull(app, { dims_list: ["advertiser_id", "gid"], dims_metrics_list });
    expect(items).toEqual([
      expect.objectContaining({ advertiser_id: "", advertiser_name: "", gName: "" }),
      expect.objectContaining({ advertiser_id: ids.advertiser_id, advertiser_name: "Acme, 甲", gName: "Autumn" }),
    ]);
  });

  test("shows the optimiser and the department of the account", async () => {
    const { items } = await pull(app, { metrics_list: ["AdCost"], dims_list: ["operator", "dept"] });
    expect(items).toEqual([
      { operator: "", dept: "", AdCost: 0 },
      { operator: "Ann", dept: "Growth", AdCost: 12.5 },
    ]);
  });

  test("can hold every metric at once, each with its own label and definition", async () => {
    const { list } = (await reports.call(developer, "metrics/list", {})).data as { list: Row[] };
    const names = list.map(({ name }) => name);
    for (const statistics_caliber of ["user_activated_time", "behavior_occurred_time"]) {
      for (const roi_version of [1, 2]) {
        const data = await pull(app, { metrics_list: names, dims_list: [], statistics_caliber, roi_version });
        expect(data.columns).toEqual(names);
        expect(data.tips).toEqual(Object.fromEntries(list.map(({ label, tip }) => [label, tip])));
        expect(Object.keys(data.tips)).toHaveLength(names.length);
        for (const row of [...data.items, ...data.total]) {
          expect(Object.keys(row)).toEqual(names);
          expect(Object.values(row).every(Number.isFinite)).toBe(true);
        }
      }
    }
  });

  test("has a name once even if it was asked for twice", async () => {
    const data = await pull(app, { metrics_list: ["AdCost", "AdCost"], dims_list: ["ad_platform", "ad_platform"] });
    expect(data).toMatchObject({ columns: ["AdCost"], static: ["Ad platform"], total: [{ AdCost: 12.5 }] });
  });
});

describe("the filters", () => {
  let app: App;
  beforeAll(async () => {
    app = await server.createApp();
    const campaign = "campaign-0000001";
    await server.post("user/register/attributed/", app, paidUser(app, "a", { channel: "x", version: 1 }));
    const b = paidUser(app, "b", { channel: "y", version: 2, turbo_promoted_object_id: campaign });
    await server.post("user/register/attributed/", app, b);
    await server.register(app, "c", { channel: "y", version: 1 });
    const day = dayOf(Date.now());
    const costs = [`${day},tencent,x,${campaign},10`, `${day},kuaishou,y,,1`];
    await reports.takeInCosts(app, ["date,ad_platform,channel,turbo_promoted_object_id,cost", ...costs]);
    await reports.counted(developer, app, 3);
  });

  const PAID = "0123456789abcdef";
  test.each<[string, Row, number, number]>([
    ["nothing", {}, 3, 11],
    ["a platform", { ad_platform_list: ["tencent"] }, 2, 10],
    ["organic users", { ad_platform_list: ["natural"] }, 1, 0],
    ["two platforms", { ad_platform_list: ["kuaishou", "natural"] }, 1, 1],
    ["a channel", { channel_list: ["y"] }, 2, 1],
    ["two channels", { channel_list: ["y", "x"] }, 3, 11],
    ["a campaign", { turbo_promoted_object_id_list: ["campaign-0000001"] }, 1, 10],
    ["another campaign", { turbo_promoted_object_id_list: [PAID] }, 1, 0],
    ["a version, which costs lack", { version_list: [1] }, 2, 11],
    ["a version and a channel", { version_list: [1], channel_list: ["y"] }, 1, 1],
    ["values that nobody has", { version_list: [99], channel_list: ["x"], ad_platform_list: ["kuaishou"] }, 0, 0],
  ])("select by %s", async (_, filtering, users, cost) => {
    for (const statistics_caliber of ["user_activated_time", "behavior_occurred_time"]) {
      const { total } = await pull(app, { filtering, statistics_caliber });
      const expected = users + cost === 0 ? [] : [{ AppActivateStandard: users, AdCost: cost }];
      expect(total).toEqual(expected);
    }
  });
});

test("numbers are rounded once, half away from zero, to the requested decimals", async () => {
  const app = await server.createApp();
  // Cost, clicks; the cost to two and four decimals, the cost per click to two and four.
  const cases: [cost: string, clicks: number, numbers: [number, number, number, number]][] = [
    ["0.005", 1, [0.01, 0.005, 0.01, 0.005]],
    ["0.0049", 1, [0, 0.0049, 0, 0.0049]],
    ["1.005", 1, [1.01, 1.005, 1.01, 1.005]],
    ["2.675", 1, [2.68, 2.675, 2.68, 2.675]],
    ["8.345", 1, [8.35, 8.345, 8.35, 8.345]],
    ["0.0001", 2, [0, 0.0001, 0, 0.0001]],
    ["0.0003", 2, [0, 0.0003, 0, 0.0002]],
    ["0.0001", 3, [0, 0.0001, 0, 0]],
    ["2", 3, [2, 2, 0.67, 0.6667]],
    ["99999999999.9999", 1, [100_000_000_000, 99999999999.9999, 100_000_000_000, 99999999999.9999]],
    ["7", 0, [7, 7, 0, 0]],
  ];
  const day = (index: number) => `2026-01-${String(index + 1).padStart(2, "0")}`;
  const lines = cases.map(([cost, clicks], index) => `${day(index)},${clicks},${cost}`);
  await reports.takeInCosts(app, ["date,clicks,cost", ...lines]);
  const ask = { metrics_list: ["AdCost", "AdCpc"], date_list: ["2026-01-01", "2026-01-31"] };
  const [two, four] = [await pull(app, ask), await pull(app, { ...ask, decimal_point: 4 })];
  const expected = cases.map(([, , numbers], index) => ({ date: day(index), numbers }));
  const shown = two.items.map((item: Row, index: number) => ({
    date: item.date,
    numbers: [item.AdCost, four.items[index].AdCost, item.AdCpc, four.items[index].AdCpc],
  }));
  expect(shown).toEqual(expected);
});

describe("the cost of ads", () => {
  const SINGLE = ["date", "ad_platform", "advertiser_id", "gid", "aid", "channel", "os_platform", "operator"];
  const DIMENSIONS = [...SINGLE, "creative", "turbo_promoted_object_id", "csite", "dept"];

  test("adds up to the same under every grouping, whatever the rows leave empty", async () => {
    const app = await server.createApp();
    const account = `acc-${app.appId}`;
    const campaign = { app_id: app.appId, turbo_promoted_object_id: "campaign-0000001", channel: "x", dept: "D" };
    await reports.admin("campaigns/create", { ...campaign, operator: "Bob", os_platform: "ios" });
    await reports.admin("advertiser/import", {
      csv: `ad_platform,advertiser_id,operator\ntencent,${account},Ann\nkuaishou,${account},Cid`,
    });
    await server.post("user/register/attributed/", app, paidUser(app, "u"));
    await reports.counted(developer, app, 1);
    const header =
      "date,ad_platform,advertiser_id,gid,aid,csite,channel,os_platform,turbo_promoted_object_id,cost,creative";
    const day = dayOf(Date.now());
    await reports.takeInCosts(app, [
      header,
      `${day},,,,,,,,,0.01,`,
      `${day},tencent,,,,,,,,0.02,`,
      `${day},tencent,${account},,,,,,,0.04,`,
      `${day},kuaishou,${account},g,,,,,,0.08,`,
      `${day},tencent,${account},plan-${app.appId},ad-${app.appId},feed,,,,0.16,k1`,
      `${day},tencent,${account},,,,,,campaign-0000001,0.32,`,
      `${day},,,,,,,,campaign-0000001,0.64,`,
      `${day},,,,,,y,android,campaign-0000001,1.28,`,
      `${day},,,,,search,,ios,,2.56,`,
      `${day},bytedance,nobody,,,,,,no-such-campaign,5.12,`,
    ]);
    const groupings = [[], ...DIMENSIONS.map((one) => [one]), ["date", "operator"], ["ad_platform", "csite"]];
    groupings.push(["operator", "dept"], ["operator", "turbo_promoted_object_id"], ["advertiser_id", "dept", "gid"]);
    groupings.push(["date", "ad_platform", "advertiser_id", "gid", "aid", "os_platform", "channel"]);
    for (const dims_list of groupings) {
      for (const statistics_caliber of ["user_activated_time", "behavior_occurred_time"]) {
        const { items, total } = await pull(app, { dims_list, statistics_caliber, metrics_list: ["AdCost"] });
        const cents = items.reduce((sum: number, { AdCost }: Row) => sum + Math.round(AdCost * 100), 0);
        expect({ dims_list, total, cents }).toEqual({ dims_list, total: [{ AdCost: 10.23 }], cents: 1023 });
      }
    }
  });

  test("is replaced when the same row is sent again", async () => {
    const app = await server.createApp();
    const day = dayOf(Date.now());
    await reports.takeInCosts(app, ["date,aid,cost", `${day},a,5`, `${day},b,1`]);
    await reports.takeInCosts(app, ["date,aid,cost", `${day},a,2.5`]);
    expect((await pull(app, { metrics_list: ["AdCost"] })).total).toEqual([{ AdCost: 3.5 }]);
  });
});

test("an order appears in the order list and in the ad report of either caliber by itself", async () => {
  const app = await server.createApp();
  await server.register(app, "u");
  const order = track("$PayEvent", { $pay_amount: 1_234, $order_id: "o-1" });
  expect(await server.collect(app, "u", [order])).toMatchObject({ code: 0 });
  const listed = async () => (await reports.call(developer, "order/list", listOf(app))).data.list[0]?.TraceID;
  const metrics_list = ["AppGamePayAmountStandard"];
  const paid = (statistics_caliber: string) => async () =>
    (await pull(app, { metrics_list, statistics_caliber })).total[0]?.AppGamePayAmountStandard;
  await Promise.all([
    expect.poll(listed).toBe("o-1"),
    expect.poll(paid("user_activated_time")).toBe(12.34),
    expect.poll(paid("behavior_occurred_time")).toBe(12.34),
  ]);
});

test("SQL in a text is a text like any other", async () => {
  const app = await server.createApp();
  await server.register(app, "u");
  await reports.counted(developer, app, 1);
  const before = await pull(app);
  const texts = ["'; drop table cube; --", "' or '1'='1", '") or true --', "\\'; select 1", "{a,b}", "$1", "\u0000"];
  const ask = (more: Row) => reports.call(developer, "combo_sql", adReportOf(app, more));
  for (const text of texts) {
    for (const filter of ["ad_platform_list", "channel_list", "turbo_promoted_object_id_list"]) {
      expect(await ask({ filtering: { [filter]: [text] } })).toMatchObject({ code: 0, data: { items: [], total: [] } });
    }
    const refused: Row[] = ["metrics_list", "dims_list", "dims_metrics_list"].map((field) => ({ [field]: [text] }));
    refused.push({ date_list: [text, text] }, { statistics_caliber: text }, { filtering: { version_list: [text] } });
    for (const more of [...refused, { app_id: text }, { decimal_point: text }]) {
      expect(await ask(more)).toMatchObject({ status: 200, code: 1004 });
    }
    const user_filtering = { channel_list: [text], client_id_list: [text] };
    const list = await reports.call(developer, "user/list", listOf(app, { user_filtering }));
    expect(list).toMatchObject({ code: 0, data: { list: [] } });
  }
  const [row] = await tables.query("select to_regclass('cube') as cube, to_regclass('orders') as orders");
  expect(row).toEqual({ cube: "cube", orders: "orders" });
  expect(await pull(app)).toEqual(before);
});
