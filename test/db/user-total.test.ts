import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { wrongTotals } from "../../sim/chaos/promises/totals.ts";
import { inTransaction } from "../../src/db/engine/pool.ts";
import { showPostbacksInOrders } from "../../src/db/postback.ts";
import { readOrderList, runOrderList } from "../../src/report/list/order-list.ts";
import { readUserList, runUserList } from "../../src/report/list/user-list.ts";
import { ApplyStage, DAY_MS, HOUR_MS, NOW_MS, pay, track } from "./apply-stage.ts";
import { countWaiting } from "./temp-database.ts";

let stage: ApplyStage;
beforeAll(async () => {
  stage = await ApplyStage.open();
});
beforeEach(async () => {
  await stage.begin();
  await stage.pool.query("truncate erased_user");
});
afterAll(() => stage.close());

const DAY = "2024-06-15";

/** Applies what was appended; the totals must equal what would be counted. */
async function totals(): Promise<object[]> {
  await stage.applyAll();
  expect(await wrongTotals(stage.pool)).toEqual([]);
  const { rows } = await stage.pool.query(
    "select to_jsonb(t) - 'app_id' as total from user_total t order by registered_day, ad_platform",
  );
  return rows.map((row) => row.total);
}

/** A group of one user who has paid nothing, with what is different. */
const total = (change: object) => ({
  registered_day: DAY,
  ad_platform: "",
  users: 1,
  pay_count: 0,
  pay_cents: 0,
  pay_max_cents: 0,
  back_cents: 0,
  ...change,
});

/** A user whom a click with the same device can move. */
const arrive = (client: string) =>
  stage.register(client, { device_info: { os_name: "android", oaid: `oaid-of-${client}` } });

async function click(client: string, at = NOW_MS - HOUR_MS): Promise<void> {
  const query = new URLSearchParams({ company: "vivo", ts: String(at), oaid: `oaid-of-${client}`, aid: "7" });
  await stage.append("click", "", String(query), { at });
}

/** A postback of an order, which the order does not show yet. */
async function notePostback(client: string, traceId: string, backCents: number): Promise<void> {
  await stage.pool.query(
    `insert into postback (app_id, client_id, event_type, subject, status, back_cents, ad_platform, trace_id, accepted_day)
      values ($1, $2, 'pay', $3, 1, $4, 'vivo', $3, '2024-06-15') on conflict do nothing`,
    [stage.app.appId, client, traceId, backCents],
  );
}

/** Tells a platform of an order; a second time changes nothing. */
async function tell(client: string, traceId: string, backCents: number): Promise<void> {
  const { appId } = stage.app;
  await notePostback(client, traceId, backCents);
  await inTransaction(stage.pool, (tx) => showPostbacksInOrders(tx, [{ appId, clientId: client, traceId }]));
}

test("users and payments are counted by day of registration and platform", async () => {
  await arrive("u");
  await stage.register("later", {}, { at: NOW_MS + DAY_MS });
  expect(await totals()).toEqual([total({}), total({ registered_day: "2024-06-16" })]);
  await stage.collect("u", [pay("o1", 600), pay("o2", 50), track("login")]);
  await stage.collect("u", [pay("o1", 600)]);
  const paid = { pay_count: 2, pay_cents: 650, pay_max_cents: 600 };
  expect(await totals()).toEqual([total(paid), total({ registered_day: "2024-06-16" })]);
});

test("a user whom a late click moves is counted elsewhere, with the orders and what platforms were told of them", async () => {
  await arrive("u");
  await arrive("v");
  await stage.collect("u", [pay("o1", 600), pay("o2", 50)]);
  await stage.collect("v", [pay("o3", 70)]);
  await stage.applyAll();
  await tell("u", "o1", 500);
  await tell("u", "o1", 500);
  const v = { pay_count: 1, pay_cents: 70, pay_max_cents: 70 };
  const all = { users: 2, pay_count: 3, pay_cents: 720, pay_max_cents: 600, back_cents: 500 };
  expect(await totals()).toEqual([total(all)]);
  await click("u");
  await stage.collect("u", [pay("o4", 1)]);
  const u = { pay_count: 3, pay_cents: 651, pay_max_cents: 600, back_cents: 500, ad_platform: "vivo" };
  expect(await totals()).toEqual([total(v), total(u)]);
  await click("v");
  const both = { users: 2, pay_count: 4, pay_cents: 721, pay_max_cents: 600, back_cents: 500, ad_platform: "vivo" };
  expect(await totals()).toEqual([total(both)]);
});

test("what a platform is told of an order while apply moves its user is counted where the user is then", async () => {
  await arrive("u");
  await stage.collect("u", [pay("o1", 600)]);
  await stage.applyAll();
  await notePostback("u", "o1", 500);
  await click("u");
  let moving: Promise<void> | undefined;
  await inTransaction(stage.pool, async (tx) => {
    await showPostbacksInOrders(tx, [{ appId: stage.app.appId, clientId: "u", traceId: "o1" }]);
    moving = stage.applyAll();
    await untilOneWaits();
  });
  await moving;
  const u = { pay_count: 1, pay_cents: 600, pay_max_cents: 600, back_cents: 500, ad_platform: "vivo" };
  expect(await totals()).toEqual([total(u)]);
});

const untilOneWaits = () => expect.poll(() => countWaiting(stage.pool)).toBe(1);

test("a renamed user is counted as before, and an erased one no more, with the next greatest payment in place", async () => {
  for (const [client, cents] of [
    ["u", 600],
    ["v", 70],
  ] as const) {
    await stage.register(client);
    await stage.collect(client, [pay(`o-${client}`, cents)]);
  }
  await stage.applyAll();
  await tell("u", "o-u", 600);
  const before = await totals();
  await stage.append("reset_client_id", "u", { new_client_id: "w" });
  expect(await totals()).toEqual(before);
  await stage.append("erase", "w", {});
  expect(await totals()).toEqual([total({ pay_count: 1, pay_cents: 70, pay_max_cents: 70 })]);
  await stage.append("erase", "v", {});
  expect(await totals()).toEqual([]);
});

test("the order list shows what platforms were told, of all users and of some", async () => {
  await arrive("u");
  await arrive("v");
  await click("u");
  await stage.collect("u", [pay("o1", 600)]);
  await stage.collect("v", [pay("o2", 70)]);
  await stage.applyAll();
  await tell("u", "o1", 500);
  await tell("v", "o2", 7);
  const backOf = async (user_filtering: object) => {
    const body = { app_id: stage.app.appId, user_filtering, event_filtering: {} };
    return (await runOrderList(stage.pool, readOrderList(body, stage.app))).total[0]!.BackAmount;
  };
  expect(await backOf({})).toBe(507);
  expect(await backOf({ ad_platform_list: ["vivo"] })).toBe(500);
  expect(await backOf({ ad_platform_list: ["natural"], create_date_list: [DAY, DAY] })).toBe(7);
  expect(await backOf({ client_id_list: ["v"] })).toBe(7);
});

test("amounts that no sum can hold are still counted exactly, and do not stop apply", async () => {
  for (const client of ["u", "v"]) {
    await stage.register(client);
    const orders = Array.from({ length: 600 }, (_, index) => pay(`${client}-${index}`, Number.MAX_SAFE_INTEGER));
    await stage.collect(client, orders);
    await stage.applyAll();
  }
  await stage.collect("v", [pay("small", 1)]);
  expect(await totals()).toHaveLength(1);
  expect(await stage.setAside()).toEqual([]);
  for (const client_id_list of [[], ["u", "v"]]) {
    const body = { app_id: stage.app.appId, user_filtering: { client_id_list }, event_filtering: {} };
    const { total: sums } = await runOrderList(stage.pool, readOrderList(body, stage.app));
    expect(sums[0]!.Amount).toBe(Number.MAX_SAFE_INTEGER);
  }
});

test("users are sorted by what they have paid, also below nothing, over all pages", async () => {
  const paid = { a: [5], b: [], c: [-3], d: [7, 1], e: [0], f: [-9], g: [5], h: [] };
  for (const [client, amounts] of Object.entries(paid)) {
    await stage.register(client);
    for (const [index, cents] of amounts.entries()) await stage.collect(client, [pay(`${client}-${index}`, cents)]);
  }
  await stage.applyAll();
  const sortedBy = async (field: string, sort: 0 | 1, page_size: number) => {
    const found: string[] = [];
    for (let page = 1; page <= Math.ceil(8 / page_size) + 1; page += 1) {
      const order_by_list = [{ field, sort }];
      const body = { app_id: stage.app.appId, user_filtering: {}, event_filtering: {}, order_by_list, page, page_size };
      const { list } = await runUserList(stage.pool, readUserList(body, stage.app), stage.app);
      found.push(...list.map(({ ClientID }) => ClientID));
    }
    return found.join("");
  };
  for (const size of [1, 3, 8]) {
    expect(await sortedBy("user$pay_amount_sum", 1, size)).toBe("dagbehcf");
    expect(await sortedBy("user$pay_amount_sum", 0, size)).toBe("fcbehagd");
    expect(await sortedBy("user$pay_count", 1, size)).toBe("dacefgbh");
    expect(await sortedBy("user$pay_count", 0, size)).toBe("bhacefgd");
    expect(await sortedBy("user$pay_max_amount", 1, size)).toBe("dagbcefh");
    expect(await sortedBy("user$pay_max_amount", 0, size)).toBe("bcefhagd");
  }
});
