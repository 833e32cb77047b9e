import type pg from "pg";
import { elapsedMs } from "../../clock.ts";
import { type ColdEvents, loadColdLakes } from "../cold-event.ts";
import type { ReportPools } from "../engine/database.ts";
import { isDatabaseAway } from "../engine/failure.ts";
import type { Replica } from "./replica.ts";

/**
 * Read-only connections with a statement timeout, and where events are read that are only in the lake. What they read may
 * be `lagMs` older than what is committed.
 */
export type Reading = { pool: pg.Pool; lagMs: number; cold: ColdEvents };

export type ReportReadsOptions = {
  pools: ReportPools;
  replica: Pick<Replica, "reading"> | undefined;
  cold: ColdEvents;
  /** Whether the primary is busy with collected data. */
  isBusy: () => boolean;
  /** Whether days become cold by the settings of this process. */
  freezesDays: boolean;
};

/** Where reports, lists and the console's pages are read: on the replica while it can be read, else on the primary. */
export class ReportReads {
  readonly #options: ReportReadsOptions;
  #changedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: ReportReadsOptions) {
    this.#options = options;
  }

  /** Somebody has changed something, and will want to see it: the replica is not read until it has the change. */
  noteChange(): void {
    this.#changedAtMs = elapsedMs();
  }

  /** For what cannot begin again, such as a stream. */
  current(): Reading {
    return this.#replica() ?? this.#primary();
  }

  /**
   * Reads on the replica, and once more on the primary when the replica has failed. That happens when it has gone since
   * it was last asked, or when the query was in the way of its replay.
   */
  async read<T>(work: (reading: Reading) => Promise<T>): Promise<T> {
    const replica = this.#replica();
    if (!replica) return work(this.#primary());
    try {
      return await work(replica);
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
      return work(this.#primary());
    }
  }

  /** As `current`, for whoever holds days (see holdDays). */
  async currentWithDays(): Promise<Reading> {
    return (await this.#hasColdDays()) ? this.#primary() : this.current();
  }

  /** As `read`, for whoever holds days. */
  async readWithDays<T>(work: (reading: Reading) => Promise<T>): Promise<T> {
    return (await this.#hasColdDays()) ? work(this.#primary()) : this.read(work);
  }

  /**
   * A snapshot of a replica holds no days: it would see a day as stored whose rows have been truncated since, and neither
   * the table nor the files would give them.
   */
  async #hasColdDays(): Promise<boolean> {
    const { replica, pools, freezesDays } = this.#options;
    if (!replica || freezesDays) return freezesDays;
    try {
      return (await loadColdLakes(pools.quiet)).length > 0;
    } catch (error) {
      // Without the primary no day becomes cold.
      if (!isDatabaseAway(error)) throw error;
      return false;
    }
  }

  #replica(): Reading | undefined {
    const { replica, cold } = this.#options;
    const reading = replica?.reading;
    return reading && reading.lagMs < elapsedMs() - this.#changedAtMs ? { ...reading, cold } : undefined;
  }

  #primary(): Reading {
    const { pools, isBusy, cold } = this.#options;
    return { pool: pools[isBusy() ? "busy" : "quiet"], lagMs: 0, cold };
  }
}
