import { Value } from "typebox/value";
import { beforeAll, describe, expect, test } from "vitest";
import { listFields } from "../../../src/contract/admin/admin-list.ts";
import {
  ORDER_COLUMNS,
  REFUND_COLUMNS,
  refundedOrderList,
  USER_COLUMNS,
  userList,
} from "../../../src/contract/report/list-record.ts";
import type { App } from "../../../src/db/app.ts";
import { POSTBACK_EVENT_TYPES } from "../../../src/domain/postback/postback.ts";
import { AdminCaller } from "../../support/admin-caller.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { profile, type Row } from "../fixture.ts";
import { collect, payment, register } from "../report/list-people.ts";
import { type List, ReportLists } from "../report/report-lists.ts";

const server = sharedServer();
const admin = new AdminCaller(server);
const signed = new ReportLists(server);

const PATHS = { order: "report/orders", user: "report/users" } as const;
const NAMES = { order: "orders", user: "users" } as const;

let app: App;
beforeAll(async () => {
  app = await server.createApp();
  for (const id of ["u1", "u2", "u3"]) await register(server, app, id, { device_info: { os_name: "ios", idfa: id } });
  await collect(server, app, "u1", payment("o-1", 600, { $pay_method: "card", own_thing: 5 }), payment("o-2", 1_800));
  await collect(server, app, "u2", payment("o-3", 3_000), profile("profile_set", { guild: "red", $gender: "f" }));
  await server.settle();
});

const ask = (list: List, more: Row = {}) =>
  admin.post(PATHS[list], { app_id: app.appId, user_filtering: {}, event_filtering: {}, ...more });

/** Only the console knows refunds: the fields of the public list are fixed. */
function asPublic(data: Row): Row {
  const isRefund = ([name]: [string, unknown]) => Object.hasOwn(REFUND_COLUMNS, name);
  const list = data.list.map((record: Row) =>
    Object.fromEntries(Object.entries(record).filter((field) => !isRefund(field))),
  );
  return { ...data, list };
}

describe.each(["order", "user"] as const)("the %s list of the console", (list) => {
  const schema = list === "order" ? refundedOrderList : userList;

  test("equals that of the public interface for every request, without a signature", async () => {
    const asked: Row[] = [
      {},
      { page: 2, page_size: 1 },
      { order_by_list: [{ field: "ClientID", sort: 1 }], page_size: 500 },
      { user_filtering: { client_id_list: ["u1"], ad_platform_list: ["tencent"] } },
      { property_condition: [{ field: "user$pay_count", operator: "equal", values: [2] }] },
      list === "order"
        ? { event_filtering: { Amount: { operator: "between", values: [1_000, 9_999] }, Status: "0" } }
        : { event_filtering: { postback_filtering: { event_type: "pay", status: "0" } } },
    ];
    for (const more of asked) {
      const answer = await ask(list, more);
      expect(answer, JSON.stringify(more)).toMatchObject({ status: 200, code: 0, msg: "success" });
      expect(asPublic(answer.data)).toEqual(await signed.read(list, app, more));
    }
  });

  test("answers as the contract says, with no other fields", async () => {
    const { data } = await ask(list);
    expect([...Value.Errors(schema, data)]).toEqual([]);
    expect(data.list).toHaveLength(3);
    const columns = Object.keys(list === "order" ? { ...ORDER_COLUMNS, ...REFUND_COLUMNS } : USER_COLUMNS);
    const objects = list === "order" ? [] : ["re_attribute_info", "device_info"];
    for (const record of data.list) expect(Object.keys(record).sort()).toEqual([...columns, ...objects].sort());
  });

  test.each<[string, Row, RegExp, number?]>([
    ["no app", { app_id: undefined }, /app_id/],
    ["an app that does not exist", { app_id: 999_999_999 }, /app_id/, 2001],
    ["no filters", { user_filtering: undefined }, /user_filtering/],
    ["a filter of another type", { user_filtering: { version_list: ["1"] } }, /version_list/],
    ["a field that cannot be sorted by", { order_by_list: [{ field: "Name", sort: 0 }] }, /"Name" is not sortable/],
    ["a page that is too long", { page_size: 501 }, /page_size/],
    ["a page that is too far back", { page: 20_001, page_size: 500 }, /page/],
    ["an operator that does not exist", { property_condition: [{ field: "user$a", operator: "like" }] }, /operator/],
  ])("refuses %s", async (_, more, msg, code = 1004) => {
    expect(await ask(list, more)).toMatchObject({ status: 200, code, msg: expect.stringMatching(msg), data: {} });
  });
});

describe.each(["order", "user"] as const)("the fields of the %s list", (list) => {
  const fields = async () => {
    const { data } = await admin.get("report/fields", { app_id: app.appId, list: NAMES[list] });
    expect([...Value.Errors(listFields, data)]).toEqual([]);
    return data;
  };

  test("are accepted by the list as they are described", async () => {
    const { user_filters, event_filters } = await fields();
    const filled = (filters: Row[]) => Object.fromEntries(filters.map((filter) => [filter.name, filledIn(filter)]));
    const more = { user_filtering: filled(user_filters), event_filtering: filled(event_filters) };
    expect(await ask(list, more)).toMatchObject({ code: 0 });
    for (const name of Object.keys(more.user_filtering)) {
      const wrong = { user_filtering: { ...more.user_filtering, [name]: 5 } };
      expect(await ask(list, wrong), name).toMatchObject({ code: 1004 });
    }
  });

  test("can be sorted by exactly if they say so", async () => {
    const { columns } = await fields();
    for (const { name, sortable } of columns) {
      const answer = await ask(list, { order_by_list: [{ field: name, sort: 1 }] });
      expect(answer.code, name).toBe(sortable ? 0 : 1004);
    }
    expect(columns.filter((column: Row) => column.sortable).length).toBeGreaterThan(10);
  });

  test("name the properties that the app has sent, each with its type if it is known", async () => {
    const { properties, operators } = await fields();
    const types = Object.fromEntries(properties.map(({ field, type }: Row) => [field, type]));
    expect(types).toMatchObject({ user$guild: "any", user$pay_count: "number", user$gender: "any" });
    expect(types.event$own_thing).toBe(list === "order" ? "any" : undefined);
    for (const operator of operators) {
      const values = { equal: ["red"], not_equal: ["red"], between: ["a", "z"], inner: ["red"] }[operator as "equal"];
      const condition = { field: "user$guild", operator, ...(values && { values }) };
      expect(await ask(list, { property_condition: [condition] }), operator).toMatchObject({ code: 0 });
    }
    expect(operators).toHaveLength(6);
  });
});

/** A value for a filter, made only from its description. */
function filledIn({ form, choices }: Row): unknown {
  switch (form) {
    case "dates":
    case "times":
      return ["2024-01-01", "2024-01-02"];
    case "numbers":
      return [1, 2];
    case "counts":
      return ["1", "2"];
    case "cents":
      return { operator: choices[0], values: [1, 2] };
    case "status":
      return choices[0];
    case "postback":
      expect(choices).toEqual(POSTBACK_EVENT_TYPES);
      return { event_type: choices[0], status: "1" };
    default:
      return [choices[0] ?? "x"];
  }
}

test("any other list has no fields", async () => {
  expect(await admin.get("report/fields", { app_id: app.appId, list: "events" })).toMatchObject({ code: 1004 });
  expect(await admin.get("report/fields", { app_id: app.appId })).toMatchObject({ code: 1004 });
  expect(await admin.get("report/fields", { app_id: 999_999_999, list: "users" })).toMatchObject({ code: 2001 });
});
