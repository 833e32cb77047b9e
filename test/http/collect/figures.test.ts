import { beforeAll, describe, expect, test } from "vitest";
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

/** Registers the client of each case, which is named after it, and sends its payment. */
async function payEach(app: App, payments: readonly [client: string, payment: Row][]): Promise<void> {
  await Promise.all(
    payments.map(async ([client, payment]) => {
      await server.register(app, client);
      await collect(app, client, payment);
    }),
  );
}

/** One app for all tests that neither count its events nor change its settings; each has its own clients and orders. */
let app: App;
beforeAll(async () => {
  app = await server.createApp();
});

describe("payments", () => {
  test("make orders, and the user's figures in cents", async () => {
    await server.register(app, "pays");
    const time = Date.now() - 10_000;
    await collect(app, "pays", pay(600, { $order_id: "o1", $pay_method: "wx", $pay_reason: "sword" }, time));
    await collect(
      app,
      "pays",
      pay(3000, { $order_id: "o2", $pay_method: "ali" }, time - 5_000),
      pay(100, { $order_id: "o3" }),
    );
    expect(await tables.orders(app, "pays")).toMatchObject([
      { trace_id: "o1", cents: 600, pay_count: 1, at_ms: time, currency: "CNY", has_rate: true, is_virtual: 0 },
      { trace_id: "o2", cents: 3000, pay_count: 2, at_ms: time - 5_000 },
      { trace_id: "o3", cents: 100, pay_count: 3 },
    ]);
    expect(await tables.user(app, "pays")).toMatchObject({ pay_count: 3, pay_cents: 3700, pay_max_cents: 3000 });
  });

  test("the first to arrive is the first payment, whatever the times", async () => {
    await server.register(app, "twice");
    const time = Date.now();
    await collect(app, "twice", pay(1, { $order_id: "1", $pay_method: "wx", $pay_reason: "sword" }, time));
    await collect(app, "twice", pay(2, { $order_id: "2", $pay_method: "ali", $pay_reason: "shield" }, time - DAY_MS));
    const first = { first_pay_at_ms: time, first_pay_method: "wx", first_pay_reason: "sword" };
    expect(await tables.user(app, "twice")).toMatchObject(first);
  });

  test("keep the properties of their event on the order", async () => {
    await server.register(app, "detailed");
    await collect(app, "detailed", pay(600, { $pay_reason: "sword", skin: "red", $is_virtual: 1 }));
    expect(await tables.orders(app, "detailed")).toMatchObject([
      { is_virtual: 1, properties: { $pay_reason: "sword", skin: "red", $ip: "127.0.0.1" } },
    ]);
  });

  test("an order is identified by its TraceID, no matter who reports it and how often", async () => {
    const own = await server.appWith(["a", "b"]);
    await collect(own, "a", pay(600, { $order_id: "o1" }));
    await collect(own, "b", pay(600, { $order_id: "o1" }), pay(5, { $order_id: "o2" }));
    await server.settle();
    await collect(own, "b", pay(700, { $order_id: "o1", late: true }), pay(600, { $trace_id: "o1" }));
    expect((await tables.orders(own)).map((order) => [order.client_id, order.trace_id, order.cents])).toEqual([
      ["a", "o1", 600],
      ["b", "o2", 5],
    ]);
    expect(await tables.user(own, "a")).toMatchObject({ pay_count: 1, pay_cents: 600 });
    expect(await tables.user(own, "b")).toMatchObject({ pay_count: 1, pay_cents: 5 });
    expect(await tables.ledger(own)).toMatchObject({ received: 5, stored: 5 });
  });

  test("TraceIDs of different apps are independent", async () => {
    const other = await server.appWith(["a"]);
    await server.register(app, "a");
    await collect(app, "a", pay(1, { $order_id: "in both" }));
    await collect(other, "a", pay(2, { $order_id: "in both" }));
    expect(await tables.orders(app, "a")).toMatchObject([{ cents: 1 }]);
    expect(await tables.orders(other, "a")).toMatchObject([{ cents: 2 }]);
  });

  describe("TraceID is", () => {
    const CASES: readonly [title: string, properties: Row, traceId: unknown][] = [
      ["$order_id", { $order_id: "order-1", $trace_id: "trace-1" }, "order-1"],
      ["$trace_id when there is no $order_id", { $trace_id: "trace-2" }, "trace-2"],
      ["$trace_id when $order_id is empty", { $order_id: "", $trace_id: "trace-3" }, "trace-3"],
      ["$order_id that is a number", { $order_id: 1234567 }, "1234567"],
      ["made from the event when there is neither", {}, expect.stringMatching(/^\S{8,}$/)],
    ];
    let orders: Row[];
    beforeAll(async () => {
      await payEach(
        app,
        CASES.map(([title, properties]) => [title, pay(1, properties)]),
      );
      orders = await tables.orders(app);
    });

    test.each(CASES)("%s", (title, _properties, trace_id) => {
      expect(orders.filter((order) => order.client_id === title)).toMatchObject([{ trace_id }]);
    });
  });

  test("two payments without an id are two orders, but a repeat is none", async () => {
    await server.register(app, "without ids");
    const time = Date.now();
    const payment = pay(100, {}, time);
    await collect(app, "without ids", payment, pay(100, {}, time + 1));
    await collect(app, "without ids", payment);
    expect(await tables.orders(app, "without ids")).toHaveLength(2);
    expect(await tables.user(app, "without ids")).toMatchObject({ pay_count: 2, pay_cents: 200 });
  });

  test("a withdrawal, a profile operation and an event of another name are no payments", async () => {
    await server.register(app, "pays nothing");
    const amount = { $pay_amount: 100, $order_id: "no payment", amount: 5 };
    await collect(
      app,
      "pays nothing",
      track("$UserWithdraw", amount),
      track("PayEvent", amount),
      track("pay", amount),
      track("PAY", amount),
    );
    await collect(app, "pays nothing", profile("profile_set", { $pay_amount: 100 }));
    expect(await tables.orders(app, "pays nothing")).toEqual([]);
    expect(await tables.user(app, "pays nothing")).toMatchObject({ pay_count: 0, pay_cents: 0 });
  });
});

describe("currencies", () => {
  const RATES = { USD: "7.1234", JPY: "0.0487", EUR: "0.005", GBP: "0.0049" };
  const CONVERTED: readonly [sent: number, currency: string, cents: number][] = [
    [100, "USD", 712],
    [10_000, "USD", 71_234],
    [3, "usd", 21],
    [9_999_999_999_999, "USD", 71_233_999_999_993],
    [123_456, "JPY", 6_012],
    [100, "EUR", 1],
    [100, "GBP", 0],
  ];
  const OWN = [{ $pay_type: "CNY" }, { $pay_type: "" }, { $pay_type: undefined }];
  const clientOf = (sent: number, type: Row) => `${sent} ${JSON.stringify(type)}`;
  let orders: Row[];
  let users: Map<string, Row>;
  beforeAll(async () => {
    const rated = await server.createApp();
    await tables.changeSettings("update app set rates = $2 where app_id = $1", [rated.appId, RATES]);
    await payEach(rated, [
      ["without a rate", pay(500, { $pay_type: "AUD" })],
      ...CONVERTED.map(([sent, $pay_type]): [string, Row] => [clientOf(sent, { $pay_type }), pay(sent, { $pay_type })]),
      ...OWN.map((type): [string, Row] => [clientOf(123, type), pay(123, type)]),
    ]);
    [orders, users] = [await tables.orders(rated), await tables.users(rated)];
  });
  const ordersOf = (client: string) => orders.filter((order) => order.client_id === client);

  test("a payment in a currency without a rate is listed with amount 0 and marked", () => {
    expect(ordersOf("without a rate")).toMatchObject([
      { cents: 0, currency: "AUD", sent_amount: 500, has_rate: false, pay_count: 1 },
    ]);
    expect(users.get("without a rate")).toMatchObject({ pay_count: 1, pay_cents: 0, pay_max_cents: 0 });
  });

  test.each(CONVERTED)("%d %s become %d cents, exactly", (sent, currency, cents) => {
    const client = clientOf(sent, { $pay_type: currency });
    expect(ordersOf(client)).toMatchObject([
      { cents, currency: currency.toUpperCase(), sent_amount: sent, has_rate: true },
    ]);
    expect(users.get(client)).toMatchObject({ pay_cents: cents, pay_max_cents: cents });
  });

  test.each(OWN)("the app's own currency needs no rate: %j", (type) => {
    expect(ordersOf(clientOf(123, type))).toMatchObject([{ cents: 123, currency: "CNY", has_rate: true }]);
  });
});

describe("shown ads", () => {
  const show = (ecpm: unknown, $ad_type: string, time: number) => track("$AdShow", { $ecpm: ecpm, $ad_type }, time);

  test("earn a thousandth of their ecpm, in millionths, and count by kind", async () => {
    await server.register(app, "sees ads");
    const time = Date.now();
    await collect(
      app,
      "sees ads",
      show(12.34, "reward", time),
      show(100.005, "reward", time + 1),
      show(0.1, "interstitial", time + 2),
      show(0.2, "interstitial", time + 3),
      show(5, "banner", time + 4),
      track("$AdShow", {}, time + 5),
      track("$AdClick", { $ecpm: 1000, $ad_type: "reward" }, time + 6),
    );
    expect(await tables.user(app, "sees ads")).toMatchObject({
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
    expect(await tables.userDays(app, "sees ads")).toMatchObject([
      { ad_count: 6, ad_micros: 117_645, track_events: 7 },
    ]);
  });

  test("the 24-hour figures end exactly 24 hours after registration", async () => {
    const client = "registered days ago";
    const registeredAtMs = Date.now() - 3 * DAY_MS;
    await server.post("user/register/attributed/", app, {
      ...attributedRegistration(client),
      active_time: registeredAtMs,
      click_time: registeredAtMs - 2 * HOUR_MS,
    });
    await collect(
      app,
      client,
      show(1, "reward", registeredAtMs - 1),
      show(2, "reward", registeredAtMs),
      show(4, "interstitial", registeredAtMs + DAY_MS - 1),
      show(8, "interstitial", registeredAtMs + DAY_MS),
      show(16, "reward", registeredAtMs + 2 * DAY_MS),
    );
    expect(await tables.user(app, client)).toMatchObject({
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
    const own = await server.appWith(["a"]);
    const time = Date.now();
    await server.collect(own, "a", [track("before", {}, time), show(ecpm, "reward", time), track("after", {}, time)]);
    expect(await tables.eventNames(own)).toEqual(expect.arrayContaining(["after", "before"]));
    expect((await tables.ledger(own)).received).toBe(3);
  });
});
