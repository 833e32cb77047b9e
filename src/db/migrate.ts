import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type pg from "pg";
import type { Clock } from "../clock.ts";
import { UsageError } from "../errors.ts";
import type { Log } from "../log.ts";
import { execute, query, sql } from "./sql.ts";

/** From dist/src/db and from src/db alike, the folder of the package is where package.json is. */
const FOLDER = import.meta.url.includes("/dist/") ? "../../../migrations/" : "../../migrations/";
const MIGRATIONS = fileURLToPath(new URL(FOLDER, import.meta.url));
const VERSION_MIN = 150_000;

/** Brings the database up to this program's schema. Forward only; safe to run from several processes at once. */
export async function migrate(pool: pg.Pool, options: { log: Log; clock: Clock }): Promise<void> {
  const client = await pool.connect();
  try {
    await assertVersion(client);
    await client.query("select pg_advisory_lock(7226387)");
    await client.query("create table if not exists migration (name text primary key, applied_at_ms bigint not null)");
    const done = new Set(
      (await query<{ name: string }>(client, sql`select name from migration`)).map((row) => row.name),
    );
    const files = (await readdir(MIGRATIONS)).filter((name) => name.endsWith(".sql")).sort();
    const unknown = [...done].filter((name) => !files.includes(name));
    if (unknown.length > 0)
      throw new UsageError(`The database is newer than this program: it has ${unknown.join(", ")}.`);
    for (const name of files.filter((file) => !done.has(file))) {
      await client.query("begin");
      for (const statement of statementsOf(await readFile(`${MIGRATIONS}${name}`, "utf8")))
        await client.query(statement);
      await execute(client, sql`insert into migration (name, applied_at_ms) values (${name}, ${options.clock()})`);
      await client.query("commit");
      options.log.info({ migration: name }, "The database was migrated.");
    }
  } finally {
    // Ends the session, and with it the advisory lock and a half-done transaction.
    client.release(true);
  }
}

async function assertVersion(client: pg.PoolClient): Promise<void> {
  const [row] = await query<{ version: string }>(client, sql`select current_setting('server_version_num') as version`);
  if (Number(row?.version) < VERSION_MIN) throw new UsageError("PostgreSQL 15 or newer is needed.");
}

/** One statement at a time: on Citus several in one string do not run. A statement ends with ; at the end of a line. */
function statementsOf(text: string): string[] {
  const withoutComments = text.replace(/^--.*$/gm, "");
  return withoutComments
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");
}
