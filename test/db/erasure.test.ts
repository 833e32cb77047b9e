import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Applier } from "../../src/apply/applier.ts";
import { storeCallback } from "../../src/db/callback.ts";
import { TABLES_OF_CLIENTS } from "../../src/db/erased-user.ts";
import { emptyFacts } from "../../src/db/facts.ts";
import { storeAccount } from "../../src/db/platform-account.ts";
import { requestReplay } from "../../src/db/set-aside.ts";
import { loadUsers } from "../../src/db/user-account.ts";
import { sourceOf } from "../../src/journal/entry-log.ts";
import { refreshOnce } from "../../src/refresh/refresh.ts";
import { newFolder, openJournal } from "../journal/temp-journal.ts";
import { ApplyStage, DAY_MS, ERASURE_KEY, HOUR_MS, NOW_MS, pay, profile, track } from "./apply-stage.ts";
import { log, rowsOf, vault } from "./temp-database.ts";

let stage: ApplyStage;
beforeAll(async () => {
  stage = await ApplyStage.open();
  const account = { postbacks: true, costs: false, ratePerS: 1, settings: {}, secrets: {}, tokenExpiresAtMs: null };
  const key = { appId: stage.app.appId, adPlatform: "vivo", advertiserId: "", lastError: "", lastErrorAtMs: null };
  const token = { refreshExpiresAtMs: null, authorisationId: null };
  await storeAccount(stage.pool, vault, { ...account, ...key, ...token }, NOW_MS);
  const callback = { appId: stage.app.appId, url: "https://own.example/", secret: "s", enabled: true };
  await storeCallback(stage.pool, vault, { ...callback, kind: "event", events: ["level_up"] }, NOW_MS);
});
beforeEach(async () => {
  await stage.begin();
  // A replay keeps this table, so it is emptied here.
  await stage.pool.query("truncate erased_user");
});
afterAll(() => stage.close());

const ERASED_MS = NOW_MS + 2 * HOUR_MS;
const erase = (client: string, at = ERASED_MS) => stage.append("erase", client, {}, { at });
const userOf = async (clientId: string) => (await loadUsers(stage.pool, [{ appId: stage.app.appId, clientId }]))[0];

async function click(marker: string, at = NOW_MS - HOUR_MS): Promise<void> {
  const query = new URLSearchParams({ app_id: "1", company: "vivo", oaid: `oaid-${marker}`, aid: "7", ip: "9.9.9.9" });
  await stage.append("click", "", query.toString(), { at });
}

/** A person with data in every table. */
async function person(marker: string): Promise<void> {
  const own = { at: NOW_MS };
  await click(marker);
  const device_info = { os_name: "android", oaid: `oaid-${marker}` };
  const ids = { name: `name-${marker}`, channel: "c", version: 1, wx_openid: `openid-${marker}`, client_ip: "9.9.9.9" };
  await stage.append("initialize", marker, { ...ids, device_info, asa_token: `asa-${marker}` }, own);
  await stage.collect(marker, [
    pay(`order-${marker}`, 600),
    track("level_up", { note: `note-${marker}`, $device_id: `device-${marker}`.padEnd(100, "0") }),
    track("$AdShow", { $ecpm: 50, $ad_type: "reward", $ad_unit_id: "unit" }, NOW_MS + DAY_MS),
    profile("profile_set", { nick: `nick-${marker}` }),
  ]);
  await stage.append("collect", marker, "{", own);
}

async function allTables(): Promise<string[]> {
  const { rows } = await stage.pool.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = 'public' and c.relkind in ('r', 'p') and not c.relispartition order by 1`,
  );
  return rows.map(({ name }) => name);
}

/** The tables that contain a text, including in bytes. */
async function tablesWith(text: string): Promise<string[]> {
  const found: string[] = [];
  for (const table of await allTables()) {
    const column = table === "set_aside" ? "encode(t.payload, 'escape')" : "to_jsonb(t)::text";
    const { rows } = await stage.pool.query(`select 1 from ${table} t where position($1 in ${column}) > 0 limit 1`, [
      text,
    ]);
    if (rows.length > 0) found.push(table);
  }
  return found;
}

async function refreshed(): Promise<object[]> {
  while ((await refreshOnce(stage.pool)) > 0);
  return rowsOf(stage.pool, "cube");
}

describe("a user who is erased", () => {
  test("is in no table any more, and was in all that hold clients", async () => {
    await person("zelda");
    await stage.collect("zelda", [track("$RefundEvent", { $order_id: "order-zelda" })]);
    await stage.applyAll();
    // As if a replay were under way.
    await stage.pool.query(
      `insert into earlier_postback select nextval('earlier_postback_earlier_id_seq'), app_id, client_id, event_type, subject,
        status, back_cents, accepted_day, ad_platform, rule_id, moment, trace_id, at_ms, value_cents, is_passed, reason,
        attempts, resent, created_at_ms, changed_at_ms, made_for from postback`,
    );
    // As if the lake had read on before one of the events came.
    await stage.pool.query(
      "insert into lake_late select app_id, client_id, day, at_ms, fingerprint from event where event = 'level_up'",
    );
    const before = await tablesWith("zelda");
    for (const table of [...TABLES_OF_CLIENTS, "touch", "set_aside"]) expect(before).toContain(table);
    expect(await stage.count("touch_key")).toBeGreaterThan(0);
    await erase("zelda");
    await stage.applyAll();
    expect(await tablesWith("zelda")).toEqual([]);
    expect(await stage.count("touch_key")).toBe(0);
  });

  test("leaves the others as they are", async () => {
    await person("other");
    await stage.applyAll();
    const tables = (await allTables()).filter(
      (name) => !/^(journal_cursor|app_cursor|dirty_day|erased_user|cube)$/.test(name),
    );
    const picture = async () => Promise.all(tables.map(async (table) => [table, await rowsOf(stage.pool, table)]));
    const before = await picture();
    await person("zelda");
    await erase("zelda");
    await stage.applyAll();
    const own = ["ledger_minute", "touch_minute", "ad_revenue_change"];
    const apart = (rows: unknown[][]) => rows.filter(([table]) => !own.includes(table as string));
    expect(apart(await picture())).toEqual(apart(before));
  });

  test("is counted in no report: the cube equals that of a world without the user", async () => {
    await person("other");
    await stage.applyAll();
    const without = await refreshed();
    await person("zelda");
    await stage.applyAll();
    expect(await refreshed()).not.toEqual(without);
    await stage.pool.query("update postback set status = 1, back_cents = 600, accepted_day = '2024-06-20'");
    await stage.pool.query(
      "update postback set status = 0, back_cents = 0, accepted_day = null where client_id = 'other'",
    );
    await erase("zelda");
    await stage.applyAll();
    expect(await refreshed()).toEqual(without);
  });

  test("stays in the ledger as a number, and the ledger adds up", async () => {
    await person("zelda");
    await stage.applyAll();
    const before = await stage.ledger();
    await erase("zelda");
    await stage.applyAll();
    expect(await stage.ledger()).toEqual(before);
    expect(before).toEqual({ received: 4, stored: 4 });
  });

  test("may be unknown, and may be erased twice", async () => {
    await erase("nobody");
    await person("zelda");
    await erase("zelda");
    await erase("zelda", ERASED_MS + 1);
    await stage.applyAll();
    expect([await tablesWith("zelda"), await stage.setAside()]).toEqual([[], []]);
  });
});

test("a touch stays if another user has the same device", async () => {
  await person("zelda");
  await stage.register("brother", { device_info: { os_name: "android", oaid: "oaid-zelda" } });
  await erase("zelda");
  await stage.applyAll();
  expect(await stage.count("touch")).toBe(1);
  expect(await userOf("brother")).toMatchObject({ adPlatform: "vivo" });
});

describe("a replay of the journal", () => {
  test("does not bring the user back, and sends nothing about them", async () => {
    await person("zelda");
    await person("other");
    const beforeErasure = stage.journal.durable;
    await erase("zelda");
    await stage.applyAll();
    const users = await rowsOf(stage.pool, "user_account");
    await stage.pool.query("truncate outbox");
    await stage.restart();
    await emptyFacts(stage.pool, stage.term);
    const halfway = stage.newApplier(() => beforeErasure);
    while ((await halfway.turn()) === "busy");
    await halfway.close();
    expect(await userOf("zelda")).toBeDefined();
    const { rows } = await stage.pool.query("select distinct client_id from postback");
    expect(rows).toEqual([{ client_id: "other" }]);
    expect(await stage.count("outbox")).toBe(0);
    await stage.applyAll();
    expect(await tablesWith("zelda")).toEqual([]);
    expect(await rowsOf(stage.pool, "user_account")).toEqual(users);
  });

  test("ends without a user who had another id before", async () => {
    await person("zelda");
    await stage.append("reset_client_id", "zelda", { new_client_id: "zelda-later" });
    await stage.register("zelda", { name: "a second one" }, { at: NOW_MS + 1 });
    await erase("zelda-later");
    await stage.applyAll();
    const before = await rowsOf(stage.pool, "user_account");
    expect(before).toMatchObject([{ client_id: "zelda", name: "a second one", pay_count: 0 }]);
    await stage.restart();
    await emptyFacts(stage.pool, stage.term);
    await stage.applyAll();
    expect(await rowsOf(stage.pool, "user_account")).toEqual(before);
    expect(await tablesWith("order-zelda")).toEqual([]);
  });

  test("keeps the earlier owner of an id whose later owner was erased", async () => {
    await person("id");
    await stage.append("reset_client_id", "id", { new_client_id: "kept" });
    await stage.register("id", { name: "second" }, { at: NOW_MS + 1 });
    await erase("id");
    await stage.applyAll();
    const before = await rowsOf(stage.pool, "user_account");
    expect(before).toMatchObject([{ client_id: "kept", pay_count: 1 }]);
    await stage.restart();
    await emptyFacts(stage.pool, stage.term);
    await stage.applyAll();
    expect(await rowsOf(stage.pool, "user_account")).toEqual(before);
  });
});

describe("after an erasure", () => {
  test("entries received before it by another process are skipped and counted as unregistered", async () => {
    await person("zelda");
    await erase("zelda");
    await stage.applyAll();
    const other = await openJournal(newFolder());
    const head = { app: stage.app.appId, client: "zelda", at: NOW_MS, ip: "", ua: "", registered: "yes" } as const;
    const body = (value: object) => Buffer.from(JSON.stringify(value));
    await other.append({
      head: { ...head, kind: "register" },
      body: body({ name: "zelda", channel: "c", version: 1 }),
    });
    await other.append({
      head: { ...head, kind: "collect" },
      body: body({ event_list: [track("late"), pay("o9", 1)] }),
    });
    const applier = new Applier({
      pool: stage.pool,
      sources: [sourceOf(other, 0)],
      log,
      writtenBytes: () => other.durable,
      onApplied() {},
      term: () => stage.term,
      erasureKey: ERASURE_KEY,
    });
    while ((await applier.turn()) === "busy");
    await applier.close();
    await other.close();
    expect(await tablesWith("zelda")).toEqual([]);
    expect(await stage.ledger()).toEqual({ received: 6, stored: 4, unregistered: 2 });
  });

  test("entries of a process that has not heard of it create no user", async () => {
    await person("zelda");
    await erase("zelda");
    await stage.collect("zelda", [track("late", {}, ERASED_MS + 1)], { at: ERASED_MS + 1 });
    await stage.append("device_info", "zelda", { data: { oaid: "x" } }, { at: ERASED_MS + 1 });
    await stage.applyAll();
    expect([await tablesWith("zelda"), await stage.ledger()]).toEqual([
      [],
      { received: 5, stored: 4, unregistered: 1 },
    ]);
  });

  test("a client that registers again is a new user, with nothing of the old one", async () => {
    await person("zelda");
    await erase("zelda");
    await stage.register("zelda", { device_info: { os_name: "android", oaid: "oaid-zelda" } }, { at: ERASED_MS + 5 });
    await stage.collect("zelda", [pay("order-zelda", 100, {}, ERASED_MS + 6)], { at: ERASED_MS + 6 });
    await stage.applyAll();
    const again = { registeredAtMs: ERASED_MS + 5, payCount: 1, payCents: 100, adPlatform: "", properties: {} };
    expect(await userOf("zelda")).toMatchObject(again);
    expect(await stage.ledger()).toEqual({ received: 5, stored: 5 });
  });

  test("entries set aside before it, and not recognised as the user's, are not applied", async () => {
    await person("zelda");
    await erase("zelda");
    await stage.applyAll();
    const head = {
      kind: "register",
      app: stage.app.appId,
      client: "zelda",
      at: NOW_MS,
      ip: "",
      ua: "",
      registered: "yes",
    };
    const text = Buffer.from(JSON.stringify(head));
    const length = Buffer.alloc(4);
    length.writeUInt32LE(text.length);
    const payload = Buffer.concat([length, text, Buffer.from('{"name":"n","channel":"c","version":1}')]);
    await stage.pool.query(
      `insert into set_aside (journal_id, from_position, until_position, reason, payload, state)
        values ($1, 0, 12 + octet_length($2::bytea), 'r', $2, 'waiting')`,
      [stage.journal.id, payload],
    );
    await requestReplay(stage.pool);
    while (await stage.applier.replayOne());
    expect([await stage.count("user_account"), await stage.setAside()]).toEqual([0, []]);
  });
});

test("the erasure knows every table with a client's id", async () => {
  const { rows } = await stage.pool.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      join pg_attribute a on a.attrelid = c.oid and a.attname = 'client_id'
      where n.nspname = 'public' and c.relkind in ('r', 'p') and not c.relispartition order by 1`,
  );
  expect(rows.map(({ name }) => name)).toEqual([...TABLES_OF_CLIENTS].sort());
});
