import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type pg from "pg";
import type { Clock } from "../../clock.ts";
import { UsageError } from "../../errors.ts";
import type { Log } from "../../log.ts";
import { execute, query, sql } from "./sql.ts";

/** From dist/src/db/engine and from src/db/engine alike, the folder of the package is where package.json is. */
const FOLDER = import.meta.url.includes("/dist/") ? "../../../../migrations/" : "../../../migrations/";
const MIGRATIONS = fileURLToPath(new URL(FOLDER, import.meta.url));
const VERSION_MIN = 150_000;

type Migration = { name: string; text: string; checksum: string };

/** Brings the database up to this program's schema. Forward only; safe to run from several processes at once. */
export async function migrate(pool: pg.Pool, options: { log: Log; clock: Clock }): Promise<void> {
  const migrations = await readMigrations();
  const client = await pool.connect();
  try {
    await assertVersion(client);
    await client.query("select pg_advisory_lock(7226387)");
    const done = await loadDone(client);
    assertSame(migrations, done);
    for (const { name, text, checksum } of migrations.filter((migration) => !done.has(migration.name))) {
      await client.query("begin");
      // Before its statements: they read there when they run, and never ask the database for the time.
      await execute(
        client,
        sql`insert into migration (name, applied_at_ms, checksum) values (${name}, ${options.clock()}, ${checksum})`,
      );
      for (const statement of statementsOf(text)) await client.query(statement);
      await client.query("commit");
      options.log.info({ migration: name }, "The database was migrated.");
    }
    await noteChecksums(client, migrations, done);
  } finally {
    // Ends the session, and with it the advisory lock and a half-done transaction.
    client.release(true);
  }
}

async function readMigrations(): Promise<Migration[]> {
  const names = (await readdir(MIGRATIONS)).filter((name) => name.endsWith(".sql")).sort();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(`${MIGRATIONS}${name}`, "utf8");
      return { name, text, checksum: checksumOf(text) };
    }),
  );
}

/** The same for every checkout: git may write the line ends of the system. */
export function checksumOf(text: string): string {
  return createHash("sha256").update(text.replaceAll("\r\n", "\n")).digest("hex");
}

/** Name → checksum of what this database has. Null: applied by a version that kept no checksums. */
async function loadDone(client: pg.PoolClient): Promise<Map<string, string | null>> {
  await client.query("create table if not exists migration (name text primary key, applied_at_ms bigint not null)");
  const column = sql`select 1 from pg_attribute where attrelid = 'migration'::regclass and attname = 'checksum'`;
  // Asked first: a role that may only use the tables is not allowed to alter them, not even to no effect.
  if ((await query(client, column)).length === 0) await client.query("alter table migration add column checksum text");
  const rows = await query<{ name: string; checksum: string | null }>(
    client,
    sql`select name, checksum from migration order by name`,
  );
  return new Map(rows.map((row) => [row.name, row.checksum]));
}

/** Refuses a database whose tables were made by other migrations than those at hand. */
function assertSame(migrations: readonly Migration[], done: ReadonlyMap<string, string | null>): void {
  const known = new Map(migrations.map(({ name, checksum }) => [name, checksum]));
  const unknown = [...done.keys()].filter((name) => !known.has(name));
  if (unknown.length > 0) {
    throw new UsageError(
      `The database is newer than this program: it has ${unknown.join(", ")}. Start the version that made it, or a later one.`,
    );
  }
  const edited = [...done].filter(([name, checksum]) => checksum !== null && checksum !== known.get(name));
  if (edited.length > 0) {
    throw new UsageError(
      `${edited.map(([name]) => name).join(", ")} was edited after this database was migrated with it: put the released file back into migrations/, and make changes in a new migration.`,
    );
  }
}

async function noteChecksums(
  client: pg.PoolClient,
  migrations: readonly Migration[],
  done: ReadonlyMap<string, string | null>,
): Promise<void> {
  for (const { name, checksum } of migrations.filter((migration) => done.get(migration.name) === null)) {
    await execute(client, sql`update migration set checksum = ${checksum} where name = ${name}`);
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
