import type pg from "pg";
import type { RateLevel } from "./developer-app.ts";
import { inTransaction } from "./engine/pool.ts";
import { type Executor, execute, query, sql } from "./engine/sql.ts";

/** What is left of a developer application's allowance after a call, and when it grows again. */
export type Allowance =
  | { kind: "granted"; callId: number; remaining: number; resetAtMs: number }
  | { kind: "used_up"; resetAtMs: number };

/**
 * Takes one call out of the allowance: at most `calls` in any span of `windowS` seconds, whichever process asks. The
 * application's own row is locked meanwhile, so that two calls never take the same place.
 */
export async function takeCall(
  pool: pg.Pool,
  call: { developerId: number; rate: RateLevel; nowMs: number },
): Promise<Allowance> {
  const { developerId, rate, nowMs } = call;
  const windowMs = rate.windowS * 1000;
  const take = async (tx: Executor): Promise<Allowance> => {
    await execute(tx, sql`select 1 from developer_app where developer_id = ${developerId} for update`);
    await execute(
      tx,
      sql`delete from report_call where developer_id = ${developerId} and called_at_ms <= ${nowMs - windowMs}`,
    );
    const made = await query<{ calledAtMs: number }>(
      tx,
      sql`select called_at_ms from report_call where developer_id = ${developerId} order by called_at_ms`,
    );
    if (made.length >= rate.calls) {
      // The moment when enough of the oldest calls have left the window for one more.
      const oldest = made[made.length - rate.calls]!;
      return { kind: "used_up", resetAtMs: oldest.calledAtMs + windowMs };
    }
    const [row] = await query<{ callId: number }>(
      tx,
      sql`insert into report_call (developer_id, called_at_ms) values (${developerId}, ${nowMs}) returning call_id`,
    );
    const resetAtMs = (made[0]?.calledAtMs ?? nowMs) + windowMs;
    return { kind: "granted", callId: row!.callId, remaining: rate.calls - made.length - 1, resetAtMs };
  };
  // Without waiting for the disk: a crash of the database may forgive the last calls.
  return inTransaction(pool, take, "deferred");
}

/** Returns a call to the allowance, because it was refused after all. */
export async function giveCallBack(executor: Executor, call: { developerId: number; callId: number }): Promise<void> {
  await execute(
    executor,
    sql`delete from report_call where developer_id = ${call.developerId} and call_id = ${call.callId}`,
  );
}
