import { readdirSync, readFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { wrongTotals } from "../../../sim/chaos/promises/totals.ts";
import { newUser } from "../../../src/apply/facts/new-user.ts";
import { loadAdminUsers } from "../../../src/db/admin-user.ts";
import { checksumOf, migrate } from "../../../src/db/engine/migrate.ts";
import { inTransaction } from "../../../src/db/engine/pool.ts";
import { dropEventDaysBefore, loadEventParts, openEventDays } from "../../../src/db/event-day.ts";
import { readCursors } from "../../../src/db/journal-cursor.ts";
import { isSetAside } from "../../../src/db/set-aside.ts";
import { insertUsers } from "../../../src/db/user-account.ts";
import { calendarOf } from "../../../src/domain/calendar.ts";
import { UsageError } from "../../../src/errors.ts";
import { openKeys } from "../../../src/installation.ts";
import { LIMITS } from "../../../src/limits.ts";
import { TEST_KEY } from "../../support/shared-server.ts";
import { createDatabase, log, makeApp, migratedDatabase, rowsOf, type TempDatabase } from "../temp-database.ts";

let database: TempDatabase;
afterEach(() => database.drop());

const options = { log, clock: () => 1_700_000_000_000 };
const folder = new URL("../../../migrations/", import.meta.url);
const files = readdirSync(folder).sort();
const migrated = files.map((name) => ({
  name,
  applied_at_ms: 1_700_000_000_000,
  checksum: checksumOf(readFileSync(new URL(name, folder), "utf8")),
}));

/** Tables with their columns, indexes and constraints, from the catalogue. */
async function schemaOf({ pool }: TempDatabase): Promise<object[]> {
  const { rows } = await pool.query(`
    select c.relname, c.relkind, pg_get_indexdef(c.oid) as index, c.reloptions,
      (select array_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || a.attnotnull order by a.attnum)
        from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns
    from pg_class c where c.relnamespace = 'public'::regnamespace order by 1`);
  return rows;
}

test("a new database gets every migration once, in order, with the given time", async () => {
  database = await createDatabase();
  await migrate(database.pool, options);
  expect(await rowsOf(database.pool, "migration")).toEqual(migrated);
});

test("migrating again changes nothing", async () => {
  database = await createDatabase();
  await migrate(database.pool, options);
  await database.pool.query("insert into journal_cursor values ('j', 7)");
  const before = await schemaOf(database);
  await migrate(database.pool, { ...options, clock: () => 9 });
  expect(await schemaOf(database)).toEqual(before);
  expect(before.length).toBeGreaterThan(20);
  expect(await rowsOf(database.pool, "journal_cursor")).toEqual([
    { journal_id: "j", position: 7, partition: 0, received_at_ms: 0 },
  ]);
  expect(await rowsOf(database.pool, "migration")).toHaveLength(files.length);
});

test("several processes that start at once migrate once", async () => {
  database = await createDatabase();
  const outcomes = await Promise.allSettled(Array.from({ length: 3 }, () => migrate(database.pool, options)));
  expect(outcomes.map((outcome) => outcome.status)).toEqual(["fulfilled", "fulfilled", "fulfilled"]);
  expect(await rowsOf(database.pool, "migration")).toHaveLength(files.length);
});

test("a migration that fails leaves nothing behind, and the next start tries it again", async () => {
  database = await createDatabase();
  await database.pool.query("create table orders (in_the_way integer)");
  await expect(migrate(database.pool, options)).rejects.toThrow(/already exists/);
  const { rows } = await database.pool.query("select to_regclass('app') as app");
  expect(rows).toEqual([{ app: null }]);
  await database.pool.query("drop table orders");
  await migrate(database.pool, options);
  expect(await rowsOf(database.pool, "migration")).toHaveLength(files.length);
});

test("a database of a newer program is refused and left alone", async () => {
  database = await createDatabase();
  await migrate(database.pool, options);
  await database.pool.query("insert into migration values ('9999-from-the-future.sql', 0)");
  await expect(migrate(database.pool, options)).rejects.toThrow(UsageError);
  await expect(migrate(database.pool, options)).rejects.toThrow(/9999-from-the-future\.sql/);
});

test("a migration that was edited after it was applied is refused by name; other line endings are no edit", async () => {
  expect(checksumOf("select 1;\r\nselect 2;\r\n")).toBe(checksumOf("select 1;\nselect 2;\n"));
  database = await createDatabase();
  await migrate(database.pool, options);
  await database.pool.query("update migration set checksum = $1 where name = $2", [checksumOf("other"), files[2]]);
  await expect(migrate(database.pool, options)).rejects.toThrow(UsageError);
  await expect(migrate(database.pool, options)).rejects.toThrow(new RegExp(`^${files[2]} was edited`));
});

test("a database from before checksums gets them at its next start", async () => {
  database = await createDatabase();
  await migrate(database.pool, options);
  await database.pool.query("alter table migration drop column checksum");
  await migrate(database.pool, options);
  expect(await rowsOf(database.pool, "migration")).toEqual(migrated);
});

/** The tables as a version with only the migrations before `name` left them. */
async function databaseBefore(name: string): Promise<TempDatabase> {
  const old = await createDatabase();
  await old.pool.query("create table migration (name text primary key, applied_at_ms bigint not null)");
  for (const file of files.filter((one) => one < name)) {
    await old.pool.query(readFileSync(new URL(file, folder), "utf8"));
    await old.pool.query("insert into migration values ($1, 0)", [file]);
  }
  return old;
}

test("days with partitions from an earlier version keep them, and distant days beside them share", async () => {
  database = await databaseBefore("0013-event-parts.sql");
  const { pool } = database;
  await pool.query("create table event_20240610 partition of event for values from ('2024-06-10') to ('2024-06-11')");
  await pool.query("insert into event_day values ('2024-06-10', 'open'), ('2024-06-09', 'dropped')");
  await migrate(pool, options);
  const later = Date.parse("2024-09-01");
  const wanted = ["2024-06-09", "2024-06-10", "2024-06-20", "2024-06-01"].map((day) => ({ day, receivedAtMs: later }));
  const parts = await openEventDays(pool, wanted);
  expect(wanted.map(({ day }) => parts.stateOf(day))).toEqual(["dropped", "open", "open", "open"]);
  expect(await rowsOf(pool, "event_day", ["lake_id"])).toEqual([
    { day: "2024-06-01", until_day: "2024-06-09", state: "open" },
    { day: "2024-06-09", until_day: "2024-06-10", state: "dropped" },
    { day: "2024-06-10", until_day: "2024-06-11", state: "open" },
    { day: "2024-06-11", until_day: "2024-07-01", state: "open" },
  ]);
  expect(await dropEventDaysBefore(pool, "2024-07-01")).toBe(3);
  expect((await loadEventParts(pool)).stateOf("2024-06-30")).toBe("dropped");
});

test("the cursor and the set-aside entries of an earlier version belong to the only partition of its journal", async () => {
  database = await databaseBefore("0043-log-partitions.sql");
  const { pool } = database;
  await pool.query("insert into journal_cursor values ('mine', 700), ('another', 5)");
  await pool.query(
    `insert into set_aside (journal_id, from_position, until_position, reason, payload, state)
      values ('mine', 100, 200, 'r', 'x', 'waiting')`,
  );
  await migrate(pool, options);
  expect(await readCursors(pool, "mine")).toEqual([700]);
  const stretch = { appId: null, journalId: "mine", partition: 0, from: 100, until: 200 };
  expect([await isSetAside(pool, stretch), await isSetAside(pool, { ...stretch, partition: 1 })]).toEqual([
    true,
    false,
  ]);
});

test("stored names go to every app that knows their ids, and the others stay for all apps", async () => {
  database = await databaseBefore("0041-names-by-app.sql");
  const { pool } = database;
  await pool.query(
    "insert into advertiser values ('vivo', 'a1', 'Known', '', '', '', ''), ('vivo', 'a9', 'New', '', '', '', '')",
  );
  await pool.query("insert into ad_object values ('vivo', 'plan', 'g1', 'Plan', ''), ('vivo', 'ad', 'g1', 'Ad', '')");
  const cost = (appId: number, gid: string) =>
    pool.query(
      `insert into cost (app_id, day, ad_platform, advertiser_id, gid, aid, cid, csite, channel, os_platform,
          turbo_promoted_object_id, impressions, clicks, cost_e4, changed_at_ms)
        values ($1, '2024-06-15', 'vivo', 'a1', $2, '', '', '', '', '', '', 0, 0, 0, 0)`,
      [appId, gid],
    );
  await cost(1, "g1");
  await cost(2, "g2");
  await migrate(pool, options);
  const { rows } = await pool.query(
    "select app_id, name from advertiser union all select app_id, name from ad_object order by 2, 1",
  );
  expect(rows.map(({ app_id, name }) => [app_id, name])).toEqual([
    [0, "Ad"],
    [1, "Known"],
    [2, "Known"],
    [0, "New"],
    [1, "Plan"],
  ]);
});

test("orders get the day and platform of their users, and the lists their totals", async () => {
  database = await databaseBefore("0042-list-totals.sql");
  const { pool } = database;
  const calendar = calendarOf("Asia/Shanghai");
  const paid = { payCount: 2, payCents: 30, payMaxCents: 20 };
  const users = [
    { clientId: "a", adPlatform: "vivo", ...paid },
    { clientId: "b", adPlatform: "vivo" },
    { clientId: "c", adPlatform: "" },
    { clientId: "d", adPlatform: "", registeredDay: "2024-06-15", ...paid },
  ].map((user) => ({ ...newUser({ appId: 1, clientId: user.clientId }, 0, { calendar }), ...user }));
  // Columns of a later migration, only while the users are stored.
  await pool.query("alter table user_account add column origin_day date, add column origin_id bigint");
  await inTransaction(pool, (tx) => insertUsers(tx, users));
  await pool.query("alter table user_account drop column origin_day, drop column origin_id");
  await pool.query(
    `insert into orders (app_id, client_id, trace_id, day, at_ms, received_at_ms, cents, currency, sent_amount, has_rate, pay_count,
        is_virtual, properties, back_cents)
      select 1, client, client || n, '2024-06-15', n, n, 10 * n, 'CNY', 10 * n, true, n, 0, '{}', n
      from unnest(array['a', 'd']) client, generate_series(1, 2) n`,
  );
  await migrate(pool, options);
  expect(await wrongTotals(pool)).toEqual([]);
  const { rows } = await pool.query(
    "select users, back_cents::int from user_total order by registered_day, ad_platform",
  );
  expect(rows).toEqual([
    { users: 1, back_cents: 0 },
    { users: 2, back_cents: 3 },
    { users: 1, back_cents: 3 },
  ]);
});

test("profiles over 256 KiB are cut once, and the audit log says so", async () => {
  database = await createDatabase();
  const { pool } = database;
  // As in a restore, which distributes nothing yet: so were the tables when this migration was new.
  await migrate(pool, { ...options, restore: { only: undefined } });
  await openKeys(pool, TEST_KEY, "first");
  const names = Array.from({ length: 600 }, (_, index) => `l${index}`);
  const list = Array.from({ length: 500 }, (_, index) => `${index} ${"x".repeat(500)}`);
  const profiles = {
    large: {
      ...Object.fromEntries(names.slice(0, 40).map((name) => [name, list])),
      n: 1,
      o: { t: "x".repeat(20_000) },
    },
    repetitive: Object.fromEntries(names.map((name) => [name, "x".repeat(2_000)])),
    small: { n: 1, l: list.slice(0, 3) },
  };
  const app = await makeApp(pool);
  const calendar = calendarOf("Asia/Shanghai");
  const users = Object.entries(profiles).map(([clientId, properties]) => ({
    ...newUser({ appId: app.appId, clientId }, 0, { calendar }),
    properties,
  }));
  await inTransaction(pool, (tx) => insertUsers(tx, users));
  await pool.query("delete from migration where name = '0016-profile-size.sql'");
  await migrate(pool, options);
  const { rows } = await pool.query("select client_id, properties from user_account order by 1");
  const [large, repetitive, small] = rows.map((row) => row.properties);
  expect(small).toEqual(profiles.small);
  for (const cut of [large, repetitive]) {
    const bytes = Buffer.byteLength(JSON.stringify(cut));
    expect([bytes <= LIMITS.profileBytes, bytes > LIMITS.profileBytes - 20_000]).toEqual([true, true]);
  }
  expect(large).toMatchObject({ n: 1, l0: list.slice(0, large.l0.length) });
  expect(large).not.toHaveProperty("o");
  expect(Buffer.byteLength(JSON.stringify(large.l0))).toBeLessThanOrEqual(LIMITS.propertyBytes);
  expect(large.l0.length).toBeGreaterThan(25);
  const { rows: notes } = await pool.query("select at_ms, actor, action, app_id, details from audit_log");
  expect(notes).toEqual([
    { at_ms: options.clock(), actor: "migration", action: "profile.cut", app_id: app.appId, details: { users: 2 } },
  ]);
});

test("a source replaced by a second return keeps its campaign when the campaign is renamed", async () => {
  database = await migratedDatabase();
  const { pool } = database;
  const app = await makeApp(pool);
  const calendar = calendarOf("Asia/Shanghai");
  const users = ["a", "b", "c"].map((clientId) => newUser({ appId: app.appId, clientId }, 0, { calendar }));
  await inTransaction(pool, (tx) => insertUsers(tx, users));
  const second = { number: 3, earlier: { number: 2, source: { gid: "7", turboPromotedObjectId: "spring" } } };
  await pool.query("update user_account set returned = $1 where client_id = 'a'", [second]);
  await pool.query("update user_account set returned = $1 where client_id = 'b'", [{ number: 2 }]);
  await pool.query("delete from migration where name = '0017-campaign-id.sql'");
  await migrate(pool, options);
  const { rows } = await pool.query("select returned from user_account order by client_id");
  expect(rows.map(({ returned }) => returned)).toEqual([
    { number: 3, earlier: { number: 2, source: { gid: "7", campaignId: "spring" } } },
    { number: 2 },
    null,
  ]);
});

test("people from before roles per app keep what they had, for all apps", async () => {
  database = await databaseBefore("0032-admin-grant.sql");
  const { pool } = database;
  await pool.query(
    `insert into admin_user (name, role, password_hash, created_at_ms, password_changed_at_ms)
      values ('ann', 'admin', 'hash', 1, 1), ('bob', 'analyst', 'hash', 2, 2)`,
  );
  await pool.query("insert into console_session values ('digest', 1, 3, 4)");
  await migrate(pool, options);
  expect(await loadAdminUsers(pool)).toEqual([
    { userId: 1, name: "ann", createdAtMs: 1, hasSecondFactor: false, grants: [{ appId: null, role: "admin" }] },
    { userId: 2, name: "bob", createdAtMs: 2, hasSecondFactor: false, grants: [{ appId: null, role: "analyst" }] },
  ]);
  const session = { session_id: 1, user_id: 1, created_at_ms: 3, seen_at_ms: 4, method: "password" };
  expect(await rowsOf(pool, "console_session")).toMatchObject([session]);
});
