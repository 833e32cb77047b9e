import type pg from "pg";
import { elapsedMs } from "../../clock.ts";
import { messageOf } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import type { Log } from "../../log.ts";
import { type Loop, startLoop } from "../../loop.ts";
import { within } from "../../within.ts";
import { openReportPool } from "../engine/database.ts";
import { type Executor, query, sql } from "../engine/sql.ts";
import { Server } from "../server/server.ts";
import { findSessions } from "../server/sessions.ts";
import { ReplicaLag } from "./replica-lag.ts";

const ASK_MS = 1_000;
/** A replica that answers later than this is as good as away: the primary serves meanwhile. */
const ANSWER_MS_MAX = 2_000;

export type ReplicaOptions = { url: string; primary: pg.Pool; log: Log };

/** A read replica of the database. Every second it is asked how far it has come. */
export class Replica {
  readonly #options: ReplicaOptions;
  readonly #lag = new ReplicaLag();
  #pool: pg.Pool | undefined;
  #primary: Place | undefined;
  #failure: string | undefined = "It has not answered yet.";
  #watch: Loop | undefined;

  constructor(options: ReplicaOptions) {
    this.#options = options;
  }

  start(): void {
    const { log } = this.#options;
    this.#watch = startLoop({
      name: "replica",
      log,
      idleMs: ASK_MS,
      failureMsMax: ASK_MS,
      onTrouble: (trouble) => {
        if (trouble)
          log.warn({ reason: messageOf(trouble.failure) }, "The replica is away; the primary serves reports.");
        else log.info("The replica serves reports again.");
      },
      turn: () => this.#ask(),
    });
  }

  async stop(): Promise<void> {
    await this.#watch?.stop();
    // Does not wait for a replica that never answers.
    void this.#pool?.end().catch(() => {});
  }

  /** Connections to the replica, and how far it is behind; undefined while it cannot be read. */
  get reading(): { pool: pg.Pool; lagMs: number } | undefined {
    const lagMs = this.#lag.lagMs(elapsedMs());
    return this.#failure === undefined && this.#pool && lagMs !== undefined ? { pool: this.#pool, lagMs } : undefined;
  }

  /** Why the replica is not read, or undefined when it is. */
  get obstacle(): string | undefined {
    if (this.reading) return undefined;
    return this.#failure ?? `It is more than ${LIMITS.replicaLagMs / 60_000} minutes behind.`;
  }

  async #ask(): Promise<"idle"> {
    try {
      await this.#notePrimary();
      this.#lag.noteReplica(await this.#replayed());
      this.#failure = undefined;
    } catch (error) {
      this.#failure = messageOf(error);
      throw error;
    }
    return "idle";
  }

  /** A replica can be read while the primary is away; it just does not come nearer. */
  async #notePrimary(): Promise<void> {
    const askedAtMs = elapsedMs();
    const place = await within(ANSWER_MS_MAX, placeOf(this.#options.primary)).catch(() => undefined);
    if (!place || place.isReplica) return;
    this.#primary = place;
    this.#lag.notePrimary(place.position, askedAtMs);
  }

  async #replayed(): Promise<number> {
    this.#pool ??= await this.#open();
    const place = await within(ANSWER_MS_MAX, placeOf(this.#pool));
    if (this.#primary && (place.cluster !== this.#primary.cluster || place.database !== this.#primary.database))
      throw new Error("REPORT_DATABASE_URL leads to another database than DATABASE_URL.");
    if (!place.isReplica) throw new Error("The server at REPORT_DATABASE_URL is not a replica.");
    return place.position;
  }

  async #open(): Promise<pg.Pool> {
    const { url, log } = this.#options;
    const sessions = await findSessions(url, ANSWER_MS_MAX);
    return openReportPool(new Server({ kind: "url", url, sessions }), { log, givesWay: false, cores: "all" });
  }
}

type Place = { cluster: string; database: string; isReplica: boolean; position: number };

/**
 * Which database a server has, and how far its write-ahead log has come: inserted on a primary, replayed on a replica.
 * A primary that has just begun a page counts the page's header (24 bytes, 40 in a new file), which a replica does not.
 */
async function placeOf(executor: Executor): Promise<Place> {
  const [place] = await query<Place>(
    executor,
    sql`select cluster, database, is_replica, position - case
        when position % 16777216 = 40 then 40 when position % 8192 = 24 then 24 else 0 end as position
      from (select (select system_identifier::text from pg_control_system()) as cluster, current_database() as database,
        pg_is_in_recovery() as is_replica,
        (case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_insert_lsn() end - '0/0'::pg_lsn)::int8
          as position) as place`,
  );
  return place!;
}
