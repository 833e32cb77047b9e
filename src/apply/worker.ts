import { getPriority, setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { elapsedMs, systemClock } from "../clock.ts";
import type { Terms } from "../db/apply-holder.ts";
import { openPool } from "../db/engine/pool.ts";
import { endReplay } from "../db/facts.ts";
import { readCursors } from "../db/journal-cursor.ts";
import type { Connection } from "../db/server/server.ts";
import { addDays } from "../domain/calendar.ts";
import { messageOf } from "../errors.ts";
import { openColdReader } from "../lake/cold-reader.ts";
import { LargeTurn } from "../large-turn.ts";
import { createLog } from "../log.ts";
import { startLoop, type Trouble } from "../loop.ts";
import type { LogLevel } from "../settings.ts";
import type { Applied } from "./applier.ts";
import { Applier } from "./applier.ts";
import { DecodeThread } from "./entry/decode-thread.ts";
import { type JournalAddress, type OpenedSources, openSources, partitionOfIn } from "./sources.ts";

/** The settings of the apply thread. Apply has its own thread so that it never delays an answer. */
export type WorkerSettings = {
  connection: Connection;
  journal: JournalAddress;
  logLevel: LogLevel;
  eventRetentionDays: number;
  /** Where the lake is, and the memory with which its files are read. */
  dataDir: string;
  lakeMemoryBytes: number;
  erasureKey: Uint8Array;
  /** The name of its database sessions. Those who take over from a silent process end them by it. */
  sessionName: string;
  /** The terms in which this process may apply, until a message brings others. */
  terms: Terms;
  /** 64-bit cells that the HTTP side writes: a count of its calls, the bytes that became durable, the end of each partition. */
  written: SharedArrayBuffer;
  /** The cell of LargeTurn. */
  largeTurn: SharedArrayBuffer;
};

/** Messages to the thread. Changes of terms are numbered. */
export type ThreadMessage = { kind: "terms"; terms: Terms; change: number } | { kind: "stop" };

export type WorkerMessage =
  | { kind: "applied"; applied: Applied }
  /** Whatever was begun before this change of terms has ended. */
  | { kind: "holds"; change: number }
  /** Why apply is stuck; empty once it works again. */
  | { kind: "stuck"; reason: string }
  | { kind: "stopped" };

const IDLE_MS = 500;
const RETENTION_MS = 600_000;
const REPLAY_MS = 1_000;
const APPLY_PRIORITY = 10;

// On Linux a priority belongs to one thread, so answering requests can come before applying them.
if (process.platform === "linux") giveWay();

const port = parentPort!;
const settings = workerData as WorkerSettings;
const log = createLog(settings.logLevel).child({ role: "apply" });
const written = new BigInt64Array(settings.written);
// Two connections: one for the transaction, one for the look-ups of the next batch.
const pool = openPool(settings.connection, { log, connectionsMax: 2, name: settings.sessionName, isWatched: true });
let { terms } = settings;
/** The last change of terms, and the last one that the thread has said it goes by. */
let [change, heldChange] = [0, 0];
const cell = (index: number) => Number(Atomics.load(written, index));
const writtenBytes = () => cell(1);
const endOf = (partition: number) => cell(2 + partition);
let opened: (OpenedSources & { applier: Applier }) | undefined;

/** False until the first turn: a thread that replaces a failed one must report that it works. */
let hasWorked = false;
let retentionDueMs = 0;
let replayDueMs = 0;
let isReplayEnded = false;

const loop = startLoop({
  name: "apply",
  log,
  idleMs: 0,
  failureMsMax: 2_000,
  onTrouble: tellTrouble,
  async turn(signal) {
    // Without a term this process does not apply, so there is nothing to report.
    for (tellChange(); !mayApply() && !signal.aborted; tellChange()) await sleepUntilWoken(Atomics.load(written, 0));
    if (signal.aborted) return "idle";
    const seen = Atomics.load(written, 0);
    opened ??= await open();
    const { applier } = opened;
    await dropOldDays(applier);
    const outcome = await applier.turn();
    if (!hasWorked) tellWorking();
    // After the journal's own batch, so that a replay that fails never holds up new entries.
    await replayRequested(applier);
    if (outcome === "idle") {
      await endInterruptedReplay();
      await sleepUntilWoken(seen);
    }
    return "busy";
  },
});

port.on("message", async (message: ThreadMessage) => {
  if (message.kind === "terms") {
    ({ terms, change } = message);
    Atomics.notify(written, 0);
    return;
  }
  const stopped = loop.stop();
  Atomics.notify(written, 0);
  await stopped;
  await opened?.applier.close();
  await opened?.close();
  await pool.end();
  port.postMessage({ kind: "stopped" } satisfies WorkerMessage);
  port.close();
});

async function open(): Promise<OpenedSources & { applier: Applier }> {
  const { sources, close: closeSources } = await openSources(settings.journal, endOf);
  const cold = openColdReader(settings);
  const decodeThread = new DecodeThread();
  const close = async () => {
    cold.close();
    await decodeThread.close();
    await closeSources();
  };
  const applier = new Applier({
    pool,
    sources,
    cold,
    decodeThread,
    erasureKey: settings.erasureKey,
    log,
    writtenBytes,
    term: (partition) => terms[partition],
    partitionOf: partitionOfIn(settings.journal),
    largeTurn: new LargeTurn(settings.largeTurn),
    onApplied: (applied) => port.postMessage({ kind: "applied", applied } satisfies WorkerMessage),
  });
  return { applier, sources, close };
}

/** A process that was started with a lower priority may not raise it, and has given way already. */
function giveWay(): void {
  if (getPriority() < APPLY_PRIORITY) setPriority(APPLY_PRIORITY);
}

/** Sleeps until the journal grows beyond `seen`, or a message arrives. */
async function sleepUntilWoken(seen: bigint): Promise<void> {
  const waiting = Atomics.waitAsync(written, 0, seen, IDLE_MS);
  if (waiting.async) await waiting.value;
}

function mayApply(): boolean {
  return terms.some((term) => term !== undefined);
}

function tellChange(): void {
  if (change === heldChange) return;
  heldChange = change;
  port.postMessage({ kind: "holds", change } satisfies WorkerMessage);
}

/** Reports trouble when it begins, when its reason changes and when it ends. */
function tellTrouble(trouble: Trouble): void {
  const reason = trouble ? reasonOf(trouble.failure) : "";
  port.postMessage({ kind: "stuck", reason } satisfies WorkerMessage);
  if (trouble) log.error(`Apply is stuck because ${reason}`);
  else log.warn("Apply goes on.");
}

function tellWorking(): void {
  hasWorked = true;
  port.postMessage({ kind: "stuck", reason: "" } satisfies WorkerMessage);
}

/** The error's own message, with PostgreSQL's code when there is one. */
function reasonOf(failure: unknown): string {
  const { code } = Object(failure) as { code?: unknown };
  return code === undefined ? messageOf(failure) : `${messageOf(failure)} (${code}).`;
}

/**
 * A server's start continues a replay that was interrupted, and ends it here, once everything is applied. Of several
 * processes, the one with the first partition does what concerns all.
 */
async function endInterruptedReplay(): Promise<void> {
  const [term] = terms;
  if (isReplayEnded || term === undefined) return;
  const cursors = await readCursors(pool, settings.journal.id);
  if (terms.some((_, partition) => (cursors[partition] ?? 0) < endOf(partition))) return;
  await endReplay(pool, { term, nowMs: systemClock() });
  isReplayEnded = true;
}

async function replayRequested(applier: Applier): Promise<void> {
  if (elapsedMs() < replayDueMs) return;
  while (await applier.replayOne());
  replayDueMs = elapsedMs() + REPLAY_MS;
}

/** A failure only delays dropping until the next time; it does not hold up apply. */
async function dropOldDays(applier: Applier): Promise<void> {
  const nowMs = systemClock();
  if (nowMs < retentionDueMs || terms[0] === undefined) return;
  retentionDueMs = nowMs + RETENTION_MS;
  await dropBefore(applier, nowMs).catch((error) =>
    log.warn({ reason: messageOf(error) }, "Old rows could not be dropped."),
  );
}

async function dropBefore(applier: Applier, nowMs: number): Promise<void> {
  await applier.dropTouchesBefore(nowMs);
  if (settings.eventRetentionDays === 0) return;
  await applier.dropDaysBefore(addDays(new Date(nowMs).toISOString().slice(0, 10), -settings.eventRetentionDays));
}
