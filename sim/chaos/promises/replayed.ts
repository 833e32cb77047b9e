import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type pg from "pg";
import { Applier } from "../../../src/apply/applier.ts";
import { systemClock } from "../../../src/clock.ts";
import { claimApply } from "../../../src/db/apply-holder.ts";
import { migrate } from "../../../src/db/engine/migrate.ts";
import { FACT_TABLES } from "../../../src/db/facts.ts";
import { POSTBACK_STATUS } from "../../../src/domain/postback/postback.ts";
import { openKeys } from "../../../src/installation.ts";
import { fileSource } from "../../../src/journal/reader.ts";
import { createLog } from "../../../src/log.ts";
import type { Findings } from "../findings.ts";
import type { Site } from "../site.ts";

/** Tokens that wait for Apple are a queue: their number of attempts is not in the journal. */
const DECIDED = [
  ...FACT_TABLES.filter((table) => table !== "asa_token"),
  ...["touch", "touch_key", "touch_week", "event", "event_day", "event_meta", "property_meta", "journal_cursor"],
];
/** Tables that hold names declared by a person beside names observed. */
const SETTINGS_AMONG_FACTS: readonly string[] = ["event_meta", "property_meta"];
/** Tables made from the journal, or counted or queued from those: all are empty before the journal is applied. */
const NOT_COPIED: readonly string[] = [
  ...DECIDED.filter((table) => !SETTINGS_AMONG_FACTS.includes(table)),
  ...["asa_token", "cube", "dirty_day", "outbox", "migration"],
];
/** Postbacks survive a replay: it sends nothing again, and its orders show the earlier outcomes. */
const COMPARED = [...DECIDED, "postback", "outbox"];
/** Sequence numbers of rolled-back transactions are not reused. */
const WITHOUT = ["set_aside_id"];
const DIFFERENCES_SHOWN = 2;

/** Promise 3: the whole journal, applied to an empty copy of the settings, gives the same tables. */
export async function replayed(site: Site, findings: Findings): Promise<void> {
  const { durable } = await site.progress();
  const copy = await emptyCopy(site);
  try {
    const dir = join(site.dataDir, "journal");
    const keys = await openKeys(site.pool, { dataDir: site.dataDir, secretKey: "" }, "existing");
    const journal = { id: readFileSync(join(dir, "id"), "utf8").trim(), dir };
    const holder = { journalId: journal.id, host: "chaos", processId: process.pid, sinceMs: systemClock() };
    const term = await claimApply(copy.pool, holder);
    const applier = new Applier({
      pool: copy.pool,
      sources: [fileSource(journal, () => durable)],
      erasureKey: keys.erasureKey,
      term: () => term,
      log: createLog("silent"),
      writtenBytes: () => durable,
      onApplied: () => {},
    });
    while ((await applier.turn()) === "busy");
    await applier.close();
    const untold = await loadUntold(site);
    for (const table of COMPARED) {
      const rows = await ownRows(site, table, untold);
      const [is, should] = [await digestOf(copy.pool, rows), await digestOf(site.pool, rows)];
      const differences = is === should ? "" : await differencesOf(rows, { copy: copy.pool, site: site.pool });
      findings.hold(3, is === should, `${table} is another after a replay: ${differences}`);
    }
  } finally {
    await copy.drop();
  }
}

type Copy = { pool: pg.Pool; drop(): Promise<void> };

/** Makes a database with the site's settings and none of its facts. */
async function emptyCopy(site: Site): Promise<Copy> {
  const { pool: original } = site;
  const name = `replay_${randomBytes(8).toString("hex")}`;
  await original.query(`create database ${name}`);
  const pool = site.openPool(name);
  const drop = async () => {
    await pool.end();
    await original.query(`drop database ${name} with (force)`);
  };
  try {
    await migrate(pool, { log: createLog("silent"), clock: systemClock });
    const { rows } = await pool.query(
      `select relname as name from pg_class where relkind = 'r' and not relispartition
         and relnamespace = 'public'::regnamespace and relname <> all($1::text[])`,
      [NOT_COPIED],
    );
    for (const table of rows) await copyRows(original, pool, table.name);
  } catch (error) {
    await drop();
    throw error;
  }
  return { pool, drop };
}

async function copyRows(from: pg.Pool, to: pg.Pool, table: string): Promise<void> {
  const isSetting = SETTINGS_AMONG_FACTS.includes(table) ? "where state <> 'observed'" : "";
  const { rows } = await from.query(
    `select coalesce(jsonb_agg(to_jsonb(t)), '[]')::text as rows from ${table} t ${isSetting}`,
  );
  await to.query(
    `insert into ${table} overriding system value select * from jsonb_populate_recordset(null::${table}, $1::jsonb)
     on conflict do nothing`,
    [rows[0].rows],
  );
}

/**
 * The rows of a table made from the market's journal entries. Other apps are left out, because the fuzzer may have changed
 * their settings after their entries were applied.
 */
async function ownRows({ pool, operator }: Site, table: string, untold: readonly string[]): Promise<string> {
  const { appId } = operator.app;
  const { rowCount } = await pool.query(
    "select 1 from information_schema.columns where table_name = $1 and column_name = 'app_id'",
    [table],
  );
  const text = `select (to_jsonb(t) - '{${WITHOUT.join(",")}}'::text[])::text as row from ${table} t`;
  const others = OF_POSTBACKS.includes(table) ? `and client_id <> all('{${untold.join(",")}}'::text[])` : "";
  if (rowCount) return `${text} where (app_id = ${appId} or app_id is null) ${others}`;
  if (table === "event_day") return `${text} where day in (select day from event where app_id = ${appId})`;
  if (table === "touch_week") return `${text} where week in (select week from touch where app_id = ${appId})`;
  // Another process has its own, empty journal.
  return `${text} where position > 0`;
}

const OF_POSTBACKS: readonly string[] = ["postback", "outbox", "orders"];

/**
 * Clients whose postback was skipped because the click lacked something the platform needs. A replay puts it into the outbox
 * again, and the sender skips it again: nothing is sent, but the tables wait for it.
 */
async function loadUntold({ pool, operator }: Site): Promise<string[]> {
  const { rows } = await pool.query(
    "select distinct client_id from postback where app_id = $1 and status = $2 and reason like '% %'",
    [operator.app.appId, POSTBACK_STATUS.skipped],
  );
  return rows.map((row) => row.client_id);
}

/** A digest of all rows, independent of their order. */
async function digestOf(pool: pg.Pool, ownRows: string): Promise<string> {
  const { rows } = await pool.query(
    `select count(*) || ' ' || coalesce(bit_xor(hashtextextended(row, 0)), 0) as digest from (${ownRows}) own`,
  );
  return rows[0].digest;
}

async function differencesOf(ownRows: string, pools: { copy: pg.Pool; site: pg.Pool }): Promise<string> {
  const rowsOf = async (pool: pg.Pool) => new Set<string>((await pool.query(ownRows)).rows.map(({ row }) => row));
  const [copy, site] = [await rowsOf(pools.copy), await rowsOf(pools.site)];
  const only = (left: Set<string>, right: Set<string>) =>
    [...left].filter((row) => !right.has(row)).slice(0, DIFFERENCES_SHOWN);
  return JSON.stringify({ replayed: only(copy, site), before: only(site, copy), rows: [copy.size, site.size] });
}
