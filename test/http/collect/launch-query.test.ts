import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { ORGANIC_QUERIES, SCENES } from "../../platform/launch-scenes.ts";
import { AdminCaller } from "../../support/admin-caller.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { BASE, type Row, Tables } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);

/** An app without clicks, in which each launch query has its own client. */
let app: App;
let clients = 0;
beforeAll(async () => {
  app = await server.createApp();
});

/** The user get record after a registration with this ad_data, given as JSON text so that long numbers keep their digits. */
async function recordOf(adData: string): Promise<Row> {
  clients += 1;
  const client = `client ${clients}`;
  const body = `{"client_id":"${client}","name":"n","channel":"c","version":1,"ad_data":${adData}}`;
  expect(await server.post("user/register/", app, body)).toMatchObject({ code: 0 });
  const users = await server.lookUp(app, client);
  expect(users).toHaveLength(1);
  return users[0];
}

type Case = { platform: string; named: string; adData: Row; expected: Row };

const CASES: readonly Case[] = [
  {
    platform: "tencent",
    named: "gdt_vid",
    adData: { gdt_vid: "vid-1" },
    expected: { advertiser_id: "", aid: "", cid: "", tencent: { gdt_vid: "vid-1" } },
  },
  {
    platform: "kuaishou",
    named: "ks… keys",
    adData: { callback: "cb", ksCampaignId: "k1", ksUnitId: "k2", ksCreativeId: "k3", ksChannel: "kuaishou" },
    expected: { gid: "k1", aid: "k2", cid: "k3", kuaishou: { ksUnitId: "k2", callback: "cb" } },
  },
  {
    platform: "kuaishou",
    named: "callback alone",
    adData: { callback: "cb" },
    expected: { aid: "", cid: "", kuaishou: { callback: "cb" } },
  },
  {
    platform: "bytedance",
    named: "version 1.0 keys",
    adData: { clue_token: "t", ad_id: "b1", creative_id: "b2", advertiser_id: "b3", request_id: "r" },
    expected: { advertiser_id: "b3", aid: "b1", cid: "b2" },
  },
  {
    platform: "bytedance",
    named: "version 2.0 keys",
    adData: {
      clue_token: "t",
      advertiser_id: "b3",
      project_id: "p1",
      promotion_id: "p2",
      mid1: "m1",
      mid2: "m2",
      mid3: "m3",
      mid4: "m4",
      mid5: "m5",
    },
    expected: {
      advertiser_id: "b3",
      gid: "p1",
      aid: "p2",
      bytedance_v2: {
        project_id: "p1",
        promotion_id: "p2",
        mid1: "m1",
        mid2: "m2",
        mid3: "m3",
        mid4: "m4",
        mid5: "m5",
      },
    },
  },
  {
    platform: "asa",
    named: "orgId and attribution",
    adData: {
      attribution: "true",
      orgId: 40669820,
      campaignId: 542370539,
      conversionType: "Download",
      clickDate: "2020-04-08T17:17Z",
      adGroupId: 542317095,
      countryOrRegion: "US",
      keywordId: 87675432,
      adId: 542317136,
    },
    expected: {
      advertiser_id: "40669820",
      gid: "542370539",
      aid: "542317136",
      asa: { attribution: "true", clickDate: "2020-04-08T17:17Z", adGroupId: "542317095", countryOrRegion: "US" },
    },
  },
  { platform: "baidu", named: "bd_vid", adData: { bd_vid: "bd-1" }, expected: { baidu: { bd_vid: "bd-1" } } },
  {
    platform: "gravity",
    named: "turbo_vid",
    adData: { turbo_vid: "tv-1" },
    expected: { gravity: { turbo_vid: "tv-1" } },
  },
];
const named = CASES.map((one): [string, string, Case] => [one.platform, one.named, one]);

describe("ad_data is the launch query", () => {
  test.each(named)("flat: %s by %s", async (platform, _named, { adData, expected }) => {
    expect(await recordOf(JSON.stringify(adData))).toMatchObject({ click_company: platform, ...expected });
  });

  test.each(named)("nested under the platform's name: %s by %s", async (platform, _named, { adData, expected }) => {
    const nested = JSON.stringify({ [platform]: adData });
    expect(await recordOf(nested)).toMatchObject({ click_company: platform, ...expected });
  });

  test.each(["clue_token", "ad_id", "creative_id", "request_id", "advertiser_id", "project_id", "promotion_id"])(
    "%s alone names bytedance",
    async (key) => {
      expect(await recordOf(JSON.stringify({ [key]: "1" }))).toMatchObject({ click_company: "bytedance" });
    },
  );

  test.each(["ksUnitId", "ksCampaignId", "ksCreativeId", "ksChannel"])("%s alone names kuaishou", async (key) => {
    expect(await recordOf(JSON.stringify({ [key]: "1" }))).toMatchObject({ click_company: "kuaishou" });
  });

  test.each<[string, Row]>([
    ["is empty", {}],
    ["holds other keys only", { scene: "1001", from: "friend", query: "a=b" }],
    ["holds empty values", { gdt_vid: "", clue_token: "", callback: "" }],
    ["holds unreplaced macros", { gdt_vid: "__CLICK_ID__", clue_token: "__CLUE_TOKEN__", callback: "__CALLBACK__" }],
    ["is Apple's answer for a user without an ad", { attribution: "false", orgId: 1 }],
    ["names an organisation but no attribution", { orgId: 1 }],
    ["holds values of odd types", { gdt_vid: null, clue_token: {}, ad_id: [] }],
  ])("a user is organic when it %s", async (_what, adData) => {
    const record = await recordOf(JSON.stringify(adData));
    expect(record).toMatchObject({ click_company: "", advertiser_id: "", aid: "", cid: "" });
    const platformObjects = Object.values(record).filter((value) => typeof value === "object");
    expect(platformObjects).toEqual([]);
  });

  test("other keys beside those of the platform do not matter", async () => {
    const adData = { scene: "1001", gdt_vid: "g", deep: { a: [1] }, "odd key": true };
    expect(await recordOf(JSON.stringify(adData))).toMatchObject({ click_company: "tencent" });
  });

  test("an id that is a long number keeps its digits", async () => {
    const record = await recordOf(
      '{"clue_token":"t","promotion_id":7265432109876543210,"advertiser_id":1765432109876543219}',
    );
    expect(record).toMatchObject({
      aid: "7265432109876543210",
      advertiser_id: "1765432109876543219",
      bytedance_v2: { promotion_id: "7265432109876543210" },
    });
  });

  test("a record of every kind holds only texts", async () => {
    const record = await recordOf('{"attribution":true,"orgId":1,"campaignId":2,"adId":3}');
    expect(record.click_company).toBe("asa");
    for (const value of [...Object.values(record), ...Object.values(record.asa)])
      expect(["string", "object"]).toContain(typeof value);
    expect(Object.values(record.asa).every((value) => typeof value === "string")).toBe(true);
  });

  test("a second registration does not change the platform", async () => {
    await server.register(app, "twice", { ad_data: { gdt_vid: "g" } });
    await server.register(app, "twice", { ad_data: { ksUnitId: "k" } });
    expect(await server.lookUp(app, "twice")).toMatchObject([{ click_company: "tencent" }]);
  });

  test("endless nesting is refused, and no acknowledged registration is lost", async () => {
    const deep = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
    const body = `{"client_id":"a","name":"n","channel":"c","version":1,"ad_data":{"gdt_vid":"g","x":${deep}}}`;
    const answer = await server.post("user/register/", app, body);
    expect(answer).toMatchObject({ status: 200, code: 1004, msg: expect.stringContaining("ad_data") });
  });
});

/** One scene of each kind: the others differ only in how the query is read, which needs no server. */
const WIRED = SCENES.filter(({ scene }, at) => SCENES.findIndex((one) => one.scene === scene) === at);
const CAMPAIGN = "autumn2026launch";

describe("a user brought by an ad", () => {
  test.each(WIRED)("$scene: is known by the click's own key, or else by the launch query alone", async (one) => {
    const { platform, query, ids, link } = one;
    const clicked = await server.createApp();
    const call = { app_id: String(clicked.appId), company: platform, track_id: CAMPAIGN, ...link };
    await server.get(`${BASE}/event/click/`, call);
    await server.register(clicked, "clicked", { ad_data: query });
    await server.register(app, `alone ${one.scene}`, { ad_data: query });
    await server.settle();
    const ofQuery = { ad_platform: platform, aid: ids.aid ?? "", gid: ids.gid ?? "", cid: ids.cid ?? "" };
    expect(await tables.user(clicked, "clicked")).toMatchObject({
      ...ofQuery,
      method: "click_key",
      turbo_promoted_object_id: CAMPAIGN,
    });
    const user = await tables.user(app, `alone ${one.scene}`);
    expect(user).toMatchObject({ ...ofQuery, method: "launch_query", advertiser_id: ids.advertiserId ?? "" });
  });

  test("Douyin's names without underscores show in the platform's own object of user get", async () => {
    const record = await recordOf(JSON.stringify(SCENES[0]!.query));
    expect(record.bytedance_v2).toEqual({
      project_id: "7394291765869707283",
      promotion_id: "7394295222693527561",
      mid1: "0",
      mid2: "7387317343218139172",
      mid3: "7394040260336975910",
      mid4: "",
      mid5: "7337642830293057546",
    });
  });

  test("a registration that names only a campaign belongs to the campaign's platform", async () => {
    const admin = new AdminCaller(server);
    const campaign = { app_id: app.appId, turbo_promoted_object_id: CAMPAIGN, ad_platform: "bilibili" };
    expect(await admin.post("campaigns/create", campaign)).toMatchObject({ code: 0 });
    await server.register(app, "u", { ad_data: { turbo_promoted_object_id: CAMPAIGN, scene: "1001" } });
    expect(await server.lookUp(app, "u")).toMatchObject([
      { click_company: "bilibili", turbo_promoted_object_id: CAMPAIGN },
    ]);
  });

  test("unreadable ad_params affect neither the registration nor its source", async () => {
    const record = await recordOf(JSON.stringify({ clickid: "c", promotionid: "7", ad_params: "%7B%22log_extra" }));
    expect(record).toMatchObject({ click_company: "bytedance", aid: "7" });
  });
});

test.each(ORGANIC_QUERIES.slice(0, 2))("%s is organic", async (_, query) => {
  expect(await recordOf(JSON.stringify(query))).toMatchObject({ click_company: "", aid: "" });
});
