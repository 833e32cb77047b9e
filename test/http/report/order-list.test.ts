import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { HOUR_MS, profile, type Row, Tables, track } from "../fixture.ts";
import { at, collect, payment, register, ZONE } from "./list-people.ts";
import { ATTRIBUTION_FIELDS, ReportLists, USER_FIELDS } from "./report-lists.ts";

const server = sharedServer();
const tables = new Tables(server);
const lists = new ReportLists(server);

const ORDER_FIELDS =
  "PayEventTime ModifyTime Amount PayCount BackAmount PassStatus IsVirtual TraceID PostbackCnt Status".split(" ");
const EVENT_FIELDS = [
  ..."is_first_pay pay_method pay_reason brand os network_type ip browser ad_type ad_unit_id adn_type".split(" "),
  ..."app_crashed_reason ecpm event_duration guide_step order_id pay_amount pay_type scene_name".split(" "),
  ..."scene_path share_depth share_method ta_account_id ta_distinct_id third_platform_type".split(" "),
  ..."url_path url_query".split(" "),
].map((name) => `event$${name}`);

const REGISTERED_MS = at("2025-03-10T00:00:00.000");

const ARRIVAL = { active_time: REGISTERED_MS, click_time: REGISTERED_MS - HOUR_MS };

async function appWithUser(timeZone = ZONE): Promise<App> {
  const app = await server.createApp({ timeZone });
  await register(server, app, "u", ARRIVAL);
  return app;
}

async function ordersOf(app: App, ...clientIds: string[]): Promise<Row[]> {
  await server.settle();
  return (await lists.read("order", app, { page_size: 100, user_filtering: { client_id_list: clientIds } })).list;
}

describe("an order record", () => {
  /** One app for all tests that leave its settings alone; each has its own users and orders. */
  let app: App;
  beforeAll(async () => {
    app = await server.createApp({ timeZone: ZONE });
  });

  /** Registers the user and reports one payment. */
  async function pay(clientId: string, properties: Row = {}, cents = 100): Promise<void> {
    await register(server, app, clientId, ARRIVAL);
    const paid = payment(`order of ${clientId}`, cents, properties, at("2025-03-11T10:00:00"));
    await collect(server, app, clientId, paid);
  }

  async function orderOf(clientId: string): Promise<Row> {
    return (await ordersOf(app, clientId))[0]!;
  }

  test("has exactly the fields of the interface, whatever the event held", async () => {
    const fields = [...ATTRIBUTION_FIELDS, ...USER_FIELDS, ...ORDER_FIELDS, ...EVENT_FIELDS].sort();
    expect(fields).toHaveLength(14 + 33 + 10 + 27);
    await pay("plain");
    await pay("with more", { own: "x", $own: "y", $is_first_pay: "z", $trace_id: "t" });
    const orders = await ordersOf(app, "plain", "with more");
    expect(orders.map((order) => Object.keys(order).sort())).toEqual([fields, fields]);
  });

  test("of a payment without details has empty texts, zeros and a dash", async () => {
    await server.register(app, "without details", { name: "", channel: "" });
    await collect(server, app, "without details", track("$PayEvent", { $order_id: "o" }));
    const order = await orderOf("without details");
    const set = ["CreateTime", "ClientID", "AdPlatform", "Version", "LatestLoginDay", "PayEventTime", "ModifyTime"];
    set.push("PayCount", "TraceID", "Status", "user$first_pay_time", "user$pay_count");
    set.push("event$is_first_pay", "event$order_id", "event$ip");
    for (const [field, value] of Object.entries(order)) {
      if (!set.includes(field)) expect([field, value]).toEqual([field, typeof value === "number" ? 0 : ""]);
    }
    expect(order).toMatchObject({ AdPlatform: "natural", ModifyTime: "-", Status: "not postbacked", PayCount: 1 });
  });

  test("says who paid and which ad brought them", async () => {
    const tencent = { account_id: "acc", campaign_id: "plan", adgroup_id: "ad", ad_id: "creative" };
    await register(server, app, "known", {
      ...ARRIVAL,
      name: "李",
      channel: "store",
      version: 7,
      ad_data: { tencent: { ...tencent, site_set_name: "moments" } },
    });
    await server.post("user/update_data/", app, { wx_openid: "open" }, { query: { client_id: "known" } });
    await collect(server, app, "known", payment("of somebody known", 1, {}, at("2025-03-31T23:59:59.999")));
    expect(await orderOf("known")).toMatchObject({
      CreateTime: "2025-03-10 00:00:00",
      ClientID: "known",
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
      LatestLoginDay: "20250331",
    });
  });

  test.each([
    ["Asia/Shanghai", "2025-03-10 02:30:00", "2025-03-31 01:00:00", "20250331"],
    ["America/New_York", "2025-03-09 14:30:00", "2025-03-30 13:00:00", "20250330"],
    ["America/St_Johns", "2025-03-09 16:00:00", "2025-03-30 14:30:00", "20250330"],
    ["UTC", "2025-03-09 18:30:00", "2025-03-30 17:00:00", "20250330"],
  ])("has its times in the time zone %s", async (timeZone, registered, paid, login) => {
    const zoned = await appWithUser(timeZone);
    await collect(server, zoned, "u", payment("o", 1, {}, Date.parse("2025-03-30T17:00:00.999Z")));
    await tables.query("update orders set modified_at_ms = at_ms where app_id = $1", [zoned.appId]);
    const [order] = await ordersOf(zoned, "u");
    const times = { CreateTime: registered, PayEventTime: paid, ModifyTime: paid, user$first_pay_time: paid };
    expect(order).toMatchObject({ ...times, LatestLoginDay: login });
  });

  test("has its amount in cents, in the app's currency", async () => {
    const rated = await appWithUser();
    await tables.changeSettings("update app set rates = $2 where app_id = $1", [rated.appId, { USD: "7.1234" }]);
    const pays = [
      payment("1", 1),
      payment("2", 123_456_789),
      payment("3", 100, { $pay_type: "USD" }),
      payment("4", 100, { $pay_type: "EUR" }),
    ];
    for (const pay of pays) await collect(server, rated, "u", pay);
    const orders = await ordersOf(rated, "u");
    expect(orders.map((order) => order.Amount)).toEqual([1, 123_456_789, 712, 0]);
    expect(orders.map((order) => order.event$pay_amount)).toEqual([1, 123_456_789, 100, 100]);
    expect(orders[0]).toMatchObject({ user$pay_amount_sum: 123_457_502, user$pay_max_amount: 123_456_789 });
  });

  test("counts payments in the order of arrival, and the first of them is the first payment", async () => {
    for (const client of ["u", "v"]) await register(server, app, client, ARRIVAL);
    for (const [number, client] of ["u", "v", "u", "u"].entries()) {
      const paidAtMs = REGISTERED_MS + (10 - number) * HOUR_MS;
      await collect(server, app, client, payment(`o${number}`, 100, { $is_first_pay: number !== 0 }, paidAtMs));
      await server.settle();
    }
    const orders = await ordersOf(app, "u", "v");
    expect(orders.map((order) => [order.TraceID, order.ClientID, order.PayCount, order.event$is_first_pay])).toEqual([
      ["o0", "u", 1, true],
      ["o1", "v", 1, true],
      ["o2", "u", 2, false],
      ["o3", "u", 3, false],
    ]);
  });

  describe("of a payment with", () => {
    const STATUSES: [status: number, text: string][] = [
      [0, "not postbacked"],
      [1, "succeeded"],
      [2, "failed"],
      [3, "skipped"],
    ];
    const VIRTUAL: [$is_virtual: unknown, expected: number][] = [
      [undefined, 0],
      [0, 0],
      [false, 0],
      [1, 1],
      [true, 1],
    ];
    let orders: Map<string, Row>;
    beforeAll(async () => {
      for (const [status] of STATUSES) await pay(`status ${status}`);
      for (const [$is_virtual] of VIRTUAL) await pay(`virtual ${$is_virtual}`, { $is_virtual });
      await tables.query(
        `update orders set postback_status = split_part(client_id, ' ', 2)::int, back_cents = 60, pass_status = 1,
          postback_count = 4, modified_at_ms = $2 where app_id = $1 and client_id like 'status %'`,
        [app.appId, at("2025-04-01T08:00:00.999")],
      );
      const clients = [
        ...STATUSES.map(([status]) => `status ${status}`),
        ...VIRTUAL.map(([sent]) => `virtual ${sent}`),
      ];
      orders = new Map((await ordersOf(app, ...clients)).map((order) => [order.ClientID, order]));
    });

    test.each(STATUSES)("the postback status %i says %j", (status, text) => {
      const sent = { BackAmount: 60, PassStatus: 1, PostbackCnt: 4, ModifyTime: "2025-04-01 08:00:00" };
      expect(orders.get(`status ${status}`)).toMatchObject({ ...sent, Status: text, Amount: 100 });
    });

    test("no postback is not postbacked, not passed, and has no modification", () => {
      const untouched = { Status: "not postbacked", PassStatus: 0, BackAmount: 0, PostbackCnt: 0, ModifyTime: "-" };
      expect(orders.get("virtual 0")).toMatchObject(untouched);
    });

    test.each(VIRTUAL)("$is_virtual %j has IsVirtual %i", ($is_virtual, expected) => {
      expect(orders.get(`virtual ${$is_virtual}`)!.IsVirtual).toBe(expected);
    });
  });

  test("shows the properties of its event as they were sent", async () => {
    const texts = EVENT_FIELDS.map((field) => field.slice("event$".length)).filter(
      (name) => !["is_first_pay", "order_id", "pay_amount", "pay_type", "ip", "ecpm", "event_duration"].includes(name),
    );
    const sent = Object.fromEntries(texts.map((name) => [`$${name}`, `the ${name}`]));
    await pay("tells all", { ...sent, $ecpm: 1.5, $event_duration: 12.345, brand: "not this one" }, 250);
    expect(await orderOf("tells all")).toMatchObject({
      ...Object.fromEntries(texts.map((name) => [`event$${name}`, `the ${name}`])),
      event$ecpm: 1.5,
      event$event_duration: 12.345,
      event$ip: "127.0.0.1",
      event$order_id: "order of tells all",
      event$pay_amount: 250,
      event$pay_type: "CNY",
      event$is_first_pay: true,
    });
  });

  test("shows the address that client_ip gives", async () => {
    await register(server, app, "elsewhere", ARRIVAL);
    await server.collect(app, "elsewhere", [payment("paid elsewhere", 1)], { client_ip: "1.2.3.4" });
    expect(await orderOf("elsewhere")).toMatchObject({ event$ip: "1.2.3.4" });
  });

  test("shows the current properties and figures of its user", async () => {
    await register(server, app, "current", ARRIVAL);
    await collect(server, app, "current", payment("current 1", 100, { $pay_method: "wx", $pay_reason: "sword" }));
    await collect(server, app, "current", payment("current 2", 900, { $pay_method: "ali" }));
    await collect(server, app, "current", profile("profile_set", { $brand: "Mi", $gender: "女", own: 1 }));
    const orders = await ordersOf(app, "current");
    for (const order of orders) {
      expect(order).toMatchObject({
        user$pay_count: 2,
        user$pay_amount_sum: 1000,
        user$pay_max_amount: 900,
        user$first_pay_method: "wx",
        user$first_pay_reason: "sword",
        user$brand: "Mi",
        user$gender: "女",
      });
    }
    expect(orders).toHaveLength(2);
  });
});

describe("the total of the order list", () => {
  let app: App;
  beforeAll(async () => {
    app = await appWithUser();
    await register(server, app, "v");
    await collect(server, app, "u", payment("u1", 100), payment("u2", 250));
    await collect(server, app, "v", payment("v1", 1_000));
    await server.settle();
    await tables.query("update orders set back_cents = cents / 10 where app_id = $1", [app.appId]);
    await tables.query(
      `update user_total t set back_cents = (select sum(back_cents) from orders o
        where o.app_id = t.app_id and o.registered_day = t.registered_day and o.ad_platform = t.ad_platform) where app_id = $1`,
      [app.appId],
    );
  });

  const total = async (more: Row) => (await lists.read("order", app, more)).total;

  test("adds up the orders, and counts each user's payments once", async () => {
    const all = { Amount: 1_350, BackAmount: 135, user$pay_amount_sum: 1_350, user$pay_max_amount: 1_000 };
    expect(await total({})).toEqual([all]);
  });

  test("covers all orders found, not just one page", async () => {
    for (const page of [1, 2, 3, 4]) expect(await total({ page, page_size: 1 })).toEqual(await total({}));
  });

  test.each<[Row, Row]>([
    [
      { user_filtering: { client_id_list: ["u"] } },
      { Amount: 350, BackAmount: 35, user$pay_amount_sum: 350, user$pay_max_amount: 250 },
    ],
    [
      { event_filtering: { TraceID: ["u1"] } },
      { Amount: 100, BackAmount: 10, user$pay_amount_sum: 350, user$pay_max_amount: 250 },
    ],
    [
      { event_filtering: { TraceID: ["u1", "v1"] } },
      { Amount: 1_100, BackAmount: 110, user$pay_amount_sum: 1_350, user$pay_max_amount: 1_000 },
    ],
    [
      { property_condition: [{ field: "event$is_first_pay", operator: "equal", values: [false] }] },
      { Amount: 250, BackAmount: 25, user$pay_amount_sum: 350, user$pay_max_amount: 250 },
    ],
    [
      { event_filtering: { TraceID: ["none"] } },
      { Amount: 0, BackAmount: 0, user$pay_amount_sum: 0, user$pay_max_amount: 0 },
    ],
  ])("of %j is %j", async (more, expected) => {
    expect(await total(more)).toEqual([expected]);
  });

  test("is all zeros for an app without orders", async () => {
    const data = await lists.read("order", await server.createApp());
    const total = [{ Amount: 0, BackAmount: 0, user$pay_amount_sum: 0, user$pay_max_amount: 0 }];
    expect(data).toEqual({
      page_info: { page: 1, page_size: 20, total_number: 0, total_page: 0 },
      list: [],
      total,
    });
  });

  test("holds no order of another app with the same users and order ids", async () => {
    const other = await appWithUser();
    await collect(server, other, "u", payment("u1", 7));
    await server.settle();
    const ofApp = async (of: App) => (await lists.read("order", of)).list as Row[];
    expect((await ofApp(other)).map((order) => [order.TraceID, order.Amount])).toEqual([["u1", 7]]);
    expect((await ofApp(app)).map((order) => order.TraceID)).toEqual(["u1", "u2", "v1"]);
  });
});
