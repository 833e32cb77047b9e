import { expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { sharedServer } from "../support/shared-server.ts";
import { cli, cliJson, expectWrongArguments } from "./run.ts";

const server = sharedServer();
const { dataDir } = server;

/** The reasons that collect gives for one event; none if it is stored whole. */
async function reasonsFor(app: App, event: { type?: string; event: string; properties?: object }): Promise<string[]> {
  const sent = { type: "track", time: Date.now(), properties: {}, ...event };
  const answer = await server.collect(app, "c", [sent]);
  expect(answer.code).toBe(0);
  return (answer.extra.errors ?? []).map((error: { reason: string }) => error.reason);
}

async function strictApp(): Promise<{ app: App; declare: (...args: string[]) => Promise<void> }> {
  const app = await server.createApp({ metadataMode: "strict" });
  expect((await server.register(app, "c")).code).toBe(0);
  const declare = async (...args: string[]) => {
    expect(await cli(dataDir, ["metadata", ...args, "--app", String(app.appId)])).toMatchObject({
      code: 0,
      stderr: "",
    });
  };
  return { app, declare };
}

test("in strict mode an event is stored from its declaration on, until it is disabled", async () => {
  const { app, declare } = await strictApp();
  const level = { event: "level_up" };
  expect(await reasonsFor(app, level)).toEqual(["undeclared"]);
  expect(await reasonsFor(app, { event: "$MPLogin" }), "presets count as declared").toEqual([]);
  await declare("event", "level_up");
  await expect.poll(() => reasonsFor(app, level)).toEqual([]);
  await declare("event", "level_up", "--disable");
  await expect.poll(() => reasonsFor(app, level)).toEqual(["disabled"]);
  await declare("event", "level_up");
  await expect.poll(() => reasonsFor(app, level)).toEqual([]);
});

test("in strict mode a property is kept from its declaration on, if it has the declared type", async () => {
  const { app, declare } = await strictApp();
  await declare("event", "level_up");
  await expect.poll(() => reasonsFor(app, { event: "level_up" })).toEqual([]);
  const withLevel = (level: unknown) => reasonsFor(app, { event: "level_up", properties: { level } });
  expect(await withLevel(3)).toEqual(["bad_property"]);
  await declare("property", "level", "--type", "number");
  await expect.poll(() => withLevel(4)).toEqual([]);
  expect(await withLevel("five")).toEqual(["bad_property"]);
  await server.settle();
  const pool = server.database();
  const { rows } = await pool.query(
    "select properties_text::json->'level' as level from event where app_id = $1 and properties_text::json->'level' is not null",
    [app.appId],
  );
  await pool.end();
  expect(new Set(rows.map((row) => row.level)), "only what fitted is stored").toEqual(new Set([4]));
});

test("properties of events and of users are declared separately", async () => {
  const { app, declare } = await strictApp();
  const set = () => reasonsFor(app, { type: "profile", event: "profile_set", properties: { vip: true } });
  const track = () => reasonsFor(app, { event: "$MPLogin", properties: { vip: true } });
  expect(await set()).toEqual(["bad_property"]);
  await declare("property", "vip", "--type", "bool", "--of", "user");
  await expect.poll(set).toEqual([]);
  expect(await track()).toEqual(["bad_property"]);
  await declare("property", "vip", "--type", "bool");
  await expect.poll(track).toEqual([]);
});

test("metadata list shows observed, declared and disabled names, with the type of each property", async () => {
  const app = await server.createApp();
  const id = String(app.appId);
  await server.register(app, "c");
  await reasonsFor(app, { event: "seen", properties: { colour: "red", $os: "ios" } });
  await reasonsFor(app, { type: "profile", event: "profile_set", properties: { vip: true } });
  await server.settle();
  for (const args of [
    ["event", "wanted"],
    ["event", "unwanted", "--disable"],
    ["property", "size", "--type", "list"],
  ]) {
    expect(await cli(dataDir, ["metadata", ...args, "--app", id])).toMatchObject({ code: 0 });
  }
  const listed = await cliJson(dataDir, ["metadata", "list", "--app", id]);
  expect(listed).toHaveLength(6);
  expect(listed).toEqual(
    expect.arrayContaining([
      { kind: "event", name: "seen", type: "", state: "observed" },
      { kind: "event", name: "wanted", type: "", state: "declared" },
      { kind: "event", name: "unwanted", type: "", state: "disabled" },
      { kind: "event property", name: "colour", type: "any", state: "observed" },
      { kind: "event property", name: "size", type: "list", state: "declared" },
      { kind: "user property", name: "vip", type: "any", state: "observed" },
    ]),
  );
  const table = await cli(dataDir, ["metadata", "list", "--app", id]);
  expect(table.stdout).toMatch(/^event +wanted +declared$/m);
});

test.each([
  [["event", "bad name"], /name/],
  [["event", "$preset"], /name/],
  [["event"], /name/],
  [["property", "1st", "--type", "number"], /name/],
  [["property", "level"], /--type/],
  [["property", "level", "--type", "integer"], /string, number, bool, datetime, list, object/],
  [["property", "level", "--type", "number", "--of", "order"], /event, user/],
])("metadata %j is refused as a wrong argument", async (args, words) => {
  expectWrongArguments(await cli(dataDir, ["metadata", ...args, "--app", "10000001"]), words);
});

test.each([
  ["event", "wanted"],
  ["property", "size", "--type", "list"],
])("metadata %s prints the current declaration as JSON", async (...args) => {
  const { appId } = await server.createApp();
  const printed = await cliJson(dataDir, ["metadata", ...args.filter((arg) => arg), "--app", String(appId)]);
  expect(printed).toMatchObject({ name: args[1], state: "declared" });
});
