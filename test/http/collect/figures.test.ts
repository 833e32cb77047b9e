import { describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { attributedRegistration } from "../endpoints.ts";
import { DAY_MS, HOUR_MS, profile, type Row, Tables, track } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);

const pay = (cents: unknown, more: Row = {}, time: number = Date.now()) =>
  track("$PayEvent", { $pay_amount: cents, $pay_type: "CNY", ...more }, time);

async function collect(app: App, clientId: string, ...events: Row[]): Promise<void> {
  expect(await server.collect(app, clientId, events)).toMatchObject({ code: 0, extra: {} });
}

describe("payments", () => {
  test("make orders, and the user's figures in cents", async () => {
    const app = await server.appWith(["a"]);
    const time = Date.now() - 10_000;
    await collect(app, "a", pay(600, { $order_id: "o1", $pay_method: "wx", $pay_reason: "sword" }, time));
    await collect(
      app,
      "a",
      pay(3000, { $order_id: "o2", $pay_method: "ali" }, time - 5_000),
      pay(100, { $order_id: "o3" }),
    );
    expect(await tables.orders(app)).toMatchObject([
      { trace_id: "o1", cents: 600, pay_count: 1, at_ms: time, currency: "CNY", has_rate: true, is_virtual: 0 },
      { trace_id: "o2", cents: 3000, pay_count: 2, at_ms: time - 5_000 },
      { trace_id: "o3", cents: 100, pay_count: 3 },
    ]);
    expect(await tables.user(app, "a")).toMatchObject({ pay_count: 3, pay_cents: 3700, pay_max_cents: 3000 });
  });

  test("the first to arrive is the first payment, whatever the times", async () => {
    const app = await server.appWith(["a"]);
    const time = Date.now();
    await collect(app, "a", pay(1, { $order_id: "1", $pay_method: "wx", $pay_reason: "sword" }, time));
    await collect(app, "a", pay(2, { $order_id: "2", $pay_method: "ali", $pay_reason: "shield" }, time - DAY_MS));
    const first = { first_pay_at_ms: time, first_pay_method: "wx", first_pay_reason: "sword" };
    expect(await tables.user(app, "a")).toMatchObject(first);
  });

  test("keep the properties of their event on the order", async () => {
    const app = await server.appWith(["a"]);
    await collect(app, "a", pay(600, { $order_id: "o1", $pay_reason: "sword", skin: "red", $is_virtual: 1 }));
    expect(await tables.orders(app)).toMatchObject([
      { is_virtual: 1, properties: { $pay_reason: "sword", skin: "red", $ip: "127.0.0.1" } },
    ]);
  });

  test("an order is identified by its TraceID, no matter who reports it and how often", async () => {
    const app = await server.appWith(["a", "b"]);
    await collect(app, "a", pay(600, { $order_id: "o1" }));
    await collect(app, "b", pay(600, { $order_id: "o1" }), pay(5, { $order_id: "o2" }));
    await server.settle();
    await collect(app, "b", pay(700, { $order_id: "o1", late: true }), pay(600, { $trace_id: "o1" }));
    expect((await tables.orders(app)).map((order) => [order.client_id, order.trace_id, order.cents])).toEqual([
      ["a", "o1", 600],
      ["b", "o2", 5],
    ]);
    expect(await tables.user(app, "a")).toMatchObject({ pay_count: 1, pay_cents: 600 });
    expect(await tables.user(app, "b")).toMatchObject({ pay_count: 1, pay_cents: 5 });
    expect(await tables.ledger(app)).toMatchObject({ received: 5, stored: 5 });
  });

  test("TraceIDs of different apps are independent", async () => {
    const [one, other] = [await server.appWith(["a"]), await server.appWith(["a"])];
    await collect(one, "a", pay(1, { $order_id: "o1" }));
    await collect(other, "a", pay(2, { $order_id: "o1" }));
    expect(await tables.orders(one)).toMatchObject([{ cents: 1 }]);
    expect(await tables.orders(other)).toMatchObject([{ cents: 2 }]);
  });

  test.each<[string, Row, string | RegExp]>([
    ["$order_id", { $order_id: "o1", $trace_id: "t1" }, "o1"],
    ["$trace_id when there is no $order_id", { $trace_id: "t1" }, "t1"],
    ["$trace_id when $order_id is empty", { $order_id: "", $trace_id: "t1" }, "t1"],
    ["$order_id that is a number", { $order_id: 1234567 }, "1234567"],
    ["made from the event when there is neither", {}, /^\S{8,}$/],
  ])("TraceID is %s", async (_what, properties, traceId) => {
    const app = await server.appWith(["a"]);
    await collect(app, "a", pay(1, properties));
    const [order] = await tables.orders(app);
    if (typeof traceId === "string") expect(order!.trace_id).toBe(traceId);
    else expect(order!.trace_id).toMatch(traceId);
  });

  test("two payments without an id are two orders, but a repeat is none", async () => {
    const app = await server.appWith(["a"]);
    const time = Date.now();
    const payment = pay(100, {}, time);
    await collect(app, "a", payment, pay(100, {}, time + 1));
    await collect(app, "a", payment);
    expect(await tables.orders(app)).toHaveLength(2);
    expect(await tables.user(app, "a")).toMatchObject({ pay_count: 2, pay_cents: 200 });
  });

  test("a withdrawal, a profile operation and an event of another name are no payments", async () => {
    const app = await server.appWith(["a"]);
    const amount = { $pay_amount: 100, $order_id: "o1", amount: 5 };
    await collect(
      app,
      "a",
      track("$UserWithdraw", amount),
      track("PayEvent", amount),
      track("pay", amount),
      track("PAY", amount),
    );
    await collect(app, "a", profile("profile_set", { $pay_amount: 100 }));
    expect(await tables.orders(app)).toEqual([]);
    expect(await tables.user(app, "a")).toMatchObject({ pay_count: 0, pay_cents: 0 });
  });
});

describe("currencies", () => {
  const setRates = (app: App, rates: Row) =>
    tables.changeSettings("update app set rates = $2 where app_id = $1", [app.appId, rates]);

  test("a payment in a currency without a rate is listed with amount 0 and marked", async () => {
    const app = await server.appWith(["a"]);
    await collect(app, "a", pay(500, { $pay_type: "USD", $order_id: "o1" }));
    expect(await tables.orders(app)).toMatchObject([
      { trace_id: "o1", cents: 0, currency: "USD", sent_amount: 500, has_rate: false, pay_count: 1 },
    ]);
    expect(await tables.user(app, "a")).toMatchObject({ pay_count: 1, pay_cents: 0, pay_max_cents: 0 });
  });

  test.each<[string, string, unknown, number]>([
    ["USD", "7.1234", 100, 712],
    ["USD", "7.1234", 10000, 71234],
    ["USD", "0.005", 100, 1],
    ["USD", "0.0049", 100, 0],
    ["JPY", "0.0487", 123456, 6012],
    ["usd", "7", 3, 21],
    ["USD", "7.2", 9999999999999, 71999999999993],
  ])("%s at %s: %d becomes %d cents, exactly", async (currency, rate, sent, cents) => {
    const app = await server.appWith(["a"]);
    await setRates(app, { [currency.toUpperCase()]: rate });
    await collect(app, "a", pay(sent, { $pay_type: currency }));
    expect(await tables.orders(app)).toMatchObject([
      { cents, currency: currency.toUpperCase(), sent_amount: sent, has_rate: true },
    ]);
    expect(await tables.user(app, "a")).toMatchObject({ pay_cents: cents, pay_max_cents: cents });
  });

  test.each([{ $pay_type: "CNY" }, { $pay_type: "" }, { $pay_type: undefined }])(
    "the app's own currency needs no rate: %j",
    async (type) => {
      const app = await server.appWith(["a"]);
      await collect(app, "a", pay(123, type));
      expect(await tables.orders(app)).toMatchObject([{ cents: 123, currency: "CNY", has_rate: true }]);
    },
  );
});

describe("shown ads", () => {
  const show = (ecpm: unknown, $ad_type: string, time: number) => track("$AdShow", { $ecpm: ecpm, $ad_type }, time);

  test("earn a thousandth of their ecpm, in millionths, and count by kind", async () => {
    const app = await server.appWith(["a"]);
    const time = Date.now();
    await collect(
      app,
      "a",
      show(12.34, "reward", time),
      show(100.005, "reward", time + 1),
      show(0.1, "interstitial", time + 2),
      show(0.2, "interstitial", time + 3),
      show(5, "banner", time + 4),
      track("$AdShow", {}, time + 5),
      track("$AdClick", { $ecpm: 1000, $ad_type: "reward" }, time + 6),
    );
    expect(await tables.user(app, "a")).toMatchObject({
      ad_count: 6,
      ad_micros: 117_645,
      ad_max_ecpm_micros: 100_005_000,
      ad_24h_count: 6,
      ad_24h_micros: 117_645,
      reward_ad_count: 2,
      reward_ad_micros: 112_345,
      reward_ad_max_ecpm_micros: 100_005_000,
      interstitial_ad_count: 2,
      interstitial_ad_micros: 300,
      interstitial_ad_max_ecpm_micros: 200_000,
      reward_ad_24h_micros: 112_345,
      interstitial_ad_24h_micros: 300,
    });
    expect(await tables.userDays(app, "a")).toMatchObject([{ ad_count: 6, ad_micros: 117_645, track_events: 7 }]);
  });

  test("the 24-hour figures end exactly 24 hours after registration", async () => {
    const app = await server.createApp();
    const registeredAtMs = Date.now() - 3 * DAY_MS;
    await server.post("user/register/attributed/", app, {
      ...attributedRegistration("a"),
      active_time: registeredAtMs,
      click_time: registeredAtMs - 2 * HOUR_MS,
    });
    await collect(
      app,
      "a",
      show(1, "reward", registeredAtMs - 1),
      show(2, "reward", registeredAtMs),
      show(4, "interstitial", registeredAtMs + DAY_MS - 1),
      show(8, "interstitial", registeredAtMs + DAY_MS),
      show(16, "reward", registeredAtMs + 2 * DAY_MS),
    );
    expect(await tables.user(app, "a")).toMatchObject({
      ad_count: 5,
      ad_micros: 31_000,
      ad_24h_count: 2,
      ad_24h_micros: 6_000,
      reward_ad_micros: 19_000,
      reward_ad_24h_micros: 2_000,
      interstitial_ad_micros: 12_000,
      interstitial_ad_24h_micros: 4_000,
    });
  });

  test.each([9999999999999, -9999999999999])("an absurd ecpm of %d does not affect other figures", async (ecpm) => {
    const app = await server.appWith(["a"]);
    const time = Date.now();
    await server.collect(app, "a", [track("before", {}, time), show(ecpm, "reward", time), track("after", {}, time)]);
    expect(await tables.eventNames(app)).toEqual(expect.arrayContaining(["after", "before"]));
    expect((await tables.ledger(app)).received).toBe(3);
  });
});
