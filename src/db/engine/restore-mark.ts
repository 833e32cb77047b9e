import { UsageError } from "../../errors.ts";
import { type Executor, execute, query, sql } from "./sql.ts";

/*
 * While a backup is being restored, the database has this table: everything in it came from the restore, so that a
 * restore that was interrupted may clear it and begin again, and no server starts on half of the data.
 */

export const RESTORE_MARK = "unfinished_restore";

export async function hasRestoreMark(executor: Executor): Promise<boolean> {
  const [row] = await query<{ name: string | null }>(executor, sql`select to_regclass(${RESTORE_MARK})::text as name`);
  return row!.name !== null;
}

export async function setRestoreMark(executor: Executor): Promise<void> {
  await execute(executor, sql`create table if not exists unfinished_restore ()`);
}

export async function removeRestoreMark(executor: Executor): Promise<void> {
  await execute(executor, sql`drop table unfinished_restore`);
}

export async function assertRestored(executor: Executor): Promise<void> {
  if (!(await hasRestoreMark(executor))) return;
  throw new UsageError(
    "A restore of this database was not finished. Run `touchpoint restore` again with the same backup: it begins anew.",
  );
}
