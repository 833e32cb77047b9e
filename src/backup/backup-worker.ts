import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { systemClock } from "../clock.ts";
import type { Config } from "../config.ts";
import type { Connection } from "../db/server/server.ts";
import { messageOf } from "../errors.ts";
import { createLog } from "../log.ts";
import type { LogLevel } from "../settings.ts";
import { type BackupWish, takeBackup } from "./take.ts";

/** The settings of the thread that takes one scheduled backup. */
export type WorkerSettings = {
  config: Pick<Config, "dataDir" | "databaseUrl" | "secretKey" | "diskFreeBytesMin" | "jetstream">;
  connection: Connection;
  logLevel: LogLevel;
  wish: Omit<BackupWish, "onProgress">;
};

export type WorkerMessage = { kind: "done"; bytes: number } | { kind: "failed"; reason: string };

const BACKUP_PRIORITY = 15;

// On Linux a priority belongs to one thread: requests and apply come first.
if (process.platform === "linux") setPriority(BACKUP_PRIORITY);

const { config, connection, logLevel, wish } = workerData as WorkerSettings;
const source = { config, connection, log: createLog(logLevel).child({ role: "backup" }), clock: systemClock };
takeBackup(source, { ...wish, onProgress: () => {} }).then(
  ({ bytes }) => tell({ kind: "done", bytes }),
  (error: unknown) => tell({ kind: "failed", reason: messageOf(error) }),
);

function tell(message: WorkerMessage): void {
  parentPort!.postMessage(message);
}
