import { createHash } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { cliJson } from "../../cli/run.ts";
import { eventually } from "../../support/patience.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { BASE, DAY_MS, HOUR_MS, type Row, Tables } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);

const CAMPAIGN = "campaign-0000001";
const PHONE_UA = "Mozilla/5.0 (Linux; Android 13; M2102J2SC Build/TKQ1) AppleWebKit/537.36 Chrome/104 Mobile";
const md5 = (text: string) => createHash("md5").update(text).digest("hex");

type Parameters = Record<string, string | number>;

/** One app for all tests: each has its own clients, and ids that no other test uses. */
let app: App;
beforeAll(async () => {
  app = await server.createApp();
});

async function touch(parameters: Parameters, kind: "click" | "impression" = "click"): Promise<void> {
  const query = { app_id: app.appId, track_id: CAMPAIGN, ...parameters };
  const texts = Object.entries(query).map(([name, value]) => [name, String(value)]);
  expect(await server.get(`${BASE}/event/${kind}/`, Object.fromEntries(texts))).toMatchObject({ status: 200, code: 0 });
}

async function lookUp(clientId: string): Promise<Row> {
  return (await server.lookUp(app, clientId))[0];
}

/** The `user/get` records of these clients by their ids. */
async function lookUpAll(clientIds: readonly string[]): Promise<Map<string, Row>> {
  const records = await server.lookUp(app, ...clientIds);
  return new Map(records.map((record) => [record.client_id, record]));
}

const methodOf = async (clientId: string) => (await tables.user(app, clientId))?.method;

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
    { click_id: "x", req_id: "vid2", aid: "3" },
    { gdt_vid: "vid2", weixinadinfo: "77.vid2.0.1" },
    { aid: "3", tencent: expect.objectContaining({ adgroup_id: "3", gdt_vid: "vid2" }) },
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
    { callback: "http://ad.partner.gifshow.com/track/activate?callback=token2", aid: "3" },
    { callback: "token2" },
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
    { callback: "clue2", advertiser_id: "1", gid: "2", aid: "3", project_id: "0", promotion_id: "__PROMOTION_ID__" },
    { clue_token: "clue2" },
    { advertiser_id: "1", gid: "2", aid: "3" },
  ],
  [
    "baidu by bd_vid",
    { bd_vid: "v1", click_id: "x", advertiser_id: "1", gid: "2", aid: "3", cid: "4" },
    { bd_vid: "v1" },
    { advertiser_id: "1", gid: "2", aid: "3", cid: "4", baidu: { bd_vid: "v1" } },
  ],
  ["baidu by click_id", { click_id: "v2", aid: "3" }, { bd_vid: "v2" }, { aid: "3", baidu: { bd_vid: "v2" } }],
];

/** A click and a registration by which it is found, by one case of each kind of id. touch-key.test.ts has their spellings. */
const BY_DEVICE: [string, Parameters, Row][] = [
  [
    "the md5 of the oaid in the link",
    { oaid_md5: "83e9158a4fb54c0e1ef0b238639a23ae" },
    android({ oaid: "1fe9a970-efbb-29e0-0bdd-f5dbbf751ab5" }),
  ],
  [
    "idfa in both, in small and large letters",
    { idfa: "6d92078a-8246-4ba4-ae5b-76104861e7dc" },
    ios({ idfa: "6D92078A-8246-4BA4-AE5B-76104861E7DC" }),
  ],
  ["muid of an Android", { muid: md5("a6600000000001"), os: "android" }, android({ imei: "A6600000000001" })],
  ["imei_md5 of the imei as it is written", { imei_md5: md5("A6600000000002") }, android({ imei: "A6600000000002" })],
  ["android_id", { android_id_md5: md5("9774d56d682e549d") }, android({ android_id: "9774D56D682E549D" })],
  ["mac", { mac_md5: md5("AA:BB:CC:DD:EE:01") }, android({ mac: "aa:bb:cc:dd:ee:01" })],
  ["caid", { caid: JSON.stringify([{ caid: "c1", version: "20220111" }]) }, ios({ caid1_md5: md5("c1") })],
];

const NOT_BY_DEVICE: [string, Parameters, Row][] = [
  ["a hash under the name of a raw id", { oaid: md5("oaid-1") }, android({ oaid: "oaid-1" })],
  ["the hash of no id", { imei_md5: md5("") }, android({ imei: "A6600000000003" })],
  ["the muid of the other system", { muid: md5("IDFA-1"), os: "android" }, ios({ idfa: "IDFA-1" })],
];

const NOBODY: [string, Parameters, "click" | "impression"][] = [
  ["a touch outside the window", { oaid: "outside", ts: Date.now() - 7 * DAY_MS - HOUR_MS }, "click"],
  ["a touch that comes an hour after the registration", { oaid: "after", ts: Date.now() + HOUR_MS }, "click"],
  ["an impression, as long as the rules leave them off", { oaid: "seen", impression_id: "i" }, "impression"],
];

describe("a registration and the touches before it", () => {
  const companyOf = (name: string) => name.split(" ")[0]!;
  /** The client of each case is named after it. */
  const REGISTRATIONS = new Map<string, Row>([
    ...BY_CLICK_KEY.map(([name, , ad_data]): [string, Row] => [name, { ad_data }]),
    ...[...BY_DEVICE, ...NOT_BY_DEVICE].map(([name, , registration]): [string, Row] => [name, registration]),
    ...NOBODY.map(([name, { oaid }]): [string, Row] => [name, android({ oaid })]),
    ["stranger", {}],
  ]);
  let records: Map<string, Row>;
  let users: Map<string, Row>;
  beforeAll(async () => {
    await Promise.all([
      ...BY_CLICK_KEY.flatMap(([name, parameters]) => [
        touch({ company: companyOf(name), ...parameters }),
        touch({ company: companyOf(name), click_id: "somebody else's", callback: "somebody else's", aid: "wrong" }),
      ]),
      ...[...BY_DEVICE, ...NOT_BY_DEVICE].map(([, parameters]) => touch({ company: "vivo", aid: "3", ...parameters })),
      ...NOBODY.map(([, parameters, kind]) => touch({ company: "vivo", ...parameters }, kind)),
    ]);
    await Promise.all([...REGISTRATIONS].map(([name, registration]) => server.register(app, name, registration)));
    records = await lookUpAll([...REGISTRATIONS.keys()]);
    users = await tables.users(app);
  });

  test.each(BY_CLICK_KEY)("click key: %s", (name, _parameters, _adData, record) => {
    expect(records.get(name)).toMatchObject({
      ...record,
      channel: "c",
      click_company: companyOf(name),
      turbo_promoted_object_id: CAMPAIGN,
    });
    expect(users.get(name)!.method).toBe("click_key");
  });

  test("a user without any of these keys is organic", () => {
    expect(records.get("stranger")).toMatchObject({ ...ORGANIC, turbo_promoted_object_id: "" });
  });

  test.each(BY_DEVICE)("device id: %s", (name) => {
    const expected = { click_company: "vivo", aid: "3", turbo_promoted_object_id: CAMPAIGN };
    expect(records.get(name)).toMatchObject(expected);
    expect(users.get(name)!.method).toBe("device_id");
  });

  test.each(NOT_BY_DEVICE)("is not matched by a device id: %s", (name) => {
    expect(records.get(name)).toMatchObject(ORGANIC);
  });

  test.each(NOBODY)("%s attributes nobody", (name) => {
    expect(records.get(name)).toMatchObject(ORGANIC);
  });
});

test("an open id attributes", async () => {
  await touch({ company: "tencent", click_id: "c", wx_openid: "o-1", aid: "3" });
  await server.register(app, "open id", { wx_openid: "o-1" });
  await server.register(app, "another open id", { wx_openid: "o-2" });
  expect(await lookUp("open id")).toMatchObject({ click_company: "tencent", aid: "3" });
  expect(await methodOf("open id")).toBe("open_id");
  expect(await lookUp("another open id")).toMatchObject(ORGANIC);
});

test("the launch query alone names platform, ad and campaign, even without a stored touch", async () => {
  const ad_data = { clue_token: "x", advertiser_id: "1", project_id: "2", promotion_id: "3", mid1: "m1" };
  await server.register(app, "launch query", { ad_data: { ...ad_data, turbo_promoted_object_id: CAMPAIGN } });
  expect(await lookUp("launch query")).toMatchObject({
    click_company: "bytedance",
    advertiser_id: "1",
    gid: "2",
    aid: "3",
    turbo_promoted_object_id: CAMPAIGN,
    bytedance_v2: { project_id: "2", promotion_id: "3", mid1: "m1", mid2: "", mid3: "", mid4: "", mid5: "" },
  });
  expect(await methodOf("launch query")).toBe("launch_query");
});

describe("address and user agent", () => {
  const link = { company: "huawei", aid: "3", ip: "203.0.113.7", ua: PHONE_UA };
  const OTHERS: [string, Row][] = [
    ["another address", { client_ip: "203.0.113.8", client_ua: PHONE_UA }],
    ["another phone", { client_ip: "203.0.113.7", client_ua: PHONE_UA.replace("M2102J2SC", "V2031A") }],
    ["another version", { client_ip: "203.0.113.7", client_ua: PHONE_UA.replace("Android 13", "Android 12") }],
    ["the address of the link's caller, which is the platform's own", { client_ua: PHONE_UA }],
  ];
  const client_ua = "Dalvik/2.1.0 (Linux; U; Android 13; M2102J2SC Build/TKQ1.221114.001)";
  const REGISTRATIONS = new Map<string, Row>([
    ...OTHERS,
    ["another browser", { client_ip: "203.0.113.7", client_ua }],
    ["launch query too", { client_ip: "203.0.113.7", client_ua: PHONE_UA, ad_data: { gdt_vid: "unknown" } }],
    ["after a day, by address", { client_ip: "203.0.113.9", client_ua: PHONE_UA }],
    ["after a day, by device", android({ oaid: "of yesterday" })],
  ]);
  let records: Map<string, Row>;
  let users: Map<string, Row>;
  beforeAll(async () => {
    await touch(link);
    await touch({ ...link, ip: "203.0.113.9", oaid: "of yesterday", ts: Date.now() - 25 * HOUR_MS });
    await Promise.all([...REGISTRATIONS].map(([name, registration]) => server.register(app, name, registration)));
    records = await lookUpAll([...REGISTRATIONS.keys()]);
    users = await tables.users(app);
  });

  test("another browser on the same phone at the same address is the same user", () => {
    expect(records.get("another browser")).toMatchObject({ click_company: "huawei", aid: "3" });
    expect(users.get("another browser")!.method).toBe("ip_ua");
  });

  test.each(OTHERS)("%s is another user", (name) => {
    expect(records.get(name)).toMatchObject(ORGANIC);
  });

  test("has a window of one day, while surer methods have seven", () => {
    expect(users.get("after a day, by address")!.method).toBe("");
    expect(users.get("after a day, by device")!.method).toBe("device_id");
  });

  test("loses to a launch query", () => {
    expect(records.get("launch query too")).toMatchObject({ click_company: "tencent", aid: "" });
  });
});

test("a user who shares no key with any touch is organic", async () => {
  await touch({ company: "tencent", click_id: "c1", oaid: "oaid-2", wx_openid: "o-3" });
  const registration = { ...android({ oaid: "another" }), wx_openid: "o-4", ad_data: { scene: "1001" } };
  await server.register(app, "no key", registration);
  expect(await lookUp("no key")).toMatchObject(ORGANIC);
});

test("initialize answers with the attribution if asked", async () => {
  await touch({ company: "tencent", click_id: "vid3", advertiser_id: "1", aid: "3" });
  const body = { client_id: "asks", name: "n", channel: "store", version: 1, ad_data: { gdt_vid: "vid3" } };
  // The server does not wait long for apply, so on a busy machine the test asks again.
  const answer = await eventually(async () => {
    const answered = await server.post("user/initialize/", app, { ...body, need_return_attribution: true });
    expect(answered).toMatchObject({
      code: 0,
      data: {
        token: expect.any(String),
        client_id: "asks",
        channel: "store",
        click_company: "tencent",
        advertiser_id: "1",
        aid: "3",
        turbo_promoted_object_id: CAMPAIGN,
        tencent: { account_id: "1", adgroup_id: "3", click_id: "vid3" },
      },
    });
    return answered;
  });
  expect(answer.data).toMatchObject(await lookUp("asks"));
  expect((await server.post("user/initialize/", app, body)).data).toEqual({ token: answer.data.token });
});

test("a second registration does not count as new, but an id that it adds counts for the first", async () => {
  const client = "registers again";
  await touch({ company: "vivo", oaid: client, ts: Date.now() - HOUR_MS });
  await server.register(app, client, { wx_openid: client });
  const first = await lookUp(client);
  await touch({ company: "tencent", click_id: client });
  await server.register(app, client, { ad_data: { gdt_vid: client }, channel: "other" });
  expect(await lookUp(client)).toEqual(first);
  await server.register(app, client, android({ oaid: client }));
  expect(await lookUp(client)).toMatchObject({ click_company: "vivo", create_time: first.create_time, channel: "c" });
  const why = await cliJson(server.dataDir, ["why", client, "--app", String(app.appId)]);
  expect(why).toMatchObject({ number: 1, method: "device_id", decisions: [{ number: 1 }] });
});
