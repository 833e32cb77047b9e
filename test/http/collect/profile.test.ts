import { describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { DAY_MS, profile, type Row, Tables, track } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);

async function profileOf(app: App): Promise<Row> {
  return (await tables.user(app, "a"))!.properties;
}

/** Operations in the order of the list, at different times, so that none is a repeat. */
function operations(list: readonly [operation: string, properties: unknown][]): Row[] {
  const time = Date.now() - list.length;
  return list.map(([operation, properties], index) => profile(operation, properties, time + index));
}

test("the nine operations take effect in the order sent, in one list", async () => {
  const app = await server.appWith(["a"]);
  const answer = await server.collect(
    app,
    "a",
    operations([
      ["profile_set", { level: 1, city: "Nanjing", gone: "x" }],
      ["profile_set_once", { level: 99, first_scene: "1001" }],
      ["profile_increment", { level: 2, coins: 10 }],
      ["profile_increment", { coins: -3.5 }],
      ["profile_number_max", { best: 70 }],
      ["profile_number_max", { best: 60 }],
      ["profile_number_min", { fastest: 30 }],
      ["profile_number_min", { fastest: 20 }],
      ["profile_append", { tags: ["a", "b"] }],
      ["profile_append", { tags: ["b"] }],
      ["profile_uniq_append", { badges: ["x", "y"] }],
      ["profile_uniq_append", { badges: ["y", "z"] }],
      ["profile_unset", { gone: "" }],
    ]),
  );
  expect(answer).toMatchObject({ code: 0, extra: {} });
  expect(await profileOf(app)).toEqual({
    level: 3,
    city: "Nanjing",
    first_scene: "1001",
    coins: 6.5,
    best: 70,
    fastest: 20,
    tags: ["a", "b", "b"],
    badges: ["x", "y", "z"],
  });
});

test("the nine operations take effect in the order received, request by request", async () => {
  const app = await server.appWith(["a"]);
  const steps: [operation: string, properties: Row, after: Row][] = [
    ["profile_set", { a: 1, b: "x" }, { a: 1, b: "x" }],
    ["profile_set_once", { b: "y", c: true }, { a: 1, b: "x", c: true }],
    ["profile_increment", { a: 0.1, n: 0.2 }, { a: 1.1, b: "x", c: true, n: 0.2 }],
    ["profile_number_max", { a: 1, n: 5 }, { a: 1.1, b: "x", c: true, n: 5 }],
    ["profile_number_min", { a: 1, n: 9 }, { a: 1, b: "x", c: true, n: 5 }],
    ["profile_append", { l: ["p"] }, { a: 1, b: "x", c: true, n: 5, l: ["p"] }],
    ["profile_uniq_append", { l: ["p", "q"] }, { a: 1, b: "x", c: true, n: 5, l: ["p", "q"] }],
    ["profile_unset", { b: null, never_there: 0 }, { a: 1, c: true, n: 5, l: ["p", "q"] }],
    ["profile_delete", {}, {}],
  ];
  for (const [operation, properties, after] of steps) {
    expect(await server.collect(app, "a", [profile(operation, properties)])).toMatchObject({ code: 0, extra: {} });
    expect({ operation, profile: await profileOf(app) }).toEqual({ operation, profile: after });
  }
});

test("the order of receipt decides, not the time of the events", async () => {
  const app = await server.appWith(["a"]);
  const now = Date.now();
  await server.collect(app, "a", [profile("profile_set", { level: "later" }, now)]);
  await server.collect(app, "a", [profile("profile_set", { level: "earlier" }, now - DAY_MS)]);
  expect(await profileOf(app)).toEqual({ level: "earlier" });
});

test("sums of fractions show no binary rounding errors", async () => {
  const app = await server.appWith(["a"]);
  await server.collect(app, "a", operations([1, 2, 3].map((): [string, Row] => ["profile_increment", { spent: 0.1 }])));
  expect(await profileOf(app)).toEqual({ spent: 0.3 });
});

test("a deletion removes the profile and keeps the past events", async () => {
  const app = await server.appWith(["a"]);
  await server.collect(app, "a", [track("before"), profile("profile_set", { level: 1, $name: "Ann" })]);
  await server.collect(app, "a", [profile("profile_delete"), track("after")]);
  await server.collect(app, "a", [profile("profile_set_once", { level: 7 })]);
  expect(await profileOf(app)).toEqual({ level: 7 });
  expect(await tables.user(app, "a")).toMatchObject({ is_registered: true, name: "n" });
  expect(await tables.eventNames(app)).toEqual(expect.arrayContaining(["before", "after", "profile_set"]));
});

describe("odd values that SDKs send are ignored", () => {
  const lib = { $lib: "php", $lib_version: "1.0.0" };

  test.each(["profile_increment", "profile_number_max", "profile_number_min"])(
    "%s ignores texts, even beside a number",
    async (operation) => {
      const app = await server.appWith(["a"]);
      const answer = await server.collect(app, "a", [profile(operation, { ...lib, coins: 4, text: "5" })]);
      expect(answer).toMatchObject({ code: 0, extra: {} });
      expect(await profileOf(app)).toEqual({ coins: 4 });
    },
  );

  test("an increment by a text leaves a text of the same name as it is", async () => {
    const app = await server.appWith(["a"]);
    await server.collect(
      app,
      "a",
      operations([
        ["profile_set", lib],
        ["profile_increment", lib],
      ]),
    );
    expect(await profileOf(app)).toEqual(lib);
  });

  test.each([0, "", null, true, "text", 17, [], {}])(
    "unset removes a property whatever its value: %j",
    async (value) => {
      const app = await server.appWith(["a"]);
      await server.collect(app, "a", [profile("profile_set", { gone: 1, stays: 2 })]);
      expect(await server.collect(app, "a", [profile("profile_unset", { gone: value })])).toMatchObject({ extra: {} });
      expect(await profileOf(app)).toEqual({ stays: 2 });
    },
  );

  test.each<[unknown]>([[{}], [{ "": "" }], [lib], [[]], [null]])(
    "delete ignores its properties: %j",
    async (properties) => {
      const app = await server.appWith(["a"]);
      await server.collect(app, "a", [profile("profile_set", { gone: 1 })]);
      const answer = await server.collect(app, "a", [profile("profile_delete", properties)]);
      expect(answer).toMatchObject({ code: 0, extra: {} });
      expect(await profileOf(app)).toEqual({});
    },
  );

  test.each(["profile_unset", "profile_delete"])("%s may come without properties", async (operation) => {
    const app = await server.appWith(["a"]);
    const answers = [
      await server.collect(app, "a", [profile(operation, null)]),
      await server.collect(app, "a", [{ type: "profile", event: operation, time: Date.now() }]),
      await server.collect(app, "a", [profile(operation, [])]),
    ];
    for (const answer of answers) expect(answer).toMatchObject({ code: 0, extra: {} });
  });

  test("set may come with [], which is how PHP writes an empty object", async () => {
    const app = await server.appWith(["a"]);
    await server.collect(app, "a", [profile("profile_set", { kept: 1 })]);
    expect(await server.collect(app, "a", [profile("profile_set", [])])).toMatchObject({ code: 0, extra: {} });
    expect(await profileOf(app)).toEqual({ kept: 1 });
  });

  test("append takes a single text as a list of one", async () => {
    const app = await server.appWith(["a"]);
    await server.collect(
      app,
      "a",
      operations([
        ["profile_append", { tags: "a" }],
        ["profile_uniq_append", { tags: "a" }],
      ]),
    );
    expect(await profileOf(app)).toEqual({ tags: ["a"] });
  });

  test("a number operation on a text property starts from the number", async () => {
    const app = await server.appWith(["a"]);
    await server.collect(
      app,
      "a",
      operations([
        ["profile_set", { n: "x" }],
        ["profile_increment", { n: 2 }],
      ]),
    );
    expect(await profileOf(app)).toEqual({ n: 2 });
  });
});

test.each(["constructor", "toString", "valueOf", "hasOwnProperty"])("a property may be called %s", async (name) => {
  const app = await server.appWith(["a"]);
  await server.collect(
    app,
    "a",
    operations([
      ["profile_set_once", { [name]: "first" }],
      ["profile_set_once", { [name]: "x" }],
    ]),
  );
  expect(await profileOf(app)).toEqual({ [name]: "first" });
  await server.collect(
    app,
    "a",
    operations([
      ["profile_delete", {}],
      ["profile_append", { [name]: ["a"] }],
    ]),
  );
  expect(await profileOf(app)).toEqual({ [name]: ["a"] });
});

test("a list keeps its first 500 elements, no matter how often it is appended to", async () => {
  const app = await server.appWith(["a"]);
  const texts = (from: number) => Array.from({ length: 300 }, (_, index) => `t${from + index}`);
  await server.collect(
    app,
    "a",
    operations([
      ["profile_append", { tags: texts(0) }],
      ["profile_append", { tags: texts(300) }],
    ]),
  );
  const { tags } = await profileOf(app);
  expect(tags).toHaveLength(500);
  expect(tags.at(-1)).toBe("t499");
});

test("a bad property of a profile operation is left out and reported", async () => {
  const app = await server.appWith(["a"]);
  const answer = await server.collect(app, "a", [
    profile("profile_set", { "bad name": 1, good: 1, long: "中".repeat(1000), huge: 1e15 }),
  ]);
  expect(answer.extra.errors.map(({ reason }: Row) => reason)).toEqual(Array(3).fill("bad_property"));
  expect(await profileOf(app)).toEqual({ good: 1, long: "中".repeat(682) });
});

test("the event `user_del` of one SDK does not affect its batch", async () => {
  const app = await server.appWith(["a"]);
  const broken = { type: "user_del", time: Date.now(), properties: {} };
  const answer = await server.collect(app, "a", [profile("profile_set", { a: 1 }), broken, track("after")]);
  expect(answer).toMatchObject({ code: 0, extra: { errors: [{ index: 1, event: "", reason: "bad_type" }] } });
  expect(await profileOf(app)).toEqual({ a: 1 });
  expect((await tables.eventNames(app)).sort()).toEqual(["after", "profile_set"]);
});

test("a profile operation counts neither as activity nor as a track event, and stores no address", async () => {
  const app = await server.appWith(["a"]);
  await server.collect(app, "a", [profile("profile_set", { a: 1 }, Date.now() - 3 * DAY_MS)]);
  const days = await tables.userDays(app, "a");
  expect(days).toHaveLength(1);
  expect(days[0]).toMatchObject({ track_events: 0 });
  expect((await tables.events(app))[0]!.properties).toEqual({ a: 1 });
});
