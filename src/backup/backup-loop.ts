import { access, mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Clock, elapsedMs } from "../clock.ts";
import type { Config } from "../config.ts";
import type { Database } from "../db/engine/database.ts";
import {
  type BackupState,
  backupMsMax,
  backupName,
  backupOverdueMs,
  backupTimeOf,
  newestBackup,
  nextBackupAtMs,
  surplusBackups,
} from "../domain/backup-schedule.ts";
import { messageOf } from "../errors.ts";
import type { Log } from "../log.ts";
import { type Loop, startLoop } from "../loop.ts";
import { takeInThread } from "./backup-thread.ts";
import type { WorkerSettings } from "./backup-worker.ts";
import { draftOf, removeLeftovers } from "./draft.ts";
import { MANIFEST, manifestOf } from "./manifest.ts";

const IDLE_MS = 10_000;
const RETRY_MS = 15 * 60_000;
const LOOK_MS = 10_000;

export type BackupOptions = {
  config: Config;
  database: Pick<Database, "direct">;
  log: Log;
  clock: Clock;
  /** Why the database is not open yet, or undefined once it is. */
  opening: { missing(): string | undefined };
  /** How a backup is taken; returns its size. */
  take?: typeof takeInThread;
  /** How long BACKUP_DIR may take to be read before it counts as silent. */
  lookMs?: number;
};

/** The scheduled backups of a server. */
export class Backups {
  readonly #options: BackupOptions;
  readonly #startedAtMs: number;
  #loop: Loop | undefined;
  #last: { name: string; bytes: number } | undefined;
  #failure: { reason: string; atMs: number } | undefined;
  #looking: Promise<void> | undefined;
  #silence = "";

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
    const failure = this.#silence || (this.#failure?.reason ?? "");
    return { lastAtMs, bytes: this.#last?.bytes ?? 0, nextAtMs: this.#nextAtMs, failure };
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
    const { config, clock } = this.#options;
    const lastAtMs = this.#last && backupTimeOf(this.#last.name);
    return nextBackupAtMs(
      { lastAtMs, failedAtMs: this.#failure?.atMs },
      { nowMs: clock(), everyMs: config.backupEveryMs, retryMs: RETRY_MS },
    );
  }

  async #turn(signal: AbortSignal): Promise<"idle"> {
    const { config, log, clock, opening } = this.#options;
    if ((await this.#look(signal)) === "silent") return "idle";
    if (clock() < this.#nextAtMs || opening.missing() !== undefined) return "idle";
    const name = backupName(clock());
    const startedMs = elapsedMs();
    try {
      await mkdir(config.backupDir, { recursive: true, mode: 0o700 });
      const bytes = await this.#take(join(config.backupDir, name), signal);
      this.#last = { name, bytes };
      this.#failure = undefined;
      log.info({ backup: name, bytes, tookMs: Math.round(elapsedMs() - startedMs) }, "A backup was taken.");
      await this.#prune(name);
    } catch (error) {
      if (signal.aborted) throw error;
      this.#failure = { reason: messageOf(error), atMs: clock() };
      log.error({ reason: messageOf(error), retryMs: RETRY_MS }, "A scheduled backup failed; it is tried again.");
    }
    return "idle";
  }

  /**
   * On a network mount that hangs, a read ends only when the mount is back. The loop stops waiting for it, and begins no
   * second one: each holds one of the few threads that all files of the process are read with.
   */
  async #look(signal: AbortSignal): Promise<"read" | "silent"> {
    const { config, log, lookMs = LOOK_MS } = this.#options;
    this.#looking ??= this.#readNewest().finally(() => {
      this.#looking = undefined;
      if (this.#silence !== "") log.info("BACKUP_DIR answers again.");
      this.#silence = "";
    });
    const read = this.#looking.then(() => "read" as const);
    const outcome = await Promise.race([read, sleep(lookMs, "silent" as const, { signal, ref: false })]);
    if (outcome === "silent" && this.#silence === "") {
      this.#silence = `${config.backupDir} cannot be read: it does not answer.`;
      log.error({ reason: this.#silence }, "No backup is taken until BACKUP_DIR answers.");
    }
    return outcome;
  }

  /** The newest whole backup, which may be that of an earlier process. Somebody may have removed the last one. */
  async #readNewest(): Promise<void> {
    const name = newestBackup(await this.#whole(), this.#options.clock());
    if (name === this.#last?.name) return;
    this.#last = name === undefined ? undefined : { name, bytes: await this.#bytesOf(name) };
  }

  async #whole(): Promise<string[]> {
    const names = await readdir(this.#options.config.backupDir).catch(() => []);
    const whole: string[] = [];
    // One after the other, so that they never hold more than one thread.
    for (const name of names) if (backupTimeOf(name) !== undefined && (await this.#isWhole(name))) whole.push(name);
    return whole;
  }

  #isWhole(name: string): Promise<boolean> {
    return access(join(this.#pathOf(name), MANIFEST)).then(
      () => true,
      () => false,
    );
  }

  /** 0 when the manifest is damaged, which must not keep the next backup from being taken. */
  async #bytesOf(name: string): Promise<number> {
    const path = join(this.#pathOf(name), MANIFEST);
    try {
      return manifestOf(await readFile(path, "utf8"), path).bytes;
    } catch (error) {
      this.#options.log.error({ backup: name, reason: messageOf(error) }, "The newest backup is damaged.");
      return 0;
    }
  }

  #pathOf(name: string): string {
    return join(this.#options.config.backupDir, name);
  }

  /** Keeps the newest backups. What fails here does not make the one that was taken a failure. */
  async #prune(taken: string): Promise<void> {
    const { config, log, clock } = this.#options;
    try {
      const wish = { keep: config.backupKeep, taken, nowMs: clock() };
      for (const name of surplusBackups(await this.#whole(), wish)) {
        const draft = draftOf(this.#pathOf(name));
        // What is left of an interrupted removal is no backup, and is removed by a later process.
        await rename(this.#pathOf(name), draft);
        await rm(draft, { recursive: true, force: true });
        log.info({ backup: name }, "An old backup was removed.");
      }
      await removeLeftovers(config.backupDir);
    } catch (error) {
      log.error({ reason: messageOf(error) }, "Old backups could not be removed.");
    }
  }

  #take(dir: string, signal: AbortSignal): Promise<number> {
    const { config, database, take = takeInThread } = this.#options;
    const { dataDir, databaseUrl, secretKey, diskFreeBytesMin, jetstream, logLevel, backupPassphrase } = config;
    const passphrase = backupPassphrase === "" ? undefined : backupPassphrase;
    const settings: WorkerSettings = {
      config: { dataDir, databaseUrl, secretKey, diskFreeBytesMin, jetstream },
      connection: database.direct.connection,
      logLevel,
      wish: { dir, passphrase, by: { name: "scheduled backup", address: hostname() } },
    };
    return take(settings, { signal, msMax: backupMsMax(config.backupEveryMs) });
  }
}
