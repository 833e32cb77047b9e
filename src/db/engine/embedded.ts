import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chownSync,
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { setPriority } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import { elapsedMs } from "../../clock.ts";
import { messageOf, UsageError } from "../../errors.ts";
import type { Log } from "../../log.ts";
import type { Connection } from "../server/server.ts";
import { signal, stopLeftover } from "./embedded-leftover.ts";
import {
  type LocalConnection,
  SUPERUSER,
  serverConnection,
  storeSuperuser,
  superuserConnection,
} from "./embedded-role.ts";
import { type Binaries, binariesFor, clusterFolder, type Runner, runnerOf } from "./embedded-runtime.ts";
import { serverSettings } from "./embedded-settings.ts";

const run = promisify(execFile);

const DATABASE_PRIORITY = 5;
const SPAWN_AGAIN_MS = 300;
const READY_MS_MAX = 60_000;
const STOP_MS_MAX = 60_000;
const LOG_BYTES_MAX = 16 * 1024 * 1024;
/** The longest Unix socket path that every system accepts. */
const SOCKET_PATH_BYTES_MAX = 100;

export type EmbeddedPostgres = { connection: Connection; stop(withinMs?: number): Promise<void> };

/**
 * A private cluster under DATA_DIR. It runs in its own process group, so that Ctrl-C reaches the server first and the
 * server stops it last; when it dies on its own it is started again.
 *
 *   start ─▶ running ──(dies)──▶ starting again ─▶ running
 *               └──(stop)──▶ fast shutdown ─▶ stopped
 */
export async function startEmbeddedPostgres(options: { dataDir: string; log: Log }): Promise<EmbeddedPostgres> {
  const runner = runnerOf();
  const folder = clusterFolder(options.dataDir, runner);
  const cluster = new Cluster({
    binaries: binariesFor(runner),
    runner,
    folder,
    logFile: join(options.dataDir, "postgres.log"),
    connection: await superuserFor(options.dataDir, folder),
    log: options.log,
  });
  await cluster.start();
  try {
    const connection = await serverConnection(options, cluster.connection);
    return { connection, stop: (withinMs) => cluster.stop(withinMs) };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

/** The superuser's connection to the cluster. It stays the same unless the folder has moved. */
async function superuserFor(dataDir: string, folder: string): Promise<LocalConnection> {
  const known = superuserConnection(dataDir);
  if (!known && existsSync(clusterOf(folder))) {
    throw new UsageError(
      `${dataDir} lacks postgres-superuser.json, which holds the connection to its database: restore that file.`,
    );
  }
  const isThere = known !== undefined && (known.host === folder || !known.host.startsWith("/"));
  const superuser = isThere ? known : await newCluster(folder, known?.password ?? randomBytes(24).toString("hex"));
  storeSuperuser(dataDir, superuser);
  return superuser;
}

const clusterOf = (folder: string) => join(folder, "cluster");

async function newCluster(folder: string, password: string): Promise<LocalConnection> {
  const bySocket =
    process.platform !== "win32" && Buffer.byteLength(`${folder}/.s.PGSQL.5432`) <= SOCKET_PATH_BYTES_MAX;
  return {
    kind: "local",
    host: bySocket ? folder : "127.0.0.1",
    port: bySocket ? 5432 : await freePort(),
    user: SUPERUSER,
    password,
    database: "postgres",
  };
}

type ClusterOptions = {
  binaries: Binaries;
  runner: Runner;
  folder: string;
  logFile: string;
  connection: LocalConnection;
  log: Log;
};

class Cluster {
  readonly connection: LocalConnection;
  readonly #options: ClusterOptions;
  readonly #data: string;
  #child: ChildProcess | undefined;
  #stopping = false;
  /** A process that ends without stopping its database must not leave it running. */
  readonly #atExit = () => void this.#child?.kill("SIGINT");

  constructor(options: ClusterOptions) {
    this.#options = options;
    this.connection = options.connection;
    this.#data = clusterOf(options.folder);
  }

  async start(): Promise<void> {
    if (existsSync(this.#data)) this.#assertVersion();
    else await this.#initialise();
    const { connection, log } = this.#options;
    const answers = () => this.#answers();
    await stopLeftover({ data: this.#data, connection, answers, log, stopMsMax: STOP_MS_MAX });
    process.once("exit", this.#atExit);
    this.#spawn();
    await this.#untilReady();
  }

  /** After `withinMs` it is ended without a checkpoint, and the next start recovers it. */
  async stop(withinMs = STOP_MS_MAX): Promise<void> {
    this.#stopping = true;
    process.off("exit", this.#atExit);
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.kill("SIGINT"); // Fast shutdown: ends sessions, writes a checkpoint.
    // Its whole group: somebody may have suspended it, and it would never see the signal.
    signal(-child.pid!, "SIGCONT");
    const timer = setTimeout(() => child.kill("SIGQUIT"), withinMs);
    await exited;
    clearTimeout(timer);
  }

  async #initialise(): Promise<void> {
    const { binaries, runner, folder, log } = this.#options;
    log.info({ folder }, "Creating the embedded database.");
    const unfinished = `${this.#data}.new`;
    rmSync(unfinished, { recursive: true, force: true });
    const passwordFile = join(folder, "password");
    writeFileSync(passwordFile, this.connection.password, { mode: 0o600 });
    if (runner) chownSync(passwordFile, runner.uid, runner.gid);
    const args = ["-D", unfinished, "-U", SUPERUSER, "--pwfile", passwordFile, "--auth=scram-sha-256"];
    try {
      await run(binaries.initdb, [...args, "--encoding=UTF8", "--locale=C"], {
        ...runner,
        cwd: folder,
        env: cleanEnvironment(),
      });
    } catch (error) {
      throw new UsageError(
        `The embedded database could not be created: ${(error as { stderr?: string }).stderr || messageOf(error)}`,
      );
    } finally {
      rmSync(passwordFile, { force: true });
    }
    // Only a finished cluster gets this name, so an interrupted start begins again.
    renameSync(unfinished, this.#data);
  }

  /** PostgreSQL refuses the files of another major version, however often it is started. */
  #assertVersion(): void {
    const made = readFileSync(join(this.#data, "PG_VERSION"), "utf8").trim();
    const delivered = this.#options.binaries.major;
    if (made === delivered) return;
    throw new UsageError(
      `The database in ${this.#data} was made by PostgreSQL ${made}, and this version of Touchpoint runs PostgreSQL ${delivered}, which cannot open it. Start the version of Touchpoint that made it; to move on, back it up there (\`touchpoint backup\`) and restore the backup with this version into a new DATA_DIR, or into an external PostgreSQL (DATABASE_URL).`,
    );
  }

  #spawn(): void {
    const { binaries, runner, logFile, log } = this.#options;
    if (existsSync(logFile) && statSync(logFile).size > LOG_BYTES_MAX) renameSync(logFile, `${logFile}.1`);
    const output = openSync(logFile, "a", 0o600);
    const { host, port } = this.connection;
    const bySocket = host.startsWith("/");
    const settings: Record<string, string> = {
      ...serverSettings(this.#data),
      port: String(port),
      listen_addresses: bySocket ? "" : host,
      unix_socket_directories: bySocket ? host : "",
    };
    const args = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const child = spawn(binaries.postgres, ["-D", this.#data, ...args], {
      ...runner,
      cwd: this.#options.folder,
      env: cleanEnvironment(),
      detached: true,
      stdio: ["ignore", output, output],
    });
    closeSync(output);
    if (child.pid !== undefined) lowerPriority(child.pid);
    this.#child = child;
    child.once("error", (error) => {
      log.error({ reason: messageOf(error) }, "PostgreSQL could not be started; trying again.");
      if (child.pid === undefined) this.#spawnAgain();
    });
    child.once("exit", (code, signalName) => {
      if (this.#stopping) return;
      log.error({ code, signal: signalName }, "The embedded database ended; starting it again.");
      this.#spawnAgain();
    });
  }

  /** On a full disk even opening the log file can fail; that is retried too. */
  #spawnAgain(): void {
    setTimeout(() => {
      if (this.#stopping) return;
      try {
        this.#spawn();
      } catch (error) {
        this.#options.log.error({ reason: messageOf(error) }, "PostgreSQL could not be started; trying again.");
        this.#spawnAgain();
      }
    }, SPAWN_AGAIN_MS);
  }

  async #untilReady(): Promise<void> {
    const startedMs = elapsedMs();
    while (!(await this.#accepts())) {
      if (elapsedMs() - startedMs > READY_MS_MAX) {
        await this.stop();
        throw new UsageError(`The embedded database does not start; see ${this.#options.logFile}.`);
      }
      await sleep(20);
    }
  }

  async #accepts(): Promise<boolean> {
    return (await this.#tryConnect()) === "accepts";
  }

  async #answers(): Promise<boolean> {
    return (await this.#tryConnect()) !== "silent";
  }

  async #tryConnect(): Promise<"accepts" | "refuses" | "silent"> {
    const { kind: _, ...local } = this.connection;
    const client = new pg.Client({ ...local, connectionTimeoutMillis: 2_000 });
    client.on("error", () => {});
    try {
      await client.connect();
      await client.end();
      return "accepts";
    } catch (error) {
      // An SQL state means that PostgreSQL is there, though it is starting or stopping.
      return /^[0-9A-Z]{5}$/.test(String((error as { code?: string }).code)) ? "refuses" : "silent";
    }
  }
}

/** Lets requests go first when processor time is short: collection must not wait for the tables. */
function lowerPriority(pid: number): void {
  try {
    setPriority(pid, DATABASE_PRIORITY);
  } catch {
    // The process has ended, or the system does not allow it. Nothing depends on it.
  }
}

/** A clean environment: PG… variables of the caller's shell would affect the private cluster. */
function cleanEnvironment(): Record<string, string> {
  return { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" };
}

export async function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
