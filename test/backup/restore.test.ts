import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Applier } from "../../src/apply/applier.ts";
import { draftOf } from "../../src/backup/draft.ts";
import { readManifest, textOfManifest } from "../../src/backup/manifest.ts";
import { unlessHeld } from "../../src/db/backup-hold.ts";
import { listRelations } from "../../src/db/engine/catalog.ts";
import { migrate } from "../../src/db/engine/migrate.ts";
import { inTransaction } from "../../src/db/engine/pool.ts";
import { dropEventDaysBefore } from "../../src/db/event-day.ts";
import { insertOutbox } from "../../src/db/outbox.ts";
import { settingsFileOf } from "../../src/intake/settings-copy.ts";
import { fileSource } from "../../src/journal/reader.ts";
import { claim, DAY_MS, ERASURE_KEY, NOW_MS, pay, profile, track } from "../db/apply-stage.ts";
import { log, makeApp } from "../db/temp-database.ts";
import { entryOf, openJournal, packAll } from "../journal/temp-journal.ts";
import { eventually } from "../support/patience.ts";
import { BackupStage, contents, type Target } from "./backup-stage.ts";

let stage: BackupStage;

/** Awkward texts, several partitions, every ledger outcome that a few entries can give, and entries set aside. */
beforeAll(async () => {
  stage = await BackupStage.open();
  const { source } = stage;
  for (const client of ["a", "b"]) await source.register(client);
  const texts = fc.sample(fc.string({ unit: "grapheme-composite", maxLength: 60 }), 40);
  const awkward = [...texts, "\\.", "\\N", "tab\tline\nreturn\rslash\\", "", "null", "汉字 😀"];
  const events = awkward.map((text, index) =>
    track("e", { text: text.replaceAll("\u0000", ""), index }, NOW_MS - index),
  );
  await source.collect("a", events);
  await source.collect("a", events);
  await source.collect("b", [
    pay("o-1", 600),
    profile("profile_set", { level: 3 }),
    track("e", {}, NOW_MS - 2 * DAY_MS),
  ]);
  await source.append("collect", "b", "{broken");
  await source.applyAll();
  await source.pool.query("update set_aside set payload = $1", [Buffer.from([0, 10, 9, 92, 13, 255])]);
  await source.pool.query(
    `insert into cube (${await notNullColumns("cube")}) select ${await someValues("cube")} from generate_series(1, 3) n`,
  );
});
afterAll(() => stage.close());

async function notNullColumns(table: string): Promise<string> {
  const { rows } = await stage.source.pool.query(COLUMNS, [table]);
  return rows.map(({ name }) => name).join(", ");
}

/** A value for each column: the row's number, as a text, a number or a day. */
async function someValues(table: string): Promise<string> {
  const { rows } = await stage.source.pool.query(COLUMNS, [table]);
  const valueFor = (type: string) => (type === "date" ? "'2024-06-01'::date + n::int" : `(n * 11)::text::${type}`);
  return rows.map(({ type }) => valueFor(type)).join(", ");
}

const COLUMNS = `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
  where attrelid = $1::regclass and attnum > 0 and not attisdropped and attnotnull order by attnum`;

test("a restored database has every row, partition and sequence of the original, and its journal", async () => {
  const { source } = stage;
  const { dir, manifest } = await stage.take();
  const target = await stage.target();
  const restored = await stage.restore(dir, target);
  expect(await contents(target.pool, manifest)).toEqual(await contents(source.pool, manifest));
  expect(manifest.database.tables.filter(({ partition }) => partition?.of === "event").length).toBeGreaterThan(1);
  expect(manifest.database.sums.ledger).toContainEqual({ app: source.app.appId, outcome: "duplicate", events: 46 });
  expect(manifest.database.sums.cube.map(({ rows }) => rows)).toEqual([1, 1, 1]);
  expect(restored).toMatchObject({ journal: "restored", until: source.journal.durable, foreign: [] });
  const journal = await openJournal(join(target.dataDir, "journal"));
  expect({ id: journal.id, durable: journal.durable }).toEqual({
    id: source.journal.id,
    durable: source.journal.durable,
  });
  await journal.close();
  const [mine, theirs] = [await makeApp(source.pool), await makeApp(target.pool)];
  expect(theirs.appId).toBe(mine.appId);
  await migrate(target.pool, { log, clock: () => NOW_MS });
  const { rows } = await target.pool.query("select actor, action from audit_log order by audit_id desc limit 2");
  expect(rows).toEqual([
    { actor: "test", action: "backup/restore" },
    { actor: "test", action: "backup" },
  ]);
});

test("an old backup beside a newer journal, which is packed, catches up: the tables become those of the original", async () => {
  const { source } = stage;
  const { dir, manifest } = await stage.take();
  await source.register("later");
  await source.collect("later", [track("e", { n: 1 }), pay("o-2", 300), track("e", {}, NOW_MS - 3 * DAY_MS)]);
  await source.collect("a", [track("e", { text: "later" }, NOW_MS + 5)]);
  await source.applyAll();
  const target = await stage.target();
  const dirOfJournal = stage.copyJournal(target);
  await packAll(dirOfJournal);
  const restored = await stage.restore(dir, target);
  expect(restored).toMatchObject({ journal: "kept", until: source.journal.durable });
  expect(restored.until).toBeGreaterThan(manifest.journal.until);
  const term = await claim(target.pool);
  const applier = new Applier({
    pool: target.pool,
    sources: [fileSource({ id: source.journal.id, dir: dirOfJournal }, () => restored.until)],
    log,
    writtenBytes: () => 0,
    onApplied: () => {},
    erasureKey: ERASURE_KEY,
    term: () => term,
  });
  while ((await applier.turn()) === "busy");
  await applier.close();
  const now = await stage.take();
  expect(now.manifest.database.tables.length).toBeGreaterThan(manifest.database.tables.length);
  expect(await contents(target.pool, now.manifest)).toEqual(await contents(source.pool, now.manifest));
});

test("a record that another process is just writing is left out, and everything acknowledged is in", async () => {
  const { source } = stage;
  const last = readdirSync(source.journal.dir)
    .filter((name) => name.endsWith(".journal"))
    .at(-1)!;
  const path = join(source.journal.dir, last);
  const whole = readFileSync(path);
  await appendFile(path, whole.subarray(0, 40));
  const { dir, manifest } = await stage.take();
  writeFileSync(path, whole);
  expect(manifest.journal.until).toBe(source.journal.durable);
  const target = await stage.target();
  await stage.restore(dir, target);
  expect(readFileSync(join(target.dataDir, "journal", last)).equals(whole)).toBe(true);
});

test("a restore that ends halfway leaves a database that no server opens, and a repetition begins anew", async () => {
  const { dir, manifest } = await stage.take();
  const target = await stage.target();
  let steps = 0;
  const onProgress = (part: string) => {
    if (part === "load" && ++steps > manifest.database.tables.length / 2) throw new Error("The power went.");
  };
  await expect(stage.restore(dir, target, { onProgress })).rejects.toThrow("The power went.");
  await expect(migrate(target.pool, { log, clock: () => NOW_MS })).rejects.toThrow(
    "A restore of this database was not finished. Run `touchpoint restore` again",
  );
  await stage.restore(dir, target);
  expect(await contents(target.pool, manifest)).toEqual(await contents(stage.source.pool, manifest));
  await migrate(target.pool, { log, clock: () => NOW_MS });
});

type Case = [string, (dir: string, target: Target) => unknown, RegExp];

test.each<Case>([
  ["a changed file", (dir) => flip(join(dir, "tables/app.copy.gz")), /checksum of .*app\.copy\.gz is wrong/],
  ["a missing segment", (dir) => rmSync(join(dir, "journal"), { recursive: true }), /journal\.gz is missing/],
  ["a missing manifest", (dir) => rmSync(join(dir, "manifest.json")), /holds no backup: it has no manifest\.json/],
  ["a newer program's backup", addMigration, /newer than this program: it has 9999-later\.sql/],
  [
    "another key",
    (_, target) => Object.assign(target, { secretKey: "11".repeat(32) }),
    /SECRET_KEY did not seal the secrets/,
  ],
  [
    "no key",
    (_, target) => Object.assign(target, { secretKey: "" }),
    /key of this backup is missing.*does not hold it/,
  ],
  [
    "a database in use",
    (_, { pool }) => pool.query("create table mine (n int)"),
    /not empty \(1 tables, such as mine\)/,
  ],
  ["another journal", (_, { dataDir }) => otherJournal(dataDir, "other"), /holds another journal/],
  ["a journal that went its own way", (_, { dataDir }) => otherJournal(dataDir, "same"), /went its own way/],
])("%s is refused before anything is changed", async (_name, spoil, sentence) => {
  const { dir } = await stage.take();
  const target = await stage.target();
  await spoil(dir, target);
  const before = [await listRelations(target.pool), readdirSync(target.dataDir)];
  await expect(stage.restore(dir, target)).rejects.toThrow(sentence);
  expect([await listRelations(target.pool), readdirSync(target.dataDir)]).toEqual(before);
});

function flip(path: string): void {
  const bytes = readFileSync(path);
  bytes[bytes.length - 3]! ^= 1;
  writeFileSync(path, bytes);
}

function addMigration(dir: string): void {
  const manifest = readManifest(dir);
  manifest.database.migrations.push({ name: "9999-later.sql", checksum: "00" });
  writeFileSync(join(dir, "manifest.json"), textOfManifest(manifest));
}

async function otherJournal(dataDir: string, id: "other" | "same"): Promise<void> {
  const folder = join(dataDir, "journal");
  mkdirSync(folder);
  if (id === "same") writeFileSync(join(folder, "id"), `${stage.source.journal.id}\n`);
  const journal = await openJournal(folder);
  await journal.append(entryOf("elsewhere"));
  await journal.close();
}

test("another journal is put aside where that is asked for, and nothing of it is lost", async () => {
  const { dir } = await stage.take();
  const target = await stage.target();
  await otherJournal(target.dataDir, "other");
  const [segment] = readdirSync(join(target.dataDir, "journal"));
  const bytes = readFileSync(join(target.dataDir, "journal", segment!));
  await stage.restore(dir, target, { existing: "replace" });
  const aside = readdirSync(target.dataDir).find((name) => name.startsWith("before-restore-"))!;
  expect(readFileSync(join(target.dataDir, aside, "journal", segment!)).equals(bytes)).toBe(true);
  expect(readFileSync(join(target.dataDir, "journal/id"), "utf8").trim()).toBe(stage.source.journal.id);
});

test("segments without an id are no journal and are put aside; a copy of the settings of before is removed", async () => {
  const { dir } = await stage.take();
  const target = await stage.target();
  await otherJournal(target.dataDir, "other");
  rmSync(join(target.dataDir, "journal/id"));
  const [segment] = readdirSync(join(target.dataDir, "journal"));
  writeFileSync(settingsFileOf(target.dataDir), "settings of before");
  await stage.restore(dir, target);
  const aside = readdirSync(target.dataDir).find((name) => name.startsWith("before-restore-"))!;
  expect(readdirSync(join(target.dataDir, aside, "journal"))).toEqual([segment]);
  expect(readFileSync(join(target.dataDir, "journal/id"), "utf8").trim()).toBe(stage.source.journal.id);
  expect(existsSync(settingsFileOf(target.dataDir))).toBe(false);
});

test("the key travels only under a passphrase, and comes back as a file that only its owner reads", async () => {
  const { dir, manifest } = await stage.take({ passphrase: "correct horse battery" });
  expect(JSON.stringify(manifest)).not.toContain("c3c3c3");
  const target = { ...(await stage.target()), secretKey: "" };
  await expect(stage.restore(dir, target, { passphrase: "wrong horse battery" })).rejects.toThrow(
    "passphrase is wrong",
  );
  expect(await listRelations(target.pool)).toEqual([]);
  await stage.restore(dir, target, { passphrase: "correct horse battery" });
  const file = join(target.dataDir, "secret.key");
  expect(readFileSync(file, "utf8").trim()).toBe("c3".repeat(32));
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("after a restore, postbacks of the time before count as begun, and later ones do not", async () => {
  const { source } = stage;
  const { appId } = source.app;
  const message = (subject: string, dueAtMs: number) => ({
    appId,
    clientId: "a",
    eventType: "pay",
    subject,
    lane: "l",
    dueAtMs,
    content: {},
  });
  await insertOutbox(source.pool, [message("waiting", NOW_MS - 1)]);
  const { dir } = await stage.take();
  await source.pool.query("delete from outbox");
  const flights = async ({ pool }: Target) =>
    (await pool.query("select subject, in_flight from outbox order by outbox_id")).rows.map((row) =>
      Object.values(row),
    );
  const unsure = await stage.target();
  expect(await stage.restore(dir, unsure)).toMatchObject({ doubted: 1 });
  await insertOutbox(unsure.pool, [message("caught up", NOW_MS - 1), message("new", NOW_MS)]);
  expect(await flights(unsure)).toEqual([
    ["waiting", true],
    ["caught up", true],
    ["new", false],
  ]);
  const unsent = await stage.target();
  expect(await stage.restore(dir, unsent, { postbacks: "unsent" })).toMatchObject({ doubted: 0 });
  await insertOutbox(unsent.pool, [message("caught up", NOW_MS - 1)]);
  expect(await flights(unsent)).toEqual([
    ["waiting", false],
    ["caught up", false],
  ]);
});

test("a backup that fails, or was killed, leaves nothing that looks like one", async () => {
  const parent = stage.folder();
  const dir = join(parent, "backup");
  // A process that had the number of this one before it.
  mkdirSync(join(draftOf(dir).replace(/[0-9a-f]{12}$/, "0123456789ab"), "tables"), { recursive: true });
  const onProgress = (part: string) => {
    if (part === "journal") throw new Error("The disk went.");
  };
  await expect(stage.take({ dir, onProgress })).rejects.toThrow("The disk went.");
  expect(readdirSync(parent)).toEqual([]);
  await expect(stage.take({ dir, diskFreeBytesMin: 2 ** 60 })).rejects.toThrow(/too full for a backup/);
  expect(existsSync(dir)).toBe(false);
  await stage.take({ dir });
  await expect(stage.take({ dir })).rejects.toThrow("is not empty: name a new folder");
  // Its parent is on another disk on every system that has it.
  await expect(stage.take({ dir: "/dev" })).rejects.toThrow(
    "/dev is where another disk is mounted: name a folder inside it, such as /dev/backup.",
  );
});

test("while a backup runs no segment is pruned, and dropping a partition that is read gives up instead of making apply wait", async () => {
  const { source } = stage;
  const reader = await source.pool.connect();
  await reader.query("begin; lock table refund in access exclusive mode");
  const taking = stage.take();
  await eventually(async () => {
    const held = await source.pool.query("select 1 from pg_locks where not granted and relation = 'refund'::regclass");
    expect(held.rowCount).toBe(1);
  });
  expect(await unlessHeld(source.pool, async () => "pruned")).toBeUndefined();
  await reader.query("rollback");
  await taking;
  expect(await unlessHeld(source.pool, async () => "pruned")).toBe("pruned");
  await inTransaction(source.pool, async (tx) => {
    await tx.query("select count(*) from event");
    await expect(dropEventDaysBefore(source.pool, "2024-06-20")).rejects.toThrow(/lock timeout/);
  });
  reader.release();
});
