import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { lstat } from "node:fs/promises";
import { constants } from "node:os";
import { basename, join } from "node:path";
import type pg from "pg";
import type { Log } from "../log.ts";
import { draftOf, holdsOnly, leftoversIn } from "./draft.ts";
import { CLUSTER_FILES, clusterOf, endCluster, openTarget } from "./target.ts";

/** The scratch database is always an embedded one. */
const NO_ADDRESS = { databaseUrl: "", databaseDirectUrl: "", databaseConnectionsMax: 2 };
const PREFIX = "touchpoint-trial-";
const PARTS: ReadonlySet<string> = new Set(CLUSTER_FILES);

/**
 * Works on a database of its own in a folder below `parent`, and removes both, also when a signal ends the process. What
 * a `kill -9` leaves is removed by the next trial.
 */
export async function withScratch<T>(
  { parent, log }: { parent: string; log: Log },
  work: (pool: pg.Pool) => Promise<T>,
): Promise<T> {
  await removeScratches(parent, log);
  const dataDir = draftOf(join(parent, `${PREFIX}${randomBytes(4).toString("hex")}`));
  mkdirSync(dataDir);
  const interruption = new Interruption();
  try {
    // PostgreSQL may run as another user, who must be able to pass through.
    chmodSync(dataDir, 0o711);
    const target = await openTarget({ ...NO_ADDRESS, dataDir }, log);
    try {
      return await Promise.race([work(target.pool), interruption.happens]);
    } finally {
      // A pool ends only after its statements, so a table that is being loaded would hold up the end.
      await (interruption.signal ? target.abandon() : target.stop());
    }
  } finally {
    removeScratch(dataDir);
    interruption.close();
  }
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Keeps signals from ending the process until `close`, which then ends it as the first of them would have. */
class Interruption {
  /** Fails at the first signal. */
  readonly happens: Promise<never>;
  signal: NodeJS.Signals | undefined;
  #onSignal!: (signal: NodeJS.Signals) => void;

  constructor() {
    this.happens = new Promise((_, reject) => {
      this.#onSignal = (signal) => {
        this.signal ??= signal;
        reject(new Error(`Interrupted by ${signal}.`));
      };
    });
    // It may come while nobody waits for it.
    this.happens.catch(() => {});
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
  }

  close(): void {
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
    if (this.signal) process.exit(128 + constants.signals[this.signal]);
  }
}

/** Removes the folders of trials that were killed, with the databases that still run in them. */
async function removeScratches(parent: string, log: Log): Promise<void> {
  for (const path of await leftoversIn(parent)) {
    if (!basename(path).startsWith(PREFIX) || !(await isOwn(path)) || !(await holdsOnly(path, PARTS))) continue;
    await endCluster(path, log);
    removeScratch(path);
  }
}

/** In a folder that all users share, anybody may have made it, with a file that names what to remove. */
async function isOwn(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  return found?.isDirectory() === true && found.uid === (process.getuid?.() ?? found.uid);
}

function removeScratch(dataDir: string): void {
  rmSync(clusterOf(dataDir), { recursive: true, force: true });
  rmSync(dataDir, { recursive: true, force: true });
}
