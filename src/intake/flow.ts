import type { Applied } from "../apply/applier.ts";
import { ApplyThread } from "../apply/apply-thread.ts";
import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import type { Terms } from "../db/apply-holder.ts";
import type { Database } from "../db/engine/database.ts";
import { readCursors } from "../db/journal-cursor.ts";
import type { ApplyHold } from "../db/lock/apply-lock.ts";
import type { UserKey } from "../domain/user/user-key.ts";
import { type Appended, type EntryLog, endsOf, type Place, type Position } from "../journal/entry-log.ts";
import type { LogBus } from "../journal/log-bus.ts";
import { LIMITS } from "../limits.ts";
import type { Log } from "../log.ts";
import type { Loop } from "../loop.ts";
import { AppBacklog } from "./app-backlog.ts";
import { JudgeThreads } from "./body/judge-threads.ts";
import { LargeBodies } from "./body/large-bodies.ts";
import { BodyRoom } from "./body-room.ts";
import { IntakeBudgets } from "./budgets.ts";
import { Intake } from "./intake.ts";
import { JournalDepth } from "./journal-depth.ts";
import { KnownClients } from "./known-clients.ts";
import { LoopDelay } from "./loop-delay.ts";
import { Metrics } from "./metrics.ts";
import { assertFilesApplied, type OpenedJournal, openJournal, waitForEnds } from "./open-journal.ts";
import { IntakePace } from "./pace.ts";
import { Progress } from "./progress.ts";
import { startPruning } from "./pruning.ts";
import { Refusals } from "./refusals.ts";
import { SharedLog } from "./shared-log.ts";

/** The part of a stop's time that is left once the batch being applied is cut off. It is applied again after the next start. */
const END_MS = 300;
const NOBODY_APPLIES =
  "Nobody applies this journal: ROLES has no apply, and only the process on this DATA_DIR can do it. Collected data waits.";

/** The path of data from the request into the tables, and its progress. */
export class Flow {
  readonly journal: EntryLog;
  readonly progress: Progress;
  readonly intake: Intake;
  readonly metrics: Metrics;
  readonly known: KnownClients;
  readonly refusals: Refusals;
  readonly bodies: BodyRoom;
  readonly largeBodies: LargeBodies;
  readonly judgeThreads: JudgeThreads;
  readonly budgets: IntakeBudgets;
  readonly backlog = new AppBacklog();
  readonly #config: Config;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #database: Database;
  /** Only in a process that collects or applies; other processes never apply. */
  readonly #lock: ApplyHold | undefined;
  readonly #nodeId: string;
  #terms: Terms = [];
  #thread: ApplyThread | undefined;
  /** Only where other processes may use the same log. */
  readonly #shared: SharedLog | undefined;
  /** The cell of LargeTurn, which the threads for applying and for large bodies share. */
  readonly #largeTurn = new SharedArrayBuffer(4);
  readonly #loopDelay = new LoopDelay();
  #lockWatch: Loop | undefined;
  #pruning: Loop | undefined;
  readonly #opened: OpenedJournal;
  /** One for each partition. */
  readonly #depths: readonly JournalDepth[];
  readonly #pace: IntakePace;
  /** Since when acknowledged data waits for apply, by partition, or 0 when none does. */
  readonly #behindSinceMs: number[];
  /** Why apply is stuck; empty while it works. */
  #stuckBecause = "";

  private constructor(parts: FlowParts) {
    const { config, log, clock, database, opened, refusals } = parts;
    const { journal, files } = opened;
    const recovered = endsOf(journal);
    const applied = recovered.map((_, partition) => parts.applied[partition] ?? 0);
    this.#config = config;
    this.#log = log;
    this.#clock = clock;
    this.#database = database;
    this.#lock = parts.lock;
    this.#nodeId = parts.nodeId;
    this.journal = journal;
    this.#opened = opened;
    this.#pace = new IntakePace(() => journal.writtenBytes);
    this.refusals = refusals;
    this.bodies = new BodyRoom({ bytesMax: config.bodiesInFlightBytesMax, refusals });
    this.largeBodies = new LargeBodies({ largeTurn: this.#largeTurn, refusals, log });
    this.judgeThreads = new JudgeThreads({
      threads: config.intakeThreads,
      settings: { unpackedBytesMax: Math.min(LIMITS.bodyBytesHandedOver, config.bodyUnpackedBytesMax) },
      log,
    });
    this.budgets = new IntakeBudgets({
      app: { entriesPerS: config.appEntriesPerS, bytesPerS: config.appBytesPerS },
      address: { entriesPerS: config.addressEntriesPerS, bytesPerS: config.addressBytesPerS },
      refusals,
    });
    const partitionOf = (app: number) => journal.partitionOf(app);
    const isBehind = (partition: number) => this.progress.applied[partition]! < recovered[partition]!;
    this.progress = new Progress({ applied, partitionOf });
    this.#depths = recovered.map(
      (end, partition) => new JournalDepth({ applied: applied[partition]!, recovered: end }),
    );
    this.#behindSinceMs = applied.map((_, partition) => (isBehind(partition) ? clock() : 0));
    this.intake = new Intake({
      journal,
      dir: files?.dir ?? config.dataDir,
      progress: this.progress,
      backlog: this.backlog,
      refusals,
      log,
      diskFreeBytesMin: config.diskFreeBytesMin,
      backlogBytesMax: config.journalBacklogBytesMax,
    });
    const shared = files ? undefined : this.#shareLog(log);
    this.#shared = shared;
    this.known = new KnownClients({
      pool: database.pool,
      clientsMax: config.knownClientsMax,
      partitionOf,
      isBehind,
      shared,
    });
    this.metrics = new Metrics({
      backlogBytes: () => this.intake.backlogBytes,
      waitingBytes: () => journal.waitingBytes,
      applyLagMs: () => this.applyLagMs(),
      isApplyStuck: () => this.applyObstacle() !== undefined,
      diskFreeBytes: () => this.intake.diskFreeBytes,
      bodiesBytes: () => this.bodies.bytes,
      largeBodies: () => this.largeBodies.bodies,
      largeBodiesTotal: () => this.largeBodies.handedOver,
      intakeThreads: () => this.judgeThreads.ready,
      intakeThreadBodies: () => this.judgeThreads.handedOver,
      loopDelayMs: () => this.#loopDelay.longestMs,
      refusals: () => this.refusals.list(),
    });
  }

  /** `applied`: the cursors, or positions that they are known to have reached while the database is away. */
  static async open(options: Omit<FlowParts, "opened" | "refusals">): Promise<Flow> {
    const { config, log, applied, isConfirmed } = options;
    let flow: Flow | undefined;
    const refusals = new Refusals(options.clock);
    const opened = await openJournal(config, {
      log,
      overShare: (appId) => refusals.refuse(appId, "memory"),
      onAppended: (appended) => {
        if (flow) flow.#appended(appended);
      },
      onGrown: ({ partition }) => {
        if (flow) flow.#grown(partition);
      },
    });
    await opened.files?.begin({ applied: applied[0] ?? 0, isConfirmed });
    flow = new Flow({ ...options, opened, refusals });
    return flow;
  }

  /** Starts accepting entries. Nothing is applied before `attach`. */
  async start(): Promise<void> {
    await this.intake.start();
    this.#loopDelay.start(this.#log);
    this.progress.stall(true);
  }

  /** Starts applying, once the database is open. */
  async attach(erasureKey: Uint8Array): Promise<void> {
    const { pool } = this.#database;
    const { files } = this.#opened;
    const cursors = await readCursors(pool, this.journal.id);
    if (files) {
      // Not a full journal: that ends only once apply has begun, which is after this.
      await files.bringBack(cursors[0] ?? 0, () => this.intake.diskObstacle());
    } else {
      // Asked after the cursors: other processes append and apply meanwhile.
      await waitForEnds(this.journal, cursors);
      await assertFilesApplied(pool, this.#config);
    }
    for (const [partition, depth] of this.#depths.entries()) {
      const position = cursors[partition] ?? 0;
      this.progress.advance({ partition, position }, 0);
      depth.applied(position);
    }
    this.#terms = (await this.#lock?.claim()) ?? [];
    if (this.#config.roles.has("apply")) this.#startApply(erasureKey);
    this.#lockWatch = this.#lock?.watch(async (next, how) => {
      this.#terms = next;
      const isHeld = next.some((term) => term !== undefined);
      this.progress.stall(!isHeld && !this.isShared);
      await this.#thread?.hold(next, how);
    });
    this.#shared?.start();
    // Of a shared log, those who apply it take care.
    if (!this.isShared || this.#config.roles.has("apply")) this.#pruning = this.#startPruning();
  }

  /** Stops in the order of the flow: what is acknowledged becomes durable, then apply finishes its batch if it can. */
  async stop(ms: number): Promise<void> {
    await this.#loopDelay.stop();
    await Promise.all([this.largeBodies.stop(), this.judgeThreads.stop()]);
    await this.journal.close();
    // Each of these may wait for a database that is silent, which must not keep the others from stopping.
    await Promise.all([
      this.#pruning?.stop(),
      this.#thread?.stop(Math.max(0, ms - END_MS)),
      this.#lockWatch?.stop(),
      this.#shared?.stop(),
      this.intake.stop(),
    ]);
  }

  /** Whether other processes may append to the same log, and apply it. */
  get isShared(): boolean {
    return this.#shared !== undefined;
  }

  #shareLog(log: Log): SharedLog {
    return new SharedLog({
      database: this.#database,
      log,
      journal: this.journal,
      progress: this.progress,
      known: () => this.known,
      isOwn: (partition) => this.#terms[partition] !== undefined,
      nodeId: this.#nodeId,
      onReached: (place, receivedAtMs) => this.#reached(place, receivedAtMs),
    });
  }

  #startPruning(): Loop {
    return startPruning({
      pool: this.#database.pool,
      log: this.#log,
      clock: this.#clock,
      journal: this.journal,
      files: this.#opened.files,
      keepDays: this.#config.journalKeepDays,
      isBusy: () => this.#pace.isBusy(),
      diskFreeBytes: () => this.intake.diskFreeBytes,
    });
  }

  #startApply(erasureKey: Uint8Array): void {
    this.#thread = new ApplyThread({
      settings: {
        terms: this.#terms,
        sessionName: this.#opened.files ? "apply" : `apply ${this.#nodeId}`,
        connection: this.#database.direct.connection,
        journal: this.#opened.address,
        logLevel: this.#config.logLevel,
        eventRetentionDays: this.#config.eventRetentionDays,
        dataDir: this.#config.dataDir,
        lakeMemoryBytes: this.#config.lakeMemoryBytes,
        erasureKey,
        largeTurn: this.#largeTurn,
      },
      log: this.#log,
      onApplied: (applied) => this.#applied(applied),
      onStuck: (reason) => {
        this.#stuckBecause = reason;
        this.progress.stall(reason !== "");
      },
    });
    for (const partition of endsOf(this.journal).keys()) this.#wake(partition);
  }

  /** Up to the end as it is known now: a group of acknowledgements may be told after a later end was heard of. */
  #wake(partition: number): void {
    const { writtenBytes } = this.journal;
    this.#thread?.wake({ partition, until: this.journal.end(partition), writtenBytes });
  }

  #appended({ partition, until, records, byApp, tookMs }: Appended): void {
    this.metrics.fsyncSeconds.observe(tookMs / 1000);
    this.metrics.journalRecords.inc(records);
    this.#depths[partition]!.written(until, records);
    this.backlog.written({ partition, position: until }, byApp, this.#clock());
    this.#grown(partition);
  }

  #grown(partition: number): void {
    if (this.#behindSinceMs[partition] === 0) this.#behindSinceMs[partition] = this.#clock();
    this.#wake(partition);
  }

  #applied({ receivedAtMs, outcomes, touches, setAside, leftOut, ...place }: Applied): void {
    this.#reached(place, receivedAtMs);
    for (const [outcome, events] of Object.entries(outcomes)) this.metrics.events.inc({ outcome }, events);
    for (const [outcome, count] of Object.entries(touches)) this.metrics.touches.inc({ outcome }, count);
    this.metrics.setAside.inc(setAside);
    this.metrics.leftOut.inc(leftOut);
  }

  /** Notes that a partition is applied up to a position, here or by another process. */
  #reached(place: Place, receivedAtMs: number): void {
    const { partition, position } = place;
    this.progress.advance(place, receivedAtMs);
    this.known.applied(place);
    this.#depths[partition]!.applied(position);
    this.backlog.applied(place);
    if (position >= this.journal.end(partition)) this.#behindSinceMs[partition] = 0;
  }

  /** The number of entries that wait to be applied, or undefined while an earlier process's entries wait. */
  waitingEntries(): number | undefined {
    if (this.isShared) return this.#waitingPositions();
    let waiting = 0;
    for (const { entries } of this.#depths) {
      if (entries === undefined) return undefined;
      waiting += entries;
    }
    return waiting;
  }

  /** In a shared log each position is an entry. */
  #waitingPositions(): number {
    const { applied } = this.progress;
    const waiting = endsOf(this.journal).map((end, partition) => Math.max(0, end - applied[partition]!));
    return waiting.reduce((sum, entries) => sum + entries, 0);
  }

  /** Words between the processes of a shared log. */
  get bus(): LogBus | undefined {
    return this.#opened.bus;
  }

  /** Calls back whenever a client was renamed or erased by way of another process. */
  whenGone(gone: (client: UserKey) => void): void {
    this.#shared?.whenGone(gone);
  }

  /** What an acknowledgement means, where that depends on other servers. */
  get journalPromise(): string | undefined {
    return this.#opened.promise;
  }

  /** How far the tables are behind the acknowledged data. */
  applyLagMs(): number {
    const { applied } = this.progress;
    let lagMs = 0;
    for (const [partition, end] of endsOf(this.journal).entries()) {
      if (applied[partition]! >= end) continue;
      const sinceMs = Math.max(this.#behindSinceMs[partition]!, this.progress.receivedAtMs(partition));
      lagMs = Math.max(lagMs, this.#clock() - sinceMs);
    }
    return lagMs;
  }

  /** Why collected data does not reach the tables, or undefined when it does. */
  applyObstacle(): string | undefined {
    const { roles } = this.#config;
    if (this.#shared) return this.#shared.obstacle ?? this.applyTrouble;
    if (roles.has("apply")) return this.applyTrouble;
    return roles.has("http") || this.intake.backlogBytes > 0 ? NOBODY_APPLIES : undefined;
  }

  /** Why this process does not apply what it should, or undefined when it does. */
  get applyTrouble(): string | undefined {
    const reason = this.#lock?.obstacle ?? this.#stuckBecause;
    if (reason !== "") return `Apply is stuck because ${reason}`;
    return this.#config.roles.has("apply") ? this.journal.trouble : undefined;
  }
}

type FlowParts = {
  config: Config;
  log: Log;
  clock: Clock;
  database: Database;
  lock: ApplyHold | undefined;
  nodeId: string;
  opened: OpenedJournal;
  applied: readonly Position[];
  /** Whether `applied` are the cursors themselves. */
  isConfirmed: boolean;
  refusals: Refusals;
};
