import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { calendarOf } from "../../../src/domain/calendar.ts";
import { ADMIN, AdminCaller, refused } from "../../support/admin-caller.ts";
import { eventually } from "../../support/patience.ts";
import { cleanUp, TouchpointProcess } from "../../support/touchpoint.ts";
import { ask, DAY_MS, type Row, Tables, track } from "../fixture.ts";

/** A separate server: it allows few exports at a time, and these tests use them all up. */
let server: TouchpointProcess;
let tables: Tables;
let admin: AdminCaller;
let app: App;
beforeAll(async () => {
  server = await TouchpointProcess.start();
  tables = new Tables(server);
  admin = new AdminCaller(server);
  app = await server.createApp();
  await server.register(app, "用户-1", { name: "=cmd", channel: "a,b" });
  await server.register(app, "u2");
  const pay = (order: string, cents: number) =>
    track("$PayEvent", { $order_id: order, $pay_amount: cents, $pay_type: "CNY", note: 'say "hi"' });
  await server.collect(app, "用户-1", [pay("o-1", 600), track("level", { big: 1 })]);
  await server.collect(app, "u2", [pay("o-2", 50)]);
  await server.settle();
});

afterAll(async () => {
  await server.stop();
  await cleanUp(server.dataDir);
});

const dayOf = (ms: number) => calendarOf("Asia/Shanghai").dayOf(ms);
/** Includes yesterday, in case midnight passes during the tests. */
const days = () => ({ from: dayOf(Date.now() - DAY_MS), to: dayOf(Date.now()) });

/** The beginning of the answer; its body has not been read yet. */
async function open(body: Row): Promise<IncomingMessage> {
  const sent = request(`${server.url}${ADMIN}/export`, { method: "POST", headers: admin.headers });
  sent.end(JSON.stringify(body));
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return response;
}

async function readOn(response: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}

async function exported(body: Row): Promise<{ text: string; type: string; rows: string | undefined }> {
  const response = await open(body);
  const text = await readOn(response);
  return { text, type: response.headers["content-type"] ?? "", rows: response.trailers["touchpoint-rows"] };
}

const linesOf = (text: string): Row[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("an export", () => {
  test.each<[string, string[]]>([
    ["users", ["用户-1", "u2"]],
    ["orders", ["用户-1", "u2"]],
  ])("of %s matches the list, one object per line, and ends with the number of rows", async (kind, clients) => {
    const { text, type, rows } = await exported({ app_id: app.appId, kind });
    expect(type).toBe("application/x-ndjson");
    expect(rows).toBe("2");
    expect(linesOf(text).map(({ ClientID }) => ClientID)).toEqual(clients);
    if (kind === "orders") expect(linesOf(text).map(({ Amount }) => Amount)).toEqual([600, 50]);
  });

  test("of events returns what was sent", async () => {
    const { text, rows } = await exported({ app_id: app.appId, kind: "events", ...days() });
    expect(rows).toBe("3");
    const first = linesOf(text).find(({ event }) => event === "level")!;
    expect(Object.keys(first)).toEqual(["client_id", "type", "event", "time", "properties", "received_at"]);
    expect(first).toMatchObject({ client_id: "用户-1", type: "track", properties: { big: 1 } });
  });

  test.each(["users", "orders", "events"])("of %s in CSV holds the same, with a header", async (kind) => {
    const asked = { app_id: app.appId, kind, ...(kind === "events" ? days() : {}) };
    const csv = await exported({ ...asked, format: "csv" });
    const json = linesOf((await exported(asked)).text);
    expect(csv.type).toBe("text/csv; charset=utf-8");
    expect(csv.rows).toBe(String(json.length));
    const [header, ...rows] = parse(csv.text) as string[][];
    expect(header).toEqual(Object.keys(json[0]!));
    const plain = (value: unknown) => (typeof value === "object" && value !== null ? value : String(value ?? ""));
    const read = (cell: string, value: unknown) => (typeof plain(value) === "object" ? JSON.parse(cell) : cell);
    const expected = json.map((one) => Object.values(one).map(plain));
    expect(rows.map((row, at) => row.map((cell, index) => read(cell, Object.values(json[at]!)[index])))).toEqual(
      expected.map((row) => row.map((cell) => (cell === "=cmd" ? "'=cmd" : cell))),
    );
  });

  test("holds only what its filters match", async () => {
    const only = { app_id: app.appId, kind: "users", user_filtering: { client_id_list: ["u2"] } };
    expect(linesOf((await exported(only)).text).map(({ ClientID }) => ClientID)).toEqual(["u2"]);
    const orders = { app_id: app.appId, kind: "orders", event_filtering: { TraceID: ["o-1"] } };
    expect(linesOf((await exported(orders)).text).map(({ TraceID }) => TraceID)).toEqual(["o-1"]);
    const condition = [{ field: "user$pay_amount_sum", operator: "between", values: [1, 100] }];
    const paid = { app_id: app.appId, kind: "users", property_condition: condition };
    expect(linesOf((await exported(paid)).text).map(({ ClientID }) => ClientID)).toEqual(["u2"]);
  });

  test("without data is empty, and says so", async () => {
    const asked = { app_id: app.appId, kind: "events", from: "2020-01-01", to: "2020-01-02" };
    expect(await exported(asked)).toMatchObject({ text: "", rows: "0" });
  });

  test.each<[string, Row, RegExp, number?]>([
    ["no kind", { kind: undefined }, /kind/],
    ["an unknown kind", { kind: "touches" }, /kind/],
    ["an unknown format", { format: "xml" }, /format/],
    ["events without days", { kind: "events" }, /from and to/],
    ["events of a day that does not exist", { kind: "events", from: "2024-02-30", to: "2024-03-01" }, /from and to/],
    ["events of days that are reversed", { kind: "events", from: "2024-03-02", to: "2024-03-01" }, /reversed/],
    ["a filter that is no object", { user_filtering: [] }, /user_filtering/],
    ["one registration date", { user_filtering: { create_date_list: ["2024-03-01"] } }, /create_date_list/],
    ["an invalid time", { kind: "orders", event_filtering: { PayEventTime: ["a", "b"] } }, /PayEventTime/],
    ["a condition on nothing", { property_condition: [{ field: "x", operator: "is_set" }] }, /property_condition/],
    ["no app", { app_id: undefined }, /app_id/],
    ["an app that does not exist", { app_id: 999_999_999 }, /app_id/, 2001],
  ])("is refused for %s", async (_, change, msg, code) => {
    const answer = await admin.post("export", { app_id: app.appId, kind: "users", ...change });
    expect(answer).toMatchObject(refused(msg, code));
  });
});

describe("a large export", () => {
  const USERS = 5_000;
  const LONG_NAME = "名".repeat(2_000);
  let large: App;

  /** More than all buffers can hold, so that a reader that stops holds up the export. */
  beforeAll(async () => {
    large = await server.createApp();
    await server.register(large, "u", { name: LONG_NAME });
    await server.settle();
    await tables.query(
      `insert into user_account select made.* from user_account u, generate_series(1, $2::int) n,
        jsonb_populate_record(u, jsonb_build_object('client_id', 'u' || n)) made where u.app_id = $1`,
      [large.appId, USERS - 1],
    );
  });

  /** Connections in the middle of an export, or of another multi-statement read. */
  const busy = async () =>
    (
      await tables.query(`select 1 from pg_stat_activity
        where application_name = 'touchpoint report' and xact_start is not null`)
    ).length;

  async function waitUntilFree(): Promise<void> {
    await expect.poll(busy, { message: "exports that still hold a connection" }).toBe(0);
    // The server notices shortly after the database has released the connection.
    const rows = async () => (await exported({ app_id: app.appId, kind: "users" })).rows;
    await expect.poll(rows, { message: "rows of another export" }).toBe("2");
  }

  test("shows one moment, whatever changes while it is read", async () => {
    const response = await open({ app_id: large.appId, kind: "users" });
    const [first] = (await once(response, "data")) as [Buffer];
    response.pause();
    expect(await busy()).toBeGreaterThan(0);
    await tables.query("update user_account set name = 'after' where app_id = $1 and client_id like '%9'", [
      large.appId,
    ]);
    await server.register(large, "z-late");
    await server.settle();
    response.unshift(first);
    const records = linesOf(await readOn(response));
    expect(response.trailers["touchpoint-rows"]).toBe(String(USERS));
    expect(records).toHaveLength(USERS);
    expect(new Set(records.map(({ ClientID }) => ClientID)).size).toBe(USERS);
    expect(new Set(records.map(({ Name }) => Name))).toEqual(new Set([LONG_NAME]));
    const next = await exported({ app_id: large.appId, kind: "users", format: "csv" });
    expect(next.rows).toBe(String(USERS + 1));
  });

  test("frees its connection when its reader hangs up, so that exports keep working", async () => {
    for (let round = 0; round < 5; round += 1) {
      const responses = await Promise.all(
        Array.from({ length: 2 }, () => open({ app_id: large.appId, kind: "users", format: "csv" })),
      );
      for (const response of responses) {
        await once(response, "data");
        response.destroy();
      }
      await waitUntilFree();
    }
    for (let round = 0; round < 8; round += 1)
      expect((await exported({ app_id: app.appId, kind: "users" })).rows).toBe("2");
  });

  test("that nobody reads holds up neither reports nor other requests; a third one is refused", async () => {
    // On a busy machine a connection may not come in time; then it is tried again.
    const stall = () =>
      eventually(async () => {
        const response = await open({ app_id: large.appId, kind: "users" });
        expect(response.statusCode).toBe(200);
        return response;
      });
    const stalled = await Promise.all([stall(), stall()]);
    const body = JSON.stringify({ app_id: app.appId, kind: "users" });
    const third = await ask(server, "POST", `${ADMIN}/export`, { headers: admin.headers, body });
    expect(third).toMatchObject({ status: 503, code: 5003 });
    const cell = { metric: "AdCost", date_list: ["2024-03-01", "2024-03-01"], decimal_point: 2 };
    const asked = { app_id: app.appId, statistics_caliber: "user_activated_time", ...cell };
    await expect.poll(() => admin.post("report/explain", asked)).toMatchObject({ code: 0, data: { value: 0 } });
    for (const response of stalled) response.destroy();
    await waitUntilFree();
    expect((await exported({ app_id: app.appId, kind: "users" })).rows).toBe("2");
  });
});
