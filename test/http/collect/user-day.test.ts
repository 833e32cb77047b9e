import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { attributedRegistration } from "../endpoints.ts";
import { DAY_MS, HOUR_MS, profile, type Row, Tables, track } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);

/** The same for all tests, even if midnight passes while they run. */
const TODAY_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS;
/** The first instant of the UTC day this many days ago. */
const startOfDay = (daysAgo: number) => TODAY_MS - daysAgo * DAY_MS;
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** One app in UTC for all tests; each has its own client. */
let app: App;
beforeAll(async () => {
  app = await server.createApp({ timeZone: "UTC" });
});

/** Registers a client at a given time, brought by a click at another. */
async function register(clientId: string, times: { active: number; click?: number }, at: App = app): Promise<void> {
  const body = { ...attributedRegistration(clientId), active_time: times.active, click_time: times.click ?? "" };
  expect(await server.post("user/register/attributed/", at, body)).toMatchObject({ code: 0 });
}

describe("user_day", () => {
  test("holds the counters of a user by local day and by both 24-hour spans", async () => {
    const active = startOfDay(3) + 12 * HOUR_MS;
    const click = active - 6 * HOUR_MS;
    await register("counted", { active, click });
    await server.collect(app, "counted", [
      track("$AppRegister", {}, active + 1),
      track("$PayEvent", { $pay_amount: 600, $order_id: "1" }, active + 11 * HOUR_MS),
      track("$AdShow", { $ecpm: 2 }, active + 13 * HOUR_MS),
      track("play", {}, active + 20 * HOUR_MS),
      track("$PayEvent", { $pay_amount: 100, $order_id: "2" }, active + 25 * HOUR_MS),
      track("$PayEvent", { $pay_amount: 100, $order_id: "1" }, active + 26 * HOUR_MS),
    ]);
    const zero = { register_events: 0, pay_count: 0, pay_cents: 0, ad_count: 0, ad_micros: 0 };
    const user = { app_id: app.appId, client_id: "counted" };
    const [first, second] = [dayOf(active), dayOf(active + DAY_MS)];
    expect(await tables.userDays(app, "counted")).toEqual([
      {
        ...zero,
        ...user,
        day: first,
        span_t: 0,
        span_r: 0,
        track_events: 2,
        register_events: 1,
        pay_count: 1,
        pay_cents: 600,
      },
      { ...zero, ...user, day: second, span_t: 0, span_r: 0, track_events: 1, ad_count: 1, ad_micros: 2_000 },
      { ...zero, ...user, day: second, span_t: 1, span_r: 0, track_events: 1 },
      { ...zero, ...user, day: second, span_t: 1, span_r: 1, track_events: 2, pay_count: 1, pay_cents: 100 },
    ]);
  });

  test("adds to the earlier counters, and a repeat adds nothing", async () => {
    const active = startOfDay(1);
    await register("repeats", { active });
    const one = track("one", {}, active + 1);
    await server.collect(app, "repeats", [one]);
    await server.settle();
    await server.collect(app, "repeats", [one, track("two", {}, active + 2)]);
    expect(await tables.userDays(app, "repeats")).toMatchObject([
      { day: dayOf(active), track_events: 2, span_t: 0, span_r: 0 },
    ]);
  });

  test("has a row for the day of registration even if nothing else happened", async () => {
    const active = startOfDay(5) + 1;
    await register("silent", { active, click: active - 3 * DAY_MS });
    expect(await tables.userDays(app, "silent")).toMatchObject([
      { day: dayOf(active), span_t: 3, span_r: 0, track_events: 0 },
    ]);
  });

  test.each([
    ["Asia/Shanghai", 8],
    ["UTC", 0],
    ["Asia/Tokyo", 9],
    ["America/Phoenix", -7],
  ])("days are in the app's time zone: %s", async (timeZone, offsetHours) => {
    const localMidnight = startOfDay(2) - offsetHours * HOUR_MS;
    const zoned = await server.createApp({ timeZone });
    await register("a", { active: localMidnight - HOUR_MS }, zoned);
    await server.collect(zoned, "a", [
      track("last_of_day", {}, localMidnight - 1),
      track("first_of_day", {}, localMidnight),
    ]);
    const [day, next] = [dayOf(startOfDay(3)), dayOf(startOfDay(2))];
    expect((await tables.userDays(zoned, "a")).map((row) => [row.day, row.track_events])).toEqual([
      [day, 1],
      [next, 1],
    ]);
    expect((await tables.events(zoned)).map((row) => [row.event, row.day])).toEqual([
      ["last_of_day", day],
      ["first_of_day", next],
    ]);
    expect(await tables.user(zoned, "a")).toMatchObject({ registered_day: day, latest_login_day: next });
  });
});

describe("latest_login_day", () => {
  const latest = async (clientId: string) => (await tables.user(app, clientId))!.latest_login_day;

  test("is the day of registration at first", async () => {
    await register("new", { active: startOfDay(4) });
    expect(await latest("new")).toBe(dayOf(startOfDay(4)));
  });

  test("is the last day with a track event, whatever the order of arrival", async () => {
    await register("active", { active: startOfDay(6) });
    await server.collect(app, "active", [track("e", {}, startOfDay(2) + 5)]);
    await server.collect(app, "active", [track("e", {}, startOfDay(5) + 5)]);
    expect(await latest("active")).toBe(dayOf(startOfDay(2)));
    await server.collect(app, "active", [track("e", {}, startOfDay(1) + 5)]);
    expect(await latest("active")).toBe(dayOf(startOfDay(1)));
  });

  test("is not moved by a profile operation or by an event that is not stored", async () => {
    await register("inactive", { active: startOfDay(6) });
    await server.collect(app, "inactive", [
      profile("profile_set", { a: 1 }),
      track("bad name"),
      track("too_new", {}, Date.now() + DAY_MS),
    ]);
    expect(await latest("inactive")).toBe(dayOf(startOfDay(6)));
  });

  test("is moved by a payment of an older client", async () => {
    await register("pays", { active: startOfDay(6) });
    const body = { event_type: "PAY", ts: startOfDay(1) + 7, real_amount: 5 };
    await server.post("event/consumer_event/", app, body, { query: { client_id: "pays" } });
    expect(await latest("pays")).toBe(dayOf(startOfDay(1)));
    const rows = (await tables.userDays(app, "pays")).map((row) => [row.day, row.pay_count, row.pay_cents]);
    expect(rows.at(-1)).toEqual([dayOf(startOfDay(1)), 1, 5]);
  });
});

describe("the device type of a user", () => {
  const CASES: readonly [$os: string, expected: string][] = [
    ["Android", "android"],
    ["android 14", "android"],
    ["iOS", "ios"],
    ["iPhone", "ios"],
    ["HarmonyOS", "harmony"],
    ["ohos", "harmony"],
    ["Windows", "unknown"],
  ];
  /** The client of each case is named after its system. */
  let users: Map<string, Row>;
  beforeAll(async () => {
    const app = await server.createApp();
    for (const [$os] of CASES) {
      await server.register(app, $os);
      await server.collect(app, $os, [track("e", { $os })]);
    }
    await server.register(app, "known", { device_info: { os_name: "ios" } });
    await server.collect(app, "known", [track("e", { $os: "Android" })]);
    users = await tables.users(app);
  });

  test.each(CASES)("is taken from $os %s when nothing better is known: %s", ($os, os_platform) => {
    expect(users.get($os)).toMatchObject({ os_platform });
  });

  test("is not changed by $os once it is known", () => {
    expect(users.get("known")).toMatchObject({ os_platform: "ios" });
  });
});

test("the ids of an analytics service become user properties", async () => {
  await server.register(app, "bound");
  const properties = { $third_platform_type: "ta", $ta_account_id: "acc", $ta_distinct_id: "dis" };
  await server.collect(app, "bound", [track("$BindThirdPlatform", properties)]);
  expect((await tables.user(app, "bound"))!.properties).toMatchObject({
    $ta_account_id: "acc",
    $ta_distinct_id: "dis",
  });
});
