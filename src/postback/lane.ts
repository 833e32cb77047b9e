import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { Clock } from "../clock.ts";
import { inTransaction } from "../db/engine/pool.ts";
import type { Executor } from "../db/engine/sql.ts";
import { endPause, notePause } from "../db/lane-pause.ts";
import { type ClaimedRow, claimOutbox } from "../db/outbox.ts";
import { postbackKeyText } from "../db/postback.ts";
import { type PostbackOutcome, recordOutcomes } from "../db/postback-outcome.ts";
import { loadParcelFacts } from "../db/postback-parcel.ts";
import { loadUsers } from "../db/user-account.ts";
import { POSTBACK_STATUS } from "../domain/postback/postback.ts";
import { md5 } from "../domain/user/identity.ts";
import { messageOf } from "../errors.ts";
import { LIMITS } from "../limits.ts";
import type { Log } from "../log.ts";
import { Breaker, Pace } from "./breaker.ts";
import type { Channel, Delivery, Parcel } from "./channel.ts";

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

/** How long outcomes wait for others, to be recorded together. */
const GATHER_MS = 2;
/** How often the lane looks for more to send while nothing lands. */
const IDLE_MS = 50;
const AGAIN_MS = 500;
/** Attempts to record outcomes after a stop signal: the database may be about to stop, too. */
const LAST_TRIES = 20;
const REASON_LENGTH_MAX = 500;

/**
 * Sends everything due in one lane, many at a time. Lanes are independent: when one platform is slow or down, only its
 * own postbacks wait.
 *
 *   outbox ─claim─▶ in flight ─▶ outcome ─record─▶ gone (accepted, failed, skipped) or due again later
 */
export class Lane {
  readonly #deps: LaneDeps;
  readonly #breaker = new Breaker();
  /** Rows claimed by this lane and not recorded yet, which must not be taken for those of a dead process. */
  readonly #held = new Set<number>();
  #channel: Channel;
  #pace: Pace;
  #flying = 0;
  #landed: PostbackOutcome[] = [];
  #onLanded = () => {};
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

  /** Ends only when the outcomes of everything sent are recorded, even if the database is away meanwhile. */
  async run(signal: AbortSignal): Promise<void> {
    for (;;) {
      // At the same time: held rows are never claimed again, and neither waits for the other's round trips.
      const [claimed] = await Promise.all([signal.aborted ? 0 : this.#claim(), this.#record(signal)]);
      if (claimed === 0 && this.#flying === 0 && this.#landed.length === 0) return;
      if (this.#landed.length === 0) await this.#landing();
    }
  }

  /** Waits until something lands, or there may be more to claim, and gathers what lands at the same moment. */
  async #landing(): Promise<void> {
    const stop = new AbortController();
    const landed = new Promise<void>((resolve) => (this.#onLanded = resolve));
    await Promise.race([landed, sleep(IDLE_MS, undefined, { signal: stop.signal }).catch(() => {})]);
    stop.abort();
    await sleep(GATHER_MS);
  }

  async #claim(): Promise<number> {
    const nowMs = this.#deps.elapsed();
    const free = Math.max(0, this.#breaker.room(nowMs, LIMITS.postbacksInFlight) - this.#flying);
    const limit = this.#pace.room(nowMs, free);
    if (limit === 0) return 0;
    try {
      const { claimed, parcels } = await this.#take(limit);
      this.#pace.took(parcels.length);
      for (const parcel of parcels) void this.#fly(parcel);
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
  #take(limit: number): Promise<{ claimed: number; parcels: Parcel[] }> {
    const { pool, clock, leaseMs } = this.#deps;
    const nowMs = clock();
    const lease = { nowMs, leaseUntilMs: nowMs + leaseMs, limit, except: [...this.#held] };
    return inTransaction(pool, async (tx) => {
      const all = await loadParcels(tx, await claimOutbox(tx, { lane: this.#channel.lane, ...lease }));
      const judged = all.map((parcel) => ({ parcel, reason: this.#skipReason(parcel) }));
      const skipped = judged.flatMap(({ parcel, reason }) =>
        reason === undefined ? [] : [this.#outcomeOf(parcel.row, { kind: "skipped", reason })],
      );
      await recordOutcomes(tx, skipped, nowMs);
      const parcels = judged.filter(({ reason }) => reason === undefined).map(({ parcel }) => parcel);
      return { claimed: all.length, parcels };
    });
  }

  #skipReason(parcel: Parcel): string | undefined {
    try {
      return this.#channel.skips(parcel);
    } catch {
      // The error shows again on sending, and is logged there. The other rows are claimed all the same.
      return undefined;
    }
  }

  async #fly(parcel: Parcel): Promise<void> {
    this.#flying += 1;
    this.#held.add(parcel.row.outboxId);
    const delivery = await this.#channel.deliver(parcel).catch((error: unknown): Delivery => {
      this.#deps.log.error({ lane: this.#channel.lane, reason: messageOf(error) }, "A postback could not be prepared.");
      return { kind: "later", reason: messageOf(error), isDown: false };
    });
    this.#flying -= 1;
    if (delivery.kind === "later" && delivery.isDown) this.#breaker.failed(this.#deps.elapsed());
    else if (delivery.kind !== "skipped") this.#breaker.succeeded();
    this.#landed.push(this.#outcomeOf(parcel.row, delivery));
    this.#onLanded();
  }

  #outcomeOf(row: ClaimedRow, delivery: Delivery): PostbackOutcome {
    const { clock, backOffMs, dayOf } = this.#deps;
    const { appId, clientId, eventType, subject, outboxId, attempts } = row;
    const base = {
      appId,
      clientId,
      eventType,
      subject,
      outboxId,
      attempts,
      backCents: 0,
      dueAtMs: 0,
      acceptedDay: null,
    };
    switch (delivery.kind) {
      case "accepted": {
        const told = { backCents: delivery.cents, acceptedDay: dayOf(appId, clock()) };
        return { ...base, ...told, status: POSTBACK_STATUS.accepted, reason: "" };
      }
      case "skipped":
        return { ...base, status: POSTBACK_STATUS.skipped, reason: storable(delivery.reason) };
      case "given_up":
        return { ...base, status: POSTBACK_STATUS.givenUp, reason: storable(delivery.reason) };
      case "later": {
        const waitMs = backOffMs[attempts - 1];
        const reason = storable(delivery.reason);
        if (waitMs !== undefined) {
          return { ...base, status: POSTBACK_STATUS.waiting, reason, dueAtMs: clock() + waitMs };
        }
        return {
          ...base,
          status: POSTBACK_STATUS.givenUp,
          reason: `Given up after ${attempts} attempts. ${reason}`,
        };
      }
    }
  }

  /** Records outcomes. An accepted postback must not be forgotten, so this waits while the database is away. */
  async #record(signal: AbortSignal): Promise<void> {
    const outcomes = this.#landed;
    this.#landed = [];
    for (let lastTries = 0; outcomes.length > 0; ) {
      const pause = this.#breaker.pause();
      try {
        await inTransaction(this.#deps.pool, async (tx) => {
          await recordOutcomes(tx, outcomes, this.#deps.clock());
          if (pause?.untilMs !== this.#notedUntilMs) await this.#notePause(tx, pause);
        });
        this.#notedUntilMs = pause?.untilMs;
        break;
      } catch (error) {
        this.#warn(error, "Outcomes of postbacks wait for the database.");
        if (signal.aborted) lastTries += 1;
        if (lastTries > LAST_TRIES) break;
        await sleep(AGAIN_MS);
      }
    }
    for (const { outboxId } of outcomes) this.#held.delete(outboxId);
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

async function loadParcels(tx: Executor, rows: readonly ClaimedRow[]): Promise<Parcel[]> {
  if (rows.length === 0) return [];
  const [facts, users] = [await loadParcelFacts(tx, rows), await loadUsers(tx, oneOfEach(rows), [])];
  const factsByKey = new Map(facts.map((one) => [postbackKeyText(one), one]));
  const usersByKey = new Map(users.map((user) => [`${user.appId}\t${user.clientId}`, user]));
  return rows.map((row) => {
    const known = factsByKey.get(postbackKeyText(row));
    return {
      row,
      user: usersByKey.get(`${row.appId}\t${row.clientId}`),
      touchKind: known?.touchKind ?? "click",
      moment: known?.moment ?? "",
      atMs: known?.atMs ?? 0,
      valueCents: known?.valueCents ?? null,
      traceId: known?.traceId ?? "",
      createdAtMs: known?.createdAtMs ?? 0,
      resent: known?.resent ?? 0,
      dedupeId: dedupeIdOf({ ...row, madeFor: known?.madeFor || row.clientId, createdAtMs: known?.createdAtMs ?? 0 }),
    };
  });
}

/**
 * The same id in every attempt, including requested ones, even if the client's id has changed. The time of creation
 * distinguishes the client from a later one with the same id.
 */
export function dedupeIdOf(of: {
  appId: number;
  madeFor: string;
  eventType: string;
  subject: string;
  createdAtMs: number;
}): string {
  return md5(`${of.appId}\n${of.madeFor}\n${of.eventType}\n${of.subject}\n${of.createdAtMs}`);
}

function oneOfEach(rows: readonly ClaimedRow[]): ClaimedRow[] {
  return [...new Map(rows.map((row) => [`${row.appId}\t${row.clientId}`, row])).values()];
}
