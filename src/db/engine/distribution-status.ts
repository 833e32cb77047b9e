import { DISTRIBUTED } from "./distributed-tables.ts";
import { type Executor, query, sql } from "./sql.ts";

/** Where an app lives. Apps may share a shard; `bytes` are those of its tables, for all of its apps. */
export type AppPlace = { appId: number; name: string; machine: string; shardId: number; bytes: number };

export async function loadAppPlaces(executor: Executor): Promise<AppPlace[]> {
  const [leader] = DISTRIBUTED;
  return query<AppPlace>(
    executor,
    sql`with place as materialized (
        select app_id, name, get_shard_id_for_distribution_column(${leader}::regclass, app_id) as shard_id from app),
      -- Shards of different tables that belong together have the same range of hashes.
      sized as materialized (
        select leader.shardid as shard_id, min(s.nodename || ':' || s.nodeport) as machine, sum(s.shard_size)::bigint as bytes
        from pg_dist_shard leader join pg_dist_shard one on one.shardminvalue = leader.shardminvalue
        join citus_shards s on s.shardid = one.shardid and s.citus_table_type = 'distributed'
        where leader.logicalrelid = ${leader}::regclass group by leader.shardid)
      select place.app_id, place.name, sized.machine, place.shard_id, sized.bytes
      from place join sized on sized.shard_id = place.shard_id order by place.app_id`,
  );
}

/** A machine of the cluster, and what it holds of the distributed tables. */
export type MachineLoad = { machine: string; isActive: boolean; shards: number; bytes: number };

export async function loadMachines(executor: Executor): Promise<MachineLoad[]> {
  return query<MachineLoad>(
    executor,
    sql`select n.nodename || ':' || n.nodeport as machine, n.isactive as is_active, count(s.shardid) as shards,
        coalesce(sum(s.shard_size), 0)::bigint as bytes
      from pg_dist_node n left join citus_shards s on s.nodename = n.nodename and s.nodeport = n.nodeport
        and s.citus_table_type = 'distributed'
      where n.noderole = 'primary' group by 1, 2 order by 1`,
  );
}

/** One step of a rebalance: the tables of a shard, with those that lie beside it, move to another machine. */
export type ShardMove = { table: string; shardId: number; bytes: number; from: string; to: string };

export async function planRebalance(executor: Executor): Promise<ShardMove[]> {
  return query<ShardMove>(
    executor,
    sql`select table_name::text as "table", shardid as shard_id, shard_size as bytes,
        sourcename || ':' || sourceport as "from", targetname || ':' || targetport as "to"
      from get_rebalance_table_shards_plan(${DISTRIBUTED[0]}::regclass)`,
  );
}

/** Spreads the shards evenly over the machines. Writes to a shard wait while it moves; everything else goes on. */
export async function rebalance(executor: Executor): Promise<void> {
  await query(
    executor,
    sql`select rebalance_table_shards(${DISTRIBUTED[0]}::regclass, shard_transfer_mode => 'block_writes')`,
  );
}
