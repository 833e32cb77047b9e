import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { registration, attributedRegistration as valid } from "../endpoints.ts";
import { type Row, Tables, track } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);

/** One app for all tests; each that registers somebody has its own client. */
let app: App;
beforeAll(async () => {
  app = await server.createApp();
});

const post = (body: unknown, to: App = app) => server.post("user/register/attributed/", to, body);
const accept = async (body: Row, to?: App) => expect(await post(body, to)).toMatchObject({ code: 0 });
const lookUp = async (clientId: string) => (await server.lookUp(app, clientId))[0];

const FIELDS = Object.keys(valid("a"));

describe("every field is required", () => {
  test.each(FIELDS)("%s: missing and null are refused with 1004", async (field) => {
    for (const value of [undefined, null]) {
      const answer = await post({ ...valid("refused"), [field]: value });
      expect(answer).toMatchObject({ status: 200, code: 1004, msg: expect.stringContaining(field), data: {} });
    }
    expect(await tables.user(app, "refused")).toBeUndefined();
  });

  test("device_info may be left out or empty, but not null", async () => {
    await accept(valid("without a device"));
    await accept({ ...valid("with an empty device"), device_info: "" });
    const refused = await post({ ...valid("refused"), device_info: null });
    expect(refused).toMatchObject({ code: 1004, msg: expect.stringContaining("device_info") });
  });
});

describe("an empty text stands for an unknown value", () => {
  const needed = ["client_id", "name", "active_time"];
  const others = FIELDS.filter((field) => !needed.includes(field));
  let users: Map<string, Row>;
  beforeAll(async () => {
    await Promise.all(others.map((field) => accept({ ...valid(`empty ${field}`), [field]: "" })));
    users = await tables.users(app);
  });

  test.each(others)("for %s", (field) => {
    expect(users.get(`empty ${field}`)).toMatchObject({ is_registered: true });
  });

  test.each(needed)("but not for %s", async (field) => {
    const answer = await post({ ...valid("refused"), [field]: "" });
    expect(answer).toMatchObject({ code: 1004, msg: expect.stringContaining(field) });
  });

  test("for all of them at once: the user is organic", async () => {
    const empty = Object.fromEntries(others.map((field) => [field, ""]));
    await accept({ ...valid("all empty"), ...empty, active_time: 1_700_000_000_000 });
    expect(await lookUp("all empty")).toMatchObject({
      click_company: "",
      advertiser_id: "",
      aid: "",
      cid: "",
      channel: "",
      create_time: "2023-11-15 06:13:20",
    });
    expect(await tables.user(app, "all empty")).toMatchObject({ os_platform: "unknown", touched_at_ms: null });
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
  for (const value of wrong[field]!) {
    const answer = await post({ ...valid("refused"), [field]: value });
    expect({ value, ...answer }).toMatchObject({ value, status: 200, code: 1004, data: {} });
    expect(answer.msg).toContain(field);
  }
  expect(await tables.user(app, "refused")).toBeUndefined();
});

test("turbo_promoted_object_id is 16 characters of any script", async () => {
  const ids = ["0123456789abcdef", "推广活动推广活动推广活动推广活动", "🎮".repeat(16)];
  for (const id of ids) await accept({ ...valid(id), turbo_promoted_object_id: id });
  const users = await tables.users(app);
  for (const id of ids) expect(users.get(id)).toMatchObject({ turbo_promoted_object_id: id });
});

test("the answer holds a token, and the user is known at once", async () => {
  const answer = await post(valid("new"));
  expect(answer).toMatchObject({ status: 200, code: 0, msg: "success", extra: {} });
  expect(answer.data).toEqual({ token: expect.stringMatching(/^\S{10,}$/) });
  expect(await lookUp("new")).toMatchObject({ client_id: "new", click_company: "tencent" });
  expect(await server.collect(app, "new", [track("e")])).toMatchObject({ code: 0 });
});

describe("the times", () => {
  const [active, click] = [1_704_067_199_000, 1_704_060_000_123];

  test("the registration has active_time, the touch click_time", async () => {
    await accept({ ...valid("with both times"), active_time: active, click_time: click, active_ip: "8.8.8.8" });
    expect(await tables.user(app, "with both times")).toMatchObject({
      registered_at_ms: active,
      registered_day: "2024-01-01",
      touched_at_ms: click,
      ip: "8.8.8.8",
      os_platform: "android",
      channel: "store",
      version: 3,
      name: "Ann",
    });
  });

  test("without click_time the touch has active_time", async () => {
    await accept({ ...valid("without click_time"), active_time: active, click_time: "" });
    const user = await tables.user(app, "without click_time");
    expect(user).toMatchObject({ registered_at_ms: active, touched_at_ms: active });
  });

  test.each([
    ["Asia/Shanghai", [[active, "2024-01-01 07:59:59"]]],
    [
      "America/New_York",
      [
        [active, "2023-12-31 18:59:59"],
        [1_710_054_000_000, "2024-03-10 03:00:00"],
        [1_720_000_000_000, "2024-07-03 05:46:40"],
      ],
    ],
  ] as const)("create_time is a text in the app's zone: %s %j", async (timeZone, times) => {
    const zoned = await server.createApp({ timeZone });
    for (const [active_time, expected] of times) await accept({ ...valid(expected), active_time }, zoned);
    const records = await server.lookUp(zoned, ...times.map(([, expected]) => expected));
    expect(records.map((record) => record.create_time)).toEqual(times.map(([, expected]) => expected));
    const users = await tables.users(zoned);
    for (const [, expected] of times)
      expect(users.get(expected)).toMatchObject({ registered_day: expected.slice(0, 10) });
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

  const BARE = ["baidu", "huawei", "vivo", "oppo", "xiaomi"];
  /** The client of a case is named after the fields that it sends. */
  const clientOf = (fields: Row) => JSON.stringify(fields).slice(0, 128);
  let records: Map<string, Row>;
  beforeAll(async () => {
    const others = { tencent: {}, kuaishou: { account_id: "wrong" }, bytedance: { advertiser_id: "wrong" }, asa: {} };
    await Promise.all([
      ...cases.map(([platform, fields]) =>
        accept({ ...valid(clientOf(fields)), click_company: platform, ad_data: { ...others, [platform]: fields } }),
      ),
      ...BARE.map((platform) => accept({ ...valid(platform), click_company: platform, ad_data: {} })),
    ]);
    const found = await server.lookUp(app, ...cases.map(([, fields]) => clientOf(fields)), ...BARE);
    records = new Map(found.map((record) => [record.client_id, record]));
  });

  test.each(cases)("%s %j", (platform, fields, expected) => {
    expect(records.get(clientOf(fields))).toMatchObject({ click_company: platform, ...expected });
  });

  test.each(BARE)("%s is a known platform too", (platform) => {
    expect(records.get(platform)).toMatchObject({ click_company: platform });
  });

  test("unreplaced macros count as empty", async () => {
    const ad_data = { tencent: { account_id: "__ACCOUNT_ID__", adgroup_id: "__ADGROUP_ID__", ad_id: "" } };
    await accept({ ...valid("macros"), ad_data });
    expect(await lookUp("macros")).toMatchObject({ click_company: "tencent", advertiser_id: "", aid: "", cid: "" });
  });

  test("an organic user has no platform's ids, whatever ad_data says", async () => {
    await accept({ ...valid("organic"), click_company: "" });
    expect(await lookUp("organic")).toMatchObject({ click_company: "", advertiser_id: "", aid: "", cid: "" });
  });
});

describe("a repeated call", () => {
  test("changes neither time nor attribution, but updates name, version and device", async () => {
    const first = valid("twice");
    const { data: once } = await post(first);
    const again = { ...first, name: "Bob", version: 4, channel: "other", click_company: "kuaishou", active_time: 1 };
    const device_info = { os_name: "android", oaid: "oaid-9" };
    const { data: twice } = await post({ ...again, turbo_promoted_object_id: "f".repeat(16), device_info });
    expect(twice).toEqual(once);
    expect(await tables.user(app, "twice")).toMatchObject({
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
    await server.post("user/register/", app, { ...registration("known before"), ad_data: { gdt_vid: "g" } });
    const before = await tables.user(app, "known before");
    await accept({ ...valid("known before"), click_company: "kuaishou", active_time: 1_600_000_000_000 });
    expect(await tables.user(app, "known before")).toMatchObject({
      registered_at_ms: before!.registered_at_ms,
      ad_platform: "tencent",
    });
  });
});

describe("no acknowledged registration is lost", () => {
  const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
  const bodies = new Map([
    ...[1.5, -3, 1e15, 1e20, 1.7e308].map((version): [string, string] => {
      const client = `version ${version}`;
      return [client, JSON.stringify({ ...valid(client), version })];
    }),
    [
      "deep nesting in extra",
      JSON.stringify({ ...valid("deep nesting in extra"), extra: 1 }).replace('"extra":1', `"extra":${deep}`),
    ],
    ["deep nesting in ad_data", JSON.stringify(valid("deep nesting in ad_data")).replace('"t-account"', deep)],
  ]);
  const codes = new Map<string, number>();
  let users: Map<string, Row>;
  beforeAll(async () => {
    await Promise.all([...bodies].map(async ([client, body]) => codes.set(client, (await post(body)).code)));
    users = await tables.users(app);
  });

  test.each([...bodies.keys()])("with %s", (client) => {
    if (codes.get(client) === 0) expect(users.get(client)).toMatchObject({ is_registered: true });
    else expect(codes.get(client)).toBe(1004);
  });
});
