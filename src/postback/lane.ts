import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { Clock } from "../clock.ts";
import { inTransaction } from "../db/engine/pool.ts";
import type { Executor } from "../db/engine/sql.ts";
import { endPause, notePause } from "../db/lane-pause.ts";
import { type ClaimedRow, claimOutbox, type Fence } from "../db/outbox.ts";
import { type PostbackOutcome, recordOutcomes } from "../db/postback-outcome.ts";
import { POSTBACK_STATUS } from "../domain/postback/postback.ts";
import { messageOf } from "../errors.ts";
import { LIMITS } from "../limits.ts";
import type { Log } from "../log.ts";
import { Breaker, Pace } from "./breaker.ts";
import type { Channel, Delivery, Plan } from "./channel.ts";
import { loadParcels, type Parcel } from "./parcel.ts";

export type LaneDeps = {
  pool: pg.Pool;
  log: Log;
  clock: Clock;
  /** The clock for durations. */
  elapsed: Clock;
  /** The wait after each failed attempt; after the last one the postback has failed. */
  backOffMs: readonly number[];
  /** Longer than any attempt takes: a process that has not recorded an outcome after it is dead. */
  leaseMs: number;
  /** An app's local day at an instant. */
  dayOf: (appId: number, atMs: number) => string;
};

/** How long free places and outcomes wait for others, so that fewer statements claim and record more rows. */
const GATHER_MS = 5;
/** How often the lane looks for more to send while nothing else is due. */
const IDLE_MS = 50;
const AGAIN_MS = 500;
/** Attempts to record outcomes after a stop signal: the database may be about to stop, too. */
const LAST_TRIES = 20;
const REASON_LENGTH_MAX = 500;

/** A claim: its attempt, and until when other processes leave the row alone. */
type Hold = { attempts: number; leaseUntilMs: number };

type Attempt = { row: ClaimedRow; deliver: () => Promise<Delivery> };

/** How an attempt ends in the tables. */
type End = Pick<PostbackOutcome, "status" | "reason"> & { dueAtMs?: number };

/**
 * Sends everything due in one lane, many at a time. Lanes are independent: when one platform is slow or down, only its
 * own postbacks wait.
 *
 *   outbox ─claim─▶ in flight ─▶ landed ─record─▶ gone (accepted, failed, skipped) or due again later
 *
 * Claiming and recording go on side by side, each in transactions of its own: neither waits for the other's round trips,
 * and calls are under way during both.
 */
export class Lane {
  readonly #deps: LaneDeps;
  readonly #breaker = new Breaker();
  /** Rows claimed by this lane and not recorded yet. */
  readonly #held = new Map<number, Hold>();
  #channel: Channel;
  #pace: Pace;
  #flying = 0;
  #landed: PostbackOutcome[] = [];
  #isRecording = false;
  /** Called whenever a call has landed, and whenever outcomes are recorded. */
  #onChange = () => {};
  /** The end of the pause stored in the database; 0 while it is unknown what an earlier process left there. */
  #notedUntilMs: number | undefined = 0;

  constructor(deps: LaneDeps, channel: Channel) {
    this.#deps = deps;
    this.#channel = channel;
    this.#pace = new Pace(channel.ratePerS);
  }

  /** Switches to other settings, such as another token. After a change the lane tries again at once. */
  use(channel: Channel): void {
    if (channel.ratePerS !== this.#channel.ratePerS) this.#pace = new Pace(channel.ratePerS);
    if (channel.version !== this.#channel.version) this.#breaker.succeeded();
    this.#channel = channel;
  }

  isOpen(): boolean {
    return !this.#breaker.isOpen(this.#deps.elapsed());
  }

  /**
   * Ends only when the outcomes of everything sent are recorded, even if the database is away meanwhile. `maySend`: whether
   * more may be sent, which is another process's duty at times.
   */
  async run(signal: AbortSignal, maySend: () => boolean = () => true): Promise<void> {
    for (let isMoreDue = true; ; ) {
      const room = signal.aborted || !maySend() ? 0 : this.#room();
      const claimed = room === 0 ? 0 : await this.#claim(room, signal);
      if (room > 0) isMoreDue = claimed === room;
      if (this.#held.size > 0) await this.#change(isMoreDue);
      else if (claimed === 0) return;
    }
  }

  /** Waits until everything is recorded, or there may be more to claim: when half of the places are free, or after a while. */
  #change(isMoreDue: boolean): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, isMoreDue ? GATHER_MS : IDLE_MS);
      this.#onChange = () => {
        if (this.#held.size > 0 && !(isMoreDue && this.#flying <= LIMITS.postbacksInFlight / 2)) return;
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** The number of rows that may be claimed now. */
  #room(): number {
    const nowMs = this.#deps.elapsed();
    const places = this.#breaker.room(nowMs, LIMITS.postbacksInFlight) - this.#flying;
    return this.#pace.room(nowMs, Math.max(0, Math.min(places, LIMITS.postbacksHeld - this.#held.size)));
  }

  async #claim(limit: number, signal: AbortSignal): Promise<number> {
    try {
      const { claimed, attempts, leaseUntilMs } = await this.#take(limit);
      this.#pace.took(attempts.length);
      for (const { row, deliver } of attempts) {
        this.#held.set(row.outboxId, { attempts: row.attempts, leaseUntilMs });
        void this.#fly(row, deliver, signal);
      }
      return claimed;
    } catch (error) {
      if (this.#held.size === 0) throw error;
      this.#warn(error, "No more postbacks are claimed until the database is back.");
      await sleep(AGAIN_MS);
      return 0;
    }
  }

  /**
   * In one transaction: a row whose parcel could not be loaded has not been claimed, and so was never in flight. Skipped
   * rows end in the same transaction. Otherwise apply would take them for attempted rows and leave them alone, although a
   * click that arrives just then may bring the missing id.
   */
  async #take(limit: number): Promise<{ claimed: number; attempts: Attempt[]; leaseUntilMs: number }> {
    const { pool, clock, leaseMs } = this.#deps;
    const { lane } = this.#channel;
    const nowMs = clock();
    const leaseUntilMs = nowMs + leaseMs;
    // Rows whose lease has ended meanwhile are not those of a dead process.
    const except = [...this.#held].flatMap(([outboxId, hold]) => (hold.leaseUntilMs <= nowMs ? [outboxId] : []));
    return inTransaction(pool, async (tx) => {
      const parcels = await loadParcels(tx, await claimOutbox(tx, { lane, nowMs, leaseUntilMs, limit, except }));
      const attempts: Attempt[] = [];
      const skipped: PostbackOutcome[] = [];
      for (const parcel of parcels) {
        const plan = this.#plan(parcel);
        if (plan.kind === "attempt") attempts.push({ row: parcel.row, deliver: plan.deliver });
        else skipped.push(this.#outcomeOf(parcel.row, { kind: "skipped", reason: plan.reason }));
      }
      await recordOutcomes(tx, skipped, nowMs);
      return { claimed: parcels.length, attempts, leaseUntilMs };
    });
  }

  /** A parcel that cannot be prepared is an attempt that fails. The other rows are claimed all the same. */
  #plan(parcel: Parcel): Plan {
    try {
      return this.#channel.plan(parcel);
    } catch (error) {
      return { kind: "attempt", deliver: () => Promise.reject(error) };
    }
  }

  async #fly(row: ClaimedRow, deliver: Attempt["deliver"], signal: AbortSignal): Promise<void> {
    this.#flying += 1;
    const delivery = await deliver().catch((error: unknown): Delivery => {
      this.#deps.log.error({ lane: this.#channel.lane, reason: messageOf(error) }, "A postback could not be prepared.");
      return { kind: "later", reason: messageOf(error), isDown: false };
    });
    this.#flying -= 1;
    if (delivery.kind === "later" && delivery.isDown) this.#breaker.failed(this.#deps.elapsed());
    else if (delivery.kind !== "skipped") this.#breaker.succeeded();
    this.#landed.push(this.#outcomeOf(row, delivery));
    if (!this.#isRecording) void this.#recordLanded(signal);
    this.#onChange();
  }

  #outcomeOf(row: ClaimedRow, delivery: Delivery): PostbackOutcome {
    const end = this.#endOf(row, delivery);
    // Written out without a spread, which would cost more than the rest: this happens for every postback.
    return {
      appId: row.appId,
      clientId: row.clientId,
      eventType: row.eventType,
      subject: row.subject,
      outboxId: row.outboxId,
      attempts: row.attempts,
      status: end.status,
      reason: end.reason,
      backCents: delivery.kind === "accepted" ? delivery.cents : 0,
      dueAtMs: end.dueAtMs ?? 0,
      acceptedDay: delivery.kind === "accepted" ? this.#deps.dayOf(row.appId, this.#deps.clock()) : null,
    };
  }

  #endOf({ attempts }: ClaimedRow, delivery: Delivery): End {
    switch (delivery.kind) {
      case "accepted":
        return { status: POSTBACK_STATUS.accepted, reason: "" };
      case "skipped":
        return { status: POSTBACK_STATUS.skipped, reason: storable(delivery.reason) };
      case "given_up":
        return { status: POSTBACK_STATUS.givenUp, reason: storable(delivery.reason) };
      case "later": {
        const waitMs = this.#deps.backOffMs[attempts - 1];
        const reason = storable(delivery.reason);
        if (waitMs !== undefined) {
          return { status: POSTBACK_STATUS.waiting, reason, dueAtMs: this.#deps.clock() + waitMs };
        }
        return { status: POSTBACK_STATUS.givenUp, reason: `Given up after ${attempts} attempts. ${reason}` };
      }
    }
  }

  /** Records what has landed, and whatever lands meanwhile. */
  async #recordLanded(signal: AbortSignal): Promise<void> {
    this.#isRecording = true;
    while (this.#landed.length > 0) {
      await sleep(GATHER_MS);
      const outcomes = this.#landed;
      this.#landed = [];
      await this.#record(outcomes, signal);
      for (const outcome of outcomes) this.#release(outcome);
      this.#onChange();
    }
    this.#isRecording = false;
  }

  /** A row that was due again when its outcome was recorded may have been claimed a second time since. */
  #release({ outboxId, attempts }: Fence): void {
    if (this.#held.get(outboxId)?.attempts === attempts) this.#held.delete(outboxId);
  }

  /** Records outcomes. An accepted postback must not be forgotten, so this waits while the database is away. */
  async #record(outcomes: readonly PostbackOutcome[], signal: AbortSignal): Promise<void> {
    for (let lastTries = 0; lastTries <= LAST_TRIES; ) {
      const pause = this.#breaker.pause();
      try {
        await inTransaction(this.#deps.pool, async (tx) => {
          await recordOutcomes(tx, outcomes, this.#deps.clock());
          if (pause?.untilMs !== this.#notedUntilMs) await this.#notePause(tx, pause);
        });
        this.#notedUntilMs = pause?.untilMs;
        return;
      } catch (error) {
        this.#warn(error, "Outcomes of postbacks wait for the database.");
        if (signal.aborted) lastTries += 1;
        await sleep(AGAIN_MS);
      }
    }
  }

  /** Stores the pause together with the outcomes that caused it, so that every process can show it. */
  async #notePause(tx: Executor, pause: ReturnType<Breaker["pause"]>): Promise<void> {
    const { lane } = this.#channel;
    if (!pause) return endPause(tx, lane);
    const nowMs = this.#deps.clock();
    const restMs = Math.max(0, pause.untilMs - this.#deps.elapsed());
    await notePause(tx, lane, { pausedUntilMs: nowMs + restMs, failures: pause.failures }, nowMs);
  }

  #warn(error: unknown, message: string): void {
    this.#deps.log.warn({ lane: this.#channel.lane, reason: messageOf(error) }, message);
  }
}

/** Makes a reason storable. Reasons quote others' answers, and a NUL in one would keep all outcomes waiting. */
function storable(reason: string): string {
  return reason.replaceAll("\u0000", "").slice(0, REASON_LENGTH_MAX).toWellFormed();
}
