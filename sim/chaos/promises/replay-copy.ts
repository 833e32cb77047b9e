import { randomBytes } from "node:crypto";
import type pg from "pg";
import { Applier } from "../../../src/apply/applier.ts";
import { systemClock } from "../../../src/clock.ts";
import { claimApply } from "../../../src/db/apply-holder.ts";
import { migrate } from "../../../src/db/engine/migrate.ts";
import { FACT_TABLES } from "../../../src/db/facts.ts";
import type { LogSource } from "../../../src/journal/entry-log.ts";
import { createLog } from "../../../src/log.ts";
import type { Findings } from "../findings.ts";
import { until } from "../until.ts";

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
  ...["app_cursor", "asa_token", "cube", "dirty_day", "outbox", "migration"],
];
/** Postbacks survive a replay: it sends nothing again, and its orders show the earlier outcomes. */
const COMPARED = [...DECIDED, "postback", "outbox"];
/** Sequence numbers of rolled-back transactions are not reused. */
const WITHOUT = ["set_aside_id"];
const DIFFERENCES_SHOWN = 2;

export type Original = {
  pool: pg.Pool;
  /** A pool of another database of the same cluster. */
  openPool: (name: string) => pg.Pool;
  sources: readonly LogSource[];
  erasureKey: Uint8Array;
  /** The statement with the rows of a table that a replay must give again. */
  rowsOf: (table: string) => Promise<string>;
};

/** Applies a whole journal, by one process, to an empty copy of the settings, and compares the tables. */
export async function compareWithReplay(original: Original, findings: Findings): Promise<void> {
  const { sources, erasureKey, rowsOf } = original;
  const copy = await emptyCopy(original);
  try {
    const { journalId } = sources[0]!;
    const holder = { journalId, host: "chaos", processId: process.pid, sinceMs: systemClock() };
    const term = await claimApply(copy.pool, holder);
    const applier = new Applier({
      pool: copy.pool,
      sources,
      erasureKey,
      term: () => term,
      log: createLog("silent"),
      writtenBytes: () => 0,
      onApplied: () => {},
    });
    while ((await applier.turn()) === "busy");
    await applier.close();
    for (const table of COMPARED) {
      const rows = await rowsOf(table);
      const [is, should] = [await digestOf(copy.pool, rows), await digestOf(original.pool, rows)];
      const differences = is === should ? "" : await differencesOf(rows, { copy: copy.pool, site: original.pool });
      findings.hold(3, is === should, `${table} is another after a replay: ${differences}`);
    }
  } finally {
    await copy.drop();
  }
}

/** All rows of a table, but for columns that a replay cannot give again. */
export function rowsIn(table: string): string {
  return `select (to_jsonb(t) - '{${WITHOUT.join(",")}}'::text[])::text as row from ${table} t`;
}

type Copy = { pool: pg.Pool; drop(): Promise<void> };

/** Makes a database with the settings and none of the facts. */
async function emptyCopy({ pool: original, openPool }: Original): Promise<Copy> {
  const name = `replay_${randomBytes(8).toString("hex")}`;
  await original.query(`create database ${name}`);
  const pool = openPool(name);
  const drop = async () => {
    await pool.end();
    // Refused while PostgreSQL itself is cleaning up there.
    await until("the copy to be dropped", async () => {
      await original.query(`drop database ${name} with (force)`);
      return true;
    });
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
