import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { ORGANIC_QUERIES, SCENES } from "../../platform/launch-scenes.ts";
import { AdminCaller } from "../../support/admin-caller.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { BASE, type Row, Tables } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);

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
const BYTEDANCE_KEYS = [
  ...["clue_token", "ad_id", "creative_id", "request_id", "advertiser_id", "project_id", "promotion_id"],
];
const KUAISHOU_KEYS = ["ksUnitId", "ksCampaignId", "ksCreativeId", "ksChannel"];

const ORGANIC: readonly [what: string, adData: Row][] = [
  ["is empty", {}],
  ["holds other keys only", { scene: "1001", from: "friend", query: "a=b" }],
  ["holds empty values", { gdt_vid: "", clue_token: "", callback: "" }],
  ["holds unreplaced macros", { gdt_vid: "__CLICK_ID__", clue_token: "__CLUE_TOKEN__", callback: "__CALLBACK__" }],
  ["is Apple's answer for a user without an ad", { attribution: "false", orgId: 1 }],
  ["names an organisation but no attribution", { orgId: 1 }],
  ["holds values of odd types", { gdt_vid: null, clue_token: {}, ad_id: [] }],
];

const flat = ({ platform, named }: Case) => `flat: ${platform} by ${named}`;
const nested = ({ platform, named }: Case) => `nested under the platform's name: ${platform} by ${named}`;

/** The ad_data of each client, as JSON text so that long numbers keep their digits. */
const AD_DATA = new Map<string, string>([
  ...CASES.map((one): [string, string] => [flat(one), JSON.stringify(one.adData)]),
  ...CASES.map((one): [string, string] => [nested(one), JSON.stringify({ [one.platform]: one.adData })]),
  ...[...BYTEDANCE_KEYS, ...KUAISHOU_KEYS].map((key): [string, string] => [key, JSON.stringify({ [key]: "1" })]),
  ...[...ORGANIC, ...ORGANIC_QUERIES.slice(0, 2)].map(([what, query]): [string, string] => [
    what,
    JSON.stringify(query),
  ]),
  ["other keys", '{"scene":"1001","gdt_vid":"g","deep":{"a":[1]},"odd key":true}'],
  ["long numbers", '{"clue_token":"t","promotion_id":7265432109876543210,"advertiser_id":1765432109876543219}'],
  ["numbers", '{"attribution":true,"orgId":1,"campaignId":2,"adId":3}'],
  ["Douyin", JSON.stringify(SCENES[0]!.query)],
  ["unreadable", '{"clickid":"c","promotionid":"7","ad_params":"%7B%22log_extra"}'],
]);

/** An app without clicks, and the user get records of its clients after their registration. */
let app: App;
let records: Map<string, Row>;
beforeAll(async () => {
  app = await server.createApp();
  const register = async ([client, adData]: [string, string]) => {
    const body = `{"client_id":${JSON.stringify(client)},"name":"n","channel":"c","version":1,"ad_data":${adData}}`;
    expect(await server.post("user/register/", app, body)).toMatchObject({ code: 0 });
  };
  await Promise.all([...AD_DATA].map(register));
  const users = await server.lookUp(app, ...AD_DATA.keys());
  records = new Map(users.map((user) => [user.client_id, user]));
});

describe("ad_data is the launch query", () => {
  test.each(CASES.map((one) => [flat(one), one] as const))("%s", (client, { platform, expected }) => {
    expect(records.get(client)).toMatchObject({ click_company: platform, ...expected });
  });

  test.each(CASES.map((one) => [nested(one), one] as const))("%s", (client, { platform, expected }) => {
    expect(records.get(client)).toMatchObject({ click_company: platform, ...expected });
  });

  test.each(BYTEDANCE_KEYS)("%s alone names bytedance", (key) => {
    expect(records.get(key)).toMatchObject({ click_company: "bytedance" });
  });

  test.each(KUAISHOU_KEYS)("%s alone names kuaishou", (key) => {
    expect(records.get(key)).toMatchObject({ click_company: "kuaishou" });
  });

  test.each(ORGANIC)("a user is organic when it %s", (what) => {
    const record = records.get(what)!;
    expect(record).toMatchObject({ click_company: "", advertiser_id: "", aid: "", cid: "" });
    const platformObjects = Object.values(record).filter((value) => typeof value === "object");
    expect(platformObjects).toEqual([]);
  });

  test("other keys beside those of the platform do not matter", () => {
    expect(records.get("other keys")).toMatchObject({ click_company: "tencent" });
  });

  test("an id that is a long number keeps its digits", () => {
    expect(records.get("long numbers")).toMatchObject({
      aid: "7265432109876543210",
      advertiser_id: "1765432109876543219",
      bytedance_v2: { promotion_id: "7265432109876543210" },
    });
  });

  test("a record of every kind holds only texts", () => {
    const record = records.get("numbers")!;
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
  /** Each scene has an app with its click, because some have the same click id, and a client in the app without clicks. */
  const withClick = new Map<string, App>();
  beforeAll(async () => {
    for (const { scene, platform, query, link } of WIRED) {
      const clicked = await server.createApp();
      withClick.set(scene, clicked);
      const call = { app_id: String(clicked.appId), company: platform, track_id: CAMPAIGN, ...link };
      await server.get(`${BASE}/event/click/`, call);
      await server.register(clicked, scene, { ad_data: query });
      await server.register(app, scene, { ad_data: query });
    }
    await server.settle();
  });

  test.each(WIRED)("$scene: is known by the click's own key, or else by the launch query alone", async (one) => {
    const { scene, platform, ids } = one;
    const ofQuery = { ad_platform: platform, aid: ids.aid ?? "", gid: ids.gid ?? "", cid: ids.cid ?? "" };
    expect(await tables.user(withClick.get(scene)!, scene)).toMatchObject({
      ...ofQuery,
      method: "click_key",
      turbo_promoted_object_id: CAMPAIGN,
    });
    const byQuery = { ...ofQuery, method: "launch_query", advertiser_id: ids.advertiserId ?? "" };
    expect(await tables.user(app, scene)).toMatchObject(byQuery);
  });

  test("Douyin's names without underscores show in the platform's own object of user get", () => {
    expect(records.get("Douyin")!.bytedance_v2).toEqual({
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

  test("unreadable ad_params affect neither the registration nor its source", () => {
    expect(records.get("unreadable")).toMatchObject({ click_company: "bytedance", aid: "7" });
  });
});

test.each(ORGANIC_QUERIES.slice(0, 2))("%s is organic", (what) => {
  expect(records.get(what)).toMatchObject({ click_company: "", aid: "" });
});
