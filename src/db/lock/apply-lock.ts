import { hostname } from "node:os";
import type pg from "pg";
import type { Clock } from "../../clock.ts";
import { messageOf, UsageError } from "../../errors.ts";
import type { Log } from "../../log.ts";
import { type Loop, startLoop } from "../../loop.ts";
import { within } from "../../within.ts";
import { claimApply, readApplyTerms, type Terms } from "../apply-holder.ts";
import { canAnswer } from "../engine/pool.ts";
import { type Connection, Server } from "../server/server.ts";
import { claimFailure, HeldElsewhere, HOLD_MS, openLockSession, takeApplyLock } from "./lock-session.ts";

/** The right to apply into a database, or into a part of it. */
export type ApplyHold = {
  /** Why the right is not held, or undefined while it is. */
  readonly obstacle: string | undefined;
  /**
   * Joins those who apply into this database. Throws when another process rules that out. It needs no table, so a refused
   * start changes nothing.
   */
  take(connection: Connection): Promise<void>;
  /** Begins new terms, in which only this process can commit, and returns them. */
  claim(): Promise<Terms>;
  /** Holds on to the right, and takes it again whenever it is lost. `onTerms` is called with the terms that change. */
  watch(onTerms: OnTerms): Loop;
  release(): Promise<void>;
};

/**
 * "lost": a term that is gone has ended already. "given": it ends once this process has finished what it began, which is
 * when the promise resolves.
 */
export type OnTerms = (terms: Terms, how: "lost" | "given") => Promise<void>;

export type ApplyLockOptions = {
  journalId: string;
  log: Log;
  clock: Clock;
  /** The number of partitions of the journal. */
  partitions?: number;
};

/**
 * The right to apply alone. Apply reads a user, adds to it in memory and writes it back: two processes side by side would
 * lose each other's payments. (Those of a shared log divide its apps among themselves: see shared-apply-lock.ts.)
 *
 *   start ─▶ take: an advisory lock, on a connection that ends with the process ─▶ refused while another process has it
 *              └─▶ claim: a new term in apply_holder, which every transaction of apply checks ─▶ lost? take and claim again
 *
 * The lock refuses, the term fences: a process that loses the lock without noticing commits nothing once another one has
 * begun a term of its own.
 */
export class ApplyLock implements ApplyHold {
  readonly #options: ApplyLockOptions;
  #server: Server | undefined;
  #client: pg.Client | undefined;
  #term: string | undefined;
  #onTerms: OnTerms = async () => {};
  #obstacle: string | undefined;

  constructor(options: ApplyLockOptions) {
    this.#options = options;
  }

  get obstacle(): string | undefined {
    return this.#obstacle;
  }

  /** Throws when another process holds the lock and is alive, or still holds it after `patienceMs`. */
  async take(connection: Connection, patienceMs: number = HOLD_MS.patience): Promise<void> {
    this.#server = new Server(connection);
    this.#client = await this.#lock(patienceMs).catch((error) => {
      if (!(error instanceof HeldElsewhere)) throw error;
      throw new UsageError(
        `Another process applies into this database already: ${error.holder}. Only one can at a time: stop that one first, or set another DATABASE_URL.`,
      );
    });
  }

  async claim(): Promise<Terms> {
    if (!this.#client || !(await canAnswer(this.#client))) {
      // The database has been restarted since.
      await this.release();
      await this.take(this.#server!.connection);
    }
    this.#term = await this.#claimOn(this.#client!);
    return this.#terms();
  }

  watch(onTerms: OnTerms): Loop {
    this.#onTerms = onTerms;
    return startLoop({
      name: "apply lock",
      log: this.#options.log,
      idleMs: HOLD_MS.check,
      failureMsMax: HOLD_MS.check,
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

  #terms(): Terms {
    return Array.from({ length: this.#options.partitions ?? 1 }, () => this.#term);
  }

  async #isHeld(): Promise<boolean> {
    if (!this.#client || this.#term === undefined) return false;
    const terms = await within(HOLD_MS.term, readApplyTerms(this.#client)).catch(() => undefined);
    return terms?.has(this.#term) ?? false;
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
    void this.#onTerms(this.#terms(), "lost");
  }

  /** Opens a connection that holds the lock. */
  async #lock(patienceMs: number): Promise<pg.Client> {
    const { journalId, log } = this.#options;
    const name = "touchpoint apply lock";
    const client = await openLockSession(this.#server!, { name, onEnd: (ended) => this.#lose(ended) });
    try {
      await takeApplyLock(client, { mode: "alone", journalId, patienceMs, log });
      return client;
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
  }

  async #claimOn(client: pg.Client): Promise<string> {
    const { journalId, clock } = this.#options;
    try {
      return await claimApply(client, { journalId, host: hostname(), processId: process.pid, sinceMs: clock() });
    } catch (error) {
      throw claimFailure(error);
    }
  }

  /** Apply stops at once, so that the next holder does not have to wait for this process. */
  #lose(client: pg.Client | undefined): void {
    if (client === undefined || client !== this.#client) return;
    this.#client = undefined;
    this.#term = undefined;
    void this.#onTerms(this.#terms(), "lost");
  }
}
