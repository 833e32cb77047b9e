import { describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { BASE, DAY_MS, type Row, Tables, track } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);

async function appWithClient(): Promise<{ app: App; token: string }> {
  const app = await server.createApp();
  return { app, token: (await server.register(app, "a")).data.token };
}

describe("consumer event", () => {
  const send = (app: App, body: unknown, query: Record<string, string> = { client_id: "a" }) =>
    server.post("event/consumer_event/", app, body, { query });

  const TYPES = [
    ...["START", "CLICK_SURVEY", "SUBMIT_SURVEY", "CLICK_RECOMMEND_COMMODITY"],
    ...["ADD_TO_CART", "PRIVILEGE", "SETTLEMENT", "PAY"],
  ];

  test.each(TYPES)("%s is stored as an event of the client", async (event_type) => {
    const { app } = await appWithClient();
    const ts = Date.now() - 1_000;
    const answer = await send(app, { event_type, ts });
    expect(answer).toMatchObject({ status: 200, code: 0, msg: "success", extra: {} });
    expect(answer.data).toEqual({});
    expect(await tables.events(app)).toMatchObject([{ client_id: "a", type: "track", event: event_type, at_ms: ts }]);
    expect(await tables.orders(app)).toHaveLength(event_type === "PAY" ? 1 : 0);
  });

  test("may name its client by the token of the registration", async () => {
    const { app, token } = await appWithClient();
    expect(await send(app, { event_type: "START", ts: Date.now() }, { token })).toMatchObject({ code: 0 });
    expect(await tables.events(app)).toMatchObject([{ client_id: "a", event: "START" }]);
  });

  test("requires a token or a client_id", async () => {
    const { app } = await appWithClient();
    const body = { event_type: "START", ts: Date.now() };
    for (const query of [{}, { token: "" }, { client_id: "" }, { token: "", client_id: "" }] as Record<
      string,
      string
    >[])
      expect(await send(app, body, query)).toMatchObject({
        code: 1004,
        msg: expect.stringMatching(/token.*client_id/),
      });
  });

  test("refuses a token that is forged, changed or of another app", async () => {
    const [{ app, token }, { token: foreign }] = [await appWithClient(), await appWithClient()];
    const [body = "", signature = ""] = token.split(".");
    const forged = `${Buffer.from(`${app.appId}:b`).toString("base64url")}.${signature}`;
    for (const bad of ["x", foreign, body, `${body}.`, forged, `${token}x.y`, "."]) {
      const answer = await send(app, { event_type: "START", ts: Date.now() }, { token: bad });
      expect({ bad, ...answer }).toMatchObject({ bad, status: 200, code: 1004, msg: expect.stringContaining("token") });
    }
    expect(await tables.events(app)).toEqual([]);
  });

  test("answers 2000 for an unregistered client", async () => {
    const { app } = await appWithClient();
    const answer = await send(app, { event_type: "PAY", ts: Date.now(), amount: 1 }, { client_id: "stranger" });
    expect(answer).toMatchObject({ status: 200, code: 2000 });
    expect(await tables.orders(app)).toEqual([]);
  });

  const wrong: Record<string, unknown[]> = {
    event_type: [undefined, null, "", "pay", "BUY", 7, ["PAY"]],
    ts: [undefined, null, "", "now", 1.5, -1, true, {}],
    amount: ["100", 1.5, {}, true],
    real_amount: ["100", 1.5, {}, true],
  };
  test.each(Object.keys(wrong))("refuses a wrong %s with 1004 and names it", async (field) => {
    const { app } = await appWithClient();
    for (const value of wrong[field]!) {
      const answer = await send(app, { event_type: "PAY", ts: Date.now(), amount: 1, [field]: value });
      expect({ value, ...answer }).toMatchObject({ value, code: 1004, msg: expect.stringContaining(field) });
    }
    expect(await tables.orders(app)).toEqual([]);
  });

  test.each<[string, Row, number]>([
    ["real_amount", { amount: 1000, real_amount: 880 }, 880],
    ["amount when there is no real_amount", { amount: 1000 }, 1000],
    ["amount when real_amount is null", { amount: 1000, real_amount: null }, 1000],
    ["0 when real_amount is 0", { amount: 1000, real_amount: 0 }, 0],
    ["0 when there is neither", {}, 0],
  ])("PAY is an order over %s, in cents", async (_what, amounts, cents) => {
    const { app } = await appWithClient();
    const ts = Date.now();
    await send(app, { event_type: "PAY", ts, ...amounts });
    expect(await tables.orders(app)).toMatchObject([
      { client_id: "a", cents, at_ms: ts, pay_count: 1, currency: "CNY" },
    ]);
    expect(await tables.user(app, "a")).toMatchObject({ pay_count: 1, pay_cents: cents, pay_max_cents: cents });
  });

  test("the same body twice is one order, another time or amount is another", async () => {
    const { app, token } = await appWithClient();
    const body = { event_type: "PAY", ts: Date.now(), real_amount: 600 };
    await send(app, body);
    await send(app, body, { token });
    await server.settle();
    await send(app, body);
    expect(await tables.orders(app)).toHaveLength(1);
    await send(app, { ...body, ts: body.ts + 1 });
    await send(app, { ...body, real_amount: 300 });
    expect((await tables.orders(app)).map(({ cents }) => cents).sort()).toEqual([300, 600, 600]);
    expect(await tables.user(app, "a")).toMatchObject({ pay_count: 3, pay_cents: 1500, pay_max_cents: 600 });
  });

  test.each([-3000 * DAY_MS, -11 * DAY_MS, 2 * DAY_MS])("has no time window: %i ms from now", async (offsetMs) => {
    const { app } = await appWithClient();
    const ts = Date.now() + offsetMs;
    await send(app, { event_type: "PAY", ts, real_amount: 5 });
    expect(await tables.orders(app)).toMatchObject([{ at_ms: ts, cents: 5 }]);
  });

  test("ts may be a text of digits, as the oldest client writes it", async () => {
    const { app } = await appWithClient();
    const ts = Date.now();
    await send(app, { event_type: "START", ts: String(ts) });
    expect(await tables.events(app)).toMatchObject([{ at_ms: ts }]);
  });
});

describe("handle_event", () => {
  const send = (app: App, body: unknown, clientId = "a") =>
    server.post("event/handle_event/", app, body, { query: { client_id: clientId } });
  const pay = (more: Row = {}): Row => ({ event_type: "pay", properties: { amount: 900, real_amount: 600 }, ...more });

  test.each(["activate", "register", "pay", "twice", "key_active"])("%s is stored as an event", async (event_type) => {
    const { app } = await appWithClient();
    const answer = await send(app, { event_type, properties: { amount: 5 }, use_client_time: false, timestamp: null });
    expect(answer).toMatchObject({ status: 200, code: 0, data: {}, extra: {} });
    expect(await tables.eventNames(app)).toEqual([event_type]);
    expect(await tables.orders(app)).toHaveLength(event_type === "pay" ? 1 : 0);
  });

  test("a payment with a trace_id is one order no matter how often it comes and from whom", async () => {
    const { app } = await appWithClient();
    await server.register(app, "b");
    await send(app, pay({ trace_id: "order-1" }));
    await send(app, pay({ trace_id: "order-1" }));
    await server.settle();
    await send(app, pay({ trace_id: "order-1", properties: { amount: 1 } }));
    await send(app, pay({ trace_id: "order-1" }), "b");
    await server.collect(app, "a", [track("$PayEvent", { $order_id: "order-1", $pay_amount: 7 })]);
    expect(await tables.orders(app)).toMatchObject([{ client_id: "a", trace_id: "order-1", cents: 600, pay_count: 1 }]);
    expect(await tables.user(app, "a")).toMatchObject({ pay_count: 1, pay_cents: 600, pay_max_cents: 600 });
    expect(await tables.user(app, "b")).toMatchObject({ pay_count: 0, pay_cents: 0, first_pay_at_ms: null });
  });

  test("payments with different trace_ids are different orders and add up", async () => {
    const { app } = await appWithClient();
    await send(app, pay({ trace_id: "1" }));
    await send(app, pay({ trace_id: "2", properties: { real_amount: 1800 } }));
    await send(app, pay({ trace_id: "3", properties: { amount: 50 } }));
    expect((await tables.orders(app)).map(({ trace_id, cents, pay_count }) => [trace_id, cents, pay_count])).toEqual([
      ["1", 600, 1],
      ["2", 1800, 2],
      ["3", 50, 3],
    ]);
    expect(await tables.user(app, "a")).toMatchObject({ pay_count: 3, pay_cents: 2450, pay_max_cents: 1800 });
  });

  test("a trace_id that is a long number keeps its digits", async () => {
    const { app } = await appWithClient();
    await server.post("event/handle_event/", app, '{"event_type":"pay","trace_id":12345678901234567890}', {
      query: { client_id: "a" },
    });
    expect(await tables.orders(app)).toMatchObject([{ trace_id: "12345678901234567890" }]);
  });

  test("the client's time counts if use_client_time says so, else the time of receipt", async () => {
    const { app } = await appWithClient();
    const timestamp = Date.now() - 2 * DAY_MS;
    await send(app, pay({ trace_id: "1", use_client_time: true, timestamp }));
    const before = Date.now();
    await send(app, pay({ trace_id: "2", use_client_time: false, timestamp }));
    const [first, second] = await tables.orders(app);
    expect(first).toMatchObject({ trace_id: "1", at_ms: timestamp });
    expect(second!.at_ms).toBeGreaterThanOrEqual(before - 1_000);
  });

  test("the same body with the client's time is one event and one order, even without trace_id", async () => {
    const { app } = await appWithClient();
    const body = pay({ use_client_time: true, timestamp: Date.now() });
    for (let round = 0; round < 3; round += 1) await send(app, body);
    expect(await tables.orders(app)).toHaveLength(1);
    expect(await tables.ledger(app)).toEqual({ received: 3, stored: 1, duplicate: 2 });
  });

  const wrong: Record<string, unknown[]> = {
    event_type: [undefined, null, "", "with blank", "x".repeat(51), 7],
    timestamp: ["1700000000000", 1.5, -1, {}],
    trace_id: ["x".repeat(129), {}, [], true],
  };
  test.each(Object.keys(wrong))("refuses a wrong %s with 1004 and names it", async (field) => {
    const { app } = await appWithClient();
    for (const value of wrong[field]!) {
      const answer = await send(app, pay({ [field]: value }));
      expect({ value, ...answer }).toMatchObject({ value, code: 1004, msg: expect.stringContaining(field) });
    }
    expect(await tables.orders(app)).toEqual([]);
  });

  test("a trace_id may have 128 characters, be empty or null; properties may be anything", async () => {
    const { app } = await appWithClient();
    const bodies = [
      ...["x".repeat(128), "", null].map((trace_id) => ({ trace_id })),
      ...[null, [], undefined].map((properties) => ({ properties })),
    ];
    for (const [index, body] of bodies.entries()) {
      const answer = await send(app, pay({ ...body, use_client_time: true, timestamp: Date.now() - index * 1_000 }));
      expect(answer).toMatchObject({ code: 0 });
    }
    expect(await tables.orders(app)).toHaveLength(6);
  });

  test.each<[string, Row]>([
    ["an amount beyond any number of cents", { amount: 1e300 }],
    ["an amount below any number of cents", { real_amount: -1e300 }],
    ["a fraction of a cent", { amount: 99.5 }],
    ["an order id without end", { $order_id: Array.from({ length: 4_000 }, (_, n) => n.toString(36)).join("") }],
    ["a text as amount", { amount: "600" }],
  ])("no acknowledged payment is lost: %s", async (_what, properties) => {
    const { app } = await appWithClient();
    const { code } = await send(app, pay({ properties }));
    if (code === 0) expect(await tables.orders(app)).toHaveLength(1);
    else expect(code).toBe(1004);
  });

  test("requires a client_id in the query", async () => {
    const { app } = await appWithClient();
    const answer = await server.post("event/handle_event/", app, pay());
    expect(answer).toMatchObject({ code: 1004, msg: expect.stringContaining("client_id") });
  });
});

describe("postback_info", () => {
  test("answers an SDK with an empty list, because the server sends the postbacks", async () => {
    const { app } = await appWithClient();
    const query = { access_token: app.accessToken, client_id: "a", trace_id: "1" };
    const answer = await server.get(`${BASE}/event/postback_info/`, query);
    expect(answer).toMatchObject({ status: 200, code: 0, data: { postback_list: [] } });
  });

  test("accepts the SDK's confirmation", async () => {
    const { app } = await appWithClient();
    const answer = await server.post("event/postback_info/", app, { result: [] }, { query: { client_id: "a" } });
    expect(answer).toMatchObject({ status: 200, code: 0, data: {} });
  });
});

test("an order id sent as a long number keeps all its digits", async () => {
  const app = await server.createApp();
  await server.register(app, "payer");
  const body = `{"client_id":"payer","event_list":[{"type":"track","event":"$PayEvent","time":${Date.now()},"properties":{"$pay_amount":600,"$order_id":12345678901234567891}}]}`;
  expect(await server.post("event/collect/", app, body)).toMatchObject({ code: 0, extra: {} });
  await server.settle();
  const pool = server.database();
  const { rows } = await pool.query("select trace_id from orders where app_id = $1", [app.appId]);
  await pool.end();
  expect(rows).toEqual([{ trace_id: "12345678901234567891" }]);
});
