import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Batch, batchOf } from "../../src/apply/batch.ts";
import { decodeAlone } from "../../src/apply/entry/decode.ts";
import { ObservedNames } from "../../src/apply/facts/observed-names.ts";
import { applyBatch } from "../../src/apply/transaction.ts";
import { changeApp } from "../../src/db/app.ts";
import { ErasureDigest } from "../../src/db/erased-user.ts";
import { loadEventParts, openEventDays } from "../../src/db/event-day.ts";
import { readCursor } from "../../src/db/journal-cursor.ts";
import { loadUsers } from "../../src/db/user-account.ts";
import { LIMITS } from "../../src/limits.ts";
import { readAll } from "../journal/temp-journal.ts";
import { ApplyStage, DAY_MS, ERASURE_KEY, HOUR_MS, NOW_MS, pay, profile, track } from "./apply-stage.ts";
import { rowsOf } from "./temp-database.ts";

let stage: ApplyStage;
beforeAll(async () => {
  stage = await ApplyStage.open();
});
beforeEach(() => stage.begin());
afterAll(() => stage.close());

const userOf = async (clientId: string) => (await loadUsers(stage.pool, [{ appId: stage.app.appId, clientId }]))[0];

async function ordersOf(): Promise<object[]> {
  return (await rowsOf(stage.pool, "orders")).toSorted((a: any, b: any) => (a.trace_id < b.trace_id ? -1 : 1));
}

async function wholeBatch(): Promise<Batch> {
  const items = await readAll(stage.journal.dir, stage.journal.durable);
  const { durable: until } = stage.journal;
  return batchOf(stage.pool, { ...stage.cursor, from: 0, until, entries: items.map(decodeAlone) });
}

const context = async () => ({
  partitions: { partsAt: loadEventParts },
  cold: undefined,
  weeks: new Map(),
  names: new ObservedNames(),
  erasureDigest: new ErasureDigest(ERASURE_KEY),
  term: stage.term,
});

test("a registration and its events become a user, a day, events, an order and ledger counts", async () => {
  await stage.register("u", { ad_data: { gdt_vid: "x", account_id: 1 } });
  const shown = track("$AdShow", { $ecpm: 12.5, $ad_type: "reward" }, NOW_MS + 1);
  await stage.collect("u", [pay("o1", 600), shown, profile("profile_set", { vip: true })], { at: NOW_MS + HOUR_MS });
  await stage.applyAll();
  expect(await userOf("u")).toMatchObject({
    isRegistered: true,
    registeredAtMs: NOW_MS,
    registeredDay: "2024-06-15",
    adPlatform: "tencent",
    advertiserId: "1",

    payCount: 1,
    payCents: 600,
    adCount: 1,
    adMicros: 12_500,
    rewardAd24hMicros: 12_500,
    properties: { vip: true },
  });
  expect(await rowsOf(stage.pool, "user_day", ["app_id"])).toEqual([
    {
      client_id: "u",
      day: "2024-06-15",
      span_t: 0,
      span_r: 0,
      track_events: 2,
      register_events: 0,
      pay_count: 1,
      pay_cents: 600,
      ad_count: 1,
      ad_micros: 12_500,
    },
  ]);
  expect(await ordersOf()).toMatchObject([{ trace_id: "o1", cents: 600, pay_count: 1, has_rate: true }]);
  expect([await stage.count("event"), await stage.ledger(), await stage.setAside()]).toEqual([
    3,
    { received: 3, stored: 3 },
    [],
  ]);
});

test("packed entries are applied like plain ones, and count by their unpacked size, so that a batch stays small", async () => {
  await stage.register("u");
  const body = (event: string) => Buffer.from(JSON.stringify({ client_id: "u", event_list: [track(event)] }));
  const ends: number[] = [];
  for (const event of ["a", "b", "c", "d"]) {
    const plain = Buffer.concat([body(event), Buffer.alloc(0.6 * LIMITS.applyBatchBytes, " ")]);
    const head = { app: stage.app.appId, client: "u", at: NOW_MS, ip: "", ua: "", gzip: plain.length };
    const entry = { ...head, kind: "collect" as const, registered: "yes" as const };
    ends.push(await stage.journal.append({ head: entry, body: gzipSync(plain) }));
  }
  await stage.applyAll();
  expect([await stage.count("event"), await stage.setAside()]).toEqual([4, []]);
  expect(stage.applied.map(({ position }) => position)).toEqual([ends[1], ends[3]]);
});

test("a batch that is applied twice takes effect once", async () => {
  await stage.register("u");
  await stage.collect("u", [pay("o1", 600), track("level_up"), profile("profile_increment", { n: 1 })]);
  await openEventDays(stage.pool, [{ day: "2024-06-15", receivedAtMs: NOW_MS }]);
  const batch = await wholeBatch();
  expect((await applyBatch(stage.pool, batch, await context())).kind).toBe("applied");
  const before = await Promise.all(
    ["event", "user_account", "user_day", "orders", "ledger_minute"].map((table) => rowsOf(stage.pool, table)),
  );
  expect(await applyBatch(stage.pool, batch, await context())).toEqual({
    kind: "already_applied",
    position: batch.until,
  });
  const after = await Promise.all(
    ["event", "user_account", "user_day", "orders", "ledger_minute"].map((table) => rowsOf(stage.pool, table)),
  );
  expect(after).toEqual(before);
  expect(before.map((rows) => rows.length)).toEqual([3, 1, 1, 1, 2]);
});

test("a batch that does not begin at the cursor changes nothing", async () => {
  await stage.register("u1");
  await stage.register("u2");
  const whole = await wholeBatch();
  const [, second] = whole.entries;
  const late: Batch = { ...whole, from: second!.from, entries: [second!] };
  expect(await applyBatch(stage.pool, late, await context())).toEqual({ kind: "elsewhere", position: 0 });
  expect([await stage.count("user_account"), await readCursor(stage.pool, stage.cursor)]).toEqual([0, 0]);
});

test("the same event is stored and counted once, in one body, in one batch, and batches later", async () => {
  await stage.register("u");
  const sent = [pay("o1", 600), pay("o1", 600)];
  await stage.collect("u", sent);
  await stage.collect("u", sent);
  await stage.applyAll();
  await stage.restart();
  await stage.collect("u", [
    track("later", {}, NOW_MS + DAY_MS),
    {
      properties: { $pay_type: "CNY", $pay_amount: 600, $order_id: "o1" },
      time: NOW_MS,
      event: "$PayEvent",
      type: "track",
    },
  ]);
  await stage.applyAll();
  expect([await stage.count("event"), await stage.ledger()]).toEqual([2, { received: 6, stored: 2, duplicate: 4 }]);
  expect(await userOf("u")).toMatchObject({ payCount: 1, payCents: 600 });
});

test("events that differ in one property, a millisecond or the client are different events", async () => {
  for (const client of ["u1", "u2"]) await stage.register(client);
  await stage.collect("u1", [
    track("e", { n: 1 }),
    track("e", { n: 2 }),
    track("e", { n: 1 }, NOW_MS + 1),
    track("f", { n: 1 }),
  ]);
  await stage.collect("u2", [track("e", { n: 1 })]);
  await stage.applyAll();
  expect(await stage.ledger()).toEqual({ received: 5, stored: 5 });
});

test("an order is one order no matter who reports it, within a batch and across batches, while all events are stored", async () => {
  for (const client of ["u1", "u2", "u3"]) await stage.register(client);
  await stage.collect("u1", [pay("o1", 600)]);
  await stage.collect("u2", [pay("o1", 700)]);
  await stage.applyAll();
  await stage.collect("u3", [pay("o1", 800), pay("o2", 100)]);
  await stage.append("handle_event", "u3", { event_type: "pay", trace_id: "o2", properties: { real_amount: 100 } });
  await stage.applyAll();
  expect(await ordersOf()).toMatchObject([
    { trace_id: "o1", client_id: "u1", cents: 600 },
    { trace_id: "o2", client_id: "u3", cents: 100 },
  ]);
  expect([(await userOf("u2"))?.payCount, (await userOf("u3"))?.payCents, await stage.count("event")]).toEqual([
    0, 100, 5,
  ]);
});

test("a consumer PAY without an order id is one order however often the same body is sent", async () => {
  await stage.register("u");
  for (let times = 0; times < 3; times += 1)
    await stage.append("consumer_event", "u", { event_type: "PAY", ts: NOW_MS, amount: 900, real_amount: 600 });
  await stage.append("consumer_event", "u", { event_type: "PAY", ts: NOW_MS + 1, amount: 900 });
  await stage.applyAll();
  expect((await rowsOf(stage.pool, "orders")).map((row: any) => row.cents).sort()).toEqual([600, 900]);
  expect(await stage.ledger()).toEqual({ received: 4, stored: 2, duplicate: 2 });
});

test("a payment in another currency is converted by the app's rate, and without a rate kept with amount 0", async () => {
  await changeApp(stage.pool, stage.app.appId, { rates: { USD: "7.1234" } });
  await stage.register("u");
  await stage.collect("u", [pay("o1", 99, { $pay_type: "usd" }), pay("o2", 99, { $pay_type: "EUR" })]);
  await stage.applyAll();
  expect(await ordersOf()).toMatchObject([
    { trace_id: "o1", cents: 705, currency: "USD", sent_amount: 99, has_rate: true },
    { trace_id: "o2", cents: 0, currency: "EUR", sent_amount: 99, has_rate: false },
  ]);
});

test("apply decides whether a client is registered if the database was away at intake", async () => {
  await stage.register("known");
  await stage.collect("known", [track("e")], { registered: "unknown" });
  await stage.collect("stranger", [track("e"), track("f")], { registered: "unknown" });
  await stage.append("device_info", "stranger", { data: { os_name: "ios" } }, { registered: "unknown" });
  await stage.applyAll();
  expect(await stage.ledger()).toEqual({ received: 3, stored: 1, unregistered: 2 });
  expect([await userOf("stranger"), await stage.count("event")]).toEqual([undefined, 1]);
});

test("an app that needs no registration knows a client from its first event on, as not registered", async () => {
  await stage.collect("visitor", [track("e")], { registered: "not_required" });
  await stage.applyAll();
  expect(await userOf("visitor")).toMatchObject({ isRegistered: false, registeredAtMs: NOW_MS });
  await stage.register("visitor", {}, { at: NOW_MS + HOUR_MS });
  await stage.applyAll();
  expect(await userOf("visitor")).toMatchObject({ isRegistered: true, name: "visitor" });
});

test("a second registration updates name, version and device, but never the time or the source", async () => {
  await stage.register("u", { ad_data: { gdt_vid: "x" } });
  const again = { name: "new name", version: 2, ad_data: { bd_vid: "y" }, device_info: { os_name: "ios", idfa: "i" } };
  await stage.register("u", again, { at: NOW_MS + DAY_MS });
  await stage.applyAll();
  expect(await userOf("u")).toMatchObject({
    name: "new name",
    version: 2,
    registeredAtMs: NOW_MS,
    adPlatform: "tencent",
    osPlatform: "ios",
    device: { idfa: "i" },
  });
});

test("events of a dropped day are rejected as too_old and not counted twice", async () => {
  await stage.register("u");
  await stage.collect("u", [pay("o1", 600, {}, NOW_MS - 2 * DAY_MS), track("e")]);
  await stage.applyAll();
  await stage.applier.dropDaysBefore("2024-06-15");
  await stage.collect("u", [pay("o1", 600, {}, NOW_MS - 2 * DAY_MS), track("f", {}, NOW_MS - 2 * DAY_MS), track("e")]);
  await stage.applyAll();
  await stage.restart();
  await stage.collect("u", [track("g", {}, NOW_MS - 2 * DAY_MS)]);
  await stage.applyAll();
  expect(await stage.ledger()).toEqual({ received: 6, stored: 2, duplicate: 1, too_old: 3 });
  expect([await stage.count("event"), (await userOf("u"))?.payCount]).toEqual([1, 1]);
});

test("apply follows the judgement of admission: rejected, left out, cut", async () => {
  await stage.register("u");
  const verdicts = { rejected: [[1, "too_old"]], omitted: [[0, "bad-name"]], cut: [[2, "t"]] } as const;
  await stage.collect(
    "u",
    [track("e", { "bad-name": 1, n: 1 }), track("old"), track("f", { t: "x".repeat(3_000) })],
    verdicts as never,
  );
  await stage.applyAll();
  expect(await stage.ledger()).toEqual({ received: 3, stored: 2, too_old: 1 });
  const events = await rowsOf(stage.pool, "event");
  expect(events.map((row: any) => JSON.parse(row.properties_text))).toEqual([{ n: 1 }, { t: "x".repeat(2_048) }]);
});

test("a profile stays within its limit whatever the journal holds, and properties without room are counted", async () => {
  await stage.begin();
  await stage.register("a");
  // Entries from before lists had a size limit.
  const lists = Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => [`l${index}`, Array(20).fill("x".repeat(1_000))]),
  );
  await stage.collect("a", [profile("profile_set", lists), profile("profile_set", { n: 1 })]);
  await stage.append("handle_event", "a", {
    event_type: "$BindThirdPlatform",
    properties: { $ta_account_id: "x".repeat(20_000), $ta_distinct_id: "d" },
  });
  await stage.applyAll();
  const { rows } = await stage.pool.query("select properties from user_account");
  const { properties } = rows[0];
  expect(Buffer.byteLength(JSON.stringify(properties))).toBeLessThanOrEqual(LIMITS.profileBytes);
  expect(properties).toMatchObject({ l0: Array(16).fill("x".repeat(1_000)), n: 1, $ta_distinct_id: "d" });
  expect(properties).not.toHaveProperty("$ta_account_id");
  expect(stage.applied.reduce((sum, { leftOut }) => sum + leftOut, 0)).toBe(41);
});

test("users whose profiles are too large together are applied in parts, and none is left out", async () => {
  await stage.begin();
  // More than fit at once, but fewer than twice as many.
  const half = Math.ceil((LIMITS.applyProfileBytes / LIMITS.profileBytes) * 0.55);
  const clients = Array.from({ length: 2 * half }, (_, index) => `u${index}`);
  for (const client of clients) await stage.register(client);
  await stage.applyAll();
  // Stored in a hundredth of that size, because repeated texts are compressed.
  await stage.pool.query("update user_account set properties = jsonb_build_object('t', repeat('x', $1))", [
    LIMITS.profileBytes - 100,
  ]);
  const applied = stage.applied.length;
  for (const client of clients) await stage.collect(client, [track("login")]);
  await stage.applyAll();
  expect(stage.applied.slice(applied).map(({ outcomes }) => outcomes.stored)).toEqual([half, half]);
  expect(await stage.ledger()).toEqual({ received: 2 * half, stored: 2 * half });
});
