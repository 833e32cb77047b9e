import { type Executor, query, type Sql, sql } from "../engine/sql.ts";
import { isSilentFor } from "../node.ts";

/** The classes of advisory locks: that of a log, which its processes share; of its partitions; of duties. */
const LOG_CLASS = 7226391;
const PARTITION_CLASS = 7226392;
const DUTY_CLASS = 7226393;

/** What one process of an installation does at a time: the number of its lock, and what its log says. */
export const DUTIES = {
  send: { number: 1, says: "This process sends the postbacks." },
  lake: { number: 2, says: "This process writes the lake." },
} as const;
export type Duty = keyof typeof DUTIES;

/** A process whose last sign of life is older is frozen, or cannot reach the database. */
const SILENT_MS_MAX = 10_000;

/** The names of lock sessions, by which a process tells whose locks it meets. */
export const sessionNameOf = ({ nodeId, applies }: { nodeId: string; applies: boolean }) =>
  `touchpoint ${applies ? "apply" : "collect"} ${nodeId}`;
export const dutyNameOf = (duty: Duty, nodeId: string) => `touchpoint ${duty} ${nodeId}`;

const ofThisDatabase = sql`l.locktype = 'advisory' and l.granted and l.objsubid = 2
  and l.database = (select oid from pg_database where datname = current_database())`;

/** The process at the other end of a lock session, if it has given a sign of life, which it does soon after its start. */
const itsNode = sql`join pg_stat_activity a using (pid)
  left join node on a.application_name like 'touchpoint % ' || node.node_id`;

const isSilent = isSilentFor(SILENT_MS_MAX);

/** Takes a share of a log's lock. False when another log is in use with this database. */
export async function shareLog(client: Executor, journalId: string): Promise<boolean> {
  await query(client, sql`select pg_advisory_lock_shared(${LOG_CLASS}, hashtext(${journalId}))`);
  const [row] = await query<{ others: number }>(
    client,
    sql`select count(*) as others from pg_locks l
      where ${ofThisDatabase} and l.classid = ${LOG_CLASS} and l.objid <> hashtext(${journalId})::bit(32)::bigint::oid`,
  );
  return row!.others === 0;
}

/** The number of other processes that apply this log and are alive. */
export async function countOtherAppliers(client: Executor): Promise<number> {
  const [row] = await query<{ others: number }>(
    client,
    sql`select count(*) as others from pg_locks l ${itsNode}
      where ${ofThisDatabase} and l.classid = ${LOG_CLASS} and l.pid <> pg_backend_pid()
        and a.application_name like 'touchpoint apply %' and coalesce(not (${isSilent}), true)`,
  );
  return row!.others;
}

export async function tryPartition(client: Executor, partition: number): Promise<boolean> {
  const [row] = await query<{ taken: boolean }>(
    client,
    sql`select pg_try_advisory_lock(${PARTITION_CLASS}, ${partition}) as taken`,
  );
  return row!.taken;
}

export async function leavePartition(client: Executor, partition: number): Promise<void> {
  await query(client, sql`select pg_advisory_unlock(${PARTITION_CLASS}, ${partition})`);
}

/** The partitions that some process holds. */
export async function loadHeldPartitions(executor: Executor): Promise<number[]> {
  const rows = await query<{ partition: number }>(
    executor,
    sql`select l.objid::bigint as partition from pg_locks l where ${ofThisDatabase} and l.classid = ${PARTITION_CLASS}`,
  );
  return rows.map(({ partition }) => partition);
}

/**
 * Ends the sessions of processes that hold partitions and are silent: those with the locks, and those that apply, whose
 * transactions the next holder would wait for. Whatever such a process does when it wakes up, it cannot commit: its
 * partitions have other terms by then.
 */
export async function endSilentHolders(client: Executor): Promise<number> {
  return endSilent(client, sql`l.classid = ${PARTITION_CLASS}`);
}

export async function tryDuty(client: Executor, duty: Duty): Promise<boolean> {
  const [row] = await query<{ taken: boolean }>(
    client,
    sql`select pg_try_advisory_lock(${DUTY_CLASS}, ${DUTIES[duty].number}) as taken`,
  );
  return row!.taken;
}

/**
 * The same for a process that has a duty. Outcomes of postbacks that it still records count only for its own attempts, and
 * what it still writes to the lake only while nobody else has.
 */
export async function endSilentDuty(client: Executor, duty: Duty): Promise<number> {
  return endSilent(client, sql`l.classid = ${DUTY_CLASS} and l.objid = ${DUTIES[duty].number}`);
}

async function endSilent(client: Executor, isMeant: Sql): Promise<number> {
  const rows = await query(
    client,
    sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and application_name in (
        select a.application_name from pg_locks l ${itsNode}
        where ${ofThisDatabase} and ${isMeant} and ${isSilent})`,
  );
  return rows.length;
}
