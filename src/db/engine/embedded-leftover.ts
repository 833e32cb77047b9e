import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { elapsedMs } from "../../clock.ts";
import { UsageError } from "../../errors.ts";
import type { Log } from "../../log.ts";
import type { LocalConnection } from "./embedded-role.ts";

/** How long a database that is ending by itself may still listen. */
const CLOSE_MS_MAX = 5_000;

export type Leftover = {
  /** The folder that PostgreSQL calls its data directory. */
  data: string;
  connection: LocalConnection;
  /** Whether PostgreSQL answers at the connection. */
  answers: () => Promise<boolean>;
  log: Log;
  stopMsMax: number;
};

/** The database runs, and we cannot stop it. */
export class RunningElsewhere extends UsageError {}

/**
 * Stops a database that survived a `kill -9` of its server. One that runs where we cannot see it, in another container
 * on the same volume, still accepts connections at its socket; PostgreSQL looks only for its pid, and would start a
 * second time on the same files.
 */
export async function stopLeftover(leftover: Leftover): Promise<void> {
  const { data, connection, answers } = leftover;
  const bySocket = connection.host.startsWith("/");
  const startedMs = elapsedMs();
  while (bySocket ? await isListening(connection) : await answers()) {
    const pid = pidOf(data);
    if (pid !== undefined && isPostmaster(pid, data)) return end(pid, leftover);
    // Anybody may have the port by now.
    if (!bySocket) break;
    if (elapsedMs() - startedMs > CLOSE_MS_MAX)
      throw new RunningElsewhere(
        `The database in ${data} is already running, in another container or under another server: stop that one first, or set another DATA_DIR.`,
      );
    await sleep(20);
  }
  const pid = pidOf(data);
  if (pid === undefined || !isAlive(pid) || isPostmaster(pid, data)) return;
  disown(join(data, "postmaster.pid"));
  if (bySocket) disown(`${socketOf(connection)}.lock`);
}

/**
 * Puts our pid into a lock file whose own pid another process has by now, as after a power cut or in a new container.
 * PostgreSQL would not start while that process lives; its parent's pid it ignores. The file is not removed, because
 * it names the memory by which PostgreSQL finds sessions that have outlived their postmaster.
 */
function disown(file: string): void {
  if (existsSync(file)) writeFileSync(file, readFileSync(file, "utf8").replace(/^\d+/, String(process.pid)));
}

async function end(pid: number, { data, log, stopMsMax }: Leftover): Promise<void> {
  log.info({ pid }, "Stopping the database of an earlier run.");
  const startedMs = elapsedMs();
  signal(pid, "SIGINT");
  signal(pid, "SIGCONT"); // Suspended, it would never see the other signal.
  // An unreaped process still looks alive to `kill`, so check the pid file too, which is removed last.
  while (isAlive(pid) && pidOf(data) === pid) {
    if (elapsedMs() - startedMs > stopMsMax) signal(pid, "SIGQUIT");
    await sleep(20);
  }
}

/** The postmaster's pid as its file has it, if there is one. */
function pidOf(data: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0]);
    // While the file is being written it is empty, and pid 0 would mean our whole process group.
    return pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the pid is the cluster's: it may be a pid of another container, or another process may have it by now. */
function isPostmaster(pid: number, data: string): boolean {
  if (process.platform !== "linux") return isAlive(pid);
  return worksIn(pid, data) || commandOf(pid).includes(data);
}

/** PostgreSQL's working folder is its data. The system may hide the working folders of other users. */
function worksIn(pid: number, data: string): boolean {
  try {
    const [there, here] = [statSync(`/proc/${pid}/cwd`), statSync(data)];
    return there.dev === here.dev && there.ino === here.ino;
  } catch {
    return false;
  }
}

function commandOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}

const socketOf = ({ host, port }: LocalConnection) => join(host, `.s.PGSQL.${port}`);

/** Whether a process accepts connections at the socket, even one that is suspended and never answers. */
function isListening(connection: LocalConnection): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(socketOf(connection));
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    // A full queue of connections is a listener's too.
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code === "EAGAIN"));
  });
}

function isAlive(pid: number): boolean {
  return signal(pid, 0);
}

export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}
