import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  closeSync,
  fstatSync,
  linkSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  unlinkSync,
  utimes,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { elapsedMs, systemClock } from "./clock.ts";
import { UsageError } from "./errors.ts";
import type { Log } from "./log.ts";

/**
 * The process that uses DATA_DIR, one at a time. `address` is where its HTTP side listens, once it does. Only where
 * `namespace` is the same does `pid` mean the same process; locks of earlier versions lack it and `host`.
 */
export type Holder = { pid: number; startedAt: string; namespace?: string; host?: string; address?: string };

export type DataLock = { publish(address: string): void; release(): void };

/** How often a holder touches its lock. */
const BEAT_MS = 3_000;
/** A holder that we cannot see is gone when its lock has not been touched for this long: five beats. */
const SILENT_MS = 15_000;
const LOOK_MS = 100;

export type LockOptions = { log?: Pick<Log, "info">; beatMs?: number; silentMs?: number };

const lockFile = (dataDir: string) => join(dataDir, "lock.json");

/**
 * Locks DATA_DIR for this process, or throws. A lock whose process is gone (`kill -9`, power loss) is taken over: its
 * start time distinguishes the holder from a later process with the same pid. A holder in another container or on
 * another machine cannot be seen, nor after a restart of the machine. It is waited for: its lock is either touched, or
 * taken over.
 */
export async function lockDataDir(dataDir: string, options: LockOptions = {}): Promise<DataLock> {
  const path = lockFile(dataDir);
  const mine: Holder = {
    pid: process.pid,
    startedAt: startOf(process.pid) ?? "",
    namespace: ownNamespace(),
    host: hostname(),
  };
  for (let attempt = 0; !tryTake(path, mine); attempt += 1) {
    const holder = parseHolder(path);
    if ((holder && (await isHeld(path, holder, options))) || attempt > 5)
      throw new UsageError(refusal(dataDir, parseHolder(path) ?? holder));
    takeAway(path, holder);
  }
  const isMine = () => isSame(parseHolder(path), mine);
  const beat = setInterval(() => {
    const nowS = systemClock() / 1000;
    // A beat that fails, as on a full disk, is followed by others.
    if (isMine()) utimes(path, nowS, nowS, () => {});
  }, options.beatMs ?? BEAT_MS);
  beat.unref();
  return {
    publish(address) {
      if (isMine()) withDraft(path, { ...mine, address }, (draft) => renameSync(draft, path));
    },
    release() {
      clearInterval(beat);
      if (isMine()) rmSync(path, { force: true });
    },
  };
}

/** The process that holds DATA_DIR now, if there is one. */
export function holderOf(dataDir: string): Holder | undefined {
  const path = lockFile(dataDir);
  const holder = parseHolder(path);
  if (!holder) return undefined;
  const isThere = isVisible(holder)
    ? isRunning(holder)
    : Math.abs(systemClock() - (touchedAtMs(path) ?? 0)) < SILENT_MS;
  return isThere ? holder : undefined;
}

function refusal(dataDir: string, holder: Holder | undefined): string {
  const elsewhere =
    holder && !isVisible(holder) ? ` of ${holder.host}, in another container or on another machine` : "";
  return `${dataDir} is in use by process ${holder?.pid ?? "?"}${elsewhere}: stop it first, or set another DATA_DIR.`;
}

/**
 * Whether the holder lives. Of one that we cannot see, only a touch of its lock while we look is proof, because clocks
 * of machines differ and are set.
 */
async function isHeld(path: string, holder: Holder, { log, silentMs = SILENT_MS }: LockOptions): Promise<boolean> {
  if (isVisible(holder)) return isRunning(holder);
  log?.info(
    { pid: holder.pid, host: holder.host, waitMs: silentMs },
    "DATA_DIR was locked in another container, on another machine or before a restart of this one: waiting for a sign of life.",
  );
  const firstMs = touchedAtMs(path);
  const startedMs = elapsedMs();
  while (elapsedMs() - startedMs < silentMs) {
    await sleep(LOOK_MS);
    const lastMs = touchedAtMs(path);
    if (lastMs === undefined) return false;
    if (lastMs !== firstMs) return true;
  }
  return false;
}

/** When the lock was touched. It is opened for that: a network file system may answer from its memory otherwise. */
function touchedAtMs(path: string): number | undefined {
  try {
    const file = openSync(path, "r");
    try {
      return fstatSync(file).mtimeMs;
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}

function tryTake(path: string, mine: Holder): boolean {
  return withDraft(path, mine, (draft) => tryLink(draft, path));
}

/** The draft's name is random, because in containers every server may be process 1. */
function withDraft<T>(path: string, holder: Holder, use: (draft: string) => T): T {
  const draft = `${path}.${randomUUID()}`;
  writeFileSync(draft, JSON.stringify(holder), { mode: 0o600 });
  try {
    return use(draft);
  } finally {
    rmSync(draft, { force: true });
  }
}

function tryLink(draft: string, path: string): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Removes a dead holder's lock, or puts it back when another process has taken it in between. */
function takeAway(path: string, dead: Holder | undefined): void {
  const aside = `${path}.stale.${randomUUID()}`;
  try {
    renameSync(path, aside);
  } catch {
    return; // Another process was faster; the next attempt sees which.
  }
  const taken = parseHolder(aside);
  if (taken && !isSame(taken, dead)) tryLink(aside, path);
  unlinkSync(aside);
}

function parseHolder(path: string): Holder | undefined {
  try {
    return (JSON.parse(readFileSync(path, "utf8")) as Holder | null) ?? undefined;
  } catch {
    return undefined;
  }
}

function isSame(one: Holder | undefined, other: Holder | undefined): boolean {
  const identity = (holder: Holder | undefined) => [holder?.pid, holder?.startedAt, holder?.namespace].join(" ");
  return identity(one) === identity(other);
}

/** Whether the holder's pid can be looked up here. */
function isVisible({ namespace }: Holder): boolean {
  return namespace === undefined || namespace === ownNamespace();
}

/**
 * Where our pids are valid. The number of a pid namespace is unique only on one machine until it restarts, and the host
 * name does not tell machines apart: a rescheduled pod of a stateful set keeps it.
 */
function ownNamespace(): string {
  try {
    return `${bootId()} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return hostname(); // Only Linux has them.
  }
}

function isRunning(holder: Holder): boolean {
  return typeof holder.startedAt === "string" && holder.startedAt !== "" && startOf(holder.pid) === holder.startedAt;
}

/** The start time of a process as an opaque text, or undefined when there is no such process. */
export function startOf(pid: number): string | undefined {
  try {
    if (process.platform === "linux") {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      // After the name, which may hold spaces and brackets; field 22 of the whole line is the start time.
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return fields[0] === "Z" ? undefined : `${bootId()} ${fields[19]}`;
    }
    if (process.platform === "win32") return process.kill(pid, 0) ? "running" : undefined;
    return execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" }).trim() || undefined;
  } catch {
    return undefined;
  }
}

function bootId(): string {
  return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
}
