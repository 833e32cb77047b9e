import { describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import type { MetadataMode } from "../../../src/domain/event/metadata.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { DAY_MS, HOUR_MS, profile, type Row, Tables, track } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);
/** More than a request can take between our clock and the server's. */
const MARGIN_MS = PATIENCE_MS;

/** Sends the event between two good ones, which are stored whatever happens to it. */
async function sendBetweenNeighbours(app: App, event: unknown) {
  const time = Date.now();
  const before = track("before", {}, time);
  const after = track("after", {}, time);
  const answer = await server.collect(app, "a", [before, event, after]);
  const stored = await tables.eventNames(app);
  const neighbours = stored.filter((name) => name === "before" || name === "after");
  expect(neighbours).toEqual(["after", "before"]);
  return { answer, stored: stored.filter((name) => name !== "before" && name !== "after") };
}

async function expectRejected(app: App, event: unknown, reason: string, name: string): Promise<void> {
  const { answer, stored } = await sendBetweenNeighbours(app, event);
  expect(answer).toMatchObject({ status: 200, code: 0, msg: "success", data: {} });
  expect(answer.extra).toEqual({ errors: [{ index: 1, event: name, reason, message: expect.stringMatching(/\.$/) }] });
  expect(stored).toEqual([]);
  expect(await tables.ledger(app)).toEqual({ received: 3, stored: 2, [reason]: 1 });
}

describe("the time of an event", () => {
  test.each([
    ["now", 0],
    ["10 days ago, less a moment", -10 * DAY_MS + MARGIN_MS],
    ["in an hour, less a moment", HOUR_MS - MARGIN_MS],
  ])("may be %s", async (_when, offsetMs) => {
    const app = await server.appWith(["a"]);
    const time = Date.now() + offsetMs;
    const { answer } = await sendBetweenNeighbours(app, track("timed", {}, time));
    expect(answer).toMatchObject({ code: 0, extra: {} });
    expect((await tables.events(app)).find((row) => row.event === "timed")).toMatchObject({ at_ms: time });
  });

  test.each([
    ["more than 10 days ago", -10 * DAY_MS - MARGIN_MS, "too_old"],
    ["a year ago", -365 * DAY_MS, "too_old"],
    ["in more than an hour", HOUR_MS + MARGIN_MS, "too_new"],
    ["in a year", 365 * DAY_MS, "too_new"],
  ])("%s is not stored", async (_when, offsetMs, reason) => {
    await expectRejected(await server.appWith(["a"]), track("timed", {}, Date.now() + offsetMs), reason, "timed");
  });

  test("the window applies to profile events as well", async () => {
    const app = await server.appWith(["a"]);
    const late = profile("profile_set", { level: 9 }, Date.now() - 11 * DAY_MS);
    await expectRejected(app, late, "too_old", "profile_set");
    expect((await tables.user(app, "a"))!.properties).toEqual({});
  });

  test.each([-3650 * DAY_MS, -11 * DAY_MS, 2 * HOUR_MS, 365 * DAY_MS])(
    "%i ms from now is stored if time_free is true",
    async (offsetMs) => {
      const app = await server.appWith(["a"]);
      const time = Date.now() + offsetMs;
      const { answer } = await sendBetweenNeighbours(app, { ...track("imported", {}, time), time_free: true });
      expect(answer).toMatchObject({ code: 0, extra: {} });
      expect((await tables.events(app)).find((row) => row.event === "imported")).toMatchObject({ at_ms: time });
    },
  );

  test.each([false, null, "true", 1, undefined])("time_free: %j does not skip the check", async (time_free) => {
    const event = { ...track("timed", {}, Date.now() - 11 * DAY_MS), time_free };
    await expectRejected(await server.appWith(["a"]), event, "too_old", "timed");
  });

  test.each([undefined, null, "", "now", String(Date.now()), true, [], {}, -1])(
    "%j is no time: bad_time",
    async (time) => {
      const event = { type: "track", event: "timed", properties: {}, time };
      await expectRejected(await server.appWith(["a"]), event, "bad_time", "timed");
    },
  );

  test("bad_time applies with time_free too, because the event has no time to be stored under", async () => {
    const event = { ...track("timed", {}, "yesterday"), time_free: true };
    await expectRejected(await server.appWith(["a"]), event, "bad_time", "timed");
  });

  test("a fraction of a millisecond is dropped", async () => {
    const app = await server.appWith(["a"]);
    const time = Date.now();
    await server.collect(app, "a", [track("timed", {}, time + 0.75)]);
    expect(await tables.events(app)).toMatchObject([{ at_ms: time }]);
  });
});

describe("type", () => {
  test.each([undefined, null, "", "Track", "tracks", "user_del", 1, [], {}])("%j is bad_type", async (type) => {
    const event = { ...track("typed"), type };
    await expectRejected(await server.appWith(["a"]), event, "bad_type", "typed");
  });

  test.each([null, 7, "text", [], true])("an event that is %j instead of an object is bad_type", async (event) => {
    await expectRejected(await server.appWith(["a"]), event, "bad_type", "");
  });

  test.each(["profile_sets", "level_up", "$PayEvent", ""])(
    "the profile operation %j is unknown: bad_type",
    async (name) => {
      await expectRejected(await server.appWith(["a"]), profile(name), "bad_type", name);
    },
  );
});

describe("the name of an event", () => {
  test.each(["a", "Z", "level_up", "a1_", "x".repeat(50), "$PayEvent", "$AdShow", "$MPLaunch", "$AppStart"])(
    "may be %s",
    async (name) => {
      const { answer, stored } = await sendBetweenNeighbours(await server.appWith(["a"]), track(name));
      expect(answer).toMatchObject({ code: 0, extra: {} });
      expect(stored).toEqual([name]);
    },
  );

  test.each([
    "",
    " ",
    "1st",
    "_private",
    "level up",
    "level-up",
    "升级",
    "x".repeat(51),
    "a$b",
    "$",
    "$NoPreset",
    "a\u0000",
  ])("%j is bad_name", async (name) => {
    await expectRejected(await server.appWith(["a"]), track(name), "bad_name", name.replace("\u0000", "\ufffd"));
  });

  test.each([undefined, null, 7, [], {}])("%j is bad_name", async (name) => {
    await expectRejected(await server.appWith(["a"]), { ...track("x"), event: name }, "bad_name", "");
  });
});

describe("properties", () => {
  test.each([undefined, null, "", "{}", 7, true, [1], ["a"]])("%j are bad_properties", async (properties) => {
    const event = { ...track("held"), properties };
    await expectRejected(await server.appWith(["a"]), event, "bad_properties", "held");
  });

  test("may be an empty list, which is how PHP writes an empty object", async () => {
    const { answer, stored } = await sendBetweenNeighbours(await server.appWith(["a"]), track("held", []));
    expect(answer).toMatchObject({ code: 0, extra: {} });
    expect(stored).toEqual(["held"]);
  });
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
    await sendBetweenNeighbours(app, track("brand_new", { colour: "red" }));
    const events = await tables.query("select name, state from event_meta where app_id = $1 order by name", [
      app.appId,
    ]);
    expect(events).toEqual(["after", "before", "brand_new"].map((name) => ({ name, state: "observed" })));
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
