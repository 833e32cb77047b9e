import { describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { registration, attributedRegistration as valid } from "../endpoints.ts";
import { type Row, Tables, track } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);

const post = (app: App, body: unknown) => server.post("user/register/attributed/", app, body);
const lookUp = async (app: App) => (await server.lookUp(app, "a"))[0];

const FIELDS = Object.keys(valid("a"));

describe("every field is required", () => {
  test.each(FIELDS)("%s: missing and null are refused with 1004", async (field) => {
    const app = await server.createApp();
    for (const value of [undefined, null]) {
      const answer = await post(app, { ...valid("a"), [field]: value });
      expect(answer).toMatchObject({ status: 200, code: 1004, msg: expect.stringContaining(field), data: {} });
    }
    expect(await tables.user(app, "a")).toBeUndefined();
  });

  test("device_info may be left out or empty, but not null", async () => {
    const app = await server.createApp();
    expect(await post(app, valid("a"))).toMatchObject({ code: 0 });
    expect(await post(app, { ...valid("b"), device_info: "" })).toMatchObject({ code: 0 });
    const refused = await post(app, { ...valid("c"), device_info: null });
    expect(refused).toMatchObject({ code: 1004, msg: expect.stringContaining("device_info") });
  });
});

describe("an empty text stands for an unknown value", () => {
  const needed = ["client_id", "name", "active_time"];

  test.each(FIELDS.filter((field) => !needed.includes(field)))("for %s", async (field) => {
    const app = await server.createApp();
    expect(await post(app, { ...valid("a"), [field]: "" })).toMatchObject({ code: 0 });
    expect(await tables.user(app, "a")).toMatchObject({ is_registered: true });
  });

  test.each(needed)("but not for %s", async (field) => {
    const answer = await post(await server.createApp(), { ...valid("a"), [field]: "" });
    expect(answer).toMatchObject({ code: 1004, msg: expect.stringContaining(field) });
  });

  test("for all of them at once: the user is organic", async () => {
    const app = await server.createApp({ timeZone: "UTC" });
    const empty = Object.fromEntries(FIELDS.filter((field) => !needed.includes(field)).map((field) => [field, ""]));
    expect(await post(app, { ...valid("a"), ...empty, active_time: 1_700_000_000_000 })).toMatchObject({ code: 0 });
    expect(await lookUp(app)).toMatchObject({
      click_company: "",
      advertiser_id: "",
      aid: "",
      cid: "",
      channel: "",
      create_time: "2023-11-14 22:13:20",
    });
    expect(await tables.user(app, "a")).toMatchObject({ os_platform: "unknown", touched_at_ms: null });
  });
});

const wrong: Record<string, unknown[]> = {
  client_id: [{}, [], true, "x".repeat(129)],
  name: [7, {}, [], true],
  channel: [7, {}, [], true],
  version: ["1", {}, [], true],
  turbo_promoted_object_id: [7, {}, "0123456789abcde", "0123456789abcdef0", "x"],
  active_time: ["1700000000000", 1_700_000_000_000.5, 0, -1, {}, true, 1e300],
  active_ip: [7, {}, [], true],
  click_time: ["1700000000000", 1_700_000_000_000.5, -1, {}, true, 1e300],
  click_ip: [7, {}, [], true],
  click_company: [7, {}, "nobody", "Tencent Ads", " "],
  ad_data: ["{}", 7, true, ["x"]],
  os_type: [7, {}, "windows", "unknown", " "],
  device_info: [7, true, ["x"], {}, { os_name: "windows" }],
};

test.each(Object.keys(wrong))("a wrong %s is refused with 1004 and named", async (field) => {
  const app = await server.createApp();
  for (const value of wrong[field]!) {
    const answer = await post(app, { ...valid("a"), [field]: value });
    expect({ value, ...answer }).toMatchObject({ value, status: 200, code: 1004, data: {} });
    expect(answer.msg).toContain(field);
  }
  expect(await tables.user(app, "a")).toBeUndefined();
});

test("turbo_promoted_object_id is 16 characters of any script", async () => {
  const app = await server.createApp();
  for (const [index, id] of ["0123456789abcdef", "推广活动推广活动推广活动推广活动", "🎮".repeat(16)].entries()) {
    expect(await post(app, { ...valid(`c${index}`), turbo_promoted_object_id: id })).toMatchObject({ code: 0 });
    expect(await tables.user(app, `c${index}`)).toMatchObject({ turbo_promoted_object_id: id });
  }
});

test("the answer holds a token, and the user is known at once", async () => {
  const app = await server.createApp();
  const answer = await post(app, valid("a"));
  expect(answer).toMatchObject({ status: 200, code: 0, msg: "success", extra: {} });
  expect(answer.data).toEqual({ token: expect.stringMatching(/^\S{10,}$/) });
  expect(await lookUp(app)).toMatchObject({ client_id: "a", click_company: "tencent" });
  expect(await server.collect(app, "a", [track("e")])).toMatchObject({ code: 0 });
});

describe("the times", () => {
  const [active, click] = [1_704_067_199_000, 1_704_060_000_123];

  test("the registration has active_time, the touch click_time", async () => {
    const app = await server.createApp({ timeZone: "UTC" });
    await post(app, { ...valid("a"), active_time: active, click_time: click, active_ip: "8.8.8.8" });
    expect(await tables.user(app, "a")).toMatchObject({
      registered_at_ms: active,
      registered_day: "2023-12-31",
      touched_at_ms: click,
      ip: "8.8.8.8",
      os_platform: "android",
      channel: "store",
      version: 3,
      name: "Ann",
    });
  });

  test("without click_time the touch has active_time", async () => {
    const app = await server.createApp();
    await post(app, { ...valid("a"), active_time: active, click_time: "" });
    expect(await tables.user(app, "a")).toMatchObject({ registered_at_ms: active, touched_at_ms: active });
  });

  test.each([
    ["Asia/Shanghai", active, "2024-01-01 07:59:59"],
    ["UTC", active, "2023-12-31 23:59:59"],
    ["America/New_York", active, "2023-12-31 18:59:59"],
    ["America/New_York", 1_720_000_000_000, "2024-07-03 05:46:40"],
    ["America/New_York", 1_710_054_000_000, "2024-03-10 03:00:00"],
    ["Europe/London", 1_720_000_000_000, "2024-07-03 10:46:40"],
    ["Asia/Kolkata", active, "2024-01-01 05:29:59"],
    ["Asia/Kathmandu", active, "2024-01-01 05:44:59"],
    ["Pacific/Auckland", active, "2024-01-01 12:59:59"],
    ["Pacific/Kiritimati", active, "2024-01-01 13:59:59"],
    ["America/St_Johns", active, "2023-12-31 20:29:59"],
  ])("create_time is a text in the app's zone: %s at %i is %s", async (timeZone, active_time, expected) => {
    const app = await server.createApp({ timeZone });
    await post(app, { ...valid("a"), active_time });
    expect((await lookUp(app)).create_time).toBe(expected);
    expect(await tables.user(app, "a")).toMatchObject({ registered_day: expected.slice(0, 10) });
  });
});

describe("ad_data is keyed by the platform", () => {
  const cases: [platform: string, fields: Row, expected: Row][] = [
    [
      "tencent",
      { account_id: "t1", campaign_id: "t2", adgroup_id: "t3", ad_id: "t4", click_id: "t5", site_set_name: "t6" },
      { advertiser_id: "t1", gid: "t2", aid: "t3", cid: "t4", csite: "t6", tencent: { click_id: "t5" } },
    ],
    [
      "kuaishou",
      { account_id: "k1", did: "k2", aid: "k3", cid: "k4", callback: "k5" },
      { advertiser_id: "k1", gid: "k2", aid: "k3", cid: "k4", kuaishou: { callback: "k5" } },
    ],
    [
      "bytedance",
      { advertiser_id: "b1", campaign_id: "b2", aid: "b3", cid: "b4", csite: "b5", req_id: "b6", callback: "b7" },
      { advertiser_id: "b1", gid: "b2", aid: "b3", cid: "b4", csite: "b5" },
    ],
    [
      "bytedance",
      { advertiser_id: "b1", project_id: "b2", promotion_id: "b3", cid: "b4", mid1: "m1", mid5: "m5", mid6: "m6" },
      {
        advertiser_id: "b1",
        gid: "b2",
        aid: "b3",
        cid: "b4",
        bytedance_v2: { project_id: "b2", promotion_id: "b3", mid1: "m1", mid2: "", mid3: "", mid4: "", mid5: "m5" },
      },
    ],
    [
      "asa",
      { attribution: "true", orgId: 1, campaignId: 2, adGroupId: 3, keywordId: 4, adId: 5, countryOrRegion: "CN" },
      { advertiser_id: "1", gid: "2", aid: "5", asa: { adGroupId: "3", countryOrRegion: "CN" } },
    ],
  ];

  test.each(cases)("%s %j", async (platform, fields, expected) => {
    const app = await server.createApp();
    const others = { tencent: {}, kuaishou: { account_id: "wrong" }, bytedance: { advertiser_id: "wrong" }, asa: {} };
    const ad_data = { ...others, [platform]: fields };
    expect(await post(app, { ...valid("a"), click_company: platform, ad_data })).toMatchObject({ code: 0 });
    expect(await lookUp(app)).toMatchObject({ click_company: platform, ...expected });
  });

  test("unreplaced macros count as empty", async () => {
    const app = await server.createApp();
    const ad_data = { tencent: { account_id: "__ACCOUNT_ID__", adgroup_id: "__ADGROUP_ID__", ad_id: "" } };
    await post(app, { ...valid("a"), ad_data });
    expect(await lookUp(app)).toMatchObject({ click_company: "tencent", advertiser_id: "", aid: "", cid: "" });
  });

  test("an organic user has no platform's ids, whatever ad_data says", async () => {
    const app = await server.createApp();
    await post(app, { ...valid("a"), click_company: "" });
    expect(await lookUp(app)).toMatchObject({ click_company: "", advertiser_id: "", aid: "", cid: "" });
  });

  test.each(["baidu", "huawei", "vivo", "oppo", "xiaomi"])("%s is a known platform too", async (click_company) => {
    const app = await server.createApp();
    expect(await post(app, { ...valid("a"), click_company, ad_data: {} })).toMatchObject({ code: 0 });
    expect(await lookUp(app)).toMatchObject({ click_company });
  });
});

describe("a repeated call", () => {
  test("changes neither time nor attribution, but updates name, version and device", async () => {
    const app = await server.createApp();
    const first = valid("a");
    const { data: once } = await post(app, first);
    const again = { ...first, name: "Bob", version: 4, channel: "other", click_company: "kuaishou", active_time: 1 };
    const device_info = { os_name: "android", oaid: "oaid-9" };
    const { data: twice } = await post(app, { ...again, turbo_promoted_object_id: "f".repeat(16), device_info });
    expect(twice).toEqual(once);
    expect(await tables.user(app, "a")).toMatchObject({
      name: "Bob",
      version: 4,
      channel: "store",
      ad_platform: "tencent",
      registered_at_ms: first.active_time,
      turbo_promoted_object_id: "0123456789abcdef",
      device: { oaid: "oaid-9" },
    });
  });

  test("after a plain registration keeps that one's time and source", async () => {
    const app = await server.createApp();
    await server.post("user/register/", app, { ...registration("a"), ad_data: { gdt_vid: "g" } });
    const before = await tables.user(app, "a");
    await post(app, { ...valid("a"), click_company: "kuaishou", active_time: 1_600_000_000_000 });
    expect(await tables.user(app, "a")).toMatchObject({
      registered_at_ms: before!.registered_at_ms,
      ad_platform: "tencent",
    });
  });
});

describe("no acknowledged registration is lost", () => {
  test.each([1.5, -3, 1e15, 1e20, 1.7e308])("with version %d", async (version) => {
    const app = await server.createApp();
    const { code } = await post(app, { ...valid("a"), version });
    if (code === 0) expect(await tables.user(app, "a")).toMatchObject({ is_registered: true });
    else expect(code).toBe(1004);
  });

  test.each(["extra", "ad_data"])("with deep nesting in %s", async (field) => {
    const app = await server.createApp();
    const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
    const { ad_data, ...rest } = valid("a");
    const text = JSON.stringify({ ...rest, ad_data, extra: 1 });
    const body = field === "extra" ? text.replace('"extra":1', `"extra":${deep}`) : text.replace('"t-account"', deep);
    const { code } = await server.post("user/register/attributed/", app, body);
    if (code === 0) expect(await tables.user(app, "a")).toMatchObject({ is_registered: true });
    else expect(code).toBe(1004);
  });
});
