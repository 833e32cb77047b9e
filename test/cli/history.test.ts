import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { sharedServer } from "../support/shared-server.ts";
import { cli, cliJson, expectFailure } from "./run.ts";

const server = sharedServer();
const { dataDir } = server;
const folder = mkdtempSync(join(tmpdir(), "touchpoint-history-"));
afterAll(() => rmSync(folder, { recursive: true }));

type Line = { client_id: string; type: string; event: string; time: number; properties: object; received_at?: number };

const line = (clientId: string, event: string, time: number, properties: object = {}): Line => ({
  client_id: clientId,
  type: event.startsWith("profile_") ? "profile" : "track",
  event,
  time,
  properties,
});

function fileOf(lines: readonly (Line | string | Buffer)[]): string {
  const path = join(folder, `${Math.random().toString(36).slice(2)}.ndjson`);
  const bytes = (one: Line | string | Buffer) =>
    Buffer.isBuffer(one) ? one : Buffer.from(typeof one === "string" ? one : JSON.stringify(one));
  writeFileSync(path, Buffer.concat(lines.flatMap((one) => [bytes(one), Buffer.from("\n")])));
  return path;
}

const importInto = (app: App, file: string, ...more: string[]) =>
  cliJson(dataDir, ["import", file, "--app", String(app.appId), ...more]);

async function exported(app: App, from = "2000-01-01", to = "2099-12-31"): Promise<Line[]> {
  const result = await cli(dataDir, ["export", "events", "--app", String(app.appId), "--from", from, "--to", to]);
  expect(result.code).toBe(0);
  return result.stdout.split("\n").flatMap((text) => (text === "" ? [] : [JSON.parse(text)]));
}

const withoutReceipt = (lines: readonly Line[]) => lines.map(({ received_at: _, ...rest }) => rest);

/** Events of one client at one instant have no defined order. */
const inFixedOrder = (lines: readonly Line[]) =>
  withoutReceipt(lines)
    .map((one) => JSON.stringify(one))
    .sort();

test("import takes years of history, registers unknown clients, and changes nothing the second time", async () => {
  const app = await server.createApp();
  const start = Date.UTC(2019, 5, 1, 12);
  const history = [
    line("a", "level_up", start, { level: 1 }),
    line("b", "$PayEvent", start + 1, { $pay_amount: 600, $order_id: "o-1" }),
    line("a", "profile_increment", start + 2, { score: 5 }),
    line("a", "level_up", start + 86_400_000, { level: 2 }),
  ];
  await server.register(app, "b", { name: "Known" });
  const file = fileOf([...history, ""]);
  expect(await importInto(app, file)).toEqual({ events: 4, registered: 1, rejected: 0, reasons: {} });
  const first = await exported(app);
  expect(withoutReceipt(first)).toMatchObject(history);
  const show = (client: string) => cliJson(dataDir, ["user", "show", client, "--app", String(app.appId)]);
  const users = [await show("a"), await show("b")];
  expect(users[0]).toMatchObject({ CreateTime: "2019-06-01 20:00:00", Channel: "import", properties: { score: 5 } });
  expect(users[1]).toMatchObject({ Name: "Known", orders: { count: 1, amount_cents: 600 } });

  expect(await importInto(app, file)).toEqual({ events: 4, registered: 0, rejected: 0, reasons: {} });
  expect(await exported(app)).toEqual(first);
  expect([await show("a"), await show("b")]).toEqual(users);
  const minutes: { duplicate: number }[] = await cliJson(dataDir, ["ledger", "--app", String(app.appId)]);
  expect(minutes.reduce((sum, minute) => sum + minute.duplicate, 0)).toBe(4);
});

test.each([
  ["is not JSON", `{"client_id":"a",`],
  ["is not an object", `["a"]`],
  ["has no client_id", JSON.stringify({ ...line("a", "e", 1), client_id: undefined })],
  ["has an empty client_id", JSON.stringify(line("", "e", Date.UTC(2020, 1, 1)))],
  ["is not UTF-8", Buffer.from('{"client_id":"\xe9"}', "latin1")],
  ["has a client_id of 129 characters", JSON.stringify(line("x".repeat(129), "e", Date.UTC(2020, 1, 1)))],
])("import names a line that %s, and imports nothing from the file", async (_, bad) => {
  const app = await server.createApp();
  const time = Date.UTC(2020, 1, 1);
  const file = fileOf([line("a", "e", time), line("b", "e", time), bad, line("c", "e", time)]);
  expectFailure(await cli(dataDir, ["import", file, "--app", String(app.appId)]), /\bLine 3\b/);
  await server.settle();
  const pool = server.database();
  const { rows } = await pool.query(
    "select (select count(*)::int from event where app_id = $1) as events, (select count(*)::int from user_account where app_id = $1) as users",
    [app.appId],
  );
  await pool.end();
  expect(rows).toEqual([{ events: 0, users: 0 }]);
});

test("import names a file that it cannot read", async () => {
  const { appId } = await server.createApp();
  const missing = join(folder, "missing.ndjson");
  expectFailure(await cli(dataDir, ["import", missing, "--app", String(appId)]), /missing\.ndjson/);
  expectFailure(await cli(dataDir, ["import", folder, "--app", String(appId)]), /directory/i);
});

test("import --no-register leaves out the events of unknown clients and counts them", async () => {
  const app = await server.createApp();
  await server.register(app, "known");
  const time = Date.UTC(2021, 0, 1);
  const file = fileOf([line("known", "e", time), line("unknown", "e", time), line("unknown", "f", time)]);
  const { origin } = new URL(server.url);
  expect(await importInto(app, file, "--no-register", "--url", origin)).toEqual({
    events: 3,
    registered: 0,
    rejected: 2,
    reasons: { unregistered: 2 },
  });
  expect((await exported(app)).map(({ client_id }) => client_id)).toEqual(["known"]);
});

test("import names the line of every event that is not stored as it stands: the first ones, and all of them in a file", async () => {
  const app = await server.createApp();
  const time = Date.UTC(2021, 0, 1);
  const bad = Array.from({ length: 25 }, () => line("a", "e", 5));
  const file = fileOf([
    "",
    line("a", "e", time, { "no name": 1 }),
    line("a", "no name", time),
    ...bad,
    line("b", "e", 5),
  ]);
  const errors = join(folder, "errors.ndjson");
  const args = ["import", file, "--app", String(app.appId)];
  const { code, stdout, stderr } = await cli(dataDir, [...args, "--json"]);
  const result = { events: 28, registered: 1, rejected: 27, reasons: { bad_property: 1, bad_name: 1, bad_time: 26 } };
  expect({ code, result: JSON.parse(stdout) }).toEqual({ code: 0, result });
  const told = stderr.split("\n").filter((text) => /^Line|more/.test(text));
  expect(told).toHaveLength(21);
  expect(told[0]).toMatch(/^Line 2: bad_property: /);
  expect(told[1]).toMatch(/^Line 3: bad_name: /);
  expect(told.at(-1)).toBe("… and 8 more; --errors FILE writes all of them to a file.");

  await cliJson(dataDir, [...args, "--errors", errors]);
  const written = readFileSync(errors, "utf8").trimEnd().split("\n");
  expect(written.map((text) => JSON.parse(text).line)).toEqual(Array.from({ length: 28 }, (_, index) => index + 2));
  expect(JSON.parse(written.at(-1)!)).toMatchObject({ line: 29, client_id: "b", event: "e", reason: "bad_time" });
  expectFailure(await cli(dataDir, [...args, "--errors", join(folder, "no/such")]), /no\/such cannot be written/);
});

test("import takes files with a byte order mark, with the line ends of Windows, and without a last one", async () => {
  const app = await server.createApp();
  const path = join(folder, "windows.ndjson");
  const texts = ["a", "b"].map((client) => JSON.stringify(line(client, "e", Date.UTC(2021, 0, 1))));
  writeFileSync(path, `\ufeff${texts.join("\r\n")}`);
  expect(await importInto(app, path)).toMatchObject({ events: 2, registered: 2 });
});

test("import keeps every digit of a numeric client id", async () => {
  const app = await server.createApp();
  const event = JSON.stringify(line("", "e", Date.UTC(2021, 0, 1)));
  const ids = ["12345678901234567890", "12345678901234567891", "42"];
  const file = fileOf(ids.map((id) => event.replace(`"client_id":""`, `"client_id":${id}`)));
  expect(await importInto(app, file)).toMatchObject({ events: 3, registered: 3 });
  expect((await exported(app)).map(({ client_id }) => client_id).sort()).toEqual([...ids].sort());
});

test("import sends no more at once than the server accepts, however large the events are", async () => {
  const app = await server.createApp();
  const texts = Object.fromEntries(["a", "b", "c"].map((name) => [name, name.repeat(2_000)]));
  const time = Date.UTC(2021, 0, 1);
  const file = fileOf(Array.from({ length: 500 }, (_, index) => line("large", "e", time + index, texts)));
  expect(await importInto(app, file)).toEqual({ events: 500, registered: 1, rejected: 0, reasons: {} });
  expect(await exported(app)).toHaveLength(500);
});

test("export takes whole days in the app's own time zone, both ends included", async () => {
  const app = await server.createApp({ timeZone: "America/Los_Angeles" });
  // 14 March 2021 has 23 hours there.
  const times = ["2021-03-14T07:59:59.999Z", "2021-03-14T08:00Z", "2021-03-15T06:59:59.999Z", "2021-03-15T07:00Z"];
  await importInto(app, fileOf(times.map((time, index) => line("c", `e${index}`, Date.parse(time)))));
  const names = async (from: string, to: string) => (await exported(app, from, to)).map(({ event }) => event);
  expect(await names("2021-03-14", "2021-03-14")).toEqual(["e1", "e2"]);
  expect(await names("2021-03-13", "2021-03-14")).toEqual(["e0", "e1", "e2"]);
  expect(await names("2021-03-15", "2021-03-31")).toEqual(["e3"]);
  expect(await names("2021-03-16", "2021-03-31")).toEqual([]);
});

test("an export, imported into another app and exported again, is the same", async () => {
  const [from, to] = [await server.createApp(), await server.createApp()];
  const now = Date.now();
  const events = [
    line("", "level_up", now, {
      text: '引力 "quoted" \\ \n 🎮',
      list: ["b", "a"],
      nested: { z: [1, { y: null }], a: 0.1 },
    }),
    line("", "$PayEvent", now - 1, { $pay_amount: 12, $order_id: "x-1" }),
    line("", "$AdShow", now - 2, { $ecpm: 12.345678, $ip: "9.9.9.9" }),
    line("", "profile_set", now - 3, { vip: true, since: "2021-01-01 00:00:00" }),
    line("", "profile_delete", now - 4),
  ].map(({ client_id: _, ...event }) => event);
  for (const client of ["one", "二"]) {
    await server.register(from, client);
    const answer = await server.collect(from, client, events, { client_ip: "8.8.8.8", client_ua: "Phone/1" });
    expect(answer).toMatchObject({ code: 0, extra: {} });
  }
  await server.post(
    "event/consumer_event/",
    from,
    { event_type: "PAY", ts: now, amount: 5 },
    { query: { client_id: "one" } },
  );
  await server.settle();
  const first = await exported(from);
  expect(first).toHaveLength(11);
  for (const one of first) {
    expect(Object.keys(one)).toEqual(["client_id", "type", "event", "time", "properties", "received_at"]);
  }
  expect(await importInto(to, fileOf(first))).toEqual({ events: 11, registered: 2, rejected: 0, reasons: {} });
  expect(inFixedOrder(await exported(to))).toEqual(inFixedOrder(first));
});
