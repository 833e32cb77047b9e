import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newUser } from "../../src/apply/facts/new-user.ts";
import { changeAsaTokens } from "../../src/db/asa-token.ts";
import { storeDecisions } from "../../src/db/attribution-decision.ts";
import { keepEarlierPostbacks } from "../../src/db/earlier-postback.ts";
import { inTransaction } from "../../src/db/engine/pool.ts";
import { openEventDays } from "../../src/db/event-day.ts";
import { EventOrigins, storeOrigins } from "../../src/db/event-origin.ts";
import { noteLateEvents } from "../../src/db/lake-mark.ts";
import { insertOrders } from "../../src/db/orders.ts";
import { insertOutbox } from "../../src/db/outbox.ts";
import { storePostbacks } from "../../src/db/postback.ts";
import { insertRefunds } from "../../src/db/refund.ts";
import { findRegistered, loadUsers, renameUser, storeUsers, type UserAccount } from "../../src/db/user-account.ts";
import { addUserDays } from "../../src/db/user-day.ts";
import { addUserKeys } from "../../src/db/user-key.ts";
import { calendarOf } from "../../src/domain/calendar.ts";
import { type JsonObject, storableText } from "../../src/domain/json.ts";
import { deviceOf } from "../../src/domain/user/device.ts";
import { copyEvents } from "./copy-events.ts";
import { migratedDatabase, rowsOf, type TempDatabase } from "./temp-database.ts";

let database: TempDatabase;
beforeAll(async () => {
  database = await migratedDatabase();
});
afterAll(() => database.drop());

const RULES = {
  appId: 1,
  timeZone: "Asia/Shanghai",
  currency: "CNY",
  rates: {},
  calendar: calendarOf("Asia/Shanghai"),
};
const NOW_MS = Date.UTC(2024, 5, 15);

const userOf = (clientId: string, change: Partial<UserAccount> = {}): UserAccount => ({
  ...newUser({ appId: 1, clientId }, NOW_MS, RULES as never),
  ...change,
});

const store = (users: readonly UserAccount[]) => inTransaction(database.pool, (tx) => storeUsers(tx, users));
const load = async (...clientIds: string[]) => {
  const users = await loadUsers(
    database.pool,
    clientIds.map((clientId) => ({ appId: 1, clientId })),
  );
  return users.toSorted((a, b) => (a.clientId < b.clientId ? -1 : 1));
};

const text = fc.string({ unit: "binary", maxLength: 30 }).map(storableText);
const json = fc
  .dictionary(text, fc.oneof(text, fc.integer(), fc.boolean(), fc.array(text)), { maxKeys: 4, noNullPrototype: true })
  .filter((value) => !Object.hasOwn(value, "__proto__")) as fc.Arbitrary<JsonObject>;
const whole = fc.integer({ min: 0, max: 2 ** 31 - 1 });
const large = fc.integer({ min: -Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER });

/** Values for each field, by the type that the field has in a new user. */
const anyUser: fc.Arbitrary<UserAccount> = fc
  .record({
    ...Object.fromEntries(
      Object.entries(userOf("")).map(([field, value]) => [
        field,
        typeof value === "string"
          ? text
          : typeof value === "boolean"
            ? fc.boolean()
            : /Count$|Number$/.test(field)
              ? whole
              : large,
      ]),
    ),
    appId: fc.constant(1),
    registeredDay: fc.constantFrom("2000-01-01", "2024-02-29", "2099-12-31"),
    cohortDay: fc.constantFrom("2000-01-01", "2024-02-29", "2099-12-31"),
    latestLoginDay: fc.constantFrom(null, "2024-06-15"),
    touchedAtMs: fc.option(large),
    latestEventAtMs: fc.option(large),
    lastSeenAtMs: fc.option(large),
    originDay: fc.constantFrom(null, "2024-06-15"),
    originId: fc.option(large),
    firstPayAtMs: fc.option(large),
    adData: json,
    properties: json,
    reported: fc.option(json),
    launch: json,
    returned: fc.option(json),
    device: fc.option(json.map(deviceOf)),
  })
  .map((user) => user as unknown as UserAccount);

test("a user is read back field by field as stored", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(anyUser, { maxLength: 5, selector: (user) => user.clientId }), async (users) => {
      await store(users);
      expect(await load(...users.map((user) => user.clientId))).toEqual(
        users.toSorted((a, b) => (a.clientId < b.clientId ? -1 : 1)),
      );
    }),
    { numRuns: 40 },
  );
});

test("storing a user again replaces every field, and a user of another app stays as it is", async () => {
  await store([
    userOf("again", { name: "first", payCents: 1 }),
    { ...userOf("again", { name: "other app" }), appId: 2 },
  ]);
  await store([userOf("again", { name: "second", properties: { level: 2 } })]);
  expect(await load("again")).toEqual([userOf("again", { name: "second", properties: { level: 2 } })]);
  expect((await loadUsers(database.pool, [{ appId: 2, clientId: "again" }]))[0]?.name).toBe("other app");
});

test("a user can be read with some properties, or without any", async () => {
  const properties = { $os: "iOS", $name: null, level: 2, nested: { $os: "x" } };
  await store([userOf("some", { properties }), userOf("none")]);
  const keys = ["none", "some"].map((clientId) => ({ appId: 1, clientId }));
  const read = async (names: string[]) =>
    (await loadUsers(database.pool, keys, names)).toSorted((a, b) => (a.clientId < b.clientId ? -1 : 1));
  expect(await read(["$os", "$name", "missing"])).toEqual([
    userOf("none"),
    userOf("some", { properties: { $os: "iOS", $name: null } }),
  ]);
  expect(await read([])).toEqual([userOf("none"), userOf("some")]);
});

test("ids that differ only in case, accents or trailing blanks are different users", async () => {
  const ids = ["a", "A", "á", "a ", "ａ"];
  await store(ids.map((id) => userOf(id, { name: id })));
  expect((await load(...ids)).map((user) => user.name)).toEqual(ids.toSorted());
});

test("unknown ids are left out, and asking for no ids queries nothing", async () => {
  expect(await load("nobody")).toEqual([]);
  expect(await load()).toEqual([]);
});

test("only registered clients are found as registered", async () => {
  await store([userOf("registered", { isRegistered: true }), userOf("only events")]);
  const keys = ["registered", "only events", "nobody"].map((clientId) => ({ appId: 1, clientId }));
  expect(await findRegistered(database.pool, keys)).toEqual([{ appId: 1, clientId: "registered" }]);
  expect(await findRegistered(database.pool, [{ appId: 2, clientId: "registered" }])).toEqual([]);
});

const TABLES = [
  "event",
  "event_origin",
  "user_day",
  "user_ad_day",
  "orders",
  "order_key",
  "refund",
  "attribution_decision",
  "user_key",
  "asa_token",
  "postback",
  "outbox",
  "earlier_postback",
  "lake_late",
];

const ORGANIC = {
  appId: 1,
  number: 1,
  atMs: 1,
  decidedAtMs: 1,
  method: "" as const,
  adPlatform: "",
  touchId: null,
  touchedAtMs: null,
  campaignId: "",
  flags: [],
  candidates: [],
  subject: { launch: null, reported: null, keys: [] },
};

/** Stores one row for a client in every table that knows clients, except for postbacks. */
async function spread(clientId: string, traceId: string): Promise<void> {
  const day = { appId: 1, clientId, day: "2024-06-15" };
  const counters = { trackEvents: 1, registerEvents: 2, payCount: 3, payCents: 4, adCount: 5, adMicros: 6 };
  const order = { ...day, traceId, atMs: 1, receivedAtMs: 2, cents: 600, currency: "CNY", sentAmount: 600 };
  const event = {
    ...day,
    atMs: 1,
    fingerprint: "0".repeat(32),
    type: "track",
    event: "e",
    properties: "{}",
    receivedAtMs: 2,
  };
  await openEventDays(database.pool, [{ day: "2024-06-15", receivedAtMs: Date.parse("2024-06-15") }]);
  await inTransaction(database.pool, async (tx) => {
    await storeUsers(tx, [userOf(clientId, { name: "to be renamed" })]);
    await copyEvents(tx, [event]);
    const origins = new EventOrigins();
    origins.add({ ...day, originId: 1, propertiesText: "{" });
    await storeOrigins(tx, origins);
    const adUnits = new Map([["unit", { reportedCount: 1, reportedMicros: 2, unpricedCount: 3 }]]);
    await addUserDays(tx, [{ ...day, sinceTouch: 0, sinceRegistration: 0, ...counters, adUnits }]);
    const group = { registeredDay: "2024-06-15", adPlatform: "" };
    const plain = { ...group, hasRate: true, payCount: 1, isVirtual: 0, properties: "{}" };
    await insertOrders(tx, [{ ...order, ...plain, postbackStatus: 0, passStatus: 0 }]);
    const asked = { amount: null, currency: "CNY", cents: null };
    await insertRefunds(tx, [{ ...day, traceId, refundId: traceId, atMs: 3, receivedAtMs: 4, asked }]);
    await storeDecisions(tx, [{ ...ORGANIC, clientId }]);
    await addUserKeys(tx, [{ appId: 1, clientId, key: "0".repeat(32), method: "open_id", atMs: 1 }]);
    await changeAsaTokens(tx, [{ kind: "waiting", appId: 1, clientId, token: "t", receivedAtMs: 2 }]);
    await noteLateEvents(tx, [{ ...day, atMs: 1, fingerprint: "0".repeat(32) }]);
  });
}

async function tell(clientId: string): Promise<void> {
  await inTransaction(database.pool, async (tx) => {
    const key = { appId: 1, clientId, eventType: "pay", subject: "o" };
    const told = {
      adPlatform: "tencent",
      ruleId: 7,
      moment: "pay",
      traceId: "o",
      atMs: 3,
      valueCents: 600,
      status: 0 as const,
    };
    await storePostbacks(tx, [{ ...key, ...told, isPassed: true, reason: "why", createdAtMs: 4, changedAtMs: 4 }]);
    await insertOutbox(tx, [{ ...key, lane: "l", dueAtMs: 5, content: { a: 1 } }]);
  });
}

test("a renamed client takes its own rows along in every table, and no others", async () => {
  await spread("old", "order 1");
  await spread("bystander", "order 2");
  for (const clientId of ["old", "bystander"]) await tell(clientId);
  await keepEarlierPostbacks(database.pool);
  for (const clientId of ["old", "bystander"]) await tell(clientId);
  const before = await Promise.all(TABLES.map((table) => rowsOf(database.pool, table)));
  await inTransaction(database.pool, async (tx) => {
    await storeUsers(tx, [userOf("new", { name: "to be renamed" })]);
    await renameUser(tx, { appId: 1, clientId: "old", newClientId: "new", renamedAtMs: 9, keys: ["0".repeat(32)] });
  });
  const after = await Promise.all(TABLES.map((table) => rowsOf(database.pool, table)));
  const renamed = before.map((rows) =>
    rows.map((row: any) => (row.client_id === "old" ? { ...row, client_id: "new" } : row)),
  );
  const sorted = (rows: object[]) => rows.map((row) => JSON.stringify(row)).sort();
  expect(after.map(sorted)).toEqual(renamed.map(sorted));
  expect(after.map((rows) => rows.length)).toEqual(TABLES.map(() => 2));
  expect(await load("old")).toEqual([]);
  expect((await load("new", "bystander")).map((user) => user.clientId)).toEqual(["bystander", "new"]);
});

test("the rename knows every table with a client_id", async () => {
  const { rows } = await database.pool.query(`
    select distinct table_name from information_schema.columns
    where table_schema = 'public' and column_name = 'client_id' and table_name !~ '^event_\\d{8}$'`);
  expect(rows.map((row) => row.table_name).sort()).toEqual([...TABLES, "user_account"].sort());
});
