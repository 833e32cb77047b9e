import { existsSync } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { type Clock, elapsedMs } from "../clock.ts";
import type { Config } from "../config.ts";
import type { Database } from "../db/engine/database.ts";
import {
  type BackupState,
  backupName,
  backupOverdueMs,
  backupTimeOf,
  nextBackupAtMs,
  surplusBackups,
} from "../domain/backup-schedule.ts";
import { messageOf } from "../errors.ts";
import type { Log } from "../log.ts";
import { type Loop, startLoop } from "../loop.ts";
import type { WorkerMessage, WorkerSettings } from "./backup-worker.ts";
import { MANIFEST, readManifest } from "./manifest.ts";
import { removeLeftovers } from "./take.ts";

const IDLE_MS = 10_000;
const RETRY_MS = 15 * 60_000;

export type BackupOptions = {
  config: Config;
  database: Pick<Database, "direct">;
  log: Log;
  clock: Clock;
  /** Why the database is not open yet, or undefined once it is. */
  opening: { missing(): string | undefined };
};

/** The scheduled backups of a server. */
export class Backups {
  readonly #options: BackupOptions;
  readonly #startedAtMs: number;
  #loop: Loop | undefined;
  #last: { name: string; bytes: number } | undefined;
  #failure: { reason: string; atMs: number } | undefined;

  constructor(options: BackupOptions) {
    this.#options = options;
    this.#startedAtMs = options.clock();
  }

  /** Starts only where BACKUP_DIR is set, and only in the process whose journal fills the tables. */
  start(): void {
    const { config, log } = this.#options;
    if (config.backupDir === "" || !config.roles.has("apply")) return;
    this.#loop = startLoop({ name: "backup", log, idleMs: IDLE_MS, turn: (signal) => this.#turn(signal) });
  }

  async stop(): Promise<void> {
    await this.#loop?.stop();
  }

  /** Undefined without a schedule. */
  get state(): BackupState | undefined {
    if (!this.#loop) return undefined;
    const lastAtMs = this.#last && backupTimeOf(this.#last.name);
    return { lastAtMs, bytes: this.#last?.bytes ?? 0, nextAtMs: this.#nextAtMs, failure: this.#failure?.reason ?? "" };
  }

  get overdueMs(): number {
    const { config, clock } = this.#options;
    return backupOverdueMs(this.state, {
      nowMs: clock(),
      startedAtMs: this.#startedAtMs,
      everyMs: config.backupEveryMs,
    });
  }

  get #nextAtMs(): number {
    const lastAtMs = this.#last && backupTimeOf(this.#last.name);
    return nextBackupAtMs(
      { lastAtMs, failedAtMs: this.#failure?.atMs },
      { everyMs: this.#options.config.backupEveryMs, retryMs: RETRY_MS },
    );
  }

  async #turn(signal: AbortSignal): Promise<"idle"> {
    const { config, log, clock, opening } = this.#options;
    await this.#look();
    if (clock() < this.#nextAtMs || opening.missing() !== undefined) return "idle";
    const name = backupName(clock());
    const startedMs = elapsedMs();
    try {
      await mkdir(config.backupDir, { recursive: true, mode: 0o700 });
      const bytes = await this.#take(join(config.backupDir, name), signal);
      this.#last = { name, bytes };
      this.#failure = undefined;
      log.info({ backup: name, bytes, tookMs: Math.round(elapsedMs() - startedMs) }, "A backup was taken.");
      await this.#prune();
    } catch (error) {
      if (signal.aborted) throw error;
      this.#failure = { reason: messageOf(error), atMs: clock() };
      log.error({ reason: messageOf(error), retryMs: RETRY_MS }, "A scheduled backup failed; it is tried again.");
    }
    return "idle";
  }

  /** The newest whole backup, which may be that of an earlier process. Somebody may have removed the last one. */
  async #look(): Promise<void> {
    const name = (await this.#whole()).at(-1);
    if (name === this.#last?.name) return;
    this.#last = name === undefined ? undefined : { name, bytes: this.#bytesOf(name) };
  }

  async #whole(): Promise<string[]> {
    const names = await readdir(this.#options.config.backupDir).catch(() => []);
    return names
      .filter((name) => backupTimeOf(name) !== undefined && existsSync(join(this.#pathOf(name), MANIFEST)))
      .sort();
  }

  /** 0 when the manifest is damaged, which must not keep the next backup from being taken. */
  #bytesOf(name: string): number {
    try {
      return readManifest(this.#pathOf(name)).bytes;
    } catch (error) {
      this.#options.log.error({ backup: name, reason: messageOf(error) }, "The newest backup is damaged.");
      return 0;
    }
  }

  #pathOf(name: string): string {
    return join(this.#options.config.backupDir, name);
  }

  async #prune(): Promise<void> {
    const { config, log } = this.#options;
    for (const name of surplusBackups(await this.#whole(), config.backupKeep)) {
      // The manifest goes first: what is left of an interrupted removal is no backup.
      await rm(join(this.#pathOf(name), MANIFEST));
      await rm(this.#pathOf(name), { recursive: true, force: true });
      log.info({ backup: name }, "An old backup was removed.");
    }
    await removeLeftovers(config.backupDir);
  }

  /** In a thread of its own, so that packing a table never delays an answer. Returns the size of the backup. */
  async #take(dir: string, signal: AbortSignal): Promise<number> {
    const { config, database } = this.#options;
    const { dataDir, databaseUrl, secretKey, diskFreeBytesMin, logLevel, backupPassphrase } = config;
    const passphrase = backupPassphrase === "" ? undefined : backupPassphrase;
    const worker = new Worker(new URL("./backup-worker.js", import.meta.url), {
      workerData: {
        config: { dataDir, databaseUrl, secretKey, diskFreeBytesMin },
        connection: database.direct.connection,
        logLevel,
        wish: { dir, passphrase, by: { name: "scheduled backup", address: hostname() } },
      } satisfies WorkerSettings,
    });
    const end = () => void worker.terminate();
    signal.addEventListener("abort", end, { once: true });
    try {
      return await sizeFrom(worker);
    } catch (error) {
      // A thread that was ended cannot remove what it has begun.
      await rm(`${dir}.unfinished-${process.pid}`, { recursive: true, force: true });
      throw error;
    } finally {
      signal.removeEventListener("abort", end);
    }
  }
}

function sizeFrom(worker: Worker): Promise<number> {
  return new Promise((resolve, reject) => {
    worker.once("message", (message: WorkerMessage) => {
      if (message.kind === "done") resolve(message.bytes);
      else reject(new Error(message.reason));
    });
    worker.once("error", reject);
    worker.once("exit", () => reject(new Error("The thread of the backup ended.")));
  });
}
