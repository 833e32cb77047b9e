import { hostname } from "node:os";
import type pg from "pg";
import { messageOf, UsageError } from "../../errors.ts";
import { type Loop, startLoop } from "../../loop.ts";
import { within } from "../../within.ts";
import { claimPartition, readApplyTerms, type Terms } from "../apply-holder.ts";
import { canAnswer } from "../engine/pool.ts";
import { type Connection, Server } from "../server/server.ts";
import type { ApplyHold, ApplyLockOptions, OnTerms } from "./apply-lock.ts";
import { claimFailure, HeldElsewhere, HOLD_MS, openLockSession, takeApplyLock } from "./lock-session.ts";
import {
  countOtherAppliers,
  endSilentHolders,
  leavePartition,
  sessionNameOf,
  shareLog,
  tryPartition,
} from "./partition-locks.ts";

export type SharedApplyLockOptions = Required<ApplyLockOptions> & {
  nodeId: string;
  /** Whether this process applies. One that only collects keeps processes with other journals out. */
  applies: boolean;
  /** Whether it cannot read the log at the moment, so that others had better apply. */
  isCutOff: () => boolean;
};

/**
 * The right to apply some partitions of a log that several processes share. Each takes an equal share of the partitions:
 *
 *   a process joins ──▶ the others give what is over their share ──▶ it takes what is free
 *   a process dies ──▶ the database frees its locks ──▶ the others take them
 *   a process is silent ──▶ the others end its session ──▶ as above
 *
 * As with a process that applies alone, a lock on a connection refuses, and a term in apply_holder fences: each partition
 * has one of both.
 */
export class SharedApplyLock implements ApplyHold {
  readonly #options: SharedApplyLockOptions;
  #server: Server | undefined;
  #client: pg.Client | undefined;
  #terms: (string | undefined)[];
  /** Whether there are terms that nobody was told of yet. */
  #hasNews = false;
  #onTerms: OnTerms = async () => {};
  #obstacle: string | undefined;

  constructor(options: SharedApplyLockOptions) {
    this.#options = options;
    this.#terms = noTerms(options.partitions);
  }

  get obstacle(): string | undefined {
    return this.#obstacle;
  }

  async take(connection: Connection, patienceMs: number = HOLD_MS.patience): Promise<void> {
    this.#server = new Server(connection);
    this.#client = await this.#join(patienceMs).catch((error) => {
      if (!(error instanceof HeldElsewhere)) throw error;
      throw new UsageError(
        `Another process applies a journal of its own into this database: ${error.holder}. Stop it first: LOG_URL must be set for all processes of an installation, or for none.`,
      );
    });
  }

  async claim(): Promise<Terms> {
    if (!this.#client || !(await canAnswer(this.#client))) {
      // The database has been restarted since.
      await this.release();
      await this.take(this.#server!.connection);
    }
    await this.#takeShare(this.#client!);
    this.#hasNews = false;
    return [...this.#terms];
  }

  watch(onTerms: OnTerms): Loop {
    this.#onTerms = onTerms;
    return startLoop({
      name: "apply locks",
      log: this.#options.log,
      idleMs: HOLD_MS.check,
      failureMsMax: HOLD_MS.check,
      onTrouble: (trouble) => {
        this.#obstacle = trouble && messageOf(trouble.failure);
        if (trouble)
          this.#options.log.error({ reason: this.#obstacle }, "The apply locks are lost; taking them again.");
      },
      turn: async () => {
        this.#client ??= await this.#join(0);
        await this.#dropReplaced(this.#client);
        // A turn that fails halfway may have taken some.
        await this.#takeShare(this.#client).finally(() => {
          if (this.#hasNews) void this.#tell("given");
        });
        return "idle";
      },
    });
  }

  async release(): Promise<void> {
    const client = this.#client;
    this.#lose(client);
    await client?.end().catch(() => {});
  }

  /** Opens a connection that shares the lock of the log. */
  async #join(patienceMs: number): Promise<pg.Client> {
    const { journalId, log } = this.#options;
    const name = sessionNameOf(this.#options);
    const client = await openLockSession(this.#server!, { name, onEnd: (ended) => this.#lose(ended) });
    try {
      await takeApplyLock(client, { mode: "together", journalId, patienceMs, log });
      if (await shareLog(client, journalId)) return client;
      throw new UsageError(
        "Other processes use another log with this database: LOG_URL must lead all of them to the same one.",
      );
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
  }

  /** Leaves partitions whose term another process has replaced. */
  async #dropReplaced(client: pg.Client): Promise<void> {
    const current = await within(HOLD_MS.term, readApplyTerms(client)).catch(async (error: unknown) => {
      await this.release();
      throw error;
    });
    for (const partition of this.#held()) {
      if (current.has(this.#terms[partition]!)) continue;
      this.#terms[partition] = undefined;
      void this.#tell("lost");
      await leavePartition(client, partition);
    }
  }

  /** Gives what is over this process's share, and takes what is free up to it. */
  async #takeShare(client: pg.Client): Promise<void> {
    const { applies, partitions, log, isCutOff } = this.#options;
    if (!applies) return;
    const share = isCutOff() ? 0 : Math.ceil(partitions / (1 + (await countOtherAppliers(client))));
    for (const partition of this.#held().slice(share)) await this.#give(client, partition);
    const before = this.#held().length;
    let failure: unknown;
    for (let partition = 0; partition < partitions && this.#held().length < share; partition += 1) {
      if (this.#terms[partition] !== undefined || !(await tryPartition(client, partition))) continue;
      // One that cannot be claimed yet does not keep the others from being applied.
      const term = await this.#claimOn(client, partition).catch((error: unknown) => {
        failure = error;
        return undefined;
      });
      if (client !== this.#client) throw new Error("the connection that holds the apply locks was lost.");
      this.#terms[partition] = term;
      this.#hasNews ||= term !== undefined;
    }
    const held = this.#held();
    if (held.length > before) log.info({ partitions: held }, "This process applies these partitions.");
    else if (held.length < share) await this.#endSilent(client);
    if (failure !== undefined) throw failure;
  }

  async #give(client: pg.Client, partition: number): Promise<void> {
    this.#terms[partition] = undefined;
    await this.#tell("given");
    await leavePartition(client, partition);
    this.#options.log.info({ partition }, "Another process applies this partition from now on.");
  }

  async #endSilent(client: pg.Client): Promise<void> {
    const ended = await endSilentHolders(client);
    if (ended > 0)
      this.#options.log.warn({ sessions: ended }, "Processes without a sign of life have lost their partitions.");
  }

  async #claimOn(client: pg.Client, partition: number): Promise<string> {
    const { journalId, clock } = this.#options;
    const holder = { journalId, host: hostname(), processId: process.pid, sinceMs: clock() };
    try {
      return await claimPartition(client, holder, partition);
    } catch (error) {
      await leavePartition(client, partition);
      throw claimFailure(error);
    }
  }

  #tell(how: "lost" | "given"): Promise<void> {
    this.#hasNews = false;
    return this.#onTerms([...this.#terms], how);
  }

  #held(): number[] {
    return [...this.#terms.keys()].filter((partition) => this.#terms[partition] !== undefined);
  }

  /** Apply stops at once, so that the next holders do not have to wait for this process. */
  #lose(client: pg.Client | undefined): void {
    if (client === undefined || client !== this.#client) return;
    this.#client = undefined;
    this.#terms = noTerms(this.#options.partitions);
    void this.#tell("lost");
  }
}

function noTerms(partitions: number): undefined[] {
  return Array.from({ length: partitions }, () => undefined);
}
