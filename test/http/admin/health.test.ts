import { gzipSync } from "node:zlib";
import type { TSchema } from "typebox";
import { Value } from "typebox/value";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { healthAnswer, ledgerAnswer, replayAnswer, setAsideAnswer } from "../../../src/contract/admin/health.ts";
import type { App } from "../../../src/db/app.ts";
import { RECORD_HEADER_BYTES } from "../../../src/journal/record.ts";
import { LIMITS } from "../../../src/limits.ts";
import { VERSION } from "../../../src/version.ts";
import { encoded } from "../../journal/encoded.ts";
import { consoleUser } from "../../support/admin-caller.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { type Row, Tables, track } from "../fixture.ts";
import { dayOf } from "../report/reports.ts";

const server = sharedServer();
const tables = new Tables(server);
const admin = consoleUser(server, "admin");
const analyst = consoleUser(server, "analyst");

const isAsDescribed = (schema: TSchema, data: unknown) => expect(Value.Errors(schema, data)).toEqual([]);

describe("health", () => {
  test("describes the whole server", async () => {
    const { data } = await analyst.get("health");
    isAsDescribed(healthAnswer, data);
    expect(data).toMatchObject({
      version: VERSION,
      roles: expect.arrayContaining(["http", "apply", "refresh", "postback", "cost"]),
      intake: { obstacle: "", backlog_bytes_max: 20 * 1024 ** 3 },
      disk: { free_bytes_min: 1024 ** 3 },
      database: { kind: "embedded", version: expect.stringMatching(/^18/) },
    });
    expect(data.nodes).toMatchObject([{ address: server.url, roles: data.roles, version: VERSION }]);
    expect(data.started_at_ms).toBeLessThan(data.now_ms);
    expect(data.intake.durable_bytes).toBeGreaterThanOrEqual(data.intake.applied_bytes);
    expect(data.disk.free_bytes).toBeGreaterThan(0);
    expect(data.database.bytes).toBeGreaterThan(1_000_000);
  });

  test("shows what waits for each account, and whether it is being sent", async () => {
    const app = await server.appWith(["a"]);
    const account = { app_id: app.appId, ad_platform: "kuaishou", rate: 1 };
    expect(await admin.post("accounts/set", account)).toMatchObject({ code: 0 });
    await tables.query(
      `insert into outbox (app_id, client_id, event_type, subject, lane, due_at_ms, attempts, in_flight, content)
        values ($1, 'a', 'pay', 'o', $2, $3, 0, false, '{}')`,
      [app.appId, `${app.appId} kuaishou `, Date.now() + 3_600_000],
    );
    const ofApp = async () => {
      const { lanes } = (await admin.get("health")).data;
      return lanes.filter((lane: Row) => lane.app_id === app.appId);
    };
    await expect
      .poll(ofApp)
      .toMatchObject([{ to: "kuaishou", waiting: 1, in_flight: 0, paused_until: "", failures: 0 }]);
    await tables.query("delete from outbox where app_id = $1", [app.appId]);
  });

  test("shows orders whose currency has no rate, until one is set", async () => {
    const app = await server.appWith(["a"]);
    const ofApp = async () => {
      const { data } = await admin.get("health");
      return data.orders_without_rate.filter((row: Row) => row.app_id === app.appId);
    };
    for (const order of ["o-1", "o-2"]) {
      await server.collect(app, "a", [track("$PayEvent", { $pay_amount: 500, $pay_type: "USD", $order_id: order })]);
    }
    await server.settle();
    const expected = { app_id: app.appId, currency: "USD", orders: 2, amount: 1_000, is_rate_set: false };
    expect(await ofApp()).toEqual([expected]);
    const { data } = await admin.get("health");
    expect(data).toMatchObject({ state: "troubled", problems: expect.arrayContaining(["order_without_rate"]) });
    await tables.changeSettings(`update app set rates = '{"USD": "7.1"}' where app_id = $1`, [app.appId]);
    await expect.poll(ofApp).toEqual([{ ...expected, is_rate_set: true }]);
  });

  test("needs a signed-in user", async () => {
    expect(await server.get("/admin/api/v1/health")).toMatchObject({ status: 200, code: 2002, data: {} });
  });
});

describe("the ledger", () => {
  /** An app without events. */
  let empty: App;
  beforeAll(async () => {
    empty = await server.createApp();
  });

  test("adds up in every step, and the steps add up to the total", async () => {
    const app = await server.appWith(["a"]);
    const event = track("e");
    await server.collect(app, "a", [event, event, track("bad name"), track("old", {}, Date.now() - 11 * 86_400_000)]);
    await server.settle();
    for (const step of ["minute", "hour", "day"]) {
      const askedAtMs = Date.now();
      const { data } = await analyst.get("ledger", { app_id: app.appId, step, minutes: 120 });
      isAsDescribed(ledgerAnswer, data);
      const total = { received: 4, stored: 1, duplicate: 1, rejected: { bad_name: 1, too_old: 1 } };
      expect(data).toMatchObject({ of: "events", step, time_zone: "Asia/Shanghai", total, adds_up: true });
      const sum = (name: string) => data.steps.reduce((all: number, one: Row) => all + one[name], 0);
      expect([sum("received"), sum("stored"), sum("duplicate")]).toEqual([4, 1, 1]);
      expect(data.steps[0].at_ms).toBe(data.from_ms);
      expect(data.until_ms).toBeGreaterThan(askedAtMs);
    }
  });

  test("says so when it does not add up", async () => {
    const app = await server.createApp();
    // The second of two past minutes of one day, whatever the time is.
    const minute = Math.floor(Date.now() / 120_000) * 120_000 - 60_000;
    const add = (outcome: string, events: number, at: number) =>
      tables.query("insert into ledger_minute values ($1, $2, $3, $4)", [app.appId, at, outcome, events]);
    await add("received", 3, minute);
    await add("stored", 2, minute);
    // Two errors cancel out in the total, but not in the minutes.
    await add("received", 2, minute - 60_000);
    await add("stored", 3, minute - 60_000);
    expect((await analyst.get("ledger", { app_id: app.appId, minutes: 10 })).data).toMatchObject({ adds_up: false });
    expect((await analyst.get("ledger", { app_id: app.appId, step: "day" })).data).toMatchObject({ adds_up: true });
  });

  test("of touches is separate", async () => {
    const app = await server.createApp();
    const click = { app_id: String(app.appId), company: "tencent", click_id: "c" };
    for (let times = 0; times < 3; times += 1) await server.get("/event_center/api/v1/event/click", click);
    await server.settle();
    const { data } = await analyst.get("ledger", { app_id: app.appId, of: "touches" });
    expect(data).toMatchObject({ of: "touches", total: { received: 3, stored: 1, duplicate: 2, rejected: {} } });
    expect((await analyst.get("ledger", { app_id: app.appId })).data.total.received).toBe(0);
  });

  test("can be asked for local days and seconds, both ends included", async () => {
    const today = dayOf(Date.now());
    const days = { app_id: empty.appId, step: "day", from: today, to: today };
    expect((await analyst.get("ledger", days)).data.steps).toHaveLength(1);
    const seconds = { app_id: empty.appId, from: `${today} 10:00:00`, to: `${today} 10:02:00` };
    const { data } = await analyst.get("ledger", seconds);
    expect(data.steps).toHaveLength(3);
    expect(data.until_ms - data.from_ms).toBe(180_000);
  });

  test.each<[string, Row, number, RegExp]>([
    ["an app that does not exist", { app_id: 2_147_483_000 }, 2001, /app_id/],
    ["no app", {}, 1004, /app_id/],
    ["an unknown step", { step: "week" }, 1004, /step/],
    ["an unknown ledger", { of: "users" }, 1004, /of/],
    ["no minutes", { minutes: 0 }, 1004, /minutes/],
    ["too many minutes", { minutes: LIMITS.ledgerSteps + 1 }, 1004, /steps/],
    ["too many days", { step: "day", from: "2000-01-01", to: "2026-01-01" }, 1004, /steps/],
    ["only one end", { from: "2026-11-15" }, 1004, /from and to/],
    ["an invalid day", { from: "2026-02-30", to: "2026-03-01" }, 1004, /from and to/],
    ["ends in the wrong order", { from: "2026-11-15", to: "2026-11-14" }, 1004, /after/],
  ])("refuses %s", async (_, query, code, sentence) => {
    const given = Object.keys(query).length === 0 ? {} : { app_id: empty.appId, ...query };
    const answer = await analyst.get("ledger", given);
    expect(answer).toMatchObject({ status: 200, code, data: {} });
    expect(answer.msg).toMatch(sentence);
  });

  test("covers at most as many minutes as there may be steps", async () => {
    const { data } = await analyst.get("ledger", { app_id: empty.appId, minutes: LIMITS.ledgerSteps });
    expect(data.steps).toHaveLength(LIMITS.ledgerSteps);
  });
});

describe("entries set aside", () => {
  const journalId = `of the tests ${Math.random()}`;
  afterAll(() => tables.query("delete from set_aside where journal_id = $1", [journalId]));

  async function setAside(app: App, payload: Buffer, reason: string): Promise<number> {
    const [row] = await tables.query(
      `insert into set_aside (journal_id, from_position, until_position, app_id, received_at_ms, reason, payload, state)
        values ($1, 1, 13 + octet_length($5::bytea), $2, $3, $4, $5, 'waiting') returning set_aside_id::int as id`,
      [journalId, app.appId, Date.now(), reason, payload],
    );
    return row!.id;
  }

  const entryOf = (app: App, client: string, body: object): Buffer =>
    encoded({
      head: { kind: "register", app: app.appId, client, at: Date.now(), ip: "", ua: "", registered: "yes" },
      body: Buffer.from(JSON.stringify(body)),
    }).subarray(RECORD_HEADER_BYTES);

  const packedEntryOf = (app: App, body: object): Buffer => {
    const plain = Buffer.from(JSON.stringify(body));
    const head = { app: app.appId, client: "packed", at: Date.now(), ip: "", ua: "", gzip: plain.length };
    const entry = { head: { ...head, kind: "register" as const, registered: "yes" as const }, body: gzipSync(plain) };
    return encoded(entry).subarray(RECORD_HEADER_BYTES);
  };

  test("are shown with their reason and the beginning of their bytes, whatever these are", async () => {
    const app = await server.createApp();
    const long = "<script>".repeat(2_000);
    const ids = [
      await setAside(app, entryOf(app, "c-1", { name: long }), "The reason."),
      await setAside(app, Buffer.from([0, 1, 2, 255]), "The bytes are not a journal record."),
      await setAside(app, packedEntryOf(app, { name: long }), "Packed."),
    ];
    const { data } = await analyst.get("set-aside", { app_id: app.appId });
    isAsDescribed(setAsideAnswer, data);
    expect(data.entries).toMatchObject([
      { id: ids[2], kind: "register", client_id: "packed", reason: "Packed.", is_cut: true },
      { id: ids[1], kind: "", client_id: "", body: "000102ff", bytes: 4, is_cut: false, app_id: app.appId },
      { id: ids[0], kind: "register", client_id: "c-1", state: "waiting", reason: "The reason.", is_cut: true },
    ]);
    for (const { body } of [data.entries[0], data.entries[2]]) {
      expect(body).toMatch(/^\{"name":"<script>/);
      expect(body.length).toBeLessThanOrEqual(LIMITS.setAsideShownBytes);
    }
    expect(data.entries[2].bytes).toBeGreaterThan(16_000);
    expect(data.has_more).toBe(false);
    expect(data.total).toBeGreaterThanOrEqual(2);
  });

  test("come page by page, newest first", async () => {
    const app = await server.createApp();
    const rows = await tables.query(
      `insert into set_aside (journal_id, from_position, until_position, app_id, received_at_ms, reason, payload, state)
        select $1, 1, 14, $2, $3, 'Number ' || n, 'x', 'waiting' from generate_series(1, $4) as n
        returning set_aside_id::int as id`,
      [journalId, app.appId, Date.now(), LIMITS.setAsidePage + 2],
    );
    const ids = rows.map(({ id }) => id);
    const first = (await analyst.get("set-aside", { app_id: app.appId })).data;
    expect(first).toMatchObject({ has_more: true });
    const last = first.entries.at(-1).id;
    const second = (await analyst.get("set-aside", { app_id: app.appId, before: last })).data;
    expect(second).toMatchObject({ has_more: false });
    const listed = [...first.entries, ...second.entries].map(({ id }: Row) => id);
    expect(listed).toEqual(ids.reverse());
  });

  test("are replayed when an admin asks for it, and only those asked for", async () => {
    const app = await server.createApp();
    const registration = { client_id: "back", name: "n", channel: "c", version: 1 };
    const good = await setAside(app, entryOf(app, "back", registration), "A fault that is mended.");
    const other = await setAside(app, entryOf(app, "other", registration), "Not asked for.");
    const bad = await setAside(app, Buffer.from("still no entry"), "Before.");
    expect(await analyst.post("set-aside/replay", { ids: [good] })).toMatchObject({ code: 2004 });
    const { data } = await admin.post("set-aside/replay", { ids: [good, bad] });
    isAsDescribed(replayAnswer, data);
    expect(data).toEqual({ requested: 2 });
    await expect
      .poll(async () => (await analyst.get("set-aside", { app_id: app.appId })).data.entries)
      .toMatchObject([
        { id: bad, state: "waiting", reason: expect.not.stringContaining("Before.") },
        { id: other, state: "waiting" },
      ]);
    expect(await tables.user(app, "back")).toMatchObject({ name: "n" });
    expect(await tables.user(app, "other")).toBeUndefined();
  });

  test.each<[string, Row]>([
    ["no list", { ids: 1 }],
    ["an empty list", { ids: [] }],
    ["anything but numbers", { ids: ["1"] }],
    ["too many", { ids: Array.from({ length: LIMITS.setAsideListed + 1 }, (_, id) => id + 1) }],
  ])("are not replayed by %s", async (_, body) => {
    expect(await admin.post("set-aside/replay", body)).toMatchObject({
      code: 1004,
      msg: expect.stringContaining("ids"),
    });
  });

  test("of an app that does not exist are an empty list", async () => {
    expect(await analyst.get("set-aside", { app_id: 2_147_483_000 })).toMatchObject({ code: 2001 });
    expect(await analyst.get("set-aside", { before: "x" })).toMatchObject({ code: 1004 });
  });
});
