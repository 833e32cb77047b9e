import { type Executor, query, sql } from "./sql.ts";

/** How the comment on a schema with views for other programs begins; see src/db/view. */
export const VIEWS_MARK = "touchpoint views";

/**
 * Drops the views that other programs read, and leaves their schemas: a migration cannot change a column that a view
 * shows. They are made anew when the tables are up to date.
 */
export async function dropMarkedViews(client: Executor): Promise<void> {
  const views = await query<{ name: string }>(
    client,
    sql`select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind = 'v' and starts_with(obj_description(n.oid, 'pg_namespace'), ${VIEWS_MARK}) order by c.oid`,
  );
  for (const { name } of views) await client.query(`drop view if exists ${name} cascade`);
}
