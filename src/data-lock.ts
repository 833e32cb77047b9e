import { execFileSync } from "node:child_process";
import { linkSync, readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "./errors.ts";

/** The process that uses DATA_DIR, one at a time. `address` is where its HTTP side listens, once it does. */
export type Holder = { pid: number; startedAt: string; address?: string };

export type DataLock = { publish(address: string): void; release(): void };

const lockFile = (dataDir: string) => join(dataDir, "lock.json");

/**
 * Locks DATA_DIR for this process, or throws. A lock whose process is gone (`kill -9`, power loss) is taken over: its
 * start time distinguishes the holder from a later process with the same pid.
 */
export function lockDataDir(dataDir: string): DataLock {
  const path = lockFile(dataDir);
  const mine: Holder = { pid: process.pid, startedAt: startOf(process.pid) ?? "" };
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(mine), { mode: 0o600 });
  try {
    for (let attempt = 0; ; attempt += 1) {
      if (tryLink(draft, path)) break;
      const holder = readHolder(dataDir);
      if ((holder && isRunning(holder)) || attempt > 5) {
        throw new UsageError(
          `${dataDir} is in use by process ${holder?.pid ?? "?"}: stop it first, or set another DATA_DIR.`,
        );
      }
      takeAway(path, holder);
    }
  } finally {
    rmSync(draft, { force: true });
  }
  return {
    publish(address) {
      writeFileSync(draft, JSON.stringify({ ...mine, address }), { mode: 0o600 });
      renameSync(draft, path);
    },
    release() {
      if (readHolder(dataDir)?.pid === mine.pid) rmSync(path, { force: true });
    },
  };
}

/** The process that holds DATA_DIR now, if there is one. */
export function holderOf(dataDir: string): Holder | undefined {
  const holder = readHolder(dataDir);
  return holder && isRunning(holder) ? holder : undefined;
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

/** Removes a dead holder's lock, or puts it back when a live process has taken it in between. */
function takeAway(path: string, dead: Holder | undefined): void {
  const aside = `${path}.stale.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch {
    return; // Another process was faster; the next attempt sees which.
  }
  const taken = parseHolder(aside);
  if (taken && isRunning(taken) && taken.pid !== dead?.pid) tryLink(aside, path);
  unlinkSync(aside);
}

function readHolder(dataDir: string): Holder | undefined {
  return parseHolder(lockFile(dataDir));
}

function parseHolder(path: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Holder;
  } catch {
    return undefined;
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
