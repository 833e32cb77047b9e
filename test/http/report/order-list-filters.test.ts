import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { type Row, Tables } from "../fixture.ts";
import { at, collect, payment, register, ZONE } from "./list-people.ts";
import { ReportLists } from "./report-lists.ts";

const server = sharedServer();
const tables = new Tables(server);
const lists = new ReportLists(server);

type Given = {
  id: string;
  client: string;
  cents: number;
  paid: string;
  received: string;
  modified: string | null;
  properties: Row;
  postback: { status: number; back: number; count: number };
};

const ORDERS: readonly Given[] = [
  {
    id: "o1",
    client: "u",
    cents: 100,
    paid: "2025-03-09T23:59:59.999",
    properties: { $pay_method: "wx" },
    received: "2025-05-01T08:00:00.000",
    modified: null,
    postback: { status: 0, back: 0, count: 0 },
  },
  {
    id: "o2",
    client: "u",
    cents: 101,
    paid: "2025-03-10T00:00:00.000",
    properties: { $pay_method: "ali" },
    received: "2025-05-01T08:00:00.999",
    modified: null,
    postback: { status: 1, back: 101, count: 0 },
  },
  {
    id: "o3",
    client: "u",
    cents: 200,
    paid: "2025-03-10T12:00:00.999",
    properties: { $pay_reason: "sword" },
    received: "2025-05-01T08:00:01.000",
    modified: "2025-05-02T00:00:00.000",
    postback: { status: 2, back: 50, count: 1 },
  },
  {
    id: "O3",
    client: "v",
    cents: 200,
    paid: "2025-03-10T23:59:59.999",
    properties: { $pay_method: "wx", $pay_reason: "shield" },
    postback: { status: 3, back: 0, count: 2 },
    received: "2025-05-01T08:00:00.500",
    modified: "2025-05-02T23:59:59.999",
  },
  {
    id: "订单-5",
    client: "v",
    cents: 0,
    paid: "2025-03-11T00:00:00.000",
    properties: { $pay_method: 5, $pay_reason: "" },
    postback: { status: 1, back: 200, count: 12 },
    received: "2025-05-03T00:00:00.000",
    modified: null,
  },
];
const ALL = ORDERS.map(({ id }) => id);

let app: App;
beforeAll(async () => {
  app = await server.createApp({ timeZone: ZONE });
  for (const client of ["u", "v"]) await register(server, app, client);
  for (const { id, client, cents, paid, properties } of ORDERS)
    await collect(server, app, client, payment(id, cents, properties, at(paid)));
  await server.settle();
  for (const { id, received, modified, postback } of ORDERS) {
    await tables.query(
      `update orders set received_at_ms = $3, modified_at_ms = $4, postback_status = $5, back_cents = $6,
        postback_count = $7 where app_id = $1 and trace_id = $2`,
      [app.appId, id, at(received), modified && at(modified), postback.status, postback.back, postback.count],
    );
  }
});

/** The matching orders, in the order of ORDERS. */
async function found(event_filtering: Row, more: Row = {}): Promise<string[]> {
  const ids = await lists.column("order", app, "TraceID", { event_filtering, ...more });
  expect(new Set(ids).size).toBe(ids.length);
  return ALL.filter((id) => ids.includes(id));
}
const refused = (event_filtering: Row, named: string) => lists.expectRefused("order", app, { event_filtering }, named);

const between = (...values: unknown[]) => ({ operator: "between", values });
const inner = (...values: unknown[]) => ({ operator: "inner", values });

describe("amounts", () => {
  test.each<[Row, string[]]>([
    [{ Amount: between(100, 200) }, ["o1", "o2", "o3", "O3"]],
    [{ Amount: between(101, 199) }, ["o2"]],
    [{ Amount: between(100.5, 199.999) }, ["o2"]],
    [{ Amount: between(101, 101) }, ["o2"]],
    [{ Amount: between(0, 0) }, ["订单-5"]],
    [{ Amount: between(-5, 0) }, ["订单-5"]],
    [{ Amount: between(200, 100) }, []],
    [{ Amount: between(-1e300, 1e300) }, ALL],
    [{ Amount: inner(100) }, ["o1"]],
    [{ Amount: inner(0, 200, 7) }, ["o3", "O3", "订单-5"]],
    [{ Amount: inner(100.5) }, []],
    [{ Amount: inner() }, ALL],
    [{ BackAmount: between(50, 101) }, ["o2", "o3"]],
    [{ BackAmount: between(1, 1_000) }, ["o2", "o3", "订单-5"]],
    [{ BackAmount: inner(0) }, ["o1", "O3"]],
    [{ BackAmount: inner(200, 50) }, ["o3", "订单-5"]],
    [{ BackAmount: inner() }, ALL],
  ])("%j finds %j", async (filter, expected) => {
    expect(await found(filter)).toEqual(expected);
  });

  test.each(["Amount", "BackAmount"])(
    "%s that is neither a range nor a list of numbers is refused with 1004",
    async (name) => {
      const wrong: unknown[] = [between(), between(1), between(1, 2, 3), between("1", "2"), between(1, null)];
      wrong.push({ operator: "equal", values: [1] }, { operator: "in", values: [1] }, { operator: "", values: [1] });
      wrong.push(
        { operator: "Between", values: [1, 2] },
        { operator: 5, values: [1] },
        { operator: null, values: [1] },
      );
      wrong.push({ values: [1] }, { operator: "inner" }, {}, inner("1"), inner(null), inner([1]), inner(true));
      wrong.push({ operator: "inner", values: 1 }, { operator: "inner", values: {} }, null, 5, "5", [1, 2]);
      wrong.push({ operator: "between", values: null }, { operator: "or 1=1 --", values: [1] });
      for (const value of wrong) await refused({ [name]: value }, `event_filtering.${name}`);
    },
  );
});

describe("times", () => {
  test.each<[string, string[], string[]]>([
    ["a second with its fractions", ["2025-03-10 12:00:00", "2025-03-10 12:00:00"], ["o3"]],
    ["the second before", ["2025-03-10 11:59:59", "2025-03-10 11:59:59"], []],
    ["the second after", ["2025-03-10 12:00:01", "2025-03-10 12:00:01"], []],
    ["both ends", ["2025-03-09 23:59:59", "2025-03-10 00:00:00"], ["o1", "o2"]],
    ["up to midnight", ["2025-03-09 00:00:00", "2025-03-09 23:59:59"], ["o1"]],
    ["a date as a whole day", ["2025-03-10", "2025-03-10"], ["o2", "o3", "O3"]],
    ["two dates", ["2025-03-09", "2025-03-10"], ["o1", "o2", "o3", "O3"]],
    ["a date and a time", ["2025-03-10", "2025-03-10 12:00:00"], ["o2", "o3"]],
    ["a time and a date", ["2025-03-10 12:00:00", "2025-03-11"], ["o3", "O3", "订单-5"]],
    ["all times", ["2000-01-01", "2099-12-31"], ALL],
    ["a leap day", ["2024-02-29", "2024-02-29"], []],
  ])("PayEventTime of %s", async (_, PayEventTime, expected) => {
    expect(await found({ PayEventTime })).toEqual(expected);
  });

  test.each<[string, string[], string[]]>([
    ["the receipt of what was never changed", ["2025-05-01 08:00:00", "2025-05-01 08:00:00"], ["o1", "o2"]],
    ["the day of receipt, but not of what was changed later", ["2025-05-01", "2025-05-01"], ["o1", "o2"]],
    ["the second of a change", ["2025-05-02 00:00:00", "2025-05-02 00:00:00"], ["o3"]],
    ["a change in the last second of a day", ["2025-05-02 23:59:59", "2025-05-02 23:59:59"], ["O3"]],
    ["the day of the changes", ["2025-05-02", "2025-05-02"], ["o3", "O3"]],
    ["from one day to another", ["2025-05-02", "2025-05-03"], ["o3", "O3", "订单-5"]],
    ["the time of payment, when nothing was received", ["2025-03-01", "2025-03-31"], []],
  ])("UploadTime of %s", async (_, UploadTime, expected) => {
    expect(await found({ UploadTime })).toEqual(expected);
  });

  test.each(["UploadTime", "PayEventTime"])("%s that is not a range is refused with 1004", async (name) => {
    const [day, second] = ["2025-03-10", "2025-03-10 12:00:00"];
    const wrong: unknown[] = [[day], [second], [day, day, day], day, 5, {}, null, [5, 6], [day, null], ["", ""]];
    wrong.push(["2025-03-11", day], [second, "2025-03-10 11:59:59"], ["2025-03-11", second]);
    wrong.push([day, "2025-02-29"], [day, "2025-3-11"], [day, "2025-13-01"], [day, "20250311"], [day, "tomorrow"]);
    wrong.push([day, "2025-03-10 24:00:00"], [day, "2025-03-10 12:60:00"], [day, "2025-03-10 12:00"]);
    wrong.push([day, `${second}; drop table orders`], [day, "2025-03-10 12:00:00.000"], [` ${day}`, day]);
    for (const value of wrong) await refused({ [name]: value }, `event_filtering.${name}`);
  });

  test("times in a filter are in the app's time zone", async () => {
    const other = await server.createApp({ timeZone: "America/New_York" });
    await register(server, other, "u");
    await collect(server, other, "u", payment("o", 1, {}, Date.parse("2025-03-10T03:59:59.999Z")));
    await server.settle();
    const count = async (...PayEventTime: string[]) =>
      (await lists.read("order", other, { event_filtering: { PayEventTime } })).list.length;
    expect(await count("2025-03-09", "2025-03-09")).toBe(1);
    expect(await count("2025-03-10", "2025-03-10")).toBe(0);
    expect(await count("2025-03-09 23:59:59", "2025-03-09 23:59:59")).toBe(1);
  });

  test("a day of 23 or 25 hours is complete, and an hour that occurs twice is found twice", async () => {
    const other = await server.createApp({ timeZone: "America/New_York" });
    await register(server, other, "u");
    const times = ["2025-03-09T05:00:00Z", "2025-03-10T03:59:59.999Z", "2025-03-10T04:00:00Z"];
    times.push("2025-11-02T05:30:00Z", "2025-11-02T06:30:00Z", "2025-11-03T04:59:59.999Z", "2025-11-03T05:00:00Z");
    const pays = times.map((time, number) => payment(`o${number}`, 1, {}, Date.parse(time)));
    await collect(server, other, "u", ...pays);
    await server.settle();
    const ids = async (...PayEventTime: string[]) =>
      (await lists.column("order", other, "TraceID", { event_filtering: { PayEventTime } })).sort();
    expect(await ids("2025-03-09", "2025-03-09")).toEqual(["o0", "o1"]);
    expect(await ids("2025-11-02", "2025-11-02")).toEqual(["o3", "o4", "o5"]);
    expect(await ids("2025-11-02 01:30:00", "2025-11-02 01:30:00")).toEqual(["o3", "o4"]);
  });
});

describe("choices and lists", () => {
  test.each<[Row, string[]]>([
    [{ Status: "0" }, ["o1"]],
    [{ Status: "1" }, ["o2", "订单-5"]],
    [{ Status: "2" }, ["o3"]],
    [{ Status: "3" }, ["O3"]],
    [{ PayCount: ["1"] }, ["o1", "O3"]],
    [{ PayCount: ["2", "3"] }, ["o2", "o3", "订单-5"]],
    [{ PayCount: ["4"] }, []],
    [{ PayCount: [] }, ALL],
    [{ PostbackCnt: ["0"] }, ["o1", "o2"]],
    [{ PostbackCnt: ["12", "1"] }, ["o3", "订单-5"]],
    [{ PostbackCnt: ["999999999"] }, []],
    [{ PostbackCnt: [] }, ALL],
    [{ TraceID: ["o3"] }, ["o3"]],
    [{ TraceID: ["O3", "订单-5", "none"] }, ["O3", "订单-5"]],
    [{ TraceID: ["o%"] }, []],
    [{ TraceID: [] }, ALL],
    [{ event$pay_method: ["wx"] }, ["o1", "O3"]],
    [{ event$pay_method: ["ali", "5"] }, ["o2", "订单-5"]],
    [{ event$pay_method: ["WX"] }, []],
    [{ event$pay_method: [] }, ALL],
    [{ event$pay_reason: ["sword"] }, ["o3"]],
    [{ event$pay_reason: ["shield", "sword"] }, ["o3", "O3"]],
    [{ event$pay_reason: ["'; drop table orders; --"] }, []],
    [{ event$pay_reason: [] }, ALL],
  ])("%j finds %j", async (filter, expected) => {
    expect(await found(filter)).toEqual(expected);
  });

  test("Status must be one of its four texts, else 1004", async () => {
    for (const Status of ["4", "-1", "succeeded", " 1", "01", 1, 0, ["1"], {}, null, true])
      await refused({ Status }, "event_filtering.Status");
  });

  test.each(["PayCount", "PostbackCnt"])("%s must be a list of whole numbers as texts, else 1004", async (name) => {
    for (const value of ["1", 1, [1], [null], [""], ["x"], ["-1"], ["1.5"], ["1", "1e3"], ["1 or 1=1"], {}, null])
      await refused({ [name]: value }, `event_filtering.${name}`);
  });

  test.each(["TraceID", "event$pay_method", "event$pay_reason"])(
    "%s must be a list of texts, else 1004",
    async (name) => {
      for (const value of ["o1", 1, [1], [null], [["o1"]], {}, null])
        await refused({ [name]: value }, `event_filtering.${name}`);
    },
  );
});

describe("filters together", () => {
  test.each<[Row, string[]]>([
    [{ Amount: inner(200), Status: "2" }, ["o3"]],
    [{ Amount: inner(200), Status: "1" }, []],
    [
      { Amount: between(100, 200), BackAmount: between(1, 200), PayEventTime: ["2025-03-10", "2025-03-10"] },
      ["o2", "o3"],
    ],
    [{ UploadTime: ["2025-05-02", "2025-05-02"], event$pay_method: ["wx"], PostbackCnt: ["2", "3"] }, ["O3"]],
    [{ TraceID: ["o1", "o2", "O3"], PayCount: ["1"], event$pay_reason: [] }, ["o1", "O3"]],
    [
      {
        Amount: between(200, 200),
        BackAmount: inner(0),
        Status: "3",
        PayCount: ["1"],
        PostbackCnt: ["2"],
        UploadTime: ["2025-05-02", "2025-05-02"],
        PayEventTime: ["2025-03-10 23:59:59", "2025-03-10 23:59:59"],
        TraceID: ["O3"],
        event$pay_method: ["wx"],
        event$pay_reason: ["shield"],
      },
      ["O3"],
    ],
  ])("an order must satisfy all: %j finds %j", async (filter, expected) => {
    expect(await found(filter)).toEqual(expected);
  });

  test("an order must match the filters on its user too", async () => {
    const user_filtering = { client_id_list: ["v"] };
    expect(await found({ Amount: inner(200) }, { user_filtering })).toEqual(["O3"]);
    expect(await found({}, { user_filtering })).toEqual(["O3", "订单-5"]);
    expect(await found({ TraceID: ["o1"] }, { user_filtering })).toEqual([]);
  });

  test("the count is that of the orders found", async () => {
    const { page_info } = await lists.read("order", app, { event_filtering: { Status: "1" }, page_size: 1 });
    expect(page_info).toEqual({ page: 1, page_size: 1, total_number: 2, total_page: 2 });
  });
});
