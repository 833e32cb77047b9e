import type pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checklist } from "../../../src/contract/setting/app.ts";
import type { App } from "../../../src/db/app.ts";
import { firstTimes } from "../../../src/report/checklist.ts";
import { AdminCaller, consoleUser, dataOf, refused } from "../../support/admin-caller.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { BASE, type Row, Tables, track } from "../fixture.ts";
import { dayOf, Reports } from "../report/reports.ts";

const server = sharedServer();
const tables = new Tables(server);
const reports = new Reports(server);
const admin = new AdminCaller(server);
const analyst = consoleUser(server, "analyst");
const pool = server.database();
afterAll(() => pool.end());

async function stepsOf(app: App): Promise<Row> {
  await server.settle();
  return dataOf(await analyst.get("apps/checklist", { app_id: app.appId }), checklist);
}

const doneOf = (steps: Row) => Object.keys(steps).filter((step) => steps[step].done);

test("a new app has no steps done; each is done when it first happens, and stays so", async () => {
  const app = await server.createApp();
  const from = Date.now();
  const empty = await stepsOf(app);
  expect(doneOf(empty)).toEqual([]);
  expect(empty.request).toEqual({ done: false, at_ms: null });

  await server.get(`${BASE}/event/click/`, { app_id: String(app.appId), company: "vivo", oaid: "o" });
  expect(doneOf(await stepsOf(app))).toEqual(["request", "touch"]);
  await server.register(app, "u");
  const registered = await stepsOf(app);
  expect(doneOf(registered)).toEqual(["request", "registration", "touch"]);
  await server.collect(app, "u", [track("e"), track("$PayEvent", { $order_id: "o", $pay_amount: 600 })]);
  expect(doneOf(await stepsOf(app))).toEqual(["request", "registration", "event", "order", "touch"]);
  await reports.takeInCosts(app, ["date,cost", `${dayOf(Date.now())},1`]);
  const rest = await stepsOf(app);
  expect(doneOf(rest)).toEqual(["request", "registration", "event", "order", "touch", "cost"]);

  const minute = Math.floor(from / 60_000) * 60_000;
  for (const step of ["request", "event", "touch"]) expect(rest[step].at_ms % 60_000).toBe(0);
  for (const step of doneOf(rest)) {
    expect(rest[step].at_ms).toBeGreaterThanOrEqual(minute);
    expect(rest[step].at_ms).toBeLessThanOrEqual(Date.now());
  }
  await server.register(app, "later");
  await server.collect(app, "u", [track("$PayEvent", { $order_id: "o2", $pay_amount: 600 })]);
  expect(await stepsOf(app)).toEqual(rest);
});

test("a refused event counts as a request but not as an event, and a repeated touch counts for nothing", async () => {
  const app = await server.createApp();
  await server.register(app, "u");
  await server.collect(app, "u", [track("e", {}, 5)]);
  expect(doneOf(await stepsOf(app))).toEqual(["request", "registration"]);
});

test("clients that never registered do not count as registrations", async () => {
  const app = await server.createApp();
  await admin.post("apps/edit", { app_id: app.appId, require_registration: false });
  await server.collect(app, "u", [track("e")]);
  expect(doneOf(await stepsOf(app))).toEqual(["request", "event"]);
});

test("a postback counts once a platform has accepted it, and callbacks to the app's own systems never do", async () => {
  const app = await server.createApp();
  const row = `insert into postback (app_id, client_id, event_type, subject, status, back_cents, accepted_day, changed_at_ms, ad_platform)
    values ($1, 'u', $2, '', $3, 0, $4, $5, $6)`;
  await tables.query(row, [app.appId, "$event", 1, "2026-01-01", 1_000, ""]);
  await tables.query(row, [app.appId, "register", 2, null, 2_000, "tencent"]);
  expect(doneOf(await stepsOf(app))).toEqual([]);
  await tables.query(row, [app.appId, "pay", 1, "2026-01-03", 3_000, "tencent"]);
  await tables.query(row, [app.appId, "activate", 1, "2026-01-03", 2_500, "tencent"]);
  expect((await stepsOf(app)).postback).toEqual({ done: true, at_ms: 2_500 });
});

test("is refused without an app, or for one that does not exist", async () => {
  expect(await admin.get("apps/checklist", { app_id: 999_999_999 })).toMatchObject(refused(/app_id/, 2001));
  expect(await admin.get("apps/checklist")).toMatchObject(refused(/app_id/));
});

/** A large app, whose clients have mostly only sent events and whose own systems get a callback for everything. */
const BIG = 2_000_000_001;
const MANY = 20_000;
const TABLES = ["ledger_minute", "orders", "postback", "user_account"];
beforeAll(async () => {
  await tables.query(
    `insert into ledger_minute select $1, g * 60000::bigint, outcome, 1
      from generate_series(1, ${MANY / 2}) g, unnest(array['received', 'stored']) outcome`,
    [BIG],
  );
  await tables.query(
    `insert into orders (app_id, client_id, trace_id, day, at_ms, received_at_ms, cents, currency, sent_amount, has_rate, pay_count, is_virtual, properties, registered_day, ad_platform)
      select $1, 'u' || g, 'o' || g, '2026-01-01', g, g, 1, 'CNY', 1, true, 1, 0, '{}', '2026-01-01', '' from generate_series(1, ${MANY}) g`,
    [BIG],
  );
  await tables.query(
    `insert into postback (app_id, client_id, event_type, subject, status, back_cents, accepted_day, changed_at_ms)
      select $1, 'u' || g, '$event', '', 1, 0, '2026-01-01', g from generate_series(1, ${MANY}) g`,
    [BIG],
  );
  const app = await server.createApp();
  await server.register(app, "u");
  await server.settle();
  await tables.query(
    `insert into user_account select many.* from user_account u, generate_series(1, ${MANY + 1}) g,
      jsonb_populate_record(u, jsonb_build_object('app_id', $1::int, 'client_id', 'u' || g, 'is_registered', g > ${MANY})) many
      where u.app_id = $2`,
    [BIG, app.appId],
  );
  for (const table of TABLES) await tables.query(`analyze ${table}`);
});
afterAll(async () => {
  for (const table of TABLES) await tables.query(`delete from ${table} where app_id = $1`, [BIG]);
});

test("each question reads only the beginning of an index, whatever the amount of data", async () => {
  const read: string[] = [];
  const explaining = {
    async query(statement: pg.QueryConfig) {
      const plan = await pool.query(`explain (analyze, buffers, format json) ${statement.text}`, statement.values);
      const { Plan } = plan.rows[0]["QUERY PLAN"][0];
      const pages = Plan["Shared Hit Blocks"] + Plan["Shared Read Blocks"];
      if (pages > 40) read.push(`${statement.text}: ${pages} pages`);
      return pool.query(statement);
    },
  };
  const found = await firstTimes(explaining as never, BIG);
  expect(found).toMatchObject({ event: 60_000, order: 1, postback: null, registration: expect.any(Number) });
  expect(read).toEqual([]);
});
