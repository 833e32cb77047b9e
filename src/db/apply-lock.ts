import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { type Clock, elapsedMs } from "../clock.ts";
import { messageOf, UsageError } from "../errors.ts";
import { LIMITS } from "../limits.ts";
import type { Log } from "../log.ts";
import { type Loop, startLoop } from "../loop.ts";
import { within } from "../within.ts";
import { claimApply, findApplyHolder, readApplyTerm } from "./apply-holder.ts";
import { isLockRefused } from "./engine/failure.ts";
import { canAnswer } from "./engine/pool.ts";
import { type Executor, query, sql } from "./engine/sql.ts";
import { type Connection, Server } from "./server/server.ts";
import { setParameters } from "./server/server-pool.ts";

export const APPLY_LOCK_KEY = 7226390;
const CHECK_MS = 1_000;
const CONNECT_MS_MAX = 5_000;
/** How long the database may take to tell the term before the connection counts as lost. */
const TERM_MS_MAX = 15_000;
const LOOK_MS = 250;
/** How long a start waits for a holder without a sign of life: longer than the database needs to notice its end. */
const PATIENCE_MS = 40_000;
/** The longest wait of a claim for the previous holder's transaction. The database ends it when its process is gone. */
const CLAIM_MS_MAX = LIMITS.transactionIdleMs + 10_000;

/**
 * The database notices within half a minute when the machine at the other end has vanished: by probes while the
 * connection is silent, by the user timeout while an answer waits to be acknowledged.
 */
const SESSION = `set lock_timeout = ${CLAIM_MS_MAX};
  set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3; set tcp_user_timeout = 25000`;

/**
 * Only one process applies into a database at a time, because apply reads a user, adds to it in memory and writes it
 * back: two processes side by side would lose each other's payments.
 *
 *   start ─▶ take: an advisory lock, on a connection that ends with the process ─▶ refused while another process has it
 *              └─▶ claim: a new term in apply_holder, which every transaction of apply checks ─▶ lost? take and claim again
 *
 * The lock refuses, the term fences: a process that loses the lock without noticing commits nothing once another one has
 * begun a term of its own.
 */
export class ApplyLock {
  readonly #options: { journalId: string; log: Log; clock: Clock };
  #server: Server | undefined;
  #client: pg.Client | undefined;
  #term: string | undefined;
  #onTerm: (term: string | undefined) => void = () => {};
  #obstacle: string | undefined;

  constructor(options: { journalId: string; log: Log; clock: Clock }) {
    this.#options = options;
  }

  /** Why the lock is not held, or undefined while it is. */
  get obstacle(): string | undefined {
    return this.#obstacle;
  }

  /**
   * Takes the lock. Throws when another process holds it and is alive, or still holds it after `patienceMs`. It needs
   * no table, so a refused start changes nothing.
   */
  async take(connection: Connection, patienceMs = PATIENCE_MS): Promise<void> {
    this.#server = new Server(connection);
    this.#client = await this.#lock(patienceMs).catch((error) => {
      if (!(error instanceof HeldElsewhere)) throw error;
      throw new UsageError(
        `Another process applies into this database already: ${error.holder}. Only one can at a time: stop that one first, or set another DATABASE_URL.`,
      );
    });
  }

  /** Begins a new term, in which only this process can commit, and returns it. */
  async claim(): Promise<string> {
    if (!this.#client || !(await canAnswer(this.#client))) {
      // The database has been restarted since.
      await this.release();
      await this.take(this.#server!.connection);
    }
    this.#term = await this.#claimOn(this.#client!);
    return this.#term;
  }

  /**
   * Takes the lock again whenever it is lost, retrying until it succeeds. `onTerm` is called with the new term, or with
   * undefined while there is none.
   */
  watch(onTerm: (term: string | undefined) => void): Loop {
    this.#onTerm = onTerm;
    return startLoop({
      name: "apply lock",
      log: this.#options.log,
      idleMs: CHECK_MS,
      failureMsMax: CHECK_MS,
      onTrouble: (trouble) => {
        this.#obstacle = trouble && messageOf(trouble.failure);
        if (trouble) this.#options.log.error({ reason: this.#obstacle }, "The apply lock is lost; taking it again.");
      },
      turn: async () => {
        if (!(await this.#isHeld())) await this.#retake();
        return "idle";
      },
    });
  }

  async release(): Promise<void> {
    const client = this.#client;
    this.#lose(client);
    await client?.end().catch(() => {});
  }

  async #isHeld(): Promise<boolean> {
    if (!this.#client || this.#term === undefined) return false;
    return (await within(TERM_MS_MAX, readApplyTerm(this.#client)).catch(() => undefined)) === this.#term;
  }

  async #retake(): Promise<void> {
    await this.release();
    const client = await this.#lock(0);
    try {
      this.#term = await this.#claimOn(client);
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
    this.#client = client;
    this.#options.log.warn("The connection that held the apply lock was lost; the lock was taken again.");
    this.#onTerm(this.#term);
  }

  /** Opens a connection that holds the lock. */
  async #lock(patienceMs: number): Promise<pg.Client> {
    const client = await this.#connect();
    try {
      if (!(await tryLock(client))) await this.#await(client, patienceMs);
      return client;
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
  }

  /**
   * Waits for a holder that may be gone without the database having noticed: its process was just killed, or its
   * machine is lost. A live holder reads its term every second, which shows in its session.
   */
  async #await(client: pg.Client, patienceMs: number): Promise<void> {
    const startedMs = elapsedMs();
    const first = await findSession(client);
    if (patienceMs > 0) {
      const holder = await describeHolder(client, first, this.#options.journalId);
      this.#options.log.warn({ holder, patienceMs }, "Another process holds the apply lock; waiting for it to end.");
    }
    while (!(await tryLock(client))) {
      const session = await findSession(client);
      if (showsLife(first, session) || elapsedMs() - startedMs >= patienceMs)
        throw new HeldElsewhere(await describeHolder(client, session, this.#options.journalId));
      await sleep(LOOK_MS);
    }
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client({
      ...(await this.#server!.target(CONNECT_MS_MAX)),
      application_name: "touchpoint apply lock",
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_MS_MAX,
      query_timeout: CLAIM_MS_MAX + 5_000,
    });
    client.on("error", () => this.#lose(client));
    client.on("end", () => this.#lose(client));
    try {
      await client.connect();
      await this.#server!.assertFits(client, "writes");
      // Such as search_path: apply_holder must be found where everybody else finds it.
      await setParameters(client, this.#server!.parameters);
      await client.query(SESSION);
    } catch (error) {
      this.#server!.forget();
      await client.end().catch(() => {});
      throw error;
    }
    return client;
  }

  async #claimOn(client: pg.Client): Promise<string> {
    const { journalId, clock } = this.#options;
    try {
      return await claimApply(client, { journalId, host: hostname(), processId: process.pid, sinceMs: clock() });
    } catch (error) {
      if (!isLockRefused(error)) throw error;
      throw new Error("a transaction of the previous apply process is still open in the database.");
    }
  }

  /** Apply stops at once, so that the next holder does not have to wait for this process. */
  #lose(client: pg.Client | undefined): void {
    if (client === undefined || client !== this.#client) return;
    this.#client = undefined;
    this.#term = undefined;
    this.#onTerm(undefined);
  }
}

class HeldElsewhere extends Error {
  readonly holder: string;

  constructor(holder: string) {
    super(`another process applies into this database: ${holder}.`);
    this.holder = holder;
  }
}

async function tryLock(client: pg.Client): Promise<boolean> {
  const [row] = await query<{ taken: boolean }>(client, sql`select pg_try_advisory_lock(${APPLY_LOCK_KEY}) as taken`);
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

async function findSession(client: Executor): Promise<Session | undefined> {
  const [session] = await query<Session>(
    client,
    sql`select l.pid as id, host(a.client_addr) as address, a.query_start::text as asked_at
      from pg_locks l left join pg_stat_activity a using (pid)
      where l.locktype = 'advisory' and l.granted and l.classid = 0 and l.objid = ${APPLY_LOCK_KEY} and l.objsubid = 1
        and l.database = (select oid from pg_database where datname = current_database())`,
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
