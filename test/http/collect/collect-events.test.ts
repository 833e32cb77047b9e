import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import type { MetadataMode } from "../../../src/domain/event/metadata.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { sharedServer } from "../../support/shared-server.ts";
import type { Answer } from "../../support/touchpoint.ts";
import { DAY_MS, HOUR_MS, profile, type Row, Tables, track } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);
/** More than a request can take between our clock and the server's. */
const MARGIN_MS = PATIENCE_MS;
const NOW_MS = Date.now();

/** What an event is called, the event, and why it is rejected, or that it is stored. */
type Case = { title: string; event: unknown } & (
  | { kind: "rejected"; reason: string; name: string }
  | { kind: "stored"; name: string; atMs?: number }
);

const timed = (offsetMs: number, more: object = {}): Row => ({ ...track("timed", {}, NOW_MS + offsetMs), ...more });
const rejected = (reason: string, name: string, cases: readonly [title: string, event: unknown][]): Case[] =>
  cases.map(([title, event]) => ({
    kind: "rejected",
    title: `${title} is rejected as ${reason}`,
    event,
    reason,
    name,
  }));
const shown = (what: string, values: readonly unknown[], eventOf: (value: any) => unknown): [string, unknown][] =>
  values.map((value) => [`${what} ${JSON.stringify(value)}`, eventOf(value)]);

const TIMES: readonly Case[] = [
  ...(
    [
      ["now", 0, {}],
      ["10 days ago, less a moment", -10 * DAY_MS + MARGIN_MS, {}],
      ["in an hour, less a moment", HOUR_MS - MARGIN_MS, {}],
      ...[-3650 * DAY_MS, -11 * DAY_MS, 2 * HOUR_MS, 365 * DAY_MS].map(
        (offsetMs) => [`${offsetMs} ms from now with time_free`, offsetMs, { time_free: true }] as const,
      ),
    ] as const
  ).map(([title, offsetMs, more]): Case => {
    return {
      kind: "stored",
      title: `${title} is stored`,
      event: timed(offsetMs, more),
      name: "timed",
      atMs: NOW_MS + offsetMs,
    };
  }),
  {
    kind: "stored",
    title: "a fraction of a millisecond is dropped",
    event: timed(0.75),
    name: "timed",
    atMs: NOW_MS,
  },
  ...rejected("too_old", "timed", [
    ["more than 10 days ago", timed(-10 * DAY_MS - MARGIN_MS)],
    ["a year ago", timed(-365 * DAY_MS)],
    ...shown("11 days ago with time_free", [false, null, "true", 1, undefined], (time_free) =>
      timed(-11 * DAY_MS, { time_free }),
    ),
  ]),
  ...rejected("too_new", "timed", [
    ["in more than an hour", timed(HOUR_MS + MARGIN_MS)],
    ["in a year", timed(365 * DAY_MS)],
  ]),
  ...rejected("too_old", "profile_set", [
    ["a profile event of 11 days ago", profile("profile_set", { level: 9 }, NOW_MS - 11 * DAY_MS)],
  ]),
  ...rejected("bad_time", "timed", [
    ...shown("the time", [undefined, null, "", "now", String(NOW_MS), true, [], {}, -1], (time) => timed(0, { time })),
    ["a time that is none, with time_free,", timed(0, { time: "yesterday", time_free: true })],
  ]),
];

const TYPES: readonly Case[] = [
  ...rejected(
    "bad_type",
    "typed",
    shown("the type", [undefined, null, "", "Track", "tracks", "user_del", 1, [], {}], (type) => ({
      ...track("typed"),
      type,
    })),
  ),
  ...rejected(
    "bad_type",
    "",
    shown("instead of an object,", [null, 7, "text", [], true], (event) => event),
  ),
  ...["profile_sets", "level_up", "$PayEvent", ""].flatMap((name) =>
    rejected("bad_type", name, [[`the profile operation ${JSON.stringify(name)}`, profile(name)]]),
  ),
];

const GOOD_NAMES = ["a", "Z", "level_up", "a1_", "x".repeat(50), "$PayEvent", "$AdShow", "$MPLaunch", "$AppStart"];
const BAD_NAMES = [
  ...["", " ", "1st", "_private", "level up", "level-up", "升级", "x".repeat(51), "a$b", "$", "$NoPreset", "a\u0000"],
];
const NAMES: readonly Case[] = [
  ...GOOD_NAMES.map((name): Case => ({ kind: "stored", title: `${name} is stored`, event: track(name), name })),
  ...BAD_NAMES.flatMap((name) =>
    rejected("bad_name", name.replace("\u0000", "\ufffd"), [[JSON.stringify(name), track(name)]]),
  ),
  ...rejected(
    "bad_name",
    "",
    shown("the name", [undefined, null, 7, [], {}], (name) => ({ ...track("x"), event: name })),
  ),
];

const PROPERTIES: readonly Case[] = [
  ...rejected(
    "bad_properties",
    "held",
    shown("a list or a value", [undefined, null, "", "{}", 7, true, [1], ["a"]], (properties) => ({
      ...track("held"),
      properties,
    })),
  ),
  {
    kind: "stored",
    title: "an empty list, which is how PHP writes an empty object, is stored",
    event: track("held", []),
    name: "held",
  },
];

const ALL = [...TIMES, ...TYPES, ...NAMES, ...PROPERTIES];

/** Each case has its own client in one app, and its event comes between two good ones, which are stored whatever happens. */
let app: App;
let answers: Answer[];
let stored: Row[];
beforeAll(async () => {
  app = await server.createApp();
  const clients = ALL.map((_, index) => `client ${index}`);
  await Promise.all(clients.map((client) => server.register(app, client)));
  answers = await Promise.all(
    ALL.map(({ event }, index) =>
      server.collect(app, clients[index]!, [track("before", {}, NOW_MS), event, track("after", {}, NOW_MS)]),
    ),
  );
  stored = await tables.events(app);
});

describe.each([
  ["the time of an event", TIMES],
  ["the type of an event", TYPES],
  ["the name of an event", NAMES],
  ["the properties of an event", PROPERTIES],
])("%s", (_, cases) => {
  test.each(cases)("$title", (one) => {
    const index = ALL.indexOf(one);
    const answer = answers[index]!;
    const rows = stored.filter((row) => row.client_id === `client ${index}`);
    expect(rows.map((row) => row.event)).toEqual(expect.arrayContaining(["after", "before"]));
    const own = rows.filter((row) => row.event !== "before" && row.event !== "after");
    expect(answer).toMatchObject({ status: 200, code: 0, msg: "success", data: {} });
    if (one.kind === "stored") {
      expect(answer.extra).toEqual({});
      expect(own).toMatchObject([{ event: one.name, ...(one.atMs !== undefined && { at_ms: one.atMs }) }]);
    } else {
      const { name: event, reason } = one;
      expect(answer.extra).toEqual({ errors: [{ index: 1, event, reason, message: expect.stringMatching(/\.$/) }] });
      expect(own).toEqual([]);
    }
  });
});

test("every event is counted by what became of it, and one that is rejected changes no profile", async () => {
  const expected: Record<string, number> = { received: 3 * ALL.length, stored: 2 * ALL.length };
  for (const one of ALL) {
    const outcome = one.kind === "stored" ? "stored" : one.reason;
    expected[outcome] = (expected[outcome] ?? 0) + 1;
  }
  expect(await tables.ledger(app)).toEqual(expected);
  const late = ALL.findIndex((one) => one.kind === "rejected" && one.name === "profile_set");
  expect((await tables.user(app, `client ${late}`))!.properties).toEqual({});
});

describe("metadata", () => {
  const declare = (app: App, name: string, state: string) =>
    tables.changeSettings("insert into event_meta (app_id, name, state, changed_at_ms) values ($1, $2, $3, 0)", [
      app.appId,
      name,
      state,
    ]);
  const reasonFor = (app: App, event: Row) => async () =>
    (await server.collect(app, "a", [event])).extra.errors?.[0].reason ?? "none";

  test("an open app accepts an event it has never seen, and shows it as observed", async () => {
    const app = await server.appWith(["a"]);
    await server.collect(app, "a", [track("brand_new", { colour: "red" })]);
    const events = await tables.query("select name, state from event_meta where app_id = $1 order by name", [
      app.appId,
    ]);
    expect(events).toEqual([{ name: "brand_new", state: "observed" }]);
    const properties = await tables.query("select scope, name, state from property_meta where app_id = $1", [
      app.appId,
    ]);
    expect(properties).toEqual([{ scope: "event", name: "colour", state: "observed" }]);
  });

  test("a strict app stores presets and declared events, and no others", async () => {
    const app = await server.appWith(["a"], { metadataMode: "strict" });
    await declare(app, "declared_one", "declared");
    await expect.poll(reasonFor(app, track("declared_one"))).toBe("none");
    const events = [
      track("$PayEvent", { $pay_amount: 1 }),
      track("surprise"),
      track("declared_one", {}, Date.now() + 1),
    ];
    const answer = await server.collect(app, "a", events);
    expect(answer).toMatchObject({ code: 0 });
    expect(answer.extra.errors).toMatchObject([{ index: 1, event: "surprise", reason: "undeclared" }]);
    const names = await tables.eventNames(app);
    expect(names).toEqual(expect.arrayContaining(["$PayEvent", "declared_one"]));
    expect(names).not.toContain("surprise");
  });

  test("a strict app accepts profile operations, which need no declaration", async () => {
    const app = await server.appWith(["a"], { metadataMode: "strict" });
    expect(await server.collect(app, "a", [profile("profile_set", { $name: "Ann" })])).toMatchObject({ extra: {} });
    expect((await tables.user(app, "a"))!.properties).toEqual({ $name: "Ann" });
  });

  test.each<MetadataMode>(["open", "strict"])("a disabled event is not stored in an app that is %s", async (mode) => {
    const app = await server.appWith(["a"], { metadataMode: mode });
    await declare(app, "retired", "disabled");
    await expect.poll(reasonFor(app, track("retired", {}, Date.now()))).toBe("disabled");
    const answer = await server.collect(app, "a", [track("$AppStart"), track("retired"), track("$AppEnd")]);
    expect(answer.extra.errors).toMatchObject([{ index: 1, event: "retired", reason: "disabled" }]);
    expect(await tables.eventNames(app)).toEqual(expect.arrayContaining(["$AppEnd", "$AppStart"]));
    expect(await tables.ledger(app)).toMatchObject({ disabled: expect.any(Number) });
  });
});

test("each bad event of a list is reported by its index, and all good ones are stored", async () => {
  const app = await server.appWith(["a"]);
  const events = [
    track("ok1"),
    track("bad name"),
    profile("profile_set", { a: 1 }),
    { type: "user_del", time: Date.now() },
    track("old", {}, Date.now() - 20 * DAY_MS),
    track("ok2", { "bad name": 1, good: 2 }),
    null,
  ];
  const answer = await server.collect(app, "a", events);
  expect(answer.extra.errors.map(({ index, reason }: Row) => [index, reason])).toEqual([
    [1, "bad_name"],
    [3, "bad_type"],
    [4, "too_old"],
    [5, "bad_property"],
    [6, "bad_type"],
  ]);
  expect((await tables.eventNames(app)).sort()).toEqual(["ok1", "ok2", "profile_set"]);
  const ledger = { received: 7, stored: 3, bad_name: 1, bad_type: 2, too_old: 1 };
  expect(await tables.ledger(app)).toEqual(ledger);
});
