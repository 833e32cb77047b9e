import type pg from "pg";
import type { ColdEvents } from "../db/cold-event.ts";
import { isDistributed } from "../db/engine/distribute.ts";
import { isConflict, isFaultOfData } from "../db/engine/failure.ts";
import { ErasureDigest } from "../db/erased-user.ts";
import { areAppsAhead } from "../db/journal-cursor.ts";
import { loadEventMeta, loadPropertyMeta } from "../db/metadata.ts";
import { keepAside, nextRequested } from "../db/set-aside.ts";
import { messageOf } from "../errors.ts";
import { IntakePace } from "../intake/pace.ts";
import { type EntryLog, isRecord, type LogSource, type Position } from "../journal/entry-log.ts";
import type { LargeTurn } from "../large-turn.ts";
import { LIMITS } from "../limits.ts";
import type { Log } from "../log.ts";
import { AppGrowth } from "./app-growth.ts";
import {
  type Batch,
  batchOf,
  cutAt,
  halves,
  isLarge,
  type Stretch,
  splitByApp,
  splitWhereOrderMatters,
} from "./batch.ts";
import { decodeAlone } from "./entry/decode.ts";
import type { DecodeThread } from "./entry/decode-thread.ts";
import { lastReceivedAtMs } from "./entry/entry-heads.ts";
import { ObservedNames } from "./facts/observed-names.ts";
import { Tallies } from "./facts/tallies.ts";
import { Partitions } from "./partitions.ts";
import { Stretches } from "./stretches.ts";
import { applyBatch, applySetAside, type BatchOutcome, endStretch, setAsideEntry } from "./transaction.ts";

/**
 * Where each app has transactions of its own, they share a longer stretch: a transaction on another machine has a higher price, whatever
 * its size. Measured with two apps on Citus: 2 processor seconds less of 20.
 */
const APPS_TOGETHER = 4;

/**
 * How much larger stretches of a long backlog are: a transaction has some 25 round trips, whatever its size. Measured: 5 %
 * more events a second if they are twice as large; 4 % more and 8 MB more if they are three times as large.
 */
const LONG_TOGETHER = 3;

/** Attempts to apply a batch that conflicts with another transaction, before it is halved. */
const TRIES_MAX = 3;

export type Applied = {
  partition: number;
  position: Position;
  receivedAtMs: number;
  /** The number of events, and of touches, by outcome. */
  outcomes: Record<string, number>;
  touches: Record<string, number>;
  setAside: number;
  /** Properties that had no room in the profiles of their users. */
  leftOut: number;
};

export type ApplierOptions = {
  pool: pg.Pool;
  /** The partitions to apply. They take turns. */
  sources: readonly LogSource[];
  /** Shared with the thread that judges large bodies, if there is one. */
  largeTurn?: LargeTurn;
  /** Decodes the stretches of a long backlog. Without it, this thread does. */
  decodeThread?: DecodeThread;
  log: Log;
  onApplied: (applied: Applied) => void;
  /** Grows by the bytes that become durable in the journal. */
  writtenBytes: () => number;
  /** The term in which this process may apply a partition (see db/lock/), or undefined while it may not. */
  term: (partition: number) => string | undefined;
  /** The partition of an app; 0 where it is not given. */
  partitionOf?: EntryLog["partitionOf"];
  /** Reads events that are only in the lake. */
  cold?: ColdEvents;
  /** Makes the digests of erased users; see installation.ts. */
  erasureKey: Uint8Array;
  /**
   * Whether each app has transactions of its own. By default it has where the database is distributed, and where a
   * distributed one left some apps further than others.
   */
  byApp?: boolean;
};

/** "elsewhere": another process has moved the cursor. The batch is sound, and no further part of it was applied. */
type Progress = { kind: "done" } | { kind: "elsewhere"; position: Position; from: Position };
const DONE: Progress = { kind: "done" };

/**
 * Moves the journal into the tables, batch by batch. While the database works on one batch, the next is decoded.
 *
 *   read ─▶ decode ─▶ open days ─▶ transaction ─┬─▶ applied: next
 *                                               ├─▶ the data's fault: halve, until one entry is left; set that aside
 *                                               └─▶ any other: the same batch again, until the cause is fixed
 */
export class Applier {
  readonly #options: ApplierOptions;
  readonly #pace: IntakePace;
  readonly #erasureDigest: ErasureDigest;
  readonly #stretches: readonly Stretches[];
  /** The one whose turn it is. */
  #turn = 0;
  #names: ObservedNames | undefined;
  #isByApp = false;
  /** What the apps of the current stretch have had applied. It is told once the cursor has passed it. */
  #untold: Applied[] = [];
  /** The terms at the beginning of the current turn, by partition. */
  #terms: ReadonlyMap<number, string> = new Map();
  readonly #partitions: Partitions;
  readonly #growth: AppGrowth;

  constructor(options: ApplierOptions) {
    this.#options = options;
    const timesOf = (backlog: "long" | "short") => (backlog === "long" ? LONG_TOGETHER : 1);
    const bytesMax = (backlog: "long" | "short") =>
      (this.#isByApp ? APPS_TOGETHER : timesOf(backlog)) * LIMITS.applyBatchBytes;
    this.#stretches = options.sources.map((source) => new Stretches({ ...options, source, bytesMax }));
    this.#pace = new IntakePace(options.writtenBytes);
    this.#erasureDigest = new ErasureDigest(options.erasureKey);
    this.#partitions = new Partitions(options);
    this.#growth = new AppGrowth(options);
  }

  /** Applies one batch, or returns "idle" when everything durable has been applied. */
  async turn(): Promise<"busy" | "idle"> {
    try {
      if (!(await this.#mayApply())) return "idle";
      await this.#growth.refresh();
      const next = await this.#next();
      if (!next) return await this.#atEnd();
      const { stretch, stretches } = next;
      const applying = this.#apply(stretch);
      // Awaited just below; a failure meanwhile must not count as unhandled.
      applying.catch(() => {});
      // Under heavy intake, the next batch is decoded only after this one has committed, so that apply uses at most one
      // core. Measured on two cores at 40,000 events/s: the p99 of answers fell from 17–35 ms to 10–21 ms, and apply
      // became 5 % slower.
      if (!this.#pace.isBusy() && !isLarge(stretch)) stretches.readAhead();
      const progress = await applying;
      if (progress.kind === "elsewhere") await this.#readAgain(progress);
      return "busy";
    } catch (error) {
      await this.#forget();
      throw error;
    }
  }

  /** The next stretch of the first partition that has one, beginning with the one whose turn it is. */
  async #next(): Promise<{ stretch: Stretch; stretches: Stretches } | undefined> {
    for (const stretches of this.#stretches) stretches.release();
    for (let asked = 0; asked < this.#stretches.length; asked += 1) {
      const stretches = this.#stretches[this.#turn]!;
      this.#turn = (this.#turn + 1) % this.#stretches.length;
      const stretch = this.#terms.has(stretches.partition) ? await stretches.next() : undefined;
      if (stretch) return { stretch, stretches };
    }
    return undefined;
  }

  async #atEnd(): Promise<"busy" | "idle"> {
    for (const stretches of this.#stretches) {
      if (!this.#terms.has(stretches.partition) || (await stretches.isAtCursor())) continue;
      await this.#forget();
      return "busy";
    }
    return "idle";
  }

  async close(): Promise<void> {
    for (const stretches of this.#stretches) await stretches.close();
  }

  /** Runs between batches, so that no batch meets a half-dropped day. */
  async dropDaysBefore(day: string): Promise<void> {
    await this.#partitions.dropDaysBefore(day);
  }

  async dropTouchesBefore(nowMs: number): Promise<void> {
    await this.#partitions.dropTouchesBefore(nowMs);
  }

  /** Applies one set-aside entry whose replay was requested. Returns false when there is none. */
  async replayOne(): Promise<boolean> {
    const { pool, log } = this.#options;
    const row = (await this.#mayApply()) ? await nextRequested(pool, (appId) => this.#applies(appId)) : undefined;
    if (!row) return false;
    await this.#loadContext();
    const { journalId, partition, from, until, payload } = row;
    const entry = decodeAlone({ kind: isRecord(row) ? "record" : "damage", from, until, payload });
    try {
      const batch = await batchOf(pool, { journalId, partition, from, until, entries: [entry] });
      await this.#partitions.openFor(batch);
      await applySetAside(pool, row, batch, this.#context(this.#partitionOf(row.appId)));
      log.info({ setAsideId: row.setAsideId }, "An entry that was set aside has been applied.");
    } catch (error) {
      if (!isFaultOfData(error)) throw error;
      this.#names = undefined;
      await keepAside(pool, row, messageOf(error));
    }
    return true;
  }

  async #mayApply(): Promise<boolean> {
    const terms = new Map<number, string>();
    for (const { partition } of this.#options.sources) {
      const term = this.#options.term(partition);
      if (term !== undefined) terms.set(partition, term);
    }
    // Another process may have applied in between, so nothing in memory can be trusted.
    if (!isSame(terms, this.#terms)) await this.#forget();
    this.#terms = terms;
    return terms.size > 0;
  }

  /** Entries that were set aside may be unreadable, and then they belong to no app. */
  #partitionOf(appId: number | null): number {
    return appId === null ? 0 : (this.#options.partitionOf?.(appId) ?? 0);
  }

  #applies(appId: number | null): boolean {
    return this.#terms.has(this.#partitionOf(appId));
  }

  async #apply(stretch: Stretch): Promise<Progress> {
    await this.#loadContext();
    const batch = await batchOf(this.#options.pool, stretch);
    await this.#partitions.openFor(batch);
    if (!this.#isByApp) return this.#applyEach(splitWhereOrderMatters(batch));
    return this.#applyByApp(batch);
  }

  /** Each app in transactions of its own, which then are of one machine each. The cursor moves when all are applied. */
  async #applyByApp(batch: Batch): Promise<Progress> {
    this.#untold = [];
    for (const ofApp of splitByApp(batch)) {
      const progress = await this.#applyEach(splitWhereOrderMatters(ofApp));
      if (progress.kind !== "done") return progress;
    }
    const outcome = await endStretch(this.#options.pool, batch, this.#terms.get(batch.partition)!);
    if (outcome.kind === "elsewhere") return { kind: "elsewhere", position: outcome.position, from: batch.from };
    if (this.#untold.length === 0 || outcome.setAside > 0)
      this.#tell(batch, { tallies: new Tallies(), setAside: outcome.setAside });
    const end = { position: batch.until, receivedAtMs: lastReceivedAtMs(batch.entries) };
    for (const applied of this.#untold) this.#options.onApplied({ ...applied, ...end });
    return DONE;
  }

  async #applyEach(parts: readonly Batch[]): Promise<Progress> {
    for (const part of parts) {
      const progress = await this.#applyOrHalve(part);
      if (progress.kind !== "done") return progress;
    }
    return DONE;
  }

  async #applyOrHalve(batch: Batch, tries = 1): Promise<Progress> {
    const outcome = await this.#try(batch);
    switch (outcome.kind) {
      case "applied":
        this.#tell(batch, outcome);
        this.#growth.add(outcome.tallies.newUsers);
        return DONE;
      case "already_applied":
        return DONE;
      case "elsewhere":
        return { kind: "elsewhere", position: outcome.position, from: batch.from };
      case "cut_needed":
        return this.#applyEach(cutAt(batch, outcome.positions));
      case "faulty":
        // What another process has done meanwhile is there to be read on the next try.
        if (isConflict(outcome.error) && tries < TRIES_MAX) return this.#applyOrHalve(batch, tries + 1);
        if (batch.entries.length > 1) return this.#applyEach(halves(batch));
        await this.#setAside(batch, messageOf(outcome.error));
        return DONE;
    }
  }

  /** "faulty": the data in the batch makes it fail. Every other failure is thrown. */
  async #try(batch: Batch): Promise<BatchOutcome | { kind: "faulty"; error: unknown }> {
    const context = this.#context(batch.partition);
    const outcome = await applyBatch(this.#options.pool, batch, context).catch((error: unknown) => {
      if (!isFaultOfData(error)) throw error;
      return { kind: "faulty" as const, error };
    });
    if (outcome.kind === "cut_needed" || outcome.kind === "faulty") {
      // The names noted for this batch were not stored.
      this.#names = undefined;
      await this.#loadContext();
    }
    return outcome;
  }

  async #setAside(batch: Batch, reason: string): Promise<void> {
    this.#options.log.error({ position: batch.from, reason }, "An entry was set aside.");
    await setAsideEntry(this.#options.pool, batch, { reason, term: this.#terms.get(batch.partition)! });
    this.#tell(batch, { tallies: new Tallies(), setAside: 1 });
  }

  #tell(batch: Batch, { tallies, setAside }: { tallies: Tallies; setAside: number }): void {
    const applied = {
      partition: batch.partition,
      position: batch.until,
      receivedAtMs: lastReceivedAtMs(batch.entries),
      outcomes: tallies.ledger.sums(),
      touches: tallies.touchLedger.sums(),
      setAside,
      leftOut: tallies.leftOut,
    };
    if (batch.appId === undefined) this.#options.onApplied(applied);
    else this.#untold.push(applied);
  }

  #context(partition: number) {
    const { weeks } = this.#partitions;
    const term = this.#terms.get(partition)!;
    const { cold } = this.#options;
    return { partitions: this.#partitions, weeks, names: this.#names!, term, erasureDigest: this.#erasureDigest, cold };
  }

  async #loadContext(): Promise<void> {
    if (this.#names) return;
    const { pool } = this.#options;
    const names = new ObservedNames();
    for (const meta of await loadEventMeta(pool)) names.add(meta.appId, "event", meta.name);
    for (const meta of await loadPropertyMeta(pool)) names.add(meta.appId, `${meta.scope}_property`, meta.name);
    await this.#partitions.load();
    this.#isByApp = this.#options.byApp ?? ((await isDistributed(pool)) || (await areAppsAhead(pool)));
    this.#names = names;
  }

  async #readAgain({ position, from }: { position: Position; from: Position }): Promise<void> {
    await this.#forget();
    this.#options.log.warn(`The cursor is at ${position}, but the batch starts at ${from}: reading again from there.`);
  }

  /** After a failure nothing held in memory is trusted: the cursor says where to go on. */
  async #forget(): Promise<void> {
    for (const stretches of this.#stretches) await stretches.forget();
    this.#names = undefined;
  }
}

function isSame(one: ReadonlyMap<number, string>, other: ReadonlyMap<number, string>): boolean {
  return one.size === other.size && [...one].every(([partition, term]) => other.get(partition) === term);
}
