import type { AppChoice } from "../domain/access/role.ts";
import { LIMITS } from "../limits.ts";
import { type Executor, execute, query, type Sql, sql } from "./engine/sql.ts";

/** A stretch of the journal that could not be understood, kept as bytes so that a later version can replay it. */
export type SetAside = {
  journalId: string;
  partition: number;
  from: number;
  until: number;
  appId: number | null;
  receivedAtMs: number | null;
  reason: string;
  payload: Buffer;
};

/** In the place of an app: an entry that cannot be read belongs to none. */
export const NO_APP = 0;

/** "requested": a person has asked for a replay; apply does it between two batches. */
export type SetAsideState = "waiting" | "requested" | "replayed";

export type SetAsideKey = Pick<SetAsideRow, "appId" | "setAsideId">;

export type SetAsideRow = SetAside & { setAsideId: number; state: SetAsideState };

/**
 * A reason in the form that is stored: it may quote what was received, but PostgreSQL accepts no zero bytes, and the
 * beginning is enough to read.
 */
function stored(reason: string): string {
  return reason.replaceAll("\0", "\ufffd").slice(0, LIMITS.setAsideReasonLength);
}

export async function setAside(executor: Executor, items: readonly SetAside[]): Promise<void> {
  for (const item of items) {
    await execute(
      executor,
      sql`insert into set_aside (journal_id, partition, from_position, until_position, app_id, received_at_ms, reason, payload, state)
        values (${item.journalId}, ${item.partition}, ${item.from}, ${item.until}, ${item.appId ?? NO_APP}, ${item.receivedAtMs}, ${stored(item.reason)}, ${item.payload}, 'waiting')`,
    );
  }
}

const shortColumns = sql`set_aside_id, journal_id, partition, from_position as "from", until_position as "until",
  nullif(app_id, ${NO_APP}) as app_id, received_at_ms, reason, state`;

const columns = sql`${shortColumns}, payload`;

export async function listSetAside(executor: Executor, options: { limit: number }): Promise<SetAsideRow[]> {
  return query<SetAsideRow>(
    executor,
    sql`select ${columns} from set_aside where state <> 'replayed' order by set_aside_id limit ${options.limit}`,
  );
}

/** A set-aside entry as a list shows it, with only the beginning of its bytes. */
export type ListedSetAside = SetAsideRow & { bytes: number };

/** A page before `beforeId`, newest first. Entries whose app is unknown belong to those who see all apps. */
export async function pageSetAside(
  executor: Executor,
  page: { beforeId: number; limit: number; shownBytes: number; apps: AppChoice },
): Promise<ListedSetAside[]> {
  const { beforeId, limit, shownBytes, apps } = page;
  return query<ListedSetAside>(
    executor,
    sql`select ${shortColumns}, substring(payload from 1 for ${shownBytes}::int) as payload, octet_length(payload) as bytes
      from set_aside where state <> 'replayed' and set_aside_id < ${beforeId}
        and ${isOf(apps)}
      order by set_aside_id desc limit ${limit}`,
  );
}

/** Whether exactly this stretch of a journal was set aside. */
export async function isSetAside(
  executor: Executor,
  { appId, journalId, partition, from, until }: Pick<SetAside, "appId" | "journalId" | "partition" | "from" | "until">,
): Promise<boolean> {
  const rows = await query(
    executor,
    sql`select 1 from set_aside
      where app_id = ${appId ?? NO_APP} and journal_id = ${journalId} and partition = ${partition} and from_position = ${from} and until_position = ${until}
      limit 1`,
  );
  return rows.length > 0;
}

function isOf(apps: AppChoice): Sql {
  return apps === "all" ? sql`true` : sql`app_id = any(${apps}::int[])`;
}

export async function countSetAside(executor: Executor, apps: AppChoice = "all"): Promise<number> {
  const [row] = await query<{ count: number }>(
    executor,
    sql`select count(*) as count from set_aside where state <> 'replayed' and ${isOf(apps)}`,
  );
  return row!.count;
}

/** Requests a replay of everything that is set aside, or of some entries, of these apps. Returns the number. */
export async function requestReplay(
  executor: Executor,
  { ids, apps }: { ids?: readonly number[] | undefined; apps: AppChoice } = { apps: "all" },
): Promise<number> {
  const isAsked = ids === undefined ? sql`true` : sql`set_aside_id = any(${ids}::bigint[])`;
  return execute(
    executor,
    sql`update set_aside set state = 'requested' where state = 'waiting' and ${isAsked} and ${isOf(apps)}`,
  );
}

/** The next entry to replay of the apps that this process applies, app by app. Unreadable ones belong to no app. */
export async function nextRequested(
  executor: Executor,
  isOurs: (appId: number | null) => boolean,
): Promise<SetAsideRow | undefined> {
  const requested = sql`from set_aside where state = 'requested'`;
  const apps = await query<{ appId: number }>(executor, sql`select distinct app_id ${requested} order by app_id`);
  const ours = apps.find(({ appId }) => isOurs(appId === NO_APP ? null : appId));
  if (!ours) return undefined;
  const [row] = await query<SetAsideRow>(
    executor,
    sql`select ${columns} ${requested} and app_id = ${ours.appId} order by set_aside_id limit 1`,
  );
  return row;
}

export async function countRequested(executor: Executor): Promise<number> {
  const [row] = await query<{ count: number }>(
    executor,
    sql`select count(*) as count from set_aside where state = 'requested'`,
  );
  return row!.count;
}

/** Returns false when it was replayed before. */
export async function markReplayed(executor: Executor, key: SetAsideKey): Promise<boolean> {
  const changed = await execute(
    executor,
    sql`update set_aside set state = 'replayed' where ${isThe(key)} and state <> 'replayed'`,
  );
  return changed > 0;
}

/** Keeps an entry aside whose replay failed. */
export async function keepAside(executor: Executor, key: SetAsideKey, reason: string): Promise<void> {
  await execute(executor, sql`update set_aside set state = 'waiting', reason = ${stored(reason)} where ${isThe(key)}`);
}

function isThe({ appId, setAsideId }: SetAsideKey): Sql {
  return sql`app_id = ${appId ?? NO_APP} and set_aside_id = ${setAsideId}`;
}
