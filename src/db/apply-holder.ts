import { randomUUID } from "node:crypto";
import { type Executor, execute, query, sql } from "./engine/sql.ts";

/** The process that applies its journal into this database. */
export type ApplyHolder = { journalId: string; host: string; processId: number; sinceMs: number };

/**
 * Makes this process the holder, after waiting for open transactions of the previous one. Returns a new term: from then
 * on, transactions with an earlier term cannot commit.
 */
export async function claimApply(executor: Executor, holder: ApplyHolder): Promise<string> {
  const term = randomUUID();
  const { journalId, host, processId, sinceMs } = holder;
  await execute(
    executor,
    sql`insert into apply_holder (term, journal_id, host, process_id, backend_id, since_ms)
        values (${term}, ${journalId}, ${host}, ${processId}, pg_backend_pid(), ${sinceMs})
      on conflict (only_row) do update set term = excluded.term, journal_id = excluded.journal_id, host = excluded.host,
        process_id = excluded.process_id, backend_id = excluded.backend_id, since_ms = excluded.since_ms`,
  );
  return term;
}

/** Throws when the term is no longer current. Otherwise nobody else can claim apply before this transaction ends. */
export async function assertApplies(tx: Executor, term: string): Promise<void> {
  const rows = await query(tx, sql`select 1 from apply_holder where term = ${term} for share`);
  if (rows.length === 0) throw new ApplyTaken();
}

/** Has a code, so that it is not mistaken for a fault of the data being applied. */
class ApplyTaken extends Error {
  readonly code = "APPLY_TAKEN";

  constructor() {
    super("another process has taken over apply");
  }
}

export async function readApplyTerm(executor: Executor): Promise<string | undefined> {
  const [row] = await query<{ term: string }>(executor, sql`select term from apply_holder`);
  return row?.term;
}

/** The holder on that connection, or undefined while its process has not claimed apply yet. */
export async function findApplyHolder(executor: Executor, backendId: number): Promise<ApplyHolder | undefined> {
  const [table] = await query<{ name: string | null }>(executor, sql`select to_regclass('apply_holder')::text as name`);
  if (!table?.name) return undefined;
  const [row] = await query<ApplyHolder>(
    executor,
    sql`select journal_id, host, process_id, since_ms from apply_holder
      where backend_id = ${backendId}`,
  );
  return row;
}
