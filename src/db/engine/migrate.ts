import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type pg from "pg";
import type { Clock } from "../../clock.ts";
import { UsageError } from "../../errors.ts";
import type { Log } from "../../log.ts";
import { PACKAGE } from "../../package-folder.ts";
import { distribute, planDistribution } from "./distribute.ts";
import { dropMarkedViews } from "./marked-views.ts";
import { assertRestored } from "./restore-mark.ts";
import { type Executor, execute, query, sql } from "./sql.ts";

const MIGRATIONS = fileURLToPath(new URL("migrations/", PACKAGE));
const VERSION_MIN = 150_000;

type Migration = { name: string; text: string; checksum: string };

export type MigrateOptions = {
  log: Log;
  clock: Clock;
  /** What is done to tables that hold data where Citus is installed, and that are not distributed yet. */
  filled?: "distribute" | "leave";
  /** For a restore, whose database is marked as unfinished: at first, only the migrations that the backup had. */
  restore?: { only: ReadonlySet<string> | undefined };
};

/** Brings the database up to this program's schema. Forward only; safe to run from several processes at once. */
export async function migrate(pool: pg.Pool, options: MigrateOptions): Promise<void> {
  const { only } = options.restore ?? {};
  const migrations = (await readMigrations()).filter(({ name }) => !only || only.has(name));
  const client = await pool.connect();
  try {
    await assertVersion(client);
    await client.query("select pg_advisory_lock(7226387)");
    if (!options.restore) await assertRestored(client);
    const done = await loadDone(client);
    assertSame(migrations, done);
    const pending = migrations.filter((migration) => !done.has(migration.name));
    const moves = options.restore ? [] : await planDistribution(client);
    if (pending.length > 0 || moves.length > 0) await dropMarkedViews(client);
    for (const { name, text, checksum } of pending) {
      await client.query("begin");
      // Comes before its statements, which read the time from this row instead of asking the database for it.
      await execute(
        client,
        sql`insert into migration (name, applied_at_ms, checksum) values (${name}, ${options.clock()}, ${checksum})`,
      );
      for (const statement of statementsOf(text)) await client.query(statement);
      await client.query("commit");
      options.log.info({ migration: name }, "The database was migrated.");
    }
    await noteChecksums(client, migrations, done);
    // Not in a restore, which copies rows into tables as they were in the backup.
    if (!options.restore) await distribute(client, { log: options.log, filled: options.filled ?? "leave" });
  } finally {
    // Ends the session, and with it the advisory lock and an unfinished transaction.
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

/** An applied migration; without a checksum when a version that kept none applied it. */
export type DoneMigration = { name: string; checksum: string | null };

/** The migrations that a database has, without changing it. */
export async function listMigrations(executor: Executor): Promise<DoneMigration[]> {
  // As JSON, because a version that kept no checksums made no column for them.
  const rows = await query<{ row: DoneMigration }>(
    executor,
    sql`select to_jsonb(m) as row from migration m order by name collate "C"`,
  );
  return rows.map(({ row }) => ({ name: row.name, checksum: row.checksum ?? null }));
}

/** The migrations that a database lacks, without changing it. */
export async function listPending(executor: Executor): Promise<string[]> {
  const [table] = await query<{ name: string | null }>(executor, sql`select to_regclass('migration')::text as name`);
  const done = new Set(table?.name ? (await listMigrations(executor)).map(({ name }) => name) : []);
  return (await readMigrations()).flatMap(({ name }) => (done.has(name) ? [] : [name]));
}

/** Refuses migrations that this program does not have, or has with another content. */
export async function assertKnown(done: readonly DoneMigration[]): Promise<void> {
  assertSame(await readMigrations(), new Map(done.map(({ name, checksum }) => [name, checksum])));
}

/** The checksum, the same for every checkout: git may write the system's line endings. */
export function checksumOf(text: string): string {
  return createHash("sha256").update(text.replaceAll("\r\n", "\n")).digest("hex");
}

/** The applied migrations and their checksums; null when a version without checksums applied it. */
async function loadDone(client: pg.PoolClient): Promise<Map<string, string | null>> {
  await client.query("create table if not exists migration (name text primary key, applied_at_ms bigint not null)");
  const column = sql`select 1 from pg_attribute where attrelid = 'migration'::regclass and attname = 'checksum'`;
  // Checked first: a role without the right to alter tables may not even run an alteration that changes nothing.
  if ((await query(client, column)).length === 0) await client.query("alter table migration add column checksum text");
  const rows = await query<{ name: string; checksum: string | null }>(
    client,
    sql`select name, checksum from migration order by name`,
  );
  return new Map(rows.map((row) => [row.name, row.checksum]));
}

/** Refuses a database that was migrated with other files than this program has. */
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
  if (Number(row?.version) < VERSION_MIN) throw new UsageError("PostgreSQL 15 or newer is required.");
}

/** The statements of a migration: Citus does not run several at once. A statement ends with ; at the end of a line. */
function statementsOf(text: string): string[] {
  const withoutComments = text.replace(/^--.*$/gm, "");
  return withoutComments
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");
}
