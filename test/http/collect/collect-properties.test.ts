import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { type Row, Tables, track } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);
/** Parsed from a text, because the literal is not exact in binary. */
const LIMIT = Number("9999999999999.999");
const ADDRESS = { $ip: expect.any(String), $ua: expect.any(String) };

/** One app and one client for all tests that declare nothing; events are told apart by their times. */
let shared: App;
beforeAll(async () => {
  shared = await server.appWith(["a"]);
});

let lastMs = 0;
function nextMs(): number {
  lastMs = Math.max(lastMs + 1, Date.now());
  return lastMs;
}

const storedAt = async (app: App, time: number) => (await tables.events(app)).find((row) => row.at_ms === time)!;

/** Sends the properties beside a valid one; returns the reported errors and the stored properties. */
async function send(properties: Row, app = shared) {
  const time = nextMs();
  const answer = await server.collect(app, "a", [track("held", { good: 1, ...properties }, time)]);
  expect(answer).toMatchObject({ status: 200, code: 0, msg: "success" });
  return { errors: (answer.extra.errors ?? []) as Row[], stored: (await storedAt(app, time)).properties };
}

async function expectLeftOut(properties: Row): Promise<void> {
  const { errors, stored } = await send(properties);
  const told = { index: 0, event: "held", reason: "bad_property", message: expect.stringMatching(/left out\.$/) };
  expect(errors).toEqual([told]);
  expect(errors[0]!.message).toContain(JSON.stringify(Object.keys(properties)[0]).slice(0, 50));
  expect(stored).toEqual({ good: 1, ...ADDRESS });
}

function nested(depth: number): Row {
  let value: Row = { end: "of the rope" };
  for (let level = 1; level < depth; level += 1) value = { a: value };
  return value;
}

describe("a property is stored as sent if it is", () => {
  test.each<[string, Row]>([
    ["a text", { a: "text", empty: "", script: '中文 🎮 \\ " \n\t' }],
    ["a number", { a: 1, b: -1.5, c: 0, d: 0.001 }],
    ["a number at the limit", { a: LIMIT, b: -LIMIT, c: 9999999999999 }],
    ["a truth value", { a: true, b: false }],
    ["a date-time", { a: "2024-02-29 23:59:59.123", b: "2024-02-29T23:59:59Z" }],
    ["a list of texts", { a: [], b: ["x", "y", ""] }],
    ["a list of 500 texts", { a: Array.from({ length: 500 }, (_, index) => `item${index}`) }],
    ["an object", { a: {}, b: { c: { d: [1, null, { e: true }] } } }],
    ["null", { a: null }],
    ["a text of 2,048 bytes", { a: "x".repeat(2048), b: "é".repeat(1024) }],
    ["named with 50 characters", { ["x".repeat(50)]: 1, A_1: 2 }],
    ["a preset", { $os: "iOS", $scene: 1001, $url_query: { a: "b" }, $lib: "python", $is_first_time: true }],
  ])("%s", async (_what, properties) => {
    const { errors, stored } = await send(properties);
    expect(errors).toEqual([]);
    expect(stored).toEqual({ good: 1, ...properties, ...ADDRESS });
  });
});

describe("a property is left out and reported, and the event stored, if", () => {
  test.each(["", " ", "1st", "_a", "a b", "a-b", "属性", "x".repeat(51), "a$b", "$no_preset", "a\u0001"])(
    "its name is %j",
    async (name) => {
      await expectLeftOut({ [name]: 1 });
    },
  );

  test.each([10000000000000, -10000000000000, 1e300])("its number is %d", async (number) => {
    await expectLeftOut({ amount: number });
  });

  test.each([[[1, 2]], [["a", 1]], [[null]], [[["a"]]], [[{}]]])(
    "its list %j holds anything but texts",
    async (list) => {
      await expectLeftOut({ list });
    },
  );

  test("its number is beyond a double", async () => {
    const time = nextMs();
    const body = `{"client_id":"a","event_list":[{"type":"track","event":"held","time":${time},"properties":{"big":1e999,"long":123456789012345678901234567890,"good":1}}]}`;
    const answer = await server.post("event/collect/", shared, body);
    expect(answer.extra.errors.map(({ reason }: Row) => reason)).toEqual(["bad_property", "bad_property"]);
    expect((await storedAt(shared, time)).properties).toEqual({ good: 1, ...ADDRESS });
  });

  test.each([20, 1_000, 20_000])("its object is nested %i levels deep", async (depth) => {
    const deep = `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
    const time = nextMs();
    const event = (name: string, properties: string) =>
      `{"type":"track","event":"${name}","time":${time},"properties":${properties}}`;
    const list = [event("before", "{}"), event("held", `{"good":1,"deep":${deep}}`), event("after", "{}")];
    const answer = await server.post("event/collect/", shared, `{"client_id":"a","event_list":[${list}]}`);
    expect(answer).toMatchObject({ code: 0, extra: { errors: [{ index: 1, event: "held", reason: "bad_property" }] } });
    const stored = (await tables.events(shared)).filter((row) => row.at_ms === time);
    expect(stored.map((row) => row.event)).toEqual(["after", "before", "held"]);
    expect(stored[2]!.properties).toEqual({ good: 1, ...ADDRESS });
  });

  test("its list is nested very deeply", async () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const time = nextMs();
    const event = `{"type":"track","event":"held","time":${time},"properties":{"good":1,"deep":${deep}}}`;
    const answer = await server.post("event/collect/", shared, `{"client_id":"a","event_list":[${event}]}`);
    expect(answer).toMatchObject({ code: 0, extra: { errors: [{ reason: "bad_property" }] } });
    expect((await storedAt(shared, time)).properties).toEqual({ good: 1, ...ADDRESS });
  });

  test.each(["$pay_amount", "$ecpm"])("%s, which is money, is not a number", async (name) => {
    for (const value of ["12", true, ["1"]]) await expectLeftOut({ [name]: value });
  });

  test("it is not declared in a strict app", async () => {
    const app = await server.appWith(["a"], { metadataMode: "strict" });
    const answer = await server.collect(app, "a", [track("$AppStart", { surprise: 1, $os: "ios" })]);
    expect(answer.extra.errors).toMatchObject([{ index: 0, event: "$AppStart", reason: "bad_property" }]);
    expect((await tables.events(app))[0]!.properties).toEqual({ $os: "ios", ...ADDRESS });
  });
});

describe("a property that is only too long is cut and reported", () => {
  const cut = (text: string, kept: string) => ({ text, kept });

  test.each([
    ["of one byte each", cut("x".repeat(2049), "x".repeat(2048))],
    ["of two bytes each", cut("é".repeat(1025), "é".repeat(1024))],
    ["of three bytes each", cut("中".repeat(1000), "中".repeat(682))],
    ["of four bytes each", cut("🎮".repeat(600), "🎮".repeat(512))],
    ["with the limit inside a character", cut(`xxx${"🎮".repeat(600)}`, `xxx${"🎮".repeat(511)}`)],
    ["with the limit one byte into a character", cut(`${"x".repeat(2047)}é!`, "x".repeat(2047))],
  ])("a text over 2,048 bytes, of characters %s, keeps whole characters", async (_what, { text, kept }) => {
    const { errors, stored } = await send({ long: text });
    expect(errors).toMatchObject([{ reason: "bad_property", message: expect.stringMatching(/"long".* cut/) }]);
    expect(stored).toEqual({ good: 1, long: kept, ...ADDRESS });
    expect(Buffer.byteLength(stored.long)).toBeLessThanOrEqual(2048);
  });

  test("a list over 500 texts keeps the first 500", async () => {
    const list = Array.from({ length: 501 }, (_, index) => `item${index}`);
    const { errors, stored } = await send({ list });
    expect(errors).toMatchObject([{ reason: "bad_property", message: expect.stringMatching(/"list".* cut/) }]);
    expect(stored.list).toEqual(list.slice(0, 500));
  });

  test("a text in a list is cut like any other text", async () => {
    const { errors, stored } = await send({ list: ["short", "中".repeat(1000)] });
    expect(errors).toMatchObject([{ reason: "bad_property" }]);
    expect(stored.list).toEqual(["short", "中".repeat(682)]);
  });
});

describe("a declared type", () => {
  const values: Record<string, unknown> = {
    string: "text",
    number: 1.5,
    bool: true,
    datetime: "2024-01-02 03:04:05",
    list: ["a"],
    object: { a: 1 },
  };
  const types = Object.keys(values);

  test.each(types)("%s accepts values of that type and leaves out all others", async (declared) => {
    const app = await server.appWith(["a"]);
    await tables.changeSettings(
      `insert into property_meta (app_id, scope, name, type, state, changed_at_ms) values ($1, 'event', 'p', $2, 'declared', 0)`,
      [app.appId, declared],
    );
    const misfit = declared === "object" ? true : {};
    const isNoticed = async () =>
      (await server.collect(app, "a", [track("probe", { p: misfit })])).extra.errors?.length;
    await expect.poll(isNoticed).toBe(1);
    // A date-time is written as a text, so a text property accepts it too.
    const fits = types.filter((type) => type === declared || (declared === "string" && type === "datetime"));
    for (const type of types) {
      const { errors, stored } = await send({ p: values[type], type }, app);
      expect({ type, told: errors.map(({ reason }) => reason) }).toEqual({
        type,
        told: fits.includes(type) ? [] : ["bad_property"],
      });
      expect(stored).toEqual({ good: 1, type, ...(fits.includes(type) ? { p: values[type] } : {}), ...ADDRESS });
    }
  });

  test("of an event property does not apply to the user property of the same name", async () => {
    const app = await server.appWith(["a"]);
    await tables.changeSettings(
      `insert into property_meta (app_id, scope, name, type, state, changed_at_ms) values ($1, 'event', 'p', 'number', 'declared', 0)`,
      [app.appId],
    );
    const isNoticed = async () => (await server.collect(app, "a", [track("probe", { p: "x" })])).extra.errors?.length;
    await expect.poll(isNoticed).toBe(1);
    const set = { type: "profile", event: "profile_set", time: Date.now(), properties: { p: "text" } };
    expect(await server.collect(app, "a", [set])).toMatchObject({ code: 0, extra: {} });
    expect((await tables.user(app, "a"))!.properties).toEqual({ p: "text" });
  });
});

test("one event may have several bad properties, each reported by itself", async () => {
  const properties = { "bad name": 1, huge: 1e15, long: "x".repeat(3000), fine: "yes" };
  const { errors, stored } = await send(properties);
  expect(errors.map(({ reason }) => reason)).toEqual(["bad_property", "bad_property", "bad_property"]);
  expect(stored).toEqual({ good: 1, long: "x".repeat(2048), fine: "yes", ...ADDRESS });
});

test("an object within its depth is kept whole", async () => {
  const { errors, stored } = await send({ deep: nested(10) });
  expect(errors).toEqual([]);
  expect(stored.deep).toEqual(nested(10));
});
