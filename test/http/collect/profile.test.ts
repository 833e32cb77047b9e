import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { DAY_MS, profile, type Row, Tables, track } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);

/** One app for all tests, and a client for each. */
let app: App;
beforeAll(async () => {
  app = await server.createApp();
});

const NOW_MS = Date.now();

type Operation = [operation: string, properties: unknown];

/** Operations in the order of the list, at different times, so that none is a repeat. */
function operations(...list: readonly Operation[]): Row[] {
  return list.map(([operation, properties], index) => profile(operation, properties, NOW_MS - list.length + index));
}

async function profileOf(clientId: string): Promise<Row> {
  return (await tables.user(app, clientId))!.properties;
}

/** What a client sends, one list of events per request, and its profile after that. Every request is accepted whole. */
type Case = [title: string, requests: readonly Row[][], profile: Row];

const LIB = { $lib: "php", $lib_version: "1.0.0" };
const texts = (from: number, count: number) => Array.from({ length: count }, (_, index) => `t${from + index}`);

const CASES: readonly Case[] = [
  [
    "the nine operations take effect in the order sent, in one list",
    [
      operations(
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
      ),
    ],
    {
      level: 3,
      city: "Nanjing",
      first_scene: "1001",
      coins: 6.5,
      best: 70,
      fastest: 20,
      tags: ["a", "b", "b"],
      badges: ["x", "y", "z"],
    },
  ],
  [
    "the order of receipt decides, not the time of the events",
    [
      [profile("profile_set", { level: "later" }, NOW_MS)],
      [profile("profile_set", { level: "earlier" }, NOW_MS - DAY_MS)],
    ],
    { level: "earlier" },
  ],
  [
    "sums of fractions show no binary rounding errors",
    [operations(...[1, 2, 3].map((): Operation => ["profile_increment", { spent: 0.1 }]))],
    { spent: 0.3 },
  ],
  [
    "a list keeps its first 500 elements, no matter how often it is appended to",
    [operations(["profile_append", { tags: texts(0, 300) }], ["profile_append", { tags: texts(300, 300) }])],
    { tags: texts(0, 500) },
  ],
  ...["constructor", "toString", "valueOf", "hasOwnProperty"].flatMap((name): Case[] => [
    [
      `a property called ${name} can be set once`,
      [operations(["profile_set_once", { [name]: "first" }], ["profile_set_once", { [name]: "x" }])],
      { [name]: "first" },
    ],
    [
      `a property called ${name} can be deleted, and appended to`,
      [operations(["profile_set", { [name]: "first" }], ["profile_delete", {}], ["profile_append", { [name]: ["a"] }])],
      { [name]: ["a"] },
    ],
  ]),
];

/** Odd values that SDKs send. */
const ODD: readonly Case[] = [
  ...["profile_increment", "profile_number_max", "profile_number_min"].map((operation): Case => {
    const request = [profile(operation, { ...LIB, coins: 4, text: "5" })];
    return [`${operation} ignores texts, even beside a number`, [request], { coins: 4 }];
  }),
  [
    "an increment by a text leaves a text of the same name as it is",
    [operations(["profile_set", LIB], ["profile_increment", LIB])],
    LIB,
  ],
  ...[0, "", null, true, "text", 17, [], {}].map((value): Case => {
    const requests = [[profile("profile_set", { gone: 1, stays: 2 })], [profile("profile_unset", { gone: value })]];
    return [`unset removes a property whatever its value: ${JSON.stringify(value)}`, requests, { stays: 2 }];
  }),
  ...[{}, { "": "" }, LIB, [], null].map((properties): Case => {
    const requests = [[profile("profile_set", { gone: 1 })], [profile("profile_delete", properties)]];
    return [`delete ignores its properties: ${JSON.stringify(properties)}`, requests, {}];
  }),
  ...["profile_unset", "profile_delete"].map((operation): Case => {
    const bare = { type: "profile", event: operation, time: NOW_MS };
    const requests = [[profile(operation, null)], [bare], [profile(operation, [])]];
    return [`${operation} may come without properties`, requests, {}];
  }),
  [
    "set may come with [], which is how PHP writes an empty object",
    [[profile("profile_set", { kept: 1 })], [profile("profile_set", [])]],
    { kept: 1 },
  ],
  [
    "append takes a single text as a list of one",
    [operations(["profile_append", { tags: "a" }], ["profile_uniq_append", { tags: "a" }])],
    { tags: ["a"] },
  ],
  [
    "a number operation on a text property starts from the number",
    [operations(["profile_set", { n: "x" }], ["profile_increment", { n: 2 }])],
    { n: 2 },
  ],
];

describe("a profile after requests of its client", () => {
  let users: Map<string, Row>;
  beforeAll(async () => {
    const send = async ([client, requests]: Case) => {
      await server.register(app, client);
      for (const events of requests)
        expect([client, await server.collect(app, client, events)]).toMatchObject([client, { code: 0, extra: {} }]);
    };
    await Promise.all([...CASES, ...ODD].map(send));
    users = await tables.users(app);
  });

  test.each(CASES)("%s", (client, _requests, expected) => {
    expect(users.get(client)!.properties).toEqual(expected);
  });

  test.each(ODD)("odd values that SDKs send: %s", (client, _requests, expected) => {
    expect(users.get(client)!.properties).toEqual(expected);
  });
});

test("the nine operations take effect in the order received, request by request", async () => {
  const client = "request by request";
  await server.register(app, client);
  const send = async (...[operation, properties]: Operation) =>
    expect(await server.collect(app, client, [profile(operation, properties)])).toMatchObject({ code: 0, extra: {} });
  await send("profile_set", { a: 1, b: "x" });
  await send("profile_set_once", { b: "y", c: true });
  await send("profile_increment", { a: 0.1, n: 0.2 });
  await send("profile_number_max", { a: 1, n: 5 });
  expect(await profileOf(client)).toEqual({ a: 1.1, b: "x", c: true, n: 5 });
  await send("profile_number_min", { a: 1, n: 9 });
  await send("profile_append", { l: ["p"] });
  await send("profile_uniq_append", { l: ["p", "q"] });
  await send("profile_unset", { b: null, never_there: 0 });
  expect(await profileOf(client)).toEqual({ a: 1, c: true, n: 5, l: ["p", "q"] });
  await send("profile_delete", {});
  expect(await profileOf(client)).toEqual({});
});

test("a deletion removes the profile and keeps the past events", async () => {
  const client = "deleted";
  await server.register(app, client);
  await server.collect(app, client, [track("before"), profile("profile_set", { level: 1, $name: "Ann" })]);
  await server.collect(app, client, [profile("profile_delete"), track("after")]);
  await server.collect(app, client, [profile("profile_set_once", { level: 7 })]);
  expect(await profileOf(client)).toEqual({ level: 7 });
  expect(await tables.user(app, client)).toMatchObject({ is_registered: true, name: "n" });
  expect(await tables.eventNames(app, client)).toEqual(expect.arrayContaining(["before", "after", "profile_set"]));
});

test("a bad property of a profile operation is left out and reported", async () => {
  const client = "bad property";
  await server.register(app, client);
  const answer = await server.collect(app, client, [
    profile("profile_set", { "bad name": 1, good: 1, long: "中".repeat(1000), huge: 1e15 }),
  ]);
  expect(answer.extra.errors.map(({ reason }: Row) => reason)).toEqual(Array(3).fill("bad_property"));
  expect(await profileOf(client)).toEqual({ good: 1, long: "中".repeat(682) });
});

test("the event `user_del` of one SDK does not affect its batch", async () => {
  const client = "user_del";
  await server.register(app, client);
  const broken = { type: "user_del", time: Date.now(), properties: {} };
  const answer = await server.collect(app, client, [profile("profile_set", { a: 1 }), broken, track("after")]);
  expect(answer).toMatchObject({ code: 0, extra: { errors: [{ index: 1, event: "", reason: "bad_type" }] } });
  expect(await profileOf(client)).toEqual({ a: 1 });
  expect((await tables.eventNames(app, client)).sort()).toEqual(["after", "profile_set"]);
});

test("a profile operation counts neither as activity nor as a track event, and stores no address", async () => {
  const client = "inactive";
  await server.register(app, client);
  await server.collect(app, client, [profile("profile_set", { a: 1 }, Date.now() - 3 * DAY_MS)]);
  const days = await tables.userDays(app, client);
  expect(days).toHaveLength(1);
  expect(days[0]).toMatchObject({ track_events: 0 });
  expect((await tables.events(app, client))[0]!.properties).toEqual({ a: 1 });
});
