import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { sharedServer } from "../../support/shared-server.ts";
import type { Row } from "../fixture.ts";
import { addPeople, collect, PEOPLE, payment, ZONE } from "./list-people.ts";
import { LISTS, ReportLists } from "./report-lists.ts";

const server = sharedServer();
const lists = new ReportLists(server);

/** An app in which everyone has one order. */
let app: App;
beforeAll(async () => {
  app = await server.createApp({ timeZone: ZONE });
  await addPeople(server, app);
  for (const { id } of PEOPLE) await collect(server, app, id, payment(id, 100));
  await server.settle();
});

describe.each(LISTS)("a request for the %s list", (list) => {
  const whole = (): Row => ({ app_id: app.appId, user_filtering: {}, event_filtering: {} });

  test("needs only an app, a filter on users and a filter on events", async () => {
    const answer = await lists.send(list, whole());
    expect(answer).toMatchObject({ status: 200, code: 0, msg: "success", extra: {} });
    expect(Object.keys(answer.data).sort()).toEqual(["list", "page_info", "total"]);
    expect(answer.data.list).toHaveLength(PEOPLE.length);
  });

  test.each(["app_id", "user_filtering", "event_filtering"])("without %s is refused with 1004", async (field) => {
    const { [field]: _, ...rest } = whole();
    const answer = await lists.send(list, rest);
    expect(answer).toMatchObject({ status: 200, code: 1004, data: {}, extra: {} });
    expect(answer.msg).toBe(`${field} is missing.`);
  });

  test.each<[string, unknown[]]>([
    ["app_id", ["10000001", 1.5, null, [], {}, true]],
    ["user_filtering", [[], "", 5, null, true]],
    ["event_filtering", [[], "", 5, null, true]],
    ["property_condition", [{}, "", 5, null, true, [5], [null], ["user$os"], [[]]]],
  ])("with %s of another type is refused with 1004", async (field, values) => {
    for (const value of values) await lists.expectRefused(list, app, { [field]: value }, field);
  });

  test("for an app that does not exist is refused with 2004", async () => {
    for (const app_id of [0, -1, 999_999_999, 2 ** 31, 1e300])
      expect(await lists.send(list, { ...whole(), app_id })).toMatchObject({ status: 200, code: 2004, data: {} });
  });

  test("may hold unknown keys, at every level", async () => {
    const asked = {
      user_filtering: { version_list: [9, 10] },
      event_filtering:
        list === "order"
          ? { Amount: { operator: "inner", values: [100] } }
          : { postback_filtering: { event_type: "pay", status: "0" } },
      order_by_list: [{ field: "Version", sort: 1 }],
      property_condition: [{ field: "user$pay_count", operator: "equal", values: [1] }],
    };
    const stranger = { unknown: { deep: [1, null] }, Page: 9, constructor: 1, channel: ["x"] };
    const withStranger = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(withStranger);
      if (typeof value !== "object" || value === null) return value;
      const entries = Object.entries(value).map(([key, item]) => [key, withStranger(item)]);
      return { ...Object.fromEntries(entries), ...stranger };
    };
    const data = await lists.read(list, app, asked);
    expect(data.list.map((record: Row) => record.ClientID)).toEqual(["B", "a"]);
    expect(await lists.read(list, app, withStranger(asked) as Row)).toEqual(data);
  });

  test("may hold the filters of the other list, which are ignored", async () => {
    const event_filtering =
      list === "order" ? { postback_filtering: { event_type: "x", status: "9" } } : { Amount: "x", Status: "9" };
    expect((await lists.read(list, app, { event_filtering })).list).toHaveLength(PEOPLE.length);
  });

  test("with empty lists everywhere asks for everything", async () => {
    const empty = { order_by_list: [], property_condition: [] };
    expect(await lists.read(list, app, empty)).toEqual(await lists.read(list, app));
  });

  test("gets the same answer when repeated", async () => {
    expect(await lists.read(list, app)).toEqual(await lists.read(list, app));
  });
});
