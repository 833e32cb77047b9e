import { type Executor, execute, query, type Sql, sql } from "./engine/sql.ts";

/** A process of the installation. */
export type Node = {
  /** The id of its DATA_DIR, which outlives a restart. */
  nodeId: string;
  host: string;
  processId: number;
  /** Where its HTTP side listens. */
  address: string;
  roles: readonly string[];
  version: string;
  /** Why the process does not apply what it should; empty while it does. */
  trouble: string;
};

export type SeenNode = Node & { startedAtMs: number; silentMs: number };

/** Nodes that are silent for longer are forgotten. */
const SILENT_MS_MAX = 3_600_000;

/** The database's clock: those of the nodes may differ. */
const nowMs = sql`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

/** Whether a row of `node` tells of no sign of life for so long. */
export const isSilentFor = (ms: number): Sql => sql`node.seen_at_ms < ${nowMs} - ${ms}::bigint`;

/** Notes a sign of life. A process that has taken the place of an earlier one has just started. */
export async function noteNode(executor: Executor, node: Node): Promise<void> {
  const { nodeId, host, processId, address, roles, version, trouble } = node;
  await execute(
    executor,
    sql`insert into node (node_id, host, process_id, address, roles, version, trouble, started_at_ms, seen_at_ms)
        values (${nodeId}, ${host}, ${processId}, ${address}, ${roles}, ${version}, ${trouble}, ${nowMs}, ${nowMs})
      on conflict (node_id) do update set host = excluded.host, process_id = excluded.process_id,
        address = excluded.address, roles = excluded.roles, version = excluded.version, trouble = excluded.trouble,
        started_at_ms = case when (node.host, node.process_id) = (excluded.host, excluded.process_id)
          then node.started_at_ms else excluded.started_at_ms end,
        seen_at_ms = excluded.seen_at_ms`,
  );
}

export async function removeNode(executor: Executor, nodeId: string): Promise<void> {
  await execute(
    executor,
    sql`delete from node where node_id = ${nodeId} or seen_at_ms < ${nowMs} - ${SILENT_MS_MAX}::bigint`,
  );
}

export async function loadNodes(executor: Executor): Promise<SeenNode[]> {
  return query<SeenNode>(
    executor,
    sql`select node_id, host, process_id, address, roles, version, trouble, started_at_ms,
        greatest(0, ${nowMs} - seen_at_ms) as silent_ms
      from node where seen_at_ms >= ${nowMs} - ${SILENT_MS_MAX}::bigint order by host, address, node_id`,
  );
}
