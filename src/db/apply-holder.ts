import { randomUUID } from "node:crypto";
import { type Executor, execute, query, type Sql, sql } from "./engine/sql.ts";
import { forgetLakes, holdLake } from "./lake-app.ts";

/** A process that applies a journal into this database, or partitions of one. */
export type ApplyHolder = { journalId: string; host: string; processId: number; sinceMs: number };

/**
 * The terms in which a process may apply, one for each partition of its journal; undefined where it may not. A process
 * that applies alone has the same term everywhere.
 */
export type Terms = readonly (string | undefined)[];

/** In the place of a partition: the holder applies alone. */
const ALONE = -1;

/**
 * Makes this process the only holder, after waiting for open transactions of the previous ones. Returns a new term: from
 * then on, transactions with an earlier term cannot commit.
 */
export async function claimApply(executor: Executor, holder: ApplyHolder): Promise<string> {
  return claim(executor, holder, { partition: ALONE, others: sql`partition <> ${ALONE}` });
}

/** The same for one partition. The other ones of the journal may have other holders. */
export async function claimPartition(executor: Executor, holder: ApplyHolder, partition: number): Promise<string> {
  const others = sql`partition = ${ALONE} or journal_id <> ${holder.journalId}`;
  return claim(executor, holder, { partition, others });
}

async function claim(
  executor: Executor,
  { journalId, host, processId, sinceMs }: ApplyHolder,
  { partition, others }: { partition: number; others: Sql },
): Promise<string> {
  const term = randomUUID();
  // An earlier version has applied without marking anything. Forgotten before it is replaced, so that no crash hides it.
  if (await isAppliedUnmarked(executor)) await forgetLakes(executor);
  await execute(
    executor,
    sql`with replaced as (delete from apply_holder where partition <> ${partition} and (${others}))
      insert into apply_holder (partition, term, marks_term, journal_id, host, process_id, backend_id, since_ms)
        values (${partition}, ${term}, ${term}, ${journalId}, ${host}, ${processId}, pg_backend_pid(), ${sinceMs})
      on conflict (partition) do update set term = excluded.term, marks_term = excluded.marks_term, journal_id = excluded.journal_id, host = excluded.host,
        process_id = excluded.process_id, backend_id = excluded.backend_id, since_ms = excluded.since_ms`,
  );
  return term;
}

/**
 * Throws when the term is no longer current. Otherwise nobody else can claim apply before this transaction ends, nor move
 * the instant up to which the lake reads events, nor make a day cold. Returns a number that changes when one has become so.
 */
export async function assertApplies(tx: Executor, term: string): Promise<number> {
  const [row] = await query<{ freezes: number }>(
    tx,
    sql`select freezes, ${holdLake} from apply_holder where term = ${term} for share`,
  );
  if (!row) throw new ApplyTaken();
  return row.freezes;
}

/** Keeps days from becoming cold until the transaction ends. As the first statement of a snapshot, it makes it see all of them; not on a replica. */
export async function holdDays(tx: Executor): Promise<void> {
  await execute(tx, sql`lock table apply_holder in row share mode`);
}

/** Waits for those who hold days, and for whoever applies, and keeps others waiting until the transaction ends. */
export async function lockDays(tx: Executor): Promise<void> {
  await execute(tx, sql`lock table apply_holder in exclusive mode`);
}

/** Has a code, so that it is not mistaken for a fault of the data being applied. */
class ApplyTaken extends Error {
  readonly code = "APPLY_TAKEN";

  constructor() {
    super("another process has taken over apply");
  }
}

/** Whether a process of an earlier version applies, which marks no days for the lake. */
export async function isAppliedUnmarked(executor: Executor): Promise<boolean> {
  return (await query(executor, sql`select 1 from apply_holder where marks_term <> term limit 1`)).length > 0;
}

/** The terms that are current. */
export async function readApplyTerms(executor: Executor): Promise<Set<string>> {
  const rows = await query<{ term: string }>(executor, sql`select term from apply_holder`);
  return new Set(rows.map(({ term }) => term));
}

/** The holder on that connection, or undefined while its process has not claimed apply yet. */
export async function findApplyHolder(executor: Executor, backendId: number): Promise<ApplyHolder | undefined> {
  const [table] = await query<{ name: string | null }>(executor, sql`select to_regclass('apply_holder')::text as name`);
  if (!table?.name) return undefined;
  const [row] = await query<ApplyHolder>(
    executor,
    sql`select journal_id, host, process_id, since_ms from apply_holder
      where backend_id = ${backendId} order by partition limit 1`,
  );
  return row;
}
