import { afterAll, beforeAll, expect, test } from "vitest";
import { changeApp, loadApps, rotateSecret } from "../../src/db/app.ts";
import { isConflict } from "../../src/db/engine/failure.ts";
import { inTransaction } from "../../src/db/engine/pool.ts";
import { type EventRow, findStoredEvents } from "../../src/db/event.ts";
import { dropEventDaysBefore, loadEventParts, openEventDays } from "../../src/db/event-day.ts";
import {
  confirmCursor,
  loadOtherCursors,
  lockCursor,
  moveCursor,
  readCursor,
  readCursors,
} from "../../src/db/journal-cursor.ts";
import { addToLedger, readLedger } from "../../src/db/ledger-minute.ts";
import { loadMediaTokens, storeMediaToken } from "../../src/db/media-token.ts";
import {
  declareEvents,
  declareProperties,
  loadEventMeta,
  loadPropertyMeta,
  noteObserved,
} from "../../src/db/metadata.ts";
import { findOrderKeys, insertOrders, loadOrders, type Order, sumOrders } from "../../src/db/orders.ts";
import { type NewPostback, showPostbacksInOrders, storePostbacks } from "../../src/db/postback.ts";
import { addUserDays, type UserDay } from "../../src/db/user-day.ts";
import { APP_SECRETS } from "../../src/domain/access/app-secret.ts";
import { POSTBACK_STATUS, shownStatusOf } from "../../src/domain/postback/postback.ts";
import { LIMITS } from "../../src/limits.ts";
import { copyEvents } from "./copy-events.ts";
import { countWaiting, makeApp, migratedDatabase, rowsOf, type TempDatabase, vault } from "./temp-database.ts";

let database: TempDatabase;
beforeAll(async () => {
  database = await migratedDatabase();
});
afterAll(() => database.drop());

test("a sum of bigints is a bigint, skips nulls, is null of nothing, and fails rather than wrap around", async () => {
  const sumOf = async (...values: (string | null)[]) => {
    const text = "select sum_bigint(n) as sum, pg_typeof(sum_bigint(n))::text as type from unnest($1::bigint[]) n";
    return (await database.pool.query(text, [values])).rows[0];
  };
  expect(await sumOf("3", null, "-5")).toEqual({ sum: -2, type: "bigint" });
  expect(await sumOf()).toEqual({ sum: null, type: "bigint" });
  expect(await sumOf(null)).toEqual({ sum: null, type: "bigint" });
  await expect(sumOf("9223372036854775807", "1")).rejects.toThrow("bigint out of range");
});

test("the counters of a day add up over batches, and each span has its own row", async () => {
  const key = { appId: 1, clientId: "c", day: "2024-06-15", sinceTouch: -1, sinceRegistration: 0 };
  const counters = { trackEvents: 1, registerEvents: 2, payCount: 3, payCents: 4, adCount: 5, adMicros: 6 };
  const add = (days: UserDay[]) => inTransaction(database.pool, (tx) => addUserDays(tx, days));
  await add([
    { ...key, ...counters },
    { ...key, sinceRegistration: 1, ...counters },
  ]);
  await add([{ ...key, ...counters }]);
  await add([]);
  expect(await rowsOf(database.pool, "user_day", ["app_id", "client_id", "day", "span_t"])).toEqual([
    { span_r: 0, track_events: 2, register_events: 4, pay_count: 6, pay_cents: 8, ad_count: 10, ad_micros: 12 },
    { span_r: 1, track_events: 1, register_events: 2, pay_count: 3, pay_cents: 4, ad_count: 5, ad_micros: 6 },
  ]);
});

test("the ledger adds to the outcomes of a minute, and is read by app and time", async () => {
  const count = (outcome: string, events: number, minuteMs = 60_000, appId = 1) => ({
    appId,
    minuteMs,
    outcome,
    events,
  });
  await addToLedger(database.pool, "ledger_minute", [count("received", 3), count("stored", 2), count("duplicate", 1)]);
  await addToLedger(database.pool, "ledger_minute", [
    count("received", 4),
    count("stored", 4),
    count("stored", 9, 120_000),
    count("stored", 9, 60_000, 2),
  ]);
  await addToLedger(database.pool, "ledger_minute", []);
  expect(await readLedger(database.pool, "ledger_minute", { appId: 1, fromMs: 60_000, untilMs: 120_000 })).toEqual([
    count("duplicate", 1),
    count("received", 7),
    count("stored", 6),
  ]);
});

const order = (traceId: string, change: Partial<Order> = {}): Order => ({
  appId: 1,
  clientId: "c",
  traceId,
  day: "2024-06-15",
  atMs: 1,
  receivedAtMs: 2,
  cents: 600,
  currency: "USD",
  sentAmount: 99,
  hasRate: true,
  payCount: 1,
  isVirtual: 0,
  properties: '{"$order_id":"o"}',
  postbackStatus: 0,
  passStatus: 0,
  registeredDay: "2024-06-14",
  adPlatform: "vivo",
  ...change,
});

test("orders are kept as they are, found by app and trace id, and summed by client", async () => {
  await insertOrders(database.pool, [order("o1"), order("o2", { cents: 30, isVirtual: 1, hasRate: false })]);
  await insertOrders(database.pool, [order("o1", { appId: 2 }), order("o3", { clientId: "d" })]);
  await insertOrders(database.pool, []);
  const keys = ["o1", "o3", "O1", "o9"].map((traceId) => ({ appId: 1, traceId }));
  expect((await findOrderKeys(database.pool, keys)).map((key) => key.traceId).sort()).toEqual(["o1", "o3"]);
  expect(await sumOrders(database.pool, { appId: 1, clientId: "c" })).toEqual({ count: 2, cents: 630 });
  expect(await sumOrders(database.pool, { appId: 1, clientId: "nobody" })).toEqual({ count: 0, cents: 0 });
  expect((await rowsOf(database.pool, "orders")).find((row: any) => row.trace_id === "o2")).toEqual({
    app_id: 1,
    client_id: "c",
    trace_id: "o2",
    day: "2024-06-15",
    at_ms: 1,
    received_at_ms: 2,
    modified_at_ms: null,
    cents: 30,
    currency: "USD",
    sent_amount: 99,
    has_rate: false,
    pay_count: 1,
    is_virtual: 1,
    postback_status: 0,
    back_cents: 0,
    pass_status: 0,
    postback_count: 0,
    properties: { $order_id: "o" },
    registered_day: "2024-06-14",
    ad_platform: "vivo",
  });
});

test("the database itself refuses the same order a second time, no matter who reports it", async () => {
  await insertOrders(database.pool, [order("once")]);
  await expect(insertOrders(database.pool, [order("once", { clientId: "d" })])).rejects.toSatisfy(isConflict);
});

test("an order shows one of its postbacks' statuses, the same in memory and in the table", async () => {
  const all = Object.values(POSTBACK_STATUS);
  const sets = Array.from({ length: 2 ** all.length }, (_, bits) => all.filter((status) => bits & (1 << status)));
  const orders = sets.map((_, number) => order(`shown-${number}`));
  const postbacks = sets.flatMap((statuses, number) =>
    statuses.map((status): NewPostback => {
      const { appId, clientId, traceId, atMs } = orders[number]!;
      const about = { appId, clientId, eventType: `type_${status}`, subject: traceId, traceId, moment: "pay", atMs };
      const judged = { status, adPlatform: "vivo", ruleId: 1, valueCents: null, isPassed: false, reason: "" };
      return { ...about, ...judged, createdAtMs: 1, changedAtMs: 1 };
    }),
  );
  await insertOrders(database.pool, orders);
  await storePostbacks(database.pool, postbacks);
  await showPostbacksInOrders(database.pool, orders);
  const shown = await loadOrders(database.pool, 1, orders);
  expect(shown.map(({ traceId, postbackStatus }) => [traceId, postbackStatus]).sort()).toEqual(
    sets.map((statuses, number) => [`shown-${number}`, shownStatusOf(new Set(statuses))]).sort(),
  );
  expect(sets.map((statuses) => shownStatusOf(new Set(statuses))).join("")).toBe("0011201130112011");
});

const event = (change: Partial<EventRow> = {}): EventRow => ({
  appId: 1,
  clientId: "c",
  day: "2024-06-15",
  atMs: 5,
  fingerprint: "ab".repeat(16),
  type: "track",
  event: "e",
  properties: '{"t":"a\\tb\\\\"}',
  receivedAtMs: 6,
  ...change,
});

const insert = (events: EventRow[]) => inTransaction(database.pool, (tx) => copyEvents(tx, events));

const openDay = (day: string) => openEventDays(database.pool, [{ day, receivedAtMs: Date.parse(day) }]);

test("a day accepts events once it is open, opening it again changes nothing, and a dropped day accepts none", async () => {
  await expect(insert([event()])).rejects.toThrow(/no partition/);
  await openDay("2024-06-15");
  await openDay("2024-06-15");
  await openDay("2024-06-16");
  await insert([event(), event({ day: "2024-06-16", atMs: 7 })]);
  expect(await dropEventDaysBefore(database.pool, "2024-06-16")).toBe(1);
  expect(await dropEventDaysBefore(database.pool, "2024-06-16")).toBe(0);
  const parts = await loadEventParts(database.pool);
  expect(["2024-06-15", "2024-06-16"].map((day) => parts.stateOf(day))).toEqual(["dropped", "open"]);
  expect(await rowsOf(database.pool, "event", ["fingerprint"])).toEqual([
    {
      app_id: 1,
      client_id: "c",
      day: "2024-06-16",
      at_ms: 7,
      type: "track",
      event: "e",
      properties_text: JSON.stringify({ t: "a\tb\\" }),
      properties_json: null,
      properties_jsonb: null,
      origin_id: null,
      properties_rest: null,
      received_at_ms: 6,
    },
  ]);
  await openDay("2024-06-15");
  await expect(insert([event()])).rejects.toThrow(/no partition/);
});

test("a day can be opened by several sessions at once", async () => {
  await Promise.all(Array.from({ length: 4 }, () => openDay("2024-07-01")));
  expect((await loadEventParts(database.pool)).stateOf("2024-07-01")).toBe("open");
});

test("a stored event is found only by its whole key", async () => {
  await openDay("2024-07-02");
  const stored = event({ day: "2024-07-02", clientId: "finder" });
  await insert([stored]);
  expect(await findStoredEvents(database.pool, [stored, event({ day: "2024-07-02" })])).toMatchObject([
    { appId: stored.appId, clientId: "finder", fingerprint: stored.fingerprint },
  ]);
  const others: Partial<EventRow>[] = [
    { appId: 2 },
    { clientId: "Finder" },
    { atMs: 6 },
    { fingerprint: "cd".repeat(16) },
    { day: "2024-06-16" },
  ];
  expect(
    await findStoredEvents(
      database.pool,
      others.map((change) => ({ ...stored, ...change })),
    ),
  ).toEqual([]);
  expect(await findStoredEvents(database.pool, [])).toEqual([]);
});

test("a cursor begins at 0, moves, and belongs to one partition of one journal", async () => {
  const { pool } = database;
  const one = { journalId: "j1", partition: 0 };
  const others = [
    { journalId: "j1", partition: 1 },
    { journalId: "j2", partition: 0 },
  ];
  expect([await readCursor(pool, one), await readCursors(pool, "j1")]).toEqual([0, []]);
  await inTransaction(pool, async (tx) => {
    for (const key of [...others, one]) expect(await lockCursor(tx, key)).toBe(0);
    await moveCursor(tx, one, { position: 9_000_000_000_000, receivedAtMs: 5 });
  });
  expect([await readCursor(pool, one), await confirmCursor(pool, one)]).toEqual([9e12, 9e12]);
  for (const key of others) expect([await readCursor(pool, key), await confirmCursor(pool, key)]).toEqual([0, 0]);
});

test("the cursors of a journal are listed by partition, and those of another are added up", async () => {
  const { pool } = database;
  await inTransaction(pool, async (tx) => {
    for (const [partition, position] of [
      [0, 5],
      [2, 7],
    ] as const) {
      await lockCursor(tx, { journalId: "listed", partition });
      await moveCursor(tx, { journalId: "listed", partition }, { position, receivedAtMs: 5 });
    }
  });
  expect(await readCursors(pool, "listed")).toEqual([5, 0, 7]);
  expect(await loadOtherCursors(pool, "mine")).toContainEqual({ journalId: "listed", position: 12 });
  expect(await loadOtherCursors(pool, "listed")).not.toContainEqual(expect.objectContaining({ journalId: "listed" }));
});

test("a locked cursor makes every other session wait until the transaction ends", async () => {
  const held = { journalId: "held", partition: 0 };
  const holder = await database.pool.connect();
  await holder.query("begin");
  await lockCursor(holder, held);
  await moveCursor(holder, held, { position: 7, receivedAtMs: 5 });
  let seen: number | undefined;
  const waiting = inTransaction(database.pool, async (tx) => {
    seen = await lockCursor(tx, held);
  });
  await expect.poll(() => countWaiting(database.pool)).toBeGreaterThan(0);
  expect(seen).toBeUndefined();
  await holder.query("commit");
  holder.release();
  await waiting;
  expect(seen).toBe(7);
});

test("observed metadata never replaces declared metadata", async () => {
  await declareEvents(database.pool, [{ appId: 1, name: "declared", state: "disabled" }], 1);
  await declareProperties(
    database.pool,
    [{ appId: 1, scope: "event", name: "level", type: "number", state: "declared" }],
    1,
  );
  const names = [
    { kind: "event", name: "declared" },
    { kind: "event", name: "seen" },
    { kind: "event_property", name: "level" },
    { kind: "user_property", name: "level" },
  ] as const;
  await noteObserved(
    database.pool,
    names.map((name) => ({ appId: 1, atMs: 2, ...name })),
  );
  await noteObserved(database.pool, []);
  expect(await loadEventMeta(database.pool)).toEqual([
    { appId: 1, name: "declared", state: "disabled" },
    { appId: 1, name: "seen", state: "observed" },
  ]);
  expect(await loadPropertyMeta(database.pool)).toEqual([
    { appId: 1, scope: "event", name: "level", type: "number", state: "declared" },
    { appId: 1, scope: "user", name: "level", type: "any", state: "observed" },
  ]);
});

test("an app's secrets are sealed in the table and open again for the server", async () => {
  const app = await makeApp(database.pool);
  expect(await loadApps(database.pool, vault)).toContainEqual(app);
  expect(Buffer.from(app.aesKey, "base64")).toHaveLength(16);
  const stored = JSON.stringify(await rowsOf(database.pool, "app"));
  expect(stored).not.toContain(app.appKey);
  expect(stored).not.toContain(app.aesKey);
});

test("the number of apps is limited", async () => {
  const full = inTransaction(database.pool, async (tx) => {
    await tx.query(
      `insert into app (name, access_token, app_key_sealed, aes_key_sealed, time_zone, currency, rates, metadata_mode,
          require_registration, enabled, created_at_ms)
        select 'many', 'token ' || n, '', '', 'UTC', 'CNY', '{}', 'open', true, true, 0 from generate_series(1, $1::int) n`,
      [LIMITS.apps],
    );
    await makeApp(tx);
  });
  await expect(full).rejects.toThrow("There are 10000 apps already.");
});

test("a change to an app affects only the fields it names; an empty text removes a rate", async () => {
  const app = await makeApp(database.pool);
  await changeApp(database.pool, app.appId, { rates: { USD: "7.1", JPY: "0.05" } });
  await changeApp(database.pool, app.appId, { rates: { EUR: "7.8", JPY: "" }, enabled: false, name: "it's" });
  const changed = (await loadApps(database.pool, vault)).find(({ appId }) => appId === app.appId);
  expect(changed).toEqual({ ...app, rates: { USD: "7.1", EUR: "7.8" }, enabled: false, name: "it's" });
  expect(await changeApp(database.pool, 1, { name: "x" })).toBe(false);
});

test.each(APP_SECRETS)("a new %s replaces the old one, and nothing else", async (which) => {
  const app = await makeApp(database.pool);
  const secret = await rotateSecret(database.pool, vault, { appId: app.appId, which });
  const changed = (await loadApps(database.pool, vault)).find(({ appId }) => appId === app.appId);
  const field = { access_token: "accessToken", app_key: "appKey", aes_key: "aesKey" }[which] as "appKey";
  expect(changed).toEqual({ ...app, [field]: secret });
  expect(secret).not.toBe(app[field]);
  expect(secret).toHaveLength(app[field].length);
  expect(await rotateSecret(database.pool, vault, { appId: 1, which })).toBeUndefined();
});

test("a media token is sealed, and the latest one counts", async () => {
  for (const token of ["first", "second"])
    await storeMediaToken(database.pool, vault, { appId: 1, platform: "wechat", token, refreshedAtMs: 1 });
  const tokens = await loadMediaTokens(database.pool, vault);
  expect(tokens.get(1)?.get("wechat")).toBe("second");
  expect(tokens.get(2)).toBeUndefined();
  expect(JSON.stringify(await rowsOf(database.pool, "media_token"))).not.toMatch(/first|second/);
});
