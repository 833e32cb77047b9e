import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { cliJson } from "../../cli/run.ts";
import { eventually } from "../../support/patience.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { attributedRegistration } from "../endpoints.ts";
import { BASE, DAY_MS, HOUR_MS, type Row, Tables } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);

const CAMPAIGN = "campaign-0000001";
const OAID = "1fe9a970-efbb-29e0-0bdd-f5dbbf751ab5";
const IDFA = "6D92078A-8246-4BA4-AE5B-76104861E7DC";
const IMEI = "A6600000000001";
const PHONE_UA = "Mozilla/5.0 (Linux; Android 13; M2102J2SC Build/TKQ1) AppleWebKit/537.36 Chrome/104 Mobile";
const md5 = (text: string) => createHash("md5").update(text).digest("hex");

type Parameters = Record<string, string | number>;

async function touch(app: App, parameters: Parameters, kind: "click" | "impression" = "click"): Promise<void> {
  const query = { app_id: app.appId, track_id: CAMPAIGN, ...parameters };
  const texts = Object.entries(query).map(([name, value]) => [name, String(value)]);
  expect(await server.get(`${BASE}/event/${kind}/`, Object.fromEntries(texts))).toMatchObject({ status: 200, code: 0 });
}

async function lookUp(app: App, clientId = "u"): Promise<Row> {
  return (await server.lookUp(app, clientId))[0];
}

const methodOf = async (app: App, clientId = "u") => (await tables.user(app, clientId))?.method;

const android = (device: Row) => ({ device_info: { os_name: "android", ...device } });
const ios = (device: Row) => ({ device_info: { os_name: "ios", ...device } });

const ORGANIC = { click_company: "", advertiser_id: "", gid: "", aid: "", cid: "", csite: "" };

/** A click of each platform as its link delivers it, a matching registration, and the resulting record of user get. */
const BY_CLICK_KEY: [string, Parameters, Row, Row][] = [
  [
    "tencent by click_id",
    { click_id: "vid1", req_id: "r1", advertiser_id: "1", gid: "2", aid: "3", cid: "4", csite: "SITE_SET_MOMENTS" },
    { gdt_vid: "vid1" },
    {
      advertiser_id: "1",
      gid: "2",
      aid: "3",
      cid: "4",
      csite: "SITE_SET_MOMENTS",
      tencent: {
        account_id: "1",
        campaign_id: "2",
        adgroup_id: "3",
        ad_id: "4",
        site_set_name: "SITE_SET_MOMENTS",
        click_id: "vid1",
        req_id: "r1",
        gdt_vid: "vid1",
      },
    },
  ],
  [
    "tencent by req_id",
    { click_id: "x", req_id: "vid1", aid: "3" },
    { gdt_vid: "vid1", weixinadinfo: "77.vid1.0.1" },
    { aid: "3", tencent: expect.objectContaining({ adgroup_id: "3", gdt_vid: "vid1" }) },
  ],
  [
    "kuaishou by callback",
    { callback: "token1", advertiser_id: "1", gid: "2", aid: "3", cid: "4", csite: "10" },
    { callback: "token1", ksUnitId: "3", ksChannel: "k" },
    {
      advertiser_id: "1",
      gid: "2",
      aid: "3",
      cid: "4",
      csite: "10",
      kuaishou: {
        account_id: "1",
        did: "2",
        aid: "3",
        cid: "4",
        callback: "token1",
        ksCampaignId: "",
        ksUnitId: "3",
        ksCreativeId: "",
        ksChannel: "k",
      },
    },
  ],
  [
    "kuaishou by the callback inside an address",
    { callback: "http://ad.partner.gifshow.com/track/activate?callback=token1", aid: "3" },
    { callback: "token1" },
    { aid: "3" },
  ],
  [
    "bytedance by clue_token",
    { clue_token: "clue1", advertiser_id: "1", project_id: "2", promotion_id: "3", cid: "4", mid1: "m1", mid5: "m5" },
    { clue_token: "clue1" },
    {
      advertiser_id: "1",
      gid: "2",
      aid: "3",
      cid: "4",
      bytedance_v2: { project_id: "2", promotion_id: "3", mid1: "m1", mid2: "", mid3: "", mid4: "", mid5: "m5" },
    },
  ],
  [
    "bytedance 1.0 by its callback",
    { callback: "clue1", advertiser_id: "1", gid: "2", aid: "3", project_id: "0", promotion_id: "__PROMOTION_ID__" },
    { clue_token: "clue1" },
    { advertiser_id: "1", gid: "2", aid: "3" },
  ],
  [
    "baidu by bd_vid",
    { bd_vid: "v1", click_id: "x", advertiser_id: "1", gid: "2", aid: "3", cid: "4" },
    { bd_vid: "v1" },
    { advertiser_id: "1", gid: "2", aid: "3", cid: "4", baidu: { bd_vid: "v1" } },
  ],
  ["baidu by click_id", { click_id: "v1", aid: "3" }, { bd_vid: "v1" }, { aid: "3", baidu: { bd_vid: "v1" } }],
];

test.each(BY_CLICK_KEY)("click key: %s", async (name, parameters, ad_data, record) => {
  const company = name.split(" ")[0]!;
  const app = await server.createApp();
  await touch(app, { company, ...parameters });
  await touch(app, { company, click_id: "somebody else's", callback: "somebody else's", aid: "wrong" });
  await server.register(app, "u", { ad_data });
  await server.register(app, "stranger");
  expect(await lookUp(app)).toMatchObject({
    ...record,
    client_id: "u",
    channel: "c",
    click_company: company,
    turbo_promoted_object_id: CAMPAIGN,
  });
  expect(await methodOf(app)).toBe("click_key");
  expect(await lookUp(app, "stranger")).toMatchObject({ ...ORGANIC, turbo_promoted_object_id: "" });
});

const BY_DEVICE: [string, Parameters, Row][] = [
  ["oaid in both", { oaid: OAID }, android({ oaid: OAID })],
  ["the md5 of the oaid in the link", { oaid_md5: "83e9158a4fb54c0e1ef0b238639a23ae" }, android({ oaid: OAID })],
  ["the md5 in capitals", { oaid_md5: "83E9158A4FB54C0E1EF0B238639A23AE" }, android({ oaid: OAID })],
  ["idfa in both, in small and large letters", { idfa: IDFA.toLowerCase() }, ios({ idfa: IDFA })],
  ["the md5 of the idfa in large letters", { idfa_md5: md5(IDFA) }, ios({ idfa: IDFA.toLowerCase() })],
  ["muid of an Android", { muid: md5(IMEI.toLowerCase()), os: "android" }, android({ imei: IMEI })],
  ["muid of an Android that is a 0", { muid: md5(IMEI.toLowerCase()), os: 0 }, android({ imei: IMEI })],
  ["muid of an iPhone", { muid: md5(IDFA), os: "ios" }, ios({ idfa: IDFA })],
  ["imei_md5 of the imei as it is written", { imei_md5: md5(IMEI) }, android({ imei: IMEI })],
  ["android_id", { android_id_md5: md5("9774d56d682e549d") }, android({ android_id: "9774D56D682E549D" })],
  ["mac", { mac_md5: md5("AA:BB:CC:DD:EE:01") }, android({ mac: "aa:bb:cc:dd:ee:01" })],
  ["caid", { caid: JSON.stringify([{ caid: "c1", version: "20220111" }]) }, ios({ caid1_md5: md5("c1") })],
];

test.each(BY_DEVICE)("device id: %s", async (_, parameters, registration) => {
  const app = await server.createApp();
  await touch(app, { company: "vivo", aid: "3", ...parameters });
  await server.register(app, "u", registration);
  expect(await lookUp(app)).toMatchObject({ click_company: "vivo", aid: "3", turbo_promoted_object_id: CAMPAIGN });
  expect(await methodOf(app)).toBe("device_id");
});

test.each<[string, Parameters, Row]>([
  ["a hash under the name of a raw id", { oaid: md5(OAID) }, android({ oaid: OAID })],
  ["a raw id under the name of a hash", { oaid_md5: OAID }, android({ oaid: OAID })],
  ["an id of no digit but 0", { idfa: "00000000-0000-0000-0000-000000000000" }, ios({ idfa: IDFA })],
  ["the hash of no id", { imei_md5: md5("") }, android({ imei: IMEI })],
  ["the muid of the other system", { muid: md5(IDFA), os: "android" }, ios({ idfa: IDFA })],
])("is not matched by a device id: %s", async (_, parameters, registration) => {
  const app = await server.createApp();
  await touch(app, { company: "vivo", ...parameters });
  await server.register(app, "u", registration);
  expect(await lookUp(app)).toMatchObject(ORGANIC);
});

test("an open id attributes", async () => {
  const app = await server.createApp();
  await touch(app, { company: "tencent", click_id: "c", wx_openid: "o-1", aid: "3" });
  await server.register(app, "u", { wx_openid: "o-1" });
  await server.register(app, "stranger", { wx_openid: "o-2" });
  expect(await lookUp(app)).toMatchObject({ click_company: "tencent", aid: "3" });
  expect(await methodOf(app)).toBe("open_id");
  expect(await lookUp(app, "stranger")).toMatchObject(ORGANIC);
});

test("the launch query alone names platform, ad and campaign, even without a stored touch", async () => {
  const app = await server.createApp();
  const ad_data = { clue_token: "x", advertiser_id: "1", project_id: "2", promotion_id: "3", mid1: "m1" };
  await server.register(app, "u", { ad_data: { ...ad_data, turbo_promoted_object_id: CAMPAIGN } });
  expect(await lookUp(app)).toMatchObject({
    click_company: "bytedance",
    advertiser_id: "1",
    gid: "2",
    aid: "3",
    turbo_promoted_object_id: CAMPAIGN,
    bytedance_v2: { project_id: "2", promotion_id: "3", mid1: "m1", mid2: "", mid3: "", mid4: "", mid5: "" },
  });
  expect(await methodOf(app)).toBe("launch_query");
});

describe("address and user agent", () => {
  const link = { company: "huawei", aid: "3", ip: "203.0.113.7", ua: PHONE_UA };

  test("another browser on the same phone at the same address is the same user", async () => {
    const app = await server.createApp();
    await touch(app, link);
    const client_ua = "Dalvik/2.1.0 (Linux; U; Android 13; M2102J2SC Build/TKQ1.221114.001)";
    await server.register(app, "u", { client_ip: "203.0.113.7", client_ua });
    expect(await lookUp(app)).toMatchObject({ click_company: "huawei", aid: "3" });
    expect(await methodOf(app)).toBe("ip_ua");
  });

  test.each<[string, Row]>([
    ["another address", { client_ip: "203.0.113.8", client_ua: PHONE_UA }],
    ["another phone", { client_ip: "203.0.113.7", client_ua: PHONE_UA.replace("M2102J2SC", "V2031A") }],
    ["another version", { client_ip: "203.0.113.7", client_ua: PHONE_UA.replace("Android 13", "Android 12") }],
    ["the address of the link's caller, which is the platform's own", { client_ua: PHONE_UA }],
  ])("%s is another user", async (_, registration) => {
    const app = await server.createApp();
    await touch(app, link);
    await server.register(app, "u", registration);
    expect(await lookUp(app)).toMatchObject(ORGANIC);
  });

  test("has a window of one day, while surer methods have seven", async () => {
    const app = await server.createApp();
    await touch(app, { ...link, oaid: OAID, ts: Date.now() - 25 * HOUR_MS });
    await server.register(app, "address", { client_ip: "203.0.113.7", client_ua: PHONE_UA });
    await server.register(app, "device", android({ oaid: OAID }));
    expect([await methodOf(app, "address"), await methodOf(app, "device")]).toEqual(["", "device_id"]);
  });

  test("loses to a launch query", async () => {
    const app = await server.createApp();
    await touch(app, link);
    const registration = { client_ip: "203.0.113.7", client_ua: PHONE_UA, ad_data: { gdt_vid: "unknown" } };
    await server.register(app, "u", registration);
    expect(await lookUp(app)).toMatchObject({ click_company: "tencent", aid: "" });
  });
});

test("a user who shares no key with any touch is organic", async () => {
  const app = await server.createApp();
  await touch(app, { company: "tencent", click_id: "c", oaid: OAID, wx_openid: "o-1" });
  await server.register(app, "u", { ...android({ oaid: "another" }), wx_openid: "o-2", ad_data: { scene: "1001" } });
  expect(await lookUp(app)).toMatchObject(ORGANIC);
});

test.each<[string, Parameters, "click" | "impression"]>([
  ["a touch outside the window", { ts: Date.now() - 7 * DAY_MS - HOUR_MS }, "click"],
  ["a touch that comes an hour after the registration", { ts: Date.now() + HOUR_MS }, "click"],
  ["an impression, as long as the rules leave them off", { impression_id: "i" }, "impression"],
])("%s attributes nobody", async (_, parameters, kind) => {
  const app = await server.createApp();
  await touch(app, { company: "vivo", oaid: OAID, ...parameters }, kind);
  await server.register(app, "u", android({ oaid: OAID }));
  expect(await lookUp(app)).toMatchObject(ORGANIC);
});

test("initialize answers with the attribution if asked", async () => {
  const app = await server.createApp();
  await touch(app, { company: "tencent", click_id: "vid1", advertiser_id: "1", aid: "3" });
  const body = { client_id: "u", name: "n", channel: "store", version: 1, ad_data: { gdt_vid: "vid1" } };
  // The server does not wait long for apply, so on a busy machine the test asks again.
  const answer = await eventually(async () => {
    const answered = await server.post("user/initialize/", app, { ...body, need_return_attribution: true });
    expect(answered).toMatchObject({
      code: 0,
      data: {
        token: expect.any(String),
        client_id: "u",
        channel: "store",
        click_company: "tencent",
        advertiser_id: "1",
        aid: "3",
        turbo_promoted_object_id: CAMPAIGN,
        tencent: { account_id: "1", adgroup_id: "3", click_id: "vid1" },
      },
    });
    return answered;
  });
  expect(answer.data).toMatchObject(await lookUp(app));
  expect((await server.post("user/initialize/", app, body)).data).toEqual({ token: answer.data.token });
});

describe("late arrivals", () => {
  test("a touch from before the registration changes the result", async () => {
    const app = await server.createApp();
    await server.register(app, "u", android({ oaid: OAID }));
    expect(await lookUp(app)).toMatchObject(ORGANIC);
    await touch(app, { company: "vivo", oaid: OAID, aid: "old", ts: Date.now() - 2 * HOUR_MS });
    expect(await lookUp(app)).toMatchObject({ click_company: "vivo", aid: "old" });
    await touch(app, { company: "oppo", oaid: OAID, aid: "newer", ts: Date.now() - HOUR_MS });
    expect(await lookUp(app)).toMatchObject({ click_company: "oppo", aid: "newer" });
    await touch(app, { company: "vivo", oaid: OAID, aid: "older", ts: Date.now() - 3 * HOUR_MS });
    expect(await lookUp(app)).toMatchObject({ click_company: "oppo", aid: "newer" });
  });

  test("a touch of a surer method changes the result, one of a less sure method does not", async () => {
    const app = await server.createApp();
    await touch(app, { company: "vivo", oaid: OAID });
    await server.register(app, "u", { ...android({ oaid: OAID }), wx_openid: "o", ad_data: { gdt_vid: "vid1" } });
    expect(await methodOf(app)).toBe("device_id");
    await touch(app, { company: "oppo", wx_openid: "o", ts: Date.now() - HOUR_MS });
    expect(await lookUp(app)).toMatchObject({ click_company: "vivo" });
    await touch(app, { company: "tencent", click_id: "vid1", ts: Date.now() - DAY_MS });
    expect(await lookUp(app)).toMatchObject({ click_company: "tencent" });
    expect(await methodOf(app)).toBe("click_key");
  });

  test("a device info changes the result", async () => {
    const app = await server.createApp();
    await touch(app, { company: "vivo", oaid: OAID, aid: "3" });
    await server.register(app, "u");
    expect(await lookUp(app)).toMatchObject(ORGANIC);
    const data = { os_name: "android", oaid: OAID };
    await server.post("user/device_info/", app, { data }, { query: { client_id: "u" } });
    expect(await lookUp(app)).toMatchObject({ click_company: "vivo", aid: "3" });
  });

  test.each<[string, Row]>([
    ["a click_id", { click_id: "vid1" }],
    ["a click_id with the platform's name", { click_id: "vid1", media_type: "tencent" }],
    ["an open id", { wx_openid: "o-1" }],
  ])("update_data with %s changes the result", async (_, body) => {
    const app = await server.createApp();
    await touch(app, { company: "tencent", click_id: "vid1", wx_openid: "o-1", aid: "3" });
    await server.register(app, "u");
    expect(await lookUp(app)).toMatchObject(ORGANIC);
    await server.post("user/update_data/", app, body, { query: { client_id: "u" } });
    expect(await lookUp(app)).toMatchObject({ click_company: "tencent", aid: "3" });
  });

  test("a click_id of a platform other than the named one finds nothing", async () => {
    const app = await server.createApp();
    await touch(app, { company: "tencent", click_id: "vid1" });
    await server.register(app, "u");
    const body = { click_id: "vid1", media_type: "baidu" };
    await server.post("user/update_data/", app, body, { query: { client_id: "u" } });
    expect(await lookUp(app)).toMatchObject(ORGANIC);
  });

  test("a touch from after the registration changes nothing", async () => {
    const app = await server.createApp();
    await touch(app, { company: "vivo", oaid: OAID, aid: "3", ts: Date.now() - HOUR_MS });
    for (const [client, oaid] of Object.entries({ u: OAID, organic: "oaid-2" }))
      await server.register(app, client, android({ oaid }));
    for (const oaid of [OAID, "oaid-2"]) await touch(app, { company: "oppo", oaid, ts: Date.now() + 1_000 });
    expect(await lookUp(app)).toMatchObject({ click_company: "vivo", aid: "3" });
    expect(await lookUp(app, "organic")).toMatchObject(ORGANIC);
  });

  test("nothing overrides what an attributed register reported, organic included", async () => {
    const app = await server.createApp();
    const body: Row = { ...attributedRegistration("u"), device_info: { os_name: "android", oaid: OAID } };
    await server.post("user/register/attributed/", app, body);
    await server.post("user/register/attributed/", app, { ...body, client_id: "organic", click_company: "" });
    const before = [await lookUp(app), await lookUp(app, "organic")];
    expect(before).toMatchObject([{ click_company: "tencent", aid: "t-adgroup" }, ORGANIC]);
    await touch(app, { company: "vivo", oaid: OAID, ts: body.active_time - 1_000 });
    await server.register(app, "u", { ad_data: { bd_vid: "v1" } });
    expect([await lookUp(app), await lookUp(app, "organic")]).toEqual(before);
    expect(await methodOf(app)).toBe("reported");
  });
});

test("a second registration does not count as new, but an id that it adds counts for the first", async () => {
  const app = await server.createApp();
  await touch(app, { company: "vivo", oaid: OAID, ts: Date.now() - HOUR_MS });
  await server.register(app, "u", { wx_openid: "o" });
  const first = await lookUp(app);
  await touch(app, { company: "tencent", click_id: "vid1" });
  await server.register(app, "u", { ad_data: { gdt_vid: "vid1" }, channel: "other" });
  expect(await lookUp(app)).toEqual(first);
  await server.register(app, "u", android({ oaid: OAID }));
  expect(await lookUp(app)).toMatchObject({ click_company: "vivo", create_time: first.create_time, channel: "c" });
  const why = await cliJson(server.dataDir, ["why", "u", "--app", String(app.appId)]);
  expect(why).toMatchObject({ number: 1, method: "device_id", decisions: [{ number: 1 }] });
});
