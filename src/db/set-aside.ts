import { type Executor, execute, query, sql } from "./sql.ts";

/** A stretch of the journal that could not be understood. The bytes are kept, so that a later version can replay them. */
export type SetAside = {
  journalId: string;
  from: number;
  until: number;
  appId: number | null;
  receivedAtMs: number | null;
  reason: string;
  payload: Buffer;
};

export type SetAsideRow = SetAside & { setAsideId: number; replayed: boolean };

export async function setAside(executor: Executor, items: readonly SetAside[]): Promise<void> {
  for (const item of items) {
    await execute(
      executor,
      sql`insert into set_aside (journal_id, from_position, until_position, app_id, received_at_ms, reason, payload)
        values (${item.journalId}, ${item.from}, ${item.until}, ${item.appId}, ${item.receivedAtMs}, ${item.reason}, ${item.payload})`,
    );
  }
}

export async function listSetAside(executor: Executor, options: { limit: number }): Promise<SetAsideRow[]> {
  return query<SetAsideRow>(
    executor,
    sql`select set_aside_id as "setAsideId", journal_id as "journalId", from_position as "from", until_position as "until",
        app_id as "appId", received_at_ms as "receivedAtMs", reason, payload, replayed
      from set_aside where not replayed order by set_aside_id limit ${options.limit}`,
  );
}

export async function countSetAside(executor: Executor): Promise<number> {
  const [row] = await query<{ count: number }>(
    executor,
    sql`select count(*) as count from set_aside where not replayed`,
  );
  return row?.count ?? 0;
}

/** False when it was replayed before: the entry that carries it again takes no effect. */
export async function markReplayed(executor: Executor, setAsideId: number): Promise<boolean> {
  const changed = await execute(
    executor,
    sql`update set_aside set replayed = true where set_aside_id = ${setAsideId} and not replayed`,
  );
  return changed > 0;
}
