import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { profile, type Row, track } from "../fixture.ts";
import { at, collect, payment, register, ZONE } from "./list-people.ts";
import { LISTS, type List, ReportLists, USER_FIELDS } from "./report-lists.ts";

const server = sharedServer();
const lists = new ReportLists(server);

const REGISTERED_MS = at("2025-03-10T08:00:00");
const CUSTOM = {
  level: 3,
  ratio: 1.5,
  vip: true,
  tags: ["a", "b"],
  place: { x: 1 },
  text: "",
  nick: "Ann",
  seen_at: 5,
};

/** An app in which `full` and `half` have paid, `half` twice; `none` has only registered. */
let app: App;
beforeAll(async () => {
  app = await server.createApp({ timeZone: ZONE });
  const times = { active_time: REGISTERED_MS, click_time: REGISTERED_MS - 1 };
  for (const id of ["full", "half", "none"]) await register(server, app, id, { ...times, active_ip: "" });
  const ad = ($ecpm: number, $ad_type: string) => ({
    ...track("$AdShow", { $ecpm, $ad_type }, REGISTERED_MS + 1_000),
    time_free: true,
  });
  const events = { skin: "red", coupon: null, note: "", discount: 0.5, gift: true, $ecpm: 7, $os: "ios" };
  await collect(
    ...([server, app, "full"] as const),
    profile("profile_set", { ...CUSTOM, $brand: "Mi", $gender: "女", $name: "preset", name: "own", brand: "own" }),
    payment("f1", 600, { $pay_method: "wx", $pay_reason: "sword", ...events }, at("2025-03-10T12:00:00.500")),
    ad(30, "reward"),
  );
  await collect(
    ...([server, app, "half"] as const),
    profile("profile_set", { level: 10, ratio: 1.25, vip: false, $brand: "Apple", nick: "ann", seen_at: "2025-03-11" }),
    payment("h1", 100, { $pay_method: "ali", skin: 5, discount: 2, gift: false }, at("2025-03-12T00:00:00")),
    ...[ad(12.5, "interstitial"), ad(100, "interstitial"), ad(0.01, "banner")],
  );
  await collect(server, app, "half", payment("h2", 50, {}, at("2025-03-11T00:00:00")));
  await server.settle();
});

type Condition = { field: string; operator: string; values?: unknown[] };
const is = (field: string, operator: string, ...values: unknown[]): Condition =>
  values.length > 0 ? { field, operator, values } : { field, operator };

/** The users found, or the orders. */
async function found(list: List, field: string, ...property_condition: Condition[]): Promise<string[]> {
  return [...new Set<string>(await lists.column(list, app, field, { property_condition }))].sort();
}

/** Conditions on users, with the users who match each. */
const ON_USERS: readonly [string, Condition, string[]][] = [
  ["a figure", is("user$pay_count", "equal", 1), ["full"]],
  ["a figure of zero", is("user$pay_count", "equal", 0), ["none"]],
  ["a figure", is("user$pay_amount_sum", "not_equal", 600), ["half", "none"]],
  ["both ends of a range", is("user$pay_max_amount", "between", 100, 600), ["full", "half"]],
  ["a range", is("user$pay_amount_sum", "between", 0.5, 599.9), ["half"]],
  ["a range that is reversed", is("user$pay_amount_sum", "between", 600, 0), []],
  ["several values", is("user$pay_count", "inner", 0, 2, 7), ["half", "none"]],
  ["one value of several", is("user$pay_count", "inner", 2), ["half"]],
  ["what ads earned", is("user$ad_ltv", "equal", 0.11251), ["half"]],
  ["what ads earned on average", is("user$ad_avg_ecpm", "between", 37.5, 37.6), ["half"]],
  ["what ads earned at most", is("user$reward_ad_max_ecpm", "equal", 30), ["full"]],
  ["a figure that is there though it is zero", is("user$ad_count", "is_set"), ["full", "half", "none"]],
  ["a figure that is there though it is zero", is("user$ad_count", "not_set"), []],
  ["a time", is("user$first_pay_time", "equal", "2025-03-10 12:00:00"), ["full"]],
  ["a range of times", is("user$first_pay_time", "between", "2025-03-11", "2025-03-12 00:00:00"), ["half"]],
  ["a time that is not there", is("user$first_pay_time", "not_set"), ["none"]],
  ["a text of the first payment", is("user$first_pay_method", "inner", "wx", "ali"), ["full", "half"]],
  ["an empty text", is("user$first_pay_reason", "not_set"), ["half", "none"]],
  ["an empty text", is("user$first_pay_reason", "is_set"), ["full"]],
  ["a place that is not known", is("user$city", "not_set"), ["full", "half", "none"]],
  ["a preset property", is("user$brand", "equal", "Mi"), ["full"]],
  ["a preset property, not the app's own of that name", is("user$brand", "equal", "own"), []],
  ["a preset property", is("user$name", "equal", "preset"), ["full"]],
  ["a preset property in another case", is("user$brand", "equal", "mi"), []],
  ["a preset property", is("user$gender", "inner", "女", "男"), ["full"]],
  ["a preset property that some do not have", is("user$brand", "not_equal", "Mi"), ["half", "none"]],
  ["a preset property that some do not have", is("user$gender", "not_set"), ["half", "none"]],
  ["a range of texts", is("user$brand", "between", "A", "B"), ["half"]],
  ["a number", is("user$level", "equal", 3), ["full"]],
  ["a number written otherwise", is("user$ratio", "equal", 1.5), ["full"]],
  ["a number against its text", is("user$level", "equal", "3"), []],
  ["numbers by their size", is("user$level", "between", 9, 11), ["half"]],
  ["a range of numbers with fractions", is("user$ratio", "between", 1.25, 1.5), ["full", "half"]],
  ["a number that is not there", is("user$level", "between", -1e300, 1e300), ["full", "half"]],
  ["values of two types", is("user$level", "inner", 3, "10", true), ["full"]],
  ["a text", is("user$nick", "equal", "Ann"), ["full"]],
  ["a text that is empty", is("user$text", "is_set"), []],
  ["a text that is empty", is("user$text", "not_set"), ["full", "half", "none"]],
  ["a text that is empty", is("user$text", "equal", ""), ["full"]],
  ["true", is("user$vip", "equal", true), ["full"]],
  ["false", is("user$vip", "equal", false), ["half"]],
  ["false, which is a value", is("user$vip", "is_set"), ["full", "half"]],
  ["true against its text", is("user$vip", "equal", "true"), []],
  ["true against a number", is("user$vip", "equal", 1), []],
  ["not true", is("user$vip", "not_equal", true), ["half", "none"]],
  ["a list", is("user$tags", "equal", ["a", "b"]), ["full"]],
  ["a list in another order", is("user$tags", "equal", ["b", "a"]), []],
  ["an object", is("user$place", "equal", { x: 1 }), ["full"]],
  ["a property of two types, as a number", is("user$seen_at", "between", 0, 9), ["full"]],
  ["a property of two types, as a text", is("user$seen_at", "between", "0", "9"), ["half"]],
  ["a property that nobody has", is("user$never", "is_set"), []],
  ["a property that nobody has", is("user$never", "not_set"), ["full", "half", "none"]],
  ["a property that nobody has", is("user$never", "not_equal", 1), ["full", "half", "none"]],
  ["a property called as a thing of the language", is("user$constructor", "is_set"), []],
];

/** Conditions on the events of the orders f1 (full), h1 and h2 (half). */
const ON_EVENTS: readonly [string, Condition, string[]][] = [
  ["the first payment", is("event$is_first_pay", "equal", true), ["f1", "h1"]],
  ["not the first payment", is("event$is_first_pay", "equal", false), ["h2"]],
  ["not the first payment", is("event$is_first_pay", "not_equal", true), ["h2"]],
  ["either", is("event$is_first_pay", "inner", true, false), ["f1", "h1", "h2"]],
  ["whether it is the first payment is always known", is("event$is_first_pay", "is_set"), ["f1", "h1", "h2"]],
  ["the first payment as a number", is("event$is_first_pay", "equal", 1), []],
  ["a preset text", is("event$pay_method", "equal", "wx"), ["f1"]],
  ["several texts", is("event$pay_method", "inner", "wx", "ali"), ["f1", "h1"]],
  ["a text that is not there", is("event$pay_method", "not_set"), ["h2"]],
  ["a text that is not there is another one", is("event$pay_method", "not_equal", "wx"), ["h1", "h2"]],
  ["the amount that was sent", is("event$pay_amount", "between", 50, 100), ["h1", "h2"]],
  ["the order's id", is("event$order_id", "equal", "h2"), ["h2"]],
  ["a preset number", is("event$ecpm", "equal", 7), ["f1"]],
  ["a preset text", is("event$os", "is_set"), ["f1"]],
  ["the address", is("event$ip", "equal", "127.0.0.1"), ["f1", "h1", "h2"]],
  ["a text of the app's own", is("event$skin", "equal", "red"), ["f1"]],
  ["a number of the app's own", is("event$skin", "equal", 5), ["h1"]],
  ["a number of the app's own", is("event$discount", "between", 0.5, 1.99), ["f1"]],
  ["false", is("event$gift", "equal", false), ["h1"]],
  ["null is not set", is("event$coupon", "not_set"), ["f1", "h1", "h2"]],
  ["null is not set", is("event$coupon", "is_set"), []],
  ["an empty text is not set", is("event$note", "not_set"), ["f1", "h1", "h2"]],
  ["an empty text is not set", is("event$note", "is_set"), []],
];

describe.each(LISTS)("property_condition of the %s list", (list) => {
  const everybody = list === "user" ? ["full", "half", "none"] : ["full", "half"];

  test.each(ON_USERS)("%s: %j", async (_, condition, users) => {
    const expected = users.filter((id) => everybody.includes(id));
    expect(await found(list, "ClientID", condition)).toEqual(expected);
  });

  test("every user$ field is compared with what the record shows", async () => {
    const { list: records } = await lists.read(list, app);
    for (const field of USER_FIELDS) {
      for (const shown of new Set(records.map((record: Row) => record[field]))) {
        const same = records.filter((record: Row) => record[field] === shown).map((record: Row) => record.ClientID);
        const condition = shown === "" ? is(field, "not_set") : is(field, "equal", shown);
        expect(await found(list, "ClientID", condition), field).toEqual([...new Set(same)].sort());
      }
    }
  });

  test("an empty list of conditions, or none, filters nothing", async () => {
    expect(await found(list, "ClientID")).toEqual(everybody);
    expect(await lists.read(list, app, { property_condition: [] })).toEqual(await lists.read(list, app));
  });

  test("several must all match, together with the filters", async () => {
    const brands = is("user$brand", "is_set");
    expect(await found(list, "ClientID", brands, is("user$level", "between", 4, 99))).toEqual(["half"]);
    expect(await found(list, "ClientID", brands, is("user$vip", "equal", true), is("user$level", "equal", 10))).toEqual(
      [],
    );
    const more = { property_condition: [brands], user_filtering: { client_id_list: ["none", "full"] } };
    expect(await lists.column(list, app, "ClientID", more)).toEqual(["full"]);
    expect((await lists.read(list, app, more)).page_info.total_number).toBe(1);
  });

  test.each([
    ...["", "$", "user$", "event$", "level", "$brand", "user.level", "user$$brand", "User$level", "users$level"],
    ...["order$cents", "user$1", "user$_x", "user$a-b", "user$a b", "user$级", " user$level", "user$level ", "Amount"],
    ...[`user$${"x".repeat(51)}`, "user$level\n", "user$level' or '1'='1", "user$level; drop table orders"],
    ...[
      'user$level" = 1 or "a',
      "user$level->>'x'",
      "user$level\u0000",
      "u.properties",
      "user$level)",
      "user$__proto__",
    ],
  ])("a field %j does not exist: 1004", async (field) => {
    await lists.expectRefused(list, app, { property_condition: [is(field, "is_set")] }, "property_condition");
  });

  test.each<[unknown, string]>([
    [is("user$level", "equals", 1), "operator"],
    [is("user$level", "=", 1), "operator"],
    [is("user$level", "", 1), "operator"],
    [is("user$level", "EQUAL", 1), "operator"],
    [is("user$level", "like", "%"), "operator"],
    [is("user$level", "or 1=1 --", 1), "operator"],
    [{ field: "user$level", operator: 5, values: [1] }, "operator"],
    [{ field: "user$level", operator: null }, "operator"],
    [{ field: "user$level" }, "operator"],
    [{ operator: "is_set" }, "field"],
    [{ field: 5, operator: "is_set" }, "field"],
    [{ field: ["user$level"], operator: "is_set" }, "field"],
    [is("user$level", "equal"), "equal"],
    [is("user$level", "equal", 1, 2), "equal"],
    [is("user$level", "not_equal"), "not_equal"],
    [is("user$level", "not_equal", 1, 2), "not_equal"],
    [{ field: "user$level", operator: "inner", values: [] }, "inner"],
    [is("user$level", "between"), "between"],
    [is("user$level", "between", 1), "between"],
    [is("user$level", "between", 1, 2, 3), "between"],
    [is("user$level", "between", 1, "2"), "between"],
    [is("user$level", "between", null, null), "between"],
    [is("user$level", "between", true, false), "between"],
    [is("user$level", "between", [1], [2]), "between"],
    [{ field: "user$level", operator: "equal", values: 3 }, "values"],
    [{ field: "user$level", operator: "equal", values: "3" }, "values"],
    [{ field: "user$level", operator: "equal", values: { 0: 3 } }, "values"],
    [{ field: "user$level", operator: "equal", value: [3] }, "equal"],
  ])("%j is refused with 1004", async (condition, named) => {
    await lists.expectRefused(list, app, { property_condition: [condition] }, named);
    const second = [is("user$level", "is_set"), condition];
    await lists.expectRefused(list, app, { property_condition: second }, named);
  });

  test("a value is compared, never executed", async () => {
    const before = await lists.read(list, app);
    const texts = [
      "' or '1'='1",
      "'; drop table orders; --",
      "\"}'::jsonb or true",
      "\\",
      "$1",
      "%",
      "\u0000",
      "\ud800",
    ];
    for (const text of [...texts, '{"x":1}', "null", "3"]) {
      for (const field of ["user$level", "user$first_pay_time"]) {
        expect(await found(list, "ClientID", is(field, "equal", text))).toEqual([]);
        expect(await found(list, "ClientID", is(field, "inner", text, text))).toEqual([]);
        expect(await found(list, "ClientID", is(field, "between", text, text))).toEqual([]);
        expect(await found(list, "ClientID", is(field, "not_equal", text))).toEqual(everybody);
      }
    }
    expect(await lists.read(list, app)).toEqual(before);
  });
});

describe("property_condition on events", () => {
  test.each(ON_EVENTS)("%s: %j", async (_, condition, orders) => {
    expect(await found("order", "TraceID", condition)).toEqual(orders);
  });

  test("every event$ field is compared with what the record shows", async () => {
    const { list: records } = await lists.read("order", app);
    const fields = Object.keys(records[0]).filter((field) => field.startsWith("event$"));
    for (const field of fields) {
      for (const shown of new Set(records.map((record: Row) => record[field]))) {
        const same = records.filter((record: Row) => record[field] === shown).map((record: Row) => record.TraceID);
        const condition = shown === "" ? is(field, "not_set") : is(field, "equal", shown);
        expect(await found("order", "TraceID", condition), field).toEqual(same.sort());
      }
    }
  });

  test("combines with conditions on the user and with the filters", async () => {
    const first = is("event$is_first_pay", "equal", true);
    expect(await found("order", "TraceID", first, is("user$vip", "equal", false))).toEqual(["h1"]);
    const more = { property_condition: [first], event_filtering: { Amount: { operator: "inner", values: [600, 50] } } };
    expect(await lists.column("order", app, "TraceID", more)).toEqual(["f1"]);
  });

  test.each(["event$is_first_pay", "event$pay_method", "event$skin"])("is not allowed for users: %s", async (field) => {
    await lists.expectRefused("user", app, { property_condition: [is(field, "is_set")] }, field);
  });
});
