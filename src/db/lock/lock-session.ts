import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { elapsedMs } from "../../clock.ts";
import { LIMITS } from "../../limits.ts";
import type { Log } from "../../log.ts";
import { findApplyHolder } from "../apply-holder.ts";
import { isLockRefused } from "../engine/failure.ts";
import { PROBES } from "../engine/pool.ts";
import { type Executor, query, sql } from "../engine/sql.ts";
import type { Server } from "../server/server.ts";
import { setParameters } from "../server/server-pool.ts";

/** Held alone by a process with a journal of its own, and together by the processes of one shared log. */
export const APPLY_LOCK_KEY = 7226390;

/**
 * check: how often a holder looks whether it still is one. term: how long the database may take to tell the terms before the
 * connection counts as lost. patience: how long a start waits for a holder without a sign of life, which is longer than the
 * database needs to notice its end.
 */
export const HOLD_MS = { check: 1_000, term: 15_000, patience: 40_000 } as const;

const CONNECT_MS_MAX = 5_000;
const LOOK_MS = 250;
/** The longest wait of a claim for the previous holder's transaction. The database ends it when its process is gone. */
const CLAIM_MS_MAX = LIMITS.transactionIdleMs + 10_000;

/** The database notices within half a minute when the machine at the other end has vanished. */
const SESSION = [["lock_timeout", String(CLAIM_MS_MAX)] as const, ...PROBES]
  .map(([name, value]) => `set ${name} = ${value}`)
  .join("; ");

/** Opens a connection whose locks end with this process. */
export async function openLockSession(
  server: Server,
  { name, onEnd }: { name: string; onEnd: (client: pg.Client) => void },
): Promise<pg.Client> {
  const client = new pg.Client({
    ...(await server.target(CONNECT_MS_MAX)),
    application_name: name,
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    query_timeout: CLAIM_MS_MAX + 5_000,
  });
  client.on("error", () => onEnd(client));
  client.on("end", () => onEnd(client));
  try {
    await client.connect();
    await server.assertFits(client, "writes");
    // Such as search_path: apply_holder must be found where everybody else finds it.
    await setParameters(client, server.parameters);
    await client.query(SESSION);
  } catch (error) {
    server.forget();
    await client.end().catch(() => {});
    throw error;
  }
  return client;
}

/** Says what a claim has waited for in vain. */
export function claimFailure(error: unknown): unknown {
  if (!isLockRefused(error)) return error;
  return new Error("a transaction of the previous apply process is still open in the database.");
}

type Wish = {
  mode: "alone" | "together";
  journalId: string;
  /** How long to wait for a holder without a sign of life. */
  patienceMs: number;
  log: Log;
};

/**
 * Takes the apply lock. Waits for a holder that may be gone without the database having noticed: its process was just
 * killed, or its machine is lost. A live holder asks something every second, which shows in its session.
 */
export async function takeApplyLock(client: pg.Client, { mode, journalId, patienceMs, log }: Wish): Promise<void> {
  if (await tryLock(client, mode)) return;
  const startedMs = elapsedMs();
  const first = await findSession(client);
  if (patienceMs > 0) {
    const holder = await describeHolder(client, first, journalId);
    log.warn({ holder, patienceMs }, "Another process holds the apply lock; waiting for it to end.");
  }
  while (!(await tryLock(client, mode))) {
    const session = await findSession(client);
    if (showsLife(first, session) || elapsedMs() - startedMs >= patienceMs)
      throw new HeldElsewhere(await describeHolder(client, session, journalId));
    await sleep(LOOK_MS);
  }
}

export class HeldElsewhere extends Error {
  readonly holder: string;

  constructor(holder: string) {
    super(`another process applies into this database: ${holder}.`);
    this.holder = holder;
  }
}

async function tryLock(client: pg.Client, mode: Wish["mode"]): Promise<boolean> {
  const taken =
    mode === "alone"
      ? sql`pg_try_advisory_lock(${APPLY_LOCK_KEY})`
      : sql`pg_try_advisory_lock_shared(${APPLY_LOCK_KEY})`;
  const [row] = await query<{ taken: boolean }>(client, sql`select ${taken} as taken`);
  return row!.taken;
}

/** A session that holds the lock. `askedAt`: when its last statement began, or null when our role may not see it. */
export type Session = { id: number; address: string | null; askedAt: string | null };

/**
 * Whether the same session has asked something in between. One that is ending has a lock and no last statement for a
 * moment.
 */
export function showsLife(before: Session | undefined, now: Session | undefined): boolean {
  return now !== undefined && now.id === before?.id && now.askedAt !== null && now.askedAt !== before.askedAt;
}

/** A session that holds the lock. Of several, always the same one. */
async function findSession(client: Executor): Promise<Session | undefined> {
  const [session] = await query<Session>(
    client,
    sql`select l.pid as id, host(a.client_addr) as address, a.query_start::text as asked_at
      from pg_locks l left join pg_stat_activity a using (pid)
      where l.locktype = 'advisory' and l.granted and l.classid = 0 and l.objid = ${APPLY_LOCK_KEY} and l.objsubid = 1
        and l.database = (select oid from pg_database where datname = current_database())
      order by l.pid limit 1`,
  );
  return session;
}

/** Describes the holder, as far as the database knows it. */
async function describeHolder(client: Executor, session: Session | undefined, journalId: string): Promise<string> {
  if (!session) return "it has just ended";
  const holder = await findApplyHolder(client, session.id);
  const parts = holder
    ? [
        `process ${holder.processId} on ${holder.host} since ${new Date(holder.sinceMs).toISOString()}`,
        holder.journalId === journalId
          ? "with the same journal as this one, so one DATA_DIR is a copy of the other"
          : `with the journal ${holder.journalId}`,
      ]
    : [];
  if (session.address !== null) parts.push(`connected from ${session.address}`);
  return [...parts, `database session ${session.id}`].join(", ");
}
