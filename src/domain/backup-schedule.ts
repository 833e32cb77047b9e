/** What is known about the scheduled backups. */
export type BackupState = {
  /** When the newest whole backup was begun. */
  lastAtMs: number | undefined;
  bytes: number;
  nextAtMs: number;
  /** Why the last attempt failed; empty once one has succeeded. */
  failure: string;
};

const NAME = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;

/** The folder of a scheduled backup: 20261117T013000Z, a name that every system allows and that sorts by time. */
export function backupName(atMs: number): string {
  return new Date(atMs).toISOString().replaceAll(/[-:]|\.\d+/g, "");
}

/** The time in the name of a scheduled backup; undefined for every other name. */
export function backupTimeOf(name: string): number | undefined {
  const parts = NAME.exec(name);
  if (!parts) return undefined;
  const [, year, month, day, hour, minute, second] = parts.map(Number);
  return Date.UTC(year!, month! - 1, day!, hour!, minute!, second!);
}

/** The first one is due at once. A failed one is tried again after a while, long before the next is due. */
export function nextBackupAtMs(
  { lastAtMs, failedAtMs }: { lastAtMs: number | undefined; failedAtMs: number | undefined },
  { everyMs, retryMs }: { everyMs: number; retryMs: number },
): number {
  const dueAtMs = lastAtMs === undefined ? 0 : lastAtMs + everyMs;
  return failedAtMs === undefined ? dueAtMs : Math.max(dueAtMs, failedAtMs + Math.min(retryMs, everyMs));
}

/** The scheduled backups to remove: all but the newest. Folders with other names are somebody else's. */
export function surplusBackups(names: readonly string[], keep: number): string[] {
  const scheduled = names.filter((name) => backupTimeOf(name) !== undefined).sort();
  return scheduled.slice(0, Math.max(0, scheduled.length - keep));
}

/** How long a backup has been due without one being taken; 0 without a schedule. */
export function backupOverdueMs(
  state: Pick<BackupState, "lastAtMs"> | undefined,
  { nowMs, startedAtMs, everyMs }: { nowMs: number; startedAtMs: number; everyMs: number },
): number {
  if (!state) return 0;
  // What fell due while no server ran counts from its start.
  const dueAtMs = Math.max(startedAtMs, state.lastAtMs === undefined ? 0 : state.lastAtMs + everyMs);
  return Math.max(0, nowMs - dueAtMs);
}
