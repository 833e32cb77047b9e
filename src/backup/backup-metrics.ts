import type { Clock } from "../clock.ts";
import { type BackupOptions, Backups } from "./backup-loop.ts";

type Gauges = { gauge(name: string, help: string, read: () => number): void };

/** Starts the scheduled backups, and shows them in /metrics. */
export function startBackups(metrics: Gauges, options: BackupOptions): Backups {
  const backups = new Backups(options);
  showBackups(metrics, backups, options.clock);
  backups.start();
  return backups;
}

/** Adds what is known about the scheduled backups to /metrics; all are 0 where BACKUP_DIR is not set. */
function showBackups(metrics: Gauges, backups: Backups, clock: Clock): void {
  const gauge = (name: string, help: string, read: () => number) =>
    metrics.gauge(`touchpoint_backup_${name}`, help, read);
  gauge("age_seconds", "Age of the newest whole scheduled backup; 0 without one.", () => {
    const lastAtMs = backups.state?.lastAtMs;
    return lastAtMs === undefined ? 0 : Math.max(0, clock() - lastAtMs) / 1_000;
  });
  gauge(
    "overdue_seconds",
    "How long a scheduled backup has been due; 0 without BACKUP_DIR.",
    () => backups.overdueMs / 1_000,
  );
  gauge("bytes", "Size of the newest whole scheduled backup.", () => backups.state?.bytes ?? 0);
  gauge(
    "failing",
    "1 when the last attempt at a scheduled backup failed, or BACKUP_DIR does not answer; the log says why.",
    () => (backups.state?.failure ? 1 : 0),
  );
}
