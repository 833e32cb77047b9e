import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { sharedServer } from "../../support/shared-server.ts";
import type { Answer } from "../../support/touchpoint.ts";
import { BASE, DAY_MS, type Row, Tables, track } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);

const NOW_MS = Date.now();

/** One app for all tests; each that stores something has its own client. */
let app: App;
beforeAll(async () => {
  app = await server.appWith(["refused"]);
});

const tokenOf = async (clientId: string, of: App = app): Promise<string> =>
  (await server.register(of, clientId)).data.token;
const ofClient = (rows: readonly Row[], clientId: string) => rows.filter((row) => row.client_id === clientId);

describe("consumer event", () => {
  const send = (query: Record<string, string>, body: unknown) =>
    server.post("event/consumer_event/", app, body, { query });

  const TYPES = [
    ...["START", "CLICK_SURVEY", "SUBMIT_SURVEY", "CLICK_RECOMMEND_COMMODITY"],
    ...["ADD_TO_CART", "PRIVILEGE", "SETTLEMENT", "PAY"],
  ];
  const AMOUNTS: readonly [title: string, amounts: Row, cents: number][] = [
    ["real_amount", { amount: 1000, real_amount: 880 }, 880],
    ["amount when there is no real_amount", { amount: 1000 }, 1000],
    ["amount when real_amount is null", { amount: 1000, real_amount: null }, 1000],
    ["0 when real_amount is 0", { amount: 1000, real_amount: 0 }, 0],
    ["0 when there is neither", {}, 0],
  ];
  const OFFSETS_MS = [-3000 * DAY_MS, -11 * DAY_MS, 2 * DAY_MS];

  /** What the client of each case sends: it is named after its case. */
  const BODIES = new Map<string, Row>([
    ...TYPES.map((event_type): [string, Row] => [event_type, { event_type, ts: NOW_MS }]),
    ...AMOUNTS.map(([title, amounts]): [string, Row] => [title, { event_type: "PAY", ts: NOW_MS, ...amounts }]),
    ...OFFSETS_MS.map((ms): [string, Row] => [`${ms} ms`, { event_type: "PAY", ts: NOW_MS + ms, real_amount: 5 }]),
    ["digits", { event_type: "START", ts: String(NOW_MS) }],
  ]);
  let events: Row[];
  let orders: Row[];
  let users: Map<string, Row>;
  beforeAll(async () => {
    const sendAs = async ([client_id, body]: [string, Row]) => {
      await server.register(app, client_id);
      const { status, code, msg, data, extra } = await send({ client_id }, body);
      expect({ status, code, msg, data, extra }).toEqual({ status: 200, code: 0, msg: "success", data: {}, extra: {} });
    };
    await Promise.all([...BODIES].map(sendAs));
    [events, orders] = [await tables.events(app), await tables.orders(app)];
    users = await tables.users(app);
  });

  test.each(TYPES)("%s is stored as an event of the client", (event_type) => {
    expect(ofClient(events, event_type)).toMatchObject([{ type: "track", event: event_type, at_ms: NOW_MS }]);
    expect(ofClient(orders, event_type)).toHaveLength(event_type === "PAY" ? 1 : 0);
  });

  test("may name its client by the token of the registration", async () => {
    const token = await tokenOf("named by a token");
    expect(await send({ token }, { event_type: "START", ts: NOW_MS })).toMatchObject({ code: 0 });
    expect(await tables.eventNames(app, "named by a token")).toEqual(["START"]);
  });

  test("requires a token or a client_id", async () => {
    const body = { event_type: "START", ts: NOW_MS };
    for (const query of [{}, { token: "" }, { client_id: "" }, { token: "", client_id: "" }] as Record<
      string,
      string
    >[])
      expect(await send(query, body)).toMatchObject({
        code: 1004,
        msg: expect.stringMatching(/token.*client_id/),
      });
  });

  test("refuses a token that is forged, changed or of another app", async () => {
    const token = await tokenOf("forger");
    const foreign = await tokenOf("forger", await server.createApp());
    const [body = "", signature = ""] = token.split(".");
    const forged = `${Buffer.from(`${app.appId}:refused`).toString("base64url")}.${signature}`;
    for (const bad of ["x", foreign, body, `${body}.`, forged, `${token}x.y`, "."]) {
      const answer = await send({ token: bad }, { event_type: "START", ts: NOW_MS });
      expect({ bad, ...answer }).toMatchObject({ bad, status: 200, code: 1004, msg: expect.stringContaining("token") });
    }
    for (const client of ["forger", "refused"]) expect(await tables.events(app, client)).toEqual([]);
  });

  test("answers 2000 for an unregistered client", async () => {
    const answer = await send({ client_id: "stranger" }, { event_type: "PAY", ts: NOW_MS, amount: 1 });
    expect(answer).toMatchObject({ status: 200, code: 2000 });
    expect(await tables.orders(app, "stranger")).toEqual([]);
  });

  const wrong: Record<string, unknown[]> = {
    event_type: [undefined, null, "", "pay", "BUY", 7, ["PAY"]],
    ts: [undefined, null, "", "now", 1.5, -1, true, {}],
    amount: ["100", 1.5, {}, true],
    real_amount: ["100", 1.5, {}, true],
  };
  test.each(Object.keys(wrong))("refuses a wrong %s with 1004 and names it", async (field) => {
    for (const value of wrong[field]!) {
      const body = { event_type: "PAY", ts: NOW_MS, amount: 1, [field]: value };
      const answer = await send({ client_id: "refused" }, body);
      expect({ value, ...answer }).toMatchObject({ value, code: 1004, msg: expect.stringContaining(field) });
    }
    expect(await tables.orders(app, "refused")).toEqual([]);
  });

  test.each(AMOUNTS)("PAY is an order over %s, in cents", (title, _amounts, cents) => {
    expect(ofClient(orders, title)).toMatchObject([{ cents, at_ms: NOW_MS, pay_count: 1, currency: "CNY" }]);
    expect(users.get(title)).toMatchObject({ pay_count: 1, pay_cents: cents, pay_max_cents: cents });
  });

  test("the same body twice is one order, another time or amount is another", async () => {
    const token = await tokenOf("pays again");
    const body = { event_type: "PAY", ts: NOW_MS, real_amount: 600 };
    const client = { client_id: "pays again" };
    await send(client, body);
    await send({ token }, body);
    await server.settle();
    await send(client, body);
    expect(await tables.orders(app, "pays again")).toHaveLength(1);
    await send(client, { ...body, ts: body.ts + 1 });
    await send(client, { ...body, real_amount: 300 });
    expect((await tables.orders(app, "pays again")).map(({ cents }) => cents).sort()).toEqual([300, 600, 600]);
    expect(await tables.user(app, "pays again")).toMatchObject({ pay_count: 3, pay_cents: 1500, pay_max_cents: 600 });
  });

  test.each(OFFSETS_MS)("has no time window: %i ms from now", (ms) => {
    expect(ofClient(orders, `${ms} ms`)).toMatchObject([{ at_ms: NOW_MS + ms, cents: 5 }]);
  });

  test("ts may be a text of digits, as the oldest client writes it", () => {
    expect(ofClient(events, "digits")).toMatchObject([{ at_ms: NOW_MS }]);
  });
});

describe("handle_event", () => {
  const send = (client_id: string, body: unknown) =>
    server.post("event/handle_event/", app, body, { query: { client_id } });
  const pay = (more: Row = {}): Row => ({ event_type: "pay", properties: { amount: 900, real_amount: 600 }, ...more });

  const TYPES = ["activate", "register", "pay", "twice", "key_active"];
  const ODD: readonly [title: string, properties: Row][] = [
    ["an amount beyond any number of cents", { amount: 1e300 }],
    ["an amount below any number of cents", { real_amount: -1e300 }],
    ["a fraction of a cent", { amount: 99.5 }],
    ["an order id without end", { $order_id: Array.from({ length: 4_000 }, (_, n) => n.toString(36)).join("") }],
    ["a text as amount", { amount: "600" }],
  ];
  /** What the client of each case sends: it is named after its case. */
  const BODIES = new Map<string, Row>([
    ...TYPES.map((event_type): [string, Row] => [
      event_type,
      { event_type, properties: { amount: 5 }, use_client_time: false, timestamp: null },
    ]),
    ...ODD.map(([title, properties]): [string, Row] => [title, pay({ properties })]),
  ]);
  const answers = new Map<string, Answer>();
  let events: Row[];
  let orders: Row[];
  beforeAll(async () => {
    const sendAs = async ([client, body]: [string, Row]) => {
      await server.register(app, client);
      answers.set(client, await send(client, body));
    };
    await Promise.all([...BODIES].map(sendAs));
    [events, orders] = [await tables.events(app), await tables.orders(app)];
  });

  test.each(TYPES)("%s is stored as an event", (event_type) => {
    expect(answers.get(event_type)).toMatchObject({ status: 200, code: 0, data: {}, extra: {} });
    expect(ofClient(events, event_type)).toMatchObject([{ event: event_type }]);
    expect(ofClient(orders, event_type)).toHaveLength(event_type === "pay" ? 1 : 0);
  });

  test.each(ODD)("no acknowledged payment is lost: %s", (title) => {
    const { code } = answers.get(title)!;
    if (code === 0) expect(ofClient(orders, title)).toHaveLength(1);
    else expect(code).toBe(1004);
  });

  test("a payment with a trace_id is one order no matter how often it comes and from whom", async () => {
    for (const client of ["first", "second"]) await server.register(app, client);
    await send("first", pay({ trace_id: "order-1" }));
    await send("first", pay({ trace_id: "order-1" }));
    await server.settle();
    await send("first", pay({ trace_id: "order-1", properties: { amount: 1 } }));
    await send("second", pay({ trace_id: "order-1" }));
    await server.collect(app, "first", [track("$PayEvent", { $order_id: "order-1", $pay_amount: 7 })]);
    expect(await tables.orders(app, "first")).toMatchObject([{ trace_id: "order-1", cents: 600, pay_count: 1 }]);
    expect(await tables.orders(app, "second")).toEqual([]);
    expect(await tables.user(app, "first")).toMatchObject({ pay_count: 1, pay_cents: 600, pay_max_cents: 600 });
    expect(await tables.user(app, "second")).toMatchObject({ pay_count: 0, pay_cents: 0, first_pay_at_ms: null });
  });

  test("payments with different trace_ids are different orders and add up", async () => {
    const client = "pays three times";
    await server.register(app, client);
    await send(client, pay({ trace_id: "1" }));
    await send(client, pay({ trace_id: "2", properties: { real_amount: 1800 } }));
    await send(client, pay({ trace_id: "3", properties: { amount: 50 } }));
    const orders = await tables.orders(app, client);
    expect(orders.map(({ trace_id, cents, pay_count }) => [trace_id, cents, pay_count])).toEqual([
      ["1", 600, 1],
      ["2", 1800, 2],
      ["3", 50, 3],
    ]);
    expect(await tables.user(app, client)).toMatchObject({ pay_count: 3, pay_cents: 2450, pay_max_cents: 1800 });
  });

  test("a trace_id that is a long number keeps its digits", async () => {
    await server.register(app, "long number");
    await send("long number", '{"event_type":"pay","trace_id":12345678901234567890}');
    expect(await tables.orders(app, "long number")).toMatchObject([{ trace_id: "12345678901234567890" }]);
  });

  test("the client's time counts if use_client_time says so, else the time of receipt", async () => {
    await server.register(app, "two clocks");
    const timestamp = Date.now() - 2 * DAY_MS;
    await send("two clocks", pay({ trace_id: "client time", use_client_time: true, timestamp }));
    const before = Date.now();
    await send("two clocks", pay({ trace_id: "server time", use_client_time: false, timestamp }));
    const [first, second] = await tables.orders(app, "two clocks");
    expect(first).toMatchObject({ trace_id: "client time", at_ms: timestamp });
    expect(second!.at_ms).toBeGreaterThanOrEqual(before - 1_000);
  });

  test("the same body with the client's time is one event and one order, even without trace_id", async () => {
    const own = await server.appWith(["a"]);
    const body = pay({ use_client_time: true, timestamp: Date.now() });
    for (let round = 0; round < 3; round += 1)
      await server.post("event/handle_event/", own, body, { query: { client_id: "a" } });
    expect(await tables.orders(own)).toHaveLength(1);
    expect(await tables.ledger(own)).toEqual({ received: 3, stored: 1, duplicate: 2 });
  });

  const wrong: Record<string, unknown[]> = {
    event_type: [undefined, null, "", "with blank", "x".repeat(51), 7],
    timestamp: ["1700000000000", 1.5, -1, {}],
    trace_id: ["x".repeat(129), {}, [], true],
  };
  test.each(Object.keys(wrong))("refuses a wrong %s with 1004 and names it", async (field) => {
    for (const value of wrong[field]!) {
      const answer = await send("refused", pay({ [field]: value }));
      expect({ value, ...answer }).toMatchObject({ value, code: 1004, msg: expect.stringContaining(field) });
    }
    expect(await tables.orders(app, "refused")).toEqual([]);
  });

  test("a trace_id may have 128 characters, be empty or null; properties may be anything", async () => {
    await server.register(app, "six forms");
    const bodies = [
      ...["x".repeat(128), "", null].map((trace_id) => ({ trace_id })),
      ...[null, [], undefined].map((properties) => ({ properties })),
    ];
    for (const [index, body] of bodies.entries()) {
      const answer = await send(
        "six forms",
        pay({ ...body, use_client_time: true, timestamp: Date.now() - index * 1_000 }),
      );
      expect(answer).toMatchObject({ code: 0 });
    }
    expect(await tables.orders(app, "six forms")).toHaveLength(6);
  });

  test("requires a client_id in the query", async () => {
    const answer = await server.post("event/handle_event/", app, pay());
    expect(answer).toMatchObject({ code: 1004, msg: expect.stringContaining("client_id") });
  });
});

describe("postback_info", () => {
  test("answers an SDK with an empty list, because the server sends the postbacks", async () => {
    const query = { access_token: app.accessToken, client_id: "refused", trace_id: "1" };
    const answer = await server.get(`${BASE}/event/postback_info/`, query);
    expect(answer).toMatchObject({ status: 200, code: 0, data: { postback_list: [] } });
  });

  test("accepts the SDK's confirmation", async () => {
    const answer = await server.post("event/postback_info/", app, { result: [] }, { query: { client_id: "refused" } });
    expect(answer).toMatchObject({ status: 200, code: 0, data: {} });
  });
});

test("an order id sent as a long number keeps all its digits", async () => {
  await server.register(app, "payer");
  const body = `{"client_id":"payer","event_list":[{"type":"track","event":"$PayEvent","time":${Date.now()},"properties":{"$pay_amount":600,"$order_id":12345678901234567891}}]}`;
  expect(await server.post("event/collect/", app, body)).toMatchObject({ code: 0, extra: {} });
  expect(await tables.orders(app, "payer")).toMatchObject([{ trace_id: "12345678901234567891" }]);
});
