import { type Executor, identifier, listed, query, sql } from "./engine/sql.ts";

/** What must be equal in a database and in one restored from its backup, whatever the order of the rows. */
export type BackupSums = {
  ledger: LedgerSum[];
  touches: LedgerSum[];
  /** Of each app, the number of the cube's rows and the sum of each of its measures, as exact texts. */
  cube: CubeSum[];
};

export type LedgerSum = { app: number; outcome: string; events: number };
export type CubeSum = { app: number; rows: number; sums: Record<string, string> };

export async function loadBackupSums(executor: Executor): Promise<BackupSums> {
  return {
    ledger: await sumLedgers(executor, "ledger_minute"),
    touches: await sumLedgers(executor, "touch_minute"),
    cube: await sumCube(executor),
  };
}

async function sumLedgers(executor: Executor, ledger: string): Promise<LedgerSum[]> {
  return query<LedgerSum>(
    executor,
    sql`select app_id as app, outcome, sum(events)::bigint as events from ${identifier(ledger)}
      group by app_id, outcome order by app_id, outcome collate "C"`,
  );
}

async function sumCube(executor: Executor): Promise<CubeSum[]> {
  const measures = await query<{ name: string }>(
    executor,
    sql`select attname::text as name from pg_attribute
      where attrelid = 'cube'::regclass and attnum > 0 and not attisdropped and attname <> 'app_id'
        and atttypid = any('{int2,int4,int8,numeric}'::regtype[])
      order by attname collate "C"`,
  );
  const sums = measures.map(({ name }) => sql`coalesce(sum(${identifier(name)}::numeric), 0)::text`);
  const rows = await query<{ app: number; rows: number; sums: string[] }>(
    executor,
    sql`select app_id as app, count(*) as rows, array[${listed(sums)}]::text[] as sums from cube
      group by app_id order by app_id`,
  );
  return rows.map(({ app, rows: count, sums: values }) => ({
    app,
    rows: count,
    sums: Object.fromEntries(measures.map(({ name }, index) => [name, values[index]!])),
  }));
}
