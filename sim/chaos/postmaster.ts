import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** The folder of a server's own PostgreSQL. */
export function clusterOf(dataDir: string): string {
  const pointer = join(dataDir, "postgres-folder");
  return existsSync(pointer) ? readFileSync(pointer, "utf8").trim() : join(dataDir, "postgres");
}

/** The process id of the embedded PostgreSQL, or undefined if it is not running. */
export function postmasterOf(dataDir: string): number | undefined {
  const file = join(clusterOf(dataDir), "cluster", "postmaster.pid");
  if (!existsSync(file)) return undefined;
  const pid = Number(readFileSync(file, "utf8").split("\n")[0]);
  // While the file is being written it is empty, and pid 0 would mean a whole process group.
  return pid > 0 && isAlive(pid) ? pid : undefined;
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

const STOP_TRIES = 500;

/** Stops a PostgreSQL that a killed server has left behind. */
export async function stopPostmaster(dataDir: string): Promise<void> {
  const pid = postmasterOf(dataDir);
  if (pid === undefined) return;
  signal(pid, "SIGQUIT");
  for (let tries = 0; tries < STOP_TRIES && isAlive(pid); tries += 1) await sleep(10);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended meanwhile.
  }
}
