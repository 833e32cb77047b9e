import { getPriority, setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { elapsedMs, systemClock } from "../clock.ts";
import { openPool } from "../db/engine/pool.ts";
import { endReplay } from "../db/facts.ts";
import type { Connection } from "../db/server/server.ts";
import { addDays } from "../domain/calendar.ts";
import { messageOf } from "../errors.ts";
import { LargeTurn } from "../large-turn.ts";
import { createLog } from "../log.ts";
import { startLoop, type Trouble } from "../loop.ts";
import type { LogLevel } from "../settings.ts";
import type { Applied } from "./applier.ts";
import { Applier } from "./applier.ts";
import { type JournalAddress, type OpenedSources, openSources } from "./sources.ts";

/** The settings of the apply thread. Apply has its own thread so that it never delays an answer. */
export type WorkerSettings = {
  connection: Connection;
  journal: JournalAddress;
  logLevel: LogLevel;
  eventRetentionDays: number;
  erasureKey: Uint8Array;
  /** The term in which this process may apply, until a message brings another. */
  term: string | undefined;
  /** 64-bit cells that the HTTP side writes: the bytes that became durable, then the end of each partition. */
  written: SharedArrayBuffer;
  /** The cell of LargeTurn. */
  largeTurn: SharedArrayBuffer;
};

/** Messages to the thread. */
export type ThreadMessage = { kind: "term"; term: string | undefined } | { kind: "stop" };

export type WorkerMessage =
  | { kind: "applied"; applied: Applied }
  /** Whatever was begun in an earlier term has ended. */
  | { kind: "holds"; term: string | undefined }
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
const pool = openPool(settings.connection, { log, connectionsMax: 2, name: "apply" });
let { term } = settings;
/** The term that the thread has last said it holds. */
let heldTerm = term;
const cell = (index: number) => Number(Atomics.load(written, index));
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
    for (tellTerm(); term === undefined && !signal.aborted; tellTerm()) await sleepUntilWoken(Atomics.load(written, 0));
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
  if (message.kind === "term") {
    term = message.term;
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
  const { sources, close } = await openSources(settings.journal, (partition) => cell(1 + partition));
  const applier = new Applier({
    pool,
    sources,
    erasureKey: settings.erasureKey,
    log,
    writtenBytes: () => cell(0),
    term: () => term,
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

function tellTerm(): void {
  if (term === heldTerm) return;
  heldTerm = term;
  port.postMessage({ kind: "holds", term } satisfies WorkerMessage);
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

/** A server's start continues a replay that was interrupted, and ends it here, once everything is applied. */
async function endInterruptedReplay(): Promise<void> {
  if (isReplayEnded || term === undefined) return;
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
  if (nowMs < retentionDueMs) return;
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
