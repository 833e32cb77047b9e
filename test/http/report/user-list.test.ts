import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { DAY_MS, profile, type Row, track } from "../fixture.ts";
import { at, collect, payment, register, ZONE } from "./list-people.ts";
import { ATTRIBUTION_FIELDS, ReportLists, USER_FIELDS } from "./report-lists.ts";

const server = sharedServer();
const lists = new ReportLists(server);

const DEVICE_FIELDS = [
  ..."DeviceId OS Idfa Idfv Caid1 Caid2 Oaid Imei AndroidId Android_Version Api_Version Rom Rom_version".split(" "),
  ..."Aspect_Ratio Phone_Brand Phone_Model".split(" "),
];
const REGISTERED_MS = at("2025-03-10T00:00:00.000");

const ARRIVAL = { active_time: REGISTERED_MS, click_time: REGISTERED_MS - 1 };

/** One app for all tests; each has its own users. */
let app: App;
beforeAll(async () => {
  app = await server.createApp({ timeZone: ZONE });
});

/** The records of these users. */
async function usersOf(clientIds: readonly string[], of: App = app): Promise<Row[]> {
  await server.settle();
  return (await lists.read("user", of, { user_filtering: { client_id_list: clientIds } })).list;
}

async function userOf(clientId: string, of: App = app): Promise<Row> {
  const users = await usersOf([clientId], of);
  expect(users).toHaveLength(1);
  return users[0]!;
}

const arrive = (clientId: string, more: Row = {}, at: App = app) =>
  register(server, at, clientId, { ...ARRIVAL, ...more });

describe("a user record", () => {
  test("has exactly the fields of the interface, whatever is known of the user", async () => {
    const more = ["user$first_visit_time", "user$name", "re_attribute_info", "device_info"];
    const fields = [...ATTRIBUTION_FIELDS, ...USER_FIELDS, ...more].sort();
    expect(fields).toHaveLength(14 + 33 + 4);
    await arrive("well known", { device_info: { os_name: "ios", mac: "", other: "x" } });
    await server.register(app, "unknown");
    await collect(server, app, "well known", profile("profile_set", { own: 1, $own: 2 }), payment("o", 1, { own: 1 }));
    const users = await usersOf(["well known", "unknown"]);
    expect(users.map((user) => Object.keys(user).sort())).toEqual([fields, fields]);
    for (const user of users) expect(Object.keys(user.device_info).sort()).toEqual([...DEVICE_FIELDS].sort());
  });

  test("with only a registration has empty texts and zeros", async () => {
    await server.register(app, "registered", { name: "", channel: "", version: 0 });
    const user = await userOf("registered");
    const { CreateTime, ClientID, AdPlatform, LatestLoginDay, re_attribute_info, device_info, ...rest } = user;
    expect([ClientID, AdPlatform, re_attribute_info]).toEqual(["registered", "natural", null]);
    expect(CreateTime).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
    expect(LatestLoginDay).toBe(CreateTime.slice(0, 10).replaceAll("-", ""));
    for (const [field, value] of Object.entries(rest))
      expect([field, value]).toEqual([field, typeof value === "number" ? 0 : ""]);
    expect(typeof user.Version).toBe("number");
  });

  test("says who the user is and which ad brought them", async () => {
    const tencent = { account_id: "acc", campaign_id: "plan", adgroup_id: "ad", ad_id: "creative" };
    await arrive("brought", {
      name: "李",
      channel: "store",
      version: 7,
      ad_data: { tencent: { ...tencent, site_set_name: "moments" } },
    });
    await server.post("user/update_data/", app, { wx_openid: "open" }, { query: { client_id: "brought" } });
    expect(await userOf("brought")).toMatchObject({
      CreateTime: "2025-03-10 00:00:00",
      ClientID: "brought",
      AdPlatform: "tencent",
      Channel: "store",
      Version: 7,
      TurboPromotedObjectID: "0123456789abcdef",
      Name: "李",
      WXOpenID: "open",
      AdvertiserID: "acc",
      AdAid: "ad",
      AdGid: "plan",
      AdCid: "creative",
      CSite: "moments",
      LatestLoginDay: "20250310",
      re_attribute_info: null,
    });
  });

  test("of an organic user says natural", async () => {
    await arrive("organic", { click_company: "", ad_data: {}, turbo_promoted_object_id: "" });
    const nothing = { AdvertiserID: "", AdGid: "", AdAid: "", AdCid: "", CSite: "", TurboPromotedObjectID: "" };
    expect(await userOf("organic")).toMatchObject({ AdPlatform: "natural", ...nothing });
  });

  test.each([
    ["Asia/Shanghai", "2025-03-10 02:30:00", "2025-03-31 01:00:00", "20250331"],
    ["America/New_York", "2025-03-09 14:30:00", "2025-03-30 13:00:00", "20250330"],
    ["UTC", "2025-03-09 18:30:00", "2025-03-30 17:00:00", "20250330"],
  ])("has its times in the time zone %s", async (timeZone, CreateTime, user$first_pay_time, LatestLoginDay) => {
    const zoned = await server.createApp({ timeZone });
    await arrive("u", {}, zoned);
    await collect(server, zoned, "u", payment("o", 1, {}, Date.parse("2025-03-30T17:00:00.999Z")));
    expect(await userOf("u", zoned)).toMatchObject({ CreateTime, user$first_pay_time, LatestLoginDay });
  });

  test("has the last day on which the user was active, whatever arrives later", async () => {
    await arrive("active");
    for (const time of ["2025-04-02T23:59:59.999", "2025-03-31T12:00:00"])
      await collect(server, app, "active", { ...track("seen", {}, at(time)), time_free: true });
    expect((await userOf("active")).LatestLoginDay).toBe("20250402");
  });

  test("has payments in cents", async () => {
    await arrive("pays");
    await collect(server, app, "pays", payment("1", 600, { $pay_method: "wx", $pay_reason: "sword" }, REGISTERED_MS));
    await collect(server, app, "pays", payment("2", 123_456_789, { $pay_method: "ali" }), payment("3", 0));
    expect(await userOf("pays")).toMatchObject({
      user$pay_count: 3,
      user$pay_amount_sum: 123_457_389,
      user$pay_max_amount: 123_456_789,
      user$first_pay_method: "wx",
      user$first_pay_reason: "sword",
      user$first_pay_time: "2025-03-10 00:00:00",
    });
  });

  test("has the ad revenue in major units, by kind and for the first 24 hours", async () => {
    await arrive("sees ads");
    const show = ($ecpm: number, $ad_type: string, afterMs: number) => ({
      ...track("$AdShow", { $ecpm, $ad_type }, REGISTERED_MS + afterMs),
      time_free: true,
    });
    await collect(
      ...([server, app, "sees ads"] as const),
      ...[show(12.34, "reward", 0), show(0.1, "interstitial", DAY_MS - 1)],
      ...[show(100.005, "reward", DAY_MS), show(5, "banner", DAY_MS)],
    );
    expect(await userOf("sees ads")).toMatchObject({
      user$ad_count: 4,
      user$ad_ltv: 0.117445,
      user$ad_avg_ecpm: 29.3613,
      user$ad_max_ecpm: 100.005,
      user$ad_24h_count: 2,
      user$ad_24h_ltv: 0.01244,
      user$ad_24h_avg_ecpm: 6.22,
      user$reward_ad_count: 2,
      user$reward_ad_ltv: 0.112345,
      user$reward_ad_max_ecpm: 100.005,
      user$interstitial_ad_count: 1,
      user$interstitial_ad_ltv: 0.0001,
      user$interstitial_ad_max_ecpm: 0.1,
      user$reward_ad_24h_ltv: 0.01234,
      user$interstitial_ad_24_ltv: 0.0001,
    });
  });

  test("shows preset properties as they were set, and none that the app has defined itself", async () => {
    await arrive("described", { name: "registered", channel: "registered", active_ip: "" });
    const names = "brand channel first_scene gender manufacturer model os ta_account_id ta_distinct_id name".split(" ");
    const set = Object.fromEntries(names.map((name) => [`$${name}`, `the ${name}`]));
    const visit = { $first_visit_time: "2025-03-10 08:00:00" };
    const own = Object.fromEntries(names.map((name) => [name, "own"]));
    await collect(server, app, "described", profile("profile_set", { ...set, ...visit, ...own }));
    expect(await userOf("described")).toMatchObject({
      ...Object.fromEntries(names.map((name) => [`user$${name}`, `the ${name}`])),
      user$first_visit_time: "2025-03-10 08:00:00",
      Name: "registered",
      Channel: "registered",
      user$country: "",
      user$province: "",
      user$city: "",
    });
  });

  test("shows the location of the registration's address", async () => {
    await arrive("located", { active_ip: "1.2.3.4" });
    expect((await userOf("located")).user$country).not.toBe("");
  });
});

describe("device_info", () => {
  const EMPTY = Object.fromEntries(
    DEVICE_FIELDS.map((field) => [field, ["DeviceId", "OS", "Api_Version"].includes(field) ? 0 : "empty"]),
  );

  const IDS = { android_id: "a1b2c3d4e5f60718", imei: "866000000000001", oaid: "oaid-1", mac: "02:11:22:33:44:55" };
  const [IDFA, IDFV] = ["A1B2C3D4-0000-4000-8000-000000000001", "A1B2C3D4-0000-4000-8000-000000000002"];
  const CAIDS = { caid1_md5: "0123456789abcdef0123456789abcdef", caid2_md5: "fedcba9876543210fedcba9876543210" };
  const ZEROS = { imei: "000000000000000", oaid: "00000000-0000-0000-0000-000000000000", idfa: "", mac: "__MAC__" };

  /** The device of each user, which is named after its case, and the fields of the record that are not empty. */
  const CASES: readonly [title: string, device: Row | undefined, fields: Row][] = [
    [
      "of an Android device",
      {
        ...IDS,
        os_name: "android",
        android_version: "14",
        api_version: 34,
        rom: "MIUI",
        rom_version: "V14",
        phone_brand: "Xiaomi",
        phone_model: "2201123C",
      },
      {
        OS: 1,
        AndroidId: "a1b2c3d4e5f60718",
        Imei: "866000000000001",
        Oaid: "oaid-1",
        Android_Version: "14",
        Api_Version: 34,
        Rom: "MIUI",
        Rom_version: "V14",
        Phone_Brand: "Xiaomi",
        Phone_Model: "2201123C",
      },
    ],
    [
      "of an iOS device",
      { os_name: "ios", idfa: IDFA, idfv: IDFV, ...CAIDS, mac: "" },
      { OS: 2, Idfa: IDFA, Idfv: IDFV, Caid1: CAIDS.caid1_md5, Caid2: CAIDS.caid2_md5 },
    ],
    ["that was never sent is empty in every text and 0 in every number", undefined, {}],
    ["that came without values is empty", { os_name: "android", ...ZEROS, phone_brand: "" }, { OS: 1 }],
  ];
  let devices: Map<string, Row>;
  beforeAll(async () => {
    await Promise.all(CASES.map(([title, device_info]) => server.register(app, title, { device_info })));
    const users = await usersOf(CASES.map(([title]) => title));
    devices = new Map(users.map((user) => [user.ClientID, user.device_info]));
  });

  test.each(CASES)("%s", (title, _device, fields) => {
    expect(devices.get(title)).toEqual({ ...EMPTY, ...fields });
  });

  test("that is sent after the registration is shown too", async () => {
    await arrive("sends it later");
    const query = { client_id: "sends it later" };
    const data = JSON.stringify({ os_name: "ios", idfa: IDFA, mac: "" });
    expect(await server.post("user/device_info/", app, { data }, { query })).toMatchObject({ code: 0 });
    expect((await userOf("sends it later")).device_info).toEqual({ ...EMPTY, OS: 2, Idfa: IDFA });
  });
});

test("the total of the user list is empty, with users and without", async () => {
  await arrive("counted");
  await server.settle();
  expect((await lists.read("user", app)).total).toEqual([]);
  const data = await lists.read("user", await server.createApp());
  const page_info = { page: 1, page_size: 20, total_number: 0, total_page: 0 };
  expect(data).toEqual({ page_info, list: [], total: [] });
});

test("the user list holds no user of another app with the same ids", async () => {
  const other = await server.createApp({ timeZone: ZONE });
  await arrive("in both", { channel: "one" });
  await arrive("in both", { channel: "other" }, other);
  expect((await userOf("in both")).Channel).toBe("one");
  expect((await userOf("in both", other)).Channel).toBe("other");
});

test("a user is listed once, no matter how often they register and pay", async () => {
  await arrive("again");
  await server.register(app, "again", { version: 8 });
  await collect(server, app, "again", payment("again 1", 1), payment("again 2", 1));
  expect(await userOf("again")).toMatchObject({ Version: 8, CreateTime: "2025-03-10 00:00:00", user$pay_count: 2 });
});
