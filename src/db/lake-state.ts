import { allowIdle } from "./engine/pool.ts";
import { type Executor, execute, query, sql } from "./engine/sql.ts";
import { loadLakeTotals } from "./lake-file.ts";
import { loadLakeLag } from "./lake-mark.ts";

/** What the lake consists of: files that are written, and a bucket that is kept in step with them. */
export type LakePart = "files" | "bucket";

/**
 * How a part is doing. `behindSinceMs`: since when files cannot be written, or the bucket is not in step; else null. `files`,
 * `bytes`: what the bucket has of ours. `failure`: why the last turn failed; empty: it did not.
 */
export type LakeState = {
  workedAtMs: number;
  behindSinceMs: number | null;
  waitingFiles: number;
  files: number;
  bytes: number;
  failure: string;
};

const COLUMNS = sql`worked_at_ms, behind_since_ms, waiting_files, files, bytes, failure`;

export async function loadLakeState(
  executor: Executor,
  part: LakePart,
): Promise<(LakeState & { turns: number }) | undefined> {
  const [row] = await query<LakeState & { turns: number }>(
    executor,
    sql`select turns, ${COLUMNS} from lake_state where part = ${part}`,
  );
  return row;
}

/** How the lake of the installation is doing, whichever process writes it. Undefined where none ever did. */
export type LakeOutline = {
  files: number;
  bytes: number;
  waitingDays: number;
  waitingSinceMs: number | null;
  writing: LakeState | undefined;
  bucket: LakeState | undefined;
};

export async function loadLakeOutline(executor: Executor): Promise<LakeOutline | undefined> {
  const writing = await loadLakeState(executor, "files");
  const bucket = await loadLakeState(executor, "bucket");
  const totals = await loadLakeTotals(executor);
  if (!writing && totals.length === 0) return undefined;
  const { days: waitingDays, sinceMs: waitingSinceMs } = await loadLakeLag(executor);
  const sum = (name: "files" | "bytes") => totals.reduce((all, total) => all + total[name], 0);
  return { files: sum("files"), bytes: sum("bytes"), waitingDays, waitingSinceMs, writing, bucket };
}

/** Returns the number of the turn. */
export async function saveLakeState(executor: Executor, part: LakePart, state: LakeState): Promise<number> {
  const { workedAtMs, behindSinceMs, waitingFiles, files, bytes, failure } = state;
  const [row] = await query<{ turns: number }>(
    executor,
    sql`insert into lake_state as s (part, turns, ${COLUMNS})
      values (${part}, 1, ${workedAtMs}, ${behindSinceMs}, ${waitingFiles}, ${files}, ${bytes}, ${failure})
      on conflict (part) do update set turns = s.turns + 1, worked_at_ms = excluded.worked_at_ms,
        behind_since_ms = excluded.behind_since_ms, waiting_files = excluded.waiting_files, files = excluded.files,
        bytes = excluded.bytes, failure = excluded.failure
      returning turns`,
  );
  return row!.turns;
}

export async function forgetLakeState(executor: Executor, part: LakePart): Promise<void> {
  await execute(executor, sql`delete from lake_state where part = ${part}`);
}

const PUSH_LOCK = 7226397;
/** Longer than any turn. */
const PUSH_IDLE_MS = 3_600_000;

/**
 * Takes the right to change the bucket until the transaction ends. False when somebody else has it. The transaction holds
 * nothing else, and no snapshot, however long it is open.
 */
export async function tryPushLock(tx: Executor): Promise<boolean> {
  await allowIdle(tx, PUSH_IDLE_MS);
  const [row] = await query<{ taken: boolean }>(
    tx,
    sql`select pg_try_advisory_xact_lock(${PUSH_LOCK}::bigint) as taken`,
  );
  return row!.taken;
}
