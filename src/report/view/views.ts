import { createHash } from "node:crypto";
import type pg from "pg";
import { isDistributed } from "../../db/engine/distribute.ts";
import { VIEWS_MARK } from "../../db/engine/marked-views.ts";
import { inTransaction } from "../../db/engine/pool.ts";
import { type Executor, identifier, listed, query, sql, withLiterals } from "../../db/engine/sql.ts";
import { messageOf, UsageError } from "../../errors.ts";
import type { Log } from "../../log.ts";
import { AD_REPORT } from "./ad-report-view.ts";
import { FACT_VIEWS, type View } from "./view-tables.ts";

/** Every view that other programs may read. Names and meanings stay; columns are only ever added. */
export const VIEWS: readonly View[] = [...FACT_VIEWS, AD_REPORT];

/** Views for one role, in a schema of its name. `appId`: only rows of this app; undefined: of all. */
export type ViewSet = { role: string; appId: number | undefined };

/**
 * Throws where Citus distributes the tables: it asks its workers in the name of the role, which may not read the tables
 * there. A view lends its owner's rights on one PostgreSQL only.
 */
export async function assertViewsWork(executor: Executor): Promise<void> {
  if (await isDistributed(executor))
    throw new UsageError("Views for a role of their own do not work where Citus distributes the tables.");
}

/** Makes the views of a role, in place of those that it has. The role must exist. */
export async function createViews(pool: pg.Pool, wanted: ViewSet): Promise<void> {
  await assertViewsWork(pool);
  await inTransaction(pool, async (tx) => {
    await lockViews(tx);
    const schema = identifier(wanted.role);
    const mark = await markOf(tx, wanted.role);
    if (mark !== undefined && !mark.startsWith(VIEWS_MARK))
      throw new UsageError(`There is a schema ${wanted.role} with something else in it: choose another --role.`);
    await run(tx, sql`drop schema if exists ${schema} cascade`);
    await run(tx, sql`create schema ${schema}`);
    await run(tx, sql`revoke all on schema ${schema} from public`);
    for (const view of VIEWS) await createView(tx, view, wanted);
    await run(tx, sql`grant usage on schema ${schema} to ${schema}`);
    await run(tx, sql`grant select on all tables in schema ${schema} to ${schema}`);
    await run(tx, sql`comment on schema ${schema} is ${markText(wanted)}`);
  });
}

/** Makes the views anew that a migration has dropped, or that another version of this program has made. */
export async function renewViews(pool: pg.Pool): Promise<string[]> {
  const renewed: string[] = [];
  for (const { role, mark } of await listViewSets(pool)) {
    const wanted = { role, appId: appOf(mark) };
    if (mark === markText(wanted) && (await countViews(pool, role)) === VIEWS.length) continue;
    await createViews(pool, wanted);
    renewed.push(role);
  }
  return renewed;
}

/** The same after a migration. Views that cannot be made must not keep a server from starting. */
export async function keepViews(pool: pg.Pool, log: Pick<Log, "info" | "warn">): Promise<void> {
  try {
    for (const role of await renewViews(pool)) log.info({ role }, "The views of a role were made anew.");
  } catch (error) {
    log.warn({ reason: messageOf(error) }, "Views could not be made anew: run `database views` again.");
  }
}

/** Drops the views of a role. False when it has none. */
export async function dropViews(pool: pg.Pool, role: string): Promise<boolean> {
  return inTransaction(pool, async (tx) => {
    await lockViews(tx);
    const isThere = (await markOf(tx, role))?.startsWith(VIEWS_MARK) ?? false;
    if (isThere) await run(tx, sql`drop schema ${identifier(role)} cascade`);
    return isThere;
  });
}

export async function listViewSets(executor: Executor): Promise<{ role: string; mark: string }[]> {
  return query<{ role: string; mark: string }>(
    executor,
    sql`select nspname::text as role, obj_description(oid, 'pg_namespace') as mark from pg_namespace
      where starts_with(obj_description(oid, 'pg_namespace'), ${VIEWS_MARK}) order by nspname`,
  );
}

/** The app to which views are restricted, by the comment on their schema. */
export function appOf(mark: string): number | undefined {
  const [, app] = / app=(\d+)/.exec(mark) ?? [];
  return app === undefined ? undefined : Number(app);
}

/** One process at a time: several may start at once. */
const VIEWS_LOCK = 7226398;

async function lockViews(tx: Executor): Promise<void> {
  await query(tx, sql`select pg_advisory_xact_lock(${VIEWS_LOCK}::bigint)`);
}

async function createView(tx: Executor, view: View, { role, appId }: ViewSet): Promise<void> {
  const { name, columns, from, app, groups } = view;
  const target = sql`${identifier(role)}.${identifier(name)}`;
  const shown = listed(columns.map((column) => sql`${column.value} as ${identifier(column.name)}`));
  const where = appId === undefined ? sql`` : sql` where ${app} = ${appId}`;
  const group = groups ? sql` group by ${listed(groups.map((one) => sql`r.${identifier(one)}`))}` : sql``;
  // Otherwise a function that the reader writes could be asked about rows of other apps before these are left out.
  const barrier = appId === undefined ? sql`` : sql` with (security_barrier)`;
  await run(tx, sql`create view ${target}${barrier} as select ${shown} from ${from}${where}${group}`);
  await run(tx, sql`comment on view ${target} is ${view.says}`);
  for (const column of columns)
    await run(tx, sql`comment on column ${target}.${identifier(column.name)} is ${column.says}`);
}

/** Runs a statement that takes no parameters. */
async function run(tx: Executor, statement: Parameters<typeof withLiterals>[0]): Promise<void> {
  await tx.query(withLiterals(statement));
}

/** The comment on a schema; undefined when there is no schema, empty without a comment. */
async function markOf(tx: Executor, schema: string): Promise<string | undefined> {
  const [row] = await query<{ mark: string | null }>(
    tx,
    sql`select obj_description(oid, 'pg_namespace') as mark from pg_namespace where nspname = ${schema}`,
  );
  return row && (row.mark ?? "");
}

async function countViews(executor: Executor, schema: string): Promise<number> {
  const [row] = await query<{ views: number }>(
    executor,
    sql`select count(*) as views from pg_views where schemaname = ${schema}`,
  );
  return row!.views;
}

/** What the views are made of, in short: another version of this program may make them differently. */
function digestOfViews(): string {
  const parts = VIEWS.flatMap(({ name, says, from, columns }) => [
    ...[name, says, withLiterals(from)],
    ...columns.flatMap((column) => [column.name, withLiterals(column.value), column.says]),
  ]);
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
}

function markText({ appId }: ViewSet): string {
  return `${VIEWS_MARK} ${digestOfViews()}${appId === undefined ? "" : ` app=${appId}`}`;
}
