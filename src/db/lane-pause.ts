import { type Executor, execute, query, sql } from "./engine/sql.ts";

/** A pause in sending on a lane whose receiver is down. */
export type LanePause = { pausedUntilMs: number; failures: number };

export async function notePause(tx: Executor, lane: string, pause: LanePause, notedAtMs: number): Promise<void> {
  await execute(
    tx,
    sql`insert into lane_pause (lane, paused_until_ms, failures, noted_at_ms)
      values (${lane}, ${pause.pausedUntilMs}, ${pause.failures}, ${notedAtMs})
      on conflict (lane) do update set paused_until_ms = excluded.paused_until_ms, failures = excluded.failures,
        noted_at_ms = excluded.noted_at_ms`,
  );
}

export async function endPause(tx: Executor, lane: string): Promise<void> {
  await execute(tx, sql`delete from lane_pause where lane = ${lane}`);
}

/** The current pauses by lane. */
export async function loadPauses(executor: Executor, nowMs: number): Promise<Map<string, LanePause>> {
  const rows = await query<LanePause & { lane: string }>(
    executor,
    sql`select lane, paused_until_ms, failures from lane_pause where paused_until_ms > ${nowMs}`,
  );
  return new Map(rows.map(({ lane, ...pause }) => [lane, pause]));
}
