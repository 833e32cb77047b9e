/** What is known about the scheduled backups. */
export type BackupState = {
  /** When the newest whole backup was begun. */
  lastAtMs: number | undefined;
  bytes: number;
  nextAtMs: number;
  /** Why the folder cannot be read, or why the last attempt failed; empty once one has succeeded. */
  failure: string;
};

const HOUR_MS = 3_600_000;
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

/** The longest that a backup may take: half of the interval, at least one hour and at most twelve. */
export function backupMsMax(everyMs: number): number {
  return Math.min(Math.max(everyMs / 2, HOUR_MS), 12 * HOUR_MS);
}

/** The newest scheduled backup. One that is named by a later time was taken while the clock was wrong. */
export function newestBackup(names: readonly string[], nowMs: number): string | undefined {
  return names
    .filter((name) => isPast(backupTimeOf(name), nowMs))
    .sort()
    .at(-1);
}

/** The first one is due at once. A failed one is tried again after a while, long before the next is due. */
export function nextBackupAtMs(
  { lastAtMs, failedAtMs }: { lastAtMs: number | undefined; failedAtMs: number | undefined },
  { nowMs, everyMs, retryMs }: { nowMs: number; everyMs: number; retryMs: number },
): number {
  const dueAtMs = isPast(lastAtMs, nowMs) ? lastAtMs + everyMs : 0;
  return isPast(failedAtMs, nowMs) ? Math.max(dueAtMs, failedAtMs + Math.min(retryMs, everyMs)) : dueAtMs;
}

/** Whether it is there and not in the future, where a clock that was wrong may have put it. */
function isPast(atMs: number | undefined, nowMs: number): atMs is number {
  return atMs !== undefined && atMs <= nowMs;
}

/**
 * The scheduled backups to remove: all but the newest. Those of the future count as the oldest, and the one that was just
 * taken always stays. Folders with other names are somebody else's.
 */
export function surplusBackups(
  names: readonly string[],
  { keep, taken, nowMs }: { keep: number; taken: string; nowMs: number },
): string[] {
  const others = names.filter((name) => name !== taken && backupTimeOf(name) !== undefined).sort();
  const isFuture = (name: string) => !isPast(backupTimeOf(name), nowMs);
  const oldestFirst = [...others.filter(isFuture), ...others.filter((name) => !isFuture(name))];
  return oldestFirst.slice(0, Math.max(0, oldestFirst.length - (keep - 1)));
}

/** How long a backup has been due without one being taken; 0 without a schedule. */
export function backupOverdueMs(
  state: Pick<BackupState, "lastAtMs"> | undefined,
  { nowMs, startedAtMs, everyMs }: { nowMs: number; startedAtMs: number; everyMs: number },
): number {
  if (!state) return 0;
  // What fell due while no server ran counts from its start.
  const dueAtMs = Math.max(startedAtMs, isPast(state.lastAtMs, nowMs) ? state.lastAtMs + everyMs : 0);
  return Math.max(0, nowMs - dueAtMs);
}
