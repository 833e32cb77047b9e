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
import type { Delivery, Parcel, Way } from "./way.ts";

export type LaneDeps = {
  pool: pg.Pool;
  log: Log;
  clock: Clock;
  /** For durations. */
  elapsed: Clock;
  /** How long to wait after each attempt that failed; after the last one it is given up. */
  backOffMs: readonly number[];
  /** Longer than any attempt takes: who has not recorded an outcome by then is dead. */
  leaseMs: number;
  /** An app's local day at an instant. */
  dayOf: (appId: number, atMs: number) => string;
};

/** Outcomes wait this long for others, to be written down together. */
const GATHER_MS = 2;
/** While nothing lands, it is looked this often whether there is more to send. */
const IDLE_MS = 50;
const AGAIN_MS = 500;
/** Who is asked to stop tries so often to write down what it knows: the database may be about to stop, too. */
const LAST_TRIES = 20;
const REASON_LENGTH_MAX = 500;

/**
 * Sends what is due in one lane, many at a time, until nothing is. Lanes know nothing of one another: where one platform
 * is slow or down, only what goes to it waits.
 *
 *   outbox ─claim─▶ in flight ─▶ outcome ─record─▶ gone (accepted, given up, skipped) or due again later
 */
export class Lane {
  readonly #deps: LaneDeps;
  readonly #breaker = new Breaker();
  /** Claimed by this lane and not written down yet. It is alive: its rows are not taken for those of a dead one. */
  readonly #held = new Set<number>();
  #way: Way;
  #pace: Pace;
  #flying = 0;
  #landed: PostbackOutcome[] = [];
  #onLanded = () => {};
  /** The pause that is written down; 0: whatever an earlier process has left. */
  #notedUntilMs: number | undefined = 0;

  constructor(deps: LaneDeps, way: Way) {
    this.#deps = deps;
    this.#way = way;
    this.#pace = new Pace(way.ratePerS);
  }

  /** The same lane with other settings, such as another token. Whoever changes them expects it to be tried at once. */
  use(way: Way): void {
    if (way.ratePerS !== this.#way.ratePerS) this.#pace = new Pace(way.ratePerS);
    if (way.version !== this.#way.version) this.#breaker.succeeded();
    this.#way = way;
  }

  isOpen(): boolean {
    return !this.#breaker.isOpen(this.#deps.elapsed());
  }

  /** Ends only when everything that was sent is written down, whatever becomes of the database meanwhile. */
  async run(signal: AbortSignal): Promise<void> {
    for (;;) {
      // Both at once: what is held is not claimed, and neither waits for the other's round trips.
      const [claimed] = await Promise.all([signal.aborted ? 0 : this.#claim(), this.#record(signal)]);
      if (claimed === 0 && this.#flying === 0 && this.#landed.length === 0) return;
      if (this.#landed.length === 0) await this.#landing();
    }
  }

  /** Until something has landed, or there may be more to claim. Whatever lands in the same moment is gathered. */
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
      this.#warn(error, "Nothing more is claimed until the database is back.");
      await sleep(AGAIN_MS);
      return 0;
    }
  }

  /**
   * In one transaction: a row whose parcel could not be made up has not been claimed, and so was never under way. One of
   * which nobody is to be told ends in it, too: to apply, which takes back what nobody has tried to send, a claimed row
   * would be lost to this attempt, though a click that comes just then may bring what is lacking.
   */
  #take(limit: number): Promise<{ claimed: number; parcels: Parcel[] }> {
    const { pool, clock, leaseMs } = this.#deps;
    const nowMs = clock();
    const lease = { nowMs, leaseUntilMs: nowMs + leaseMs, limit, except: [...this.#held] };
    return inTransaction(pool, async (tx) => {
      const all = await loadParcels(tx, await claimOutbox(tx, { lane: this.#way.lane, ...lease }));
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
      return this.#way.skips(parcel);
    } catch {
      // Whatever is wrong with it shows again when it is sent, and is told there; the others are claimed all the same.
      return undefined;
    }
  }

  async #fly(parcel: Parcel): Promise<void> {
    this.#flying += 1;
    this.#held.add(parcel.row.outboxId);
    const delivery = await this.#way.deliver(parcel).catch((error: unknown): Delivery => {
      this.#deps.log.error({ lane: this.#way.lane, reason: messageOf(error) }, "A postback could not be prepared.");
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

  /** What a platform has accepted must not be forgotten: while the database is away this waits for it. */
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

  /** For people to see, wherever they ask: together with the outcomes that are its reason. */
  async #notePause(tx: Executor, pause: ReturnType<Breaker["pause"]>): Promise<void> {
    const { lane } = this.#way;
    if (!pause) return endPause(tx, lane);
    const nowMs = this.#deps.clock();
    const restMs = Math.max(0, pause.untilMs - this.#deps.elapsed());
    await notePause(tx, lane, { pausedUntilMs: nowMs + restMs, failures: pause.failures }, nowMs);
  }

  #warn(error: unknown, message: string): void {
    this.#deps.log.warn({ lane: this.#way.lane, reason: messageOf(error) }, message);
  }
}

/** Reasons quote what others answer; no column holds a NUL, and one bad text would keep all outcomes waiting. */
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
 * The same in every attempt, also in those that people ask for, and whatever the client is called by then. When it was
 * made tells a client from another one that comes to have the same id.
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
