import { expect, test } from "vitest";
import { sharedServer } from "../support/shared-server.ts";
import { cli, cliJson, expectFailure } from "./run.ts";

const server = sharedServer();
const { dataDir } = server;

const IDENTITY = [
  ..."CreateTime ClientID AdPlatform Channel Version TurboPromotedObjectID Name WXOpenID".split(" "),
  ..."AdvertiserID AdAid AdGid AdCid CSite LatestLoginDay".split(" "),
];
const USER = [
  ..."ad_24h_avg_ecpm ad_24h_count ad_24h_ltv ad_avg_ecpm ad_count ad_ltv ad_max_ecpm brand channel city".split(" "),
  ..."country first_pay_method first_pay_reason first_pay_time first_scene gender".split(" "),
  ..."interstitial_ad_24_ltv interstitial_ad_count interstitial_ad_ltv interstitial_ad_max_ecpm".split(" "),
  ..."manufacturer model os pay_amount_sum pay_count pay_max_amount province reward_ad_24h_ltv".split(" "),
  ..."reward_ad_count reward_ad_ltv reward_ad_max_ecpm ta_account_id ta_distinct_id".split(" "),
  ..."first_visit_time name".split(" "),
].map((name) => `user$${name}`);
const DEVICE = [
  ..."DeviceId OS Idfa Idfv Caid1 Caid2 Oaid Imei AndroidId Android_Version Api_Version Rom Rom_version".split(" "),
  ..."Aspect_Ratio Phone_Brand Phone_Model".split(" "),
];

const track = (event: string, properties: object, time = Date.now()) => ({ type: "track", event, time, properties });

test("user show prints the fields of the user list record, the properties and the orders", async () => {
  const app = await server.createApp();
  const device_info = { os_name: "android", oaid: "oaid-1", mac: "", api_version: 33, phone_brand: "Mi" };
  await server.register(app, "用户-1", { name: "Ann", channel: "store", version: 7, wx_openid: "o-1", device_info });
  await server.collect(app, "用户-1", [
    { type: "profile", event: "profile_set", time: Date.now(), properties: { level: 3, $gender: "f" } },
    track("$PayEvent", { $pay_amount: 600, $order_id: "a", $pay_method: "wx" }),
    track("$PayEvent", { $pay_amount: 250, $order_id: "b" }),
    track("$AdShow", { $ecpm: 30, $ad_type: "reward" }),
  ]);
  await server.settle();
  const shown = await cliJson(dataDir, ["user", "show", "用户-1", "--app", String(app.appId)]);
  const fields = [...IDENTITY, ...USER, "re_attribute_info", "device_info", "properties", "orders"];
  expect(Object.keys(shown).sort()).toEqual(fields.sort());
  expect(Object.keys(shown.device_info).sort()).toEqual(DEVICE.sort());
  expect(shown).toMatchObject({
    CreateTime: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
    ClientID: "用户-1",
    AdPlatform: "natural",
    Channel: "store",
    Version: 7,
    Name: "Ann",
    WXOpenID: "o-1",
    LatestLoginDay: expect.stringMatching(/^\d{8}$/),
    user$pay_amount_sum: 850,
    user$pay_count: 2,
    user$pay_max_amount: 600,
    user$first_pay_method: "wx",
    user$ad_count: 1,
    user$ad_ltv: 0.03,
    user$reward_ad_max_ecpm: 30,
    user$gender: "f",
    re_attribute_info: null,
    device_info: { OS: 1, Oaid: "oaid-1", Idfa: "empty", Api_Version: 33, Phone_Brand: "Mi" },
    properties: { level: 3, $gender: "f" },
    orders: { count: 2, amount_cents: 850 },
  });
  const plain = await cli(dataDir, ["user", "show", "用户-1", "--app", String(app.appId)]);
  expect(plain.stdout).toMatch(/^user\$pay_amount_sum +850$/m);
});

test("a user who does not exist is a failure that names the user", async () => {
  const { appId } = await server.createApp();
  expectFailure(await cli(dataDir, ["user", "show", "nobody", "--app", String(appId)]), /nobody/);
});

test("ledger prints each minute: received is stored, duplicate, and rejected by reason", async () => {
  const app = await server.createApp();
  await server.register(app, "c");
  const good = [track("a", { n: 1 }), track("b", { n: 2 })];
  const old = track("old", {}, Date.now() - 11 * 86_400_000);
  await server.collect(app, "c", [...good, old, track("bad name", {})]);
  await server.collect(app, "c", [...good, track("c", {})]);
  await server.settle();
  const minutes: any[] = await cliJson(dataDir, ["ledger", "--app", String(app.appId)]);
  expect(minutes.length).toBeGreaterThan(0);
  const total = { received: 0, stored: 0, duplicate: 0, too_old: 0, bad_name: 0 };
  for (const minute of minutes) {
    expect(Object.keys(minute).sort()).toEqual(["duplicate", "minute", "received", "rejected", "stored"]);
    expect(minute.minute).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:00Z$/);
    const rejected = Object.values<number>(minute.rejected).reduce((sum, events) => sum + events, 0);
    expect(minute.stored + minute.duplicate + rejected).toBe(minute.received);
    total.received += minute.received;
    total.stored += minute.stored;
    total.duplicate += minute.duplicate;
    total.too_old += minute.rejected.too_old ?? 0;
    total.bad_name += minute.rejected.bad_name ?? 0;
  }
  expect(total).toEqual({ received: 7, stored: 3, duplicate: 2, too_old: 1, bad_name: 1 });
  const plain = await cli(dataDir, ["ledger", "--app", String(app.appId)]);
  expect(plain.stdout).toMatch(/^total +7 +3 +2 +2 +(too_old 1, bad_name 1|bad_name 1, too_old 1)$/m);
});

test("ledger takes whole local days of receipt, both ends included", async () => {
  const app = await server.createApp({ timeZone: "America/New_York" });
  const pool = server.database();
  const minutes = ["2024-03-09T04:59Z", "2024-03-09T05:00Z", "2024-03-11T03:59Z", "2024-03-11T04:00Z"];
  for (const minute of minutes) {
    await pool.query("insert into ledger_minute values ($1, $2, 'received', 1)", [app.appId, Date.parse(minute)]);
  }
  await pool.end();
  const id = String(app.appId);
  const days = ["--from", "2024-03-09", "--to", "2024-03-10"];
  const inRange = await cliJson(dataDir, ["ledger", "--app", id, ...days]);
  expect(inRange.map(({ minute }: { minute: string }) => minute)).toEqual([
    "2024-03-09T05:00:00Z",
    "2024-03-11T03:59:00Z",
  ]);
  expect(await cliJson(dataDir, ["ledger", "--app", id]), "by default of the last days").toEqual([]);
});
