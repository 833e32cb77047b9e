import type { LakeDay } from "../domain/lake.ts";
import { countColdEvents } from "./cold-event.ts";
import { type Executor, identifier, joined, listed, query, type Sql, sql } from "./engine/sql.ts";
import { sourceOf } from "./lake-source.ts";

/** The columns of a table of the lake as they are read: their names in order, which of them are added up, which are texts. */
export type CheckedColumns = { all: readonly string[]; numbers: readonly string[]; texts: readonly string[] };

/** The number of a day's rows, the sum of each number, and a sum of checksums of the texts; as texts, because they can be long. */
export async function loadDaySums(
  tx: Executor,
  day: LakeDay,
  { receivedBeforeMs, columns }: { receivedBeforeMs: number; columns: CheckedColumns },
): Promise<string[]> {
  const numbers = columns.numbers.map((name) => sql`coalesce(sum(${identifier(name)}::numeric), 0)::text`);
  const texts = joined(
    columns.texts.map((name) => sql`${identifier(name)}::text`),
    sql`, `,
  );
  const sums: Sql[] = [sql`count(*)::text`, ...numbers, sql`${checksumOf(texts)}::text`];
  const [row] = await query<{ sums: string[] }>(
    tx,
    sql`select array[${listed(sums)}] as sums
      from (${sourceOf(day, receivedBeforeMs)}) read (${listed(["day", ...columns.all].map(identifier))})`,
  );
  return row!.sums;
}

function checksumOf(texts: Sql): Sql {
  return sql`coalesce(sum(('x' || left(md5(concat_ws(' ', ${texts})), 8))::bit(32)::bigint), 0)`;
}

/** The days of which an app has something, in one table. */
export async function loadStoredDays(tx: Executor, { appId, kind }: Omit<LakeDay, "day">): Promise<string[]> {
  const rows = await query<{ day: string }>(tx, DAYS[kind](appId));
  return rows.map(({ day }) => day);
}

const DAYS: Readonly<Record<LakeDay["kind"], (appId: number) => Sql>> = {
  events: (appId) => sql`select day from event where app_id = ${appId} group by day order by day`,
  users: (appId) =>
    sql`select registered_day as day from user_total where app_id = ${appId} and users <> 0 group by 1 order by 1`,
  orders: (appId) => sql`select day from orders where app_id = ${appId} group by day order by day`,
  costs: (appId) => sql`select day from cost where app_id = ${appId} group by day order by day`,
};

/** Events that the ledger counts as stored, and those that are there. Erased and dropped ones are missing. */
export async function loadStoredEvents(tx: Executor, appId: number): Promise<{ ledger: number; events: number }> {
  const [row] = await query<{ ledger: number; events: number }>(
    tx,
    sql`select (select coalesce(sum(events), 0)::bigint from ledger_minute where app_id = ${appId} and outcome = 'stored') as ledger,
      (select count(*) from event where app_id = ${appId}) as events`,
  );
  return { ledger: row!.ledger, events: row!.events + (await countColdEvents(tx, appId)) };
}
