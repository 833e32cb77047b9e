import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type ApplyThread, startApplyThread } from "./apply/apply-thread.ts";
import { type Clock, systemClock } from "./clock.ts";
import type { Config } from "./config.ts";
import { type DataLock, lockDataDir } from "./data-lock.ts";
import { type Database, openDatabase } from "./db/database.ts";
import { confirmCursor, readCursor } from "./db/journal-cursor.ts";
import { DAY_MS } from "./domain/calendar.ts";
import { AppDirectory } from "./http/app-directory.ts";
import { CallerAddress } from "./http/caller-address.ts";
import { Intake } from "./http/intake.ts";
import { KnownClients } from "./http/known-clients.ts";
import { Live } from "./http/live.ts";
import { Metrics } from "./http/metrics.ts";
import { Progress } from "./http/progress.ts";
import { createServer } from "./http/server.ts";
import { Journal, realDisk } from "./journal/journal.ts";
import type { Log } from "./log.ts";
import { type Loop, startLoop } from "./loop.ts";
import { openVault, type Vault } from "./vault.ts";

export type Running = { address: string; database: Database; vault: Vault; stop(): Promise<void> };

const PRUNE_MS = 30_000;
const LAST_REQUESTS_MS = 10_000;

/** Makes everything that lives, in the order in which data flows, and stops it in the same order. */
export async function serve(config: Config, log: Log, clock: Clock = systemClock): Promise<Running> {
  // Others may pass through (the embedded database's own user), only we may read.
  mkdirSync(config.dataDir, { recursive: true, mode: 0o711 });
  const lock = lockDataDir(config.dataDir);
  const undo: (() => Promise<void>)[] = [async () => lock.release()];
  const stopAll = async () => {
    for (const stop of undo.reverse()) await stop();
  };
  try {
    return await start(config, log, clock, lock, undo, stopAll);
  } catch (error) {
    await stopAll();
    throw error;
  }
}

async function start(
  config: Config,
  log: Log,
  clock: Clock,
  lock: DataLock,
  undo: (() => Promise<void>)[],
  stopAll: () => Promise<void>,
): Promise<Running> {
  const vault = openVault(config);
  const database = await openDatabase(config, { log, clock });
  undo.push(() => database.stop());

  let thread: ApplyThread | undefined;
  const journal = await Journal.open(join(config.dataDir, "journal"), {
    log,
    disk: realDisk,
    pendingBytesMax: config.journalPendingBytesMax,
    onFlush: (flush) => {
      metrics.fsyncSeconds.observe(flush.tookMs / 1000);
      metrics.journalRecords.inc(flush.records);
      if (behindSinceMs === 0) behindSinceMs = clock();
      thread?.wake(flush.durable);
    },
  });
  const applied = await readCursor(database.pool, journal.id);
  await journal.skipTo(applied);
  const recovered = journal.durable;
  const progress = new Progress(applied);
  let behindSinceMs = progress.applied < recovered ? clock() : 0;
  const intake = new Intake({
    journal,
    progress,
    log,
    diskFreeBytesMin: config.diskFreeBytesMin,
    backlogBytesMax: config.journalBacklogBytesMax,
  });
  const metrics = new Metrics({
    backlogBytes: () => intake.backlogBytes,
    waitingBytes: () => journal.waitingBytes,
    applyLagMs: () => (intake.backlogBytes === 0 ? 0 : clock() - Math.max(behindSinceMs, progress.receivedAtMs)),
    diskFreeBytes: () => intake.diskFreeBytes,
  });
  const known = new KnownClients({
    pool: database.pool,
    clientsMax: config.knownClientsMax,
    isBehind: () => progress.applied < recovered,
  });
  const apps = new AppDirectory({ pool: database.pool, vault, log });
  await apps.start();
  undo.push(() => apps.stop());
  await intake.start();
  undo.push(() => intake.stop());

  const applies = config.roles.has("apply");
  if (applies) {
    thread = startApplyThread({
      connection: database.connection,
      journal: { id: journal.id, dir: journal.dir },
      logLevel: config.logLevel,
      eventRetentionDays: config.eventRetentionDays,
      log,
      onApplied: ({ position, receivedAtMs, outcomes, setAside }) => {
        progress.advance(position, receivedAtMs);
        known.applied(position);
        if (position >= journal.durable) behindSinceMs = 0;
        for (const [outcome, events] of Object.entries(outcomes)) metrics.events.inc({ outcome }, events);
        metrics.setAside.inc(setAside);
      },
    });
    thread.wake(journal.durable);
    const running = thread;
    undo.push(() => running.stop());
  }
  const pruning = startPruning(config, log, clock, journal, database);
  undo.push(
    () => pruning.stop(),
    () => journal.close(),
  );

  let isStopping = false;
  const server = await createServer({
    config,
    clock,
    log,
    pool: database.pool,
    vault,
    apps,
    known,
    intake,
    progress,
    metrics,
    live: new Live(),
    caller: new CallerAddress(config.trustedProxies),
    applies,
    isStopping: () => isStopping,
    durable: () => journal.durable,
  });
  const address = await server.listen({
    port: config.roles.has("http") ? config.port : 0,
    host: config.roles.has("http") ? config.host : "127.0.0.1",
  });
  undo.push(async () => {
    isStopping = true;
    const timer = setTimeout(() => server.server.closeAllConnections(), LAST_REQUESTS_MS);
    await server.close();
    clearTimeout(timer);
  });
  const reachable = address.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
  lock.publish(reachable);
  return { address: reachable, database, vault, stop: stopAll };
}

/** Segments that are applied and old enough go, but only behind a cursor that is known to be on the disk. */
function startPruning(config: Config, log: Log, clock: Clock, journal: Journal, database: Database): Loop {
  return startLoop({
    name: "prune",
    log,
    idleMs: PRUNE_MS,
    turn: async () => {
      const applied = await confirmCursor(database.pool, journal.id);
      const removed = await journal.prune({ applied, modifiedBeforeMs: clock() - config.journalKeepDays * DAY_MS });
      if (removed > 0) log.info({ segments: removed }, "Applied journal segments were removed.");
      return "idle";
    },
  });
}
