import { beforeAll, describe, expect, test } from "vitest";
import { appMetadata } from "../../../src/contract/setting/metadata.ts";
import type { App } from "../../../src/db/app.ts";
import { LIMITS } from "../../../src/limits.ts";
import { cliJson } from "../../cli/run.ts";
import { AdminCaller, consoleUser, dataOf, refused } from "../../support/admin-caller.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { profile, type Row, Tables, track } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);
const admin = new AdminCaller(server);
const analyst = consoleUser(server, "analyst");

const shown = async (app: App) => dataOf(await analyst.get("metadata", { app_id: app.appId }), appMetadata) as Row;
const declareEvents = (app: App, names: string[], state = "declared") =>
  admin.post("metadata/events/declare", { app_id: app.appId, names, state });
const declareProperties = (app: App, properties: Row[]) =>
  admin.post("metadata/properties/declare", { app_id: app.appId, properties });

async function appWithEvents(): Promise<App> {
  const app = await server.createApp();
  await server.register(app, "u");
  const events = [track("level_up", { level: 2 }), track("$MPShow"), profile("profile_set", { vip: true })];
  expect(await server.collect(app, "u", events)).toMatchObject({ code: 0 });
  await server.settle();
  return app;
}

describe("metadata", () => {
  /** An app without events and declarations. */
  let empty: App;
  beforeAll(async () => {
    empty = await server.createApp();
  });

  test("shows what an app has sent, and what was declared", async () => {
    const app = await appWithEvents();
    const changed_at_ms = expect.any(Number);
    expect(await shown(app)).toEqual({
      metadata: "open",
      events: [{ name: "level_up", state: "observed", changed_at_ms }],
      properties: [
        { scope: "event", name: "level", type: "any", state: "observed", changed_at_ms },
        { scope: "user", name: "vip", type: "any", state: "observed", changed_at_ms },
      ],
    });
    const events = dataOf(await declareEvents(app, ["level_up", "level_up", "quit"]), appMetadata).events;
    expect(events).toMatchObject([
      { name: "level_up", state: "declared" },
      { name: "quit", state: "declared" },
    ]);
    const typed = [
      { scope: "event", name: "level", type: "number" },
      { scope: "user", name: "level", type: "string" },
    ];
    const { properties } = dataOf(await declareProperties(app, typed), appMetadata);
    expect(properties).toMatchObject([
      { scope: "event", name: "level", type: "number", state: "declared" },
      { scope: "user", name: "level", type: "string", state: "declared" },
      { scope: "user", name: "vip", type: "any", state: "observed" },
    ]);
    const rows = await cliJson(server.dataDir, ["metadata", "list", "--app", String(app.appId)]);
    expect(rows).toContainEqual({ kind: "event", name: "quit", type: "", state: "declared" });
    expect(rows).toHaveLength(5);
  });

  test("decides at once what is stored: by state, by type, and in strict mode by declaration", async () => {
    const app = await appWithEvents();
    const errorsOf = async (...events: Row[]) =>
      ((await server.collect(app, "u", events)).extra.errors ?? []).map((error: Row) => error.reason);
    expect(await errorsOf(track("level_up", { level: "two" }))).toEqual([]);
    await declareProperties(app, [{ scope: "event", name: "level", type: "number" }]);
    expect(await errorsOf(track("level_up", { level: "two" }))).toEqual(["bad_property"]);
    await declareEvents(app, ["level_up"], "disabled");
    expect(await errorsOf(track("level_up"))).toEqual(["disabled"]);
    await declareEvents(app, ["level_up"]);
    await admin.post("apps/edit", { app_id: app.appId, metadata: "strict" });
    expect((await shown(app)).metadata).toBe("strict");
    expect(await errorsOf(track("level_up"), track("unheard_of"))).toEqual(["undeclared"]);
  });

  test.each<[string, Row, RegExp, number?]>([
    ["events", { names: [], state: "declared" }, /names/],
    ["events", { names: ["$PayEvent"], state: "declared" }, /names/],
    ["events", { names: ["a b"], state: "declared" }, /names/],
    ["events", { names: ["a"], state: "observed" }, /state/],
    ["events", { names: Array(LIMITS.namesDeclared + 1).fill("a"), state: "declared" }, /names/],
    ["events", { app_id: 999_999_999, names: ["a"], state: "declared" }, /app_id/, 2001],
    ["properties", { properties: [] }, /properties/],
    ["properties", { properties: [{ scope: "event", name: "a", type: "any" }] }, /type/],
    ["properties", { properties: [{ scope: "app", name: "a", type: "number" }] }, /scope/],
    ["properties", { properties: [{ scope: "user", name: "$a", type: "number" }] }, /name/],
  ])("of %s refuses to declare %j", async (kind, body, msg, code) => {
    const answer = await admin.post(`metadata/${kind}/declare`, { app_id: empty.appId, ...body });
    expect(answer).toMatchObject(refused(msg, code));
    expect(await shown(empty)).toEqual({ metadata: "open", events: [], properties: [] });
  });

  test("cannot be declared by an analyst, nor shown for an app that does not exist", async () => {
    const body = { app_id: empty.appId, names: ["a"], state: "declared" };
    expect(await analyst.post("metadata/events/declare", body)).toMatchObject(refused(/Your role/, 2004));
    expect(await admin.get("metadata", { app_id: 999_999_999 })).toMatchObject(refused(/app_id/, 2001));
    expect(await admin.get("metadata")).toMatchObject(refused(/app_id/));
  });

  test("is limited: an app at the maximum accepts changes to its names, but no new ones", async () => {
    const app = await server.createApp();
    await tables.query(
      `insert into event_meta select $1, 'e' || g, 'observed', 0 from generate_series(1, ${LIMITS.namesPerApp}) g`,
      [app.appId],
    );
    expect((await shown(app)).events).toHaveLength(LIMITS.namesPerApp);
    expect(await declareEvents(app, ["one_more"])).toMatchObject(refused(/more than .* names/));
    expect(await declareEvents(app, ["e1"])).toMatchObject({ code: 0 });
    await tables.query("delete from event_meta where app_id = $1", [app.appId]);
  });
});
