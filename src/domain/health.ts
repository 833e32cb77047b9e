/** What an operator should look at, worst first. A closed list: the console has a sentence for each. */
export const HEALTH_PROBLEMS = [
  "disk_short",
  "journal_full",
  "database_away",
  "apply_stuck",
  "apply_behind",
  "disk_filling",
  "cube_behind",
  "replica_away",
  "node_silent",
  "set_aside",
  "lane_paused",
  "account_error",
  "authorisation_ended",
  "authorisation_ends",
  "cost_failing",
  "order_without_rate",
  "lake_failing",
  "lake_behind",
  "bucket_failing",
  "bucket_behind",
  "backup_failing",
  "backup_late",
] as const;
export type HealthProblem = (typeof HEALTH_PROBLEMS)[number];

/** "refusing": new data is refused. "troubled": something needs attention. "good": all is well. */
export type HealthState = "refusing" | "troubled" | "good";

/** `failingMs`: how long attempts have failed; 0: the last one did not. `lagMs`: how long something waits. */
export type LakeHealth = { failingMs: number; lagMs: number };

export type HealthFacts = {
  diskFreeBytes: number;
  diskFreeBytesMin: number;
  backlogBytes: number;
  backlogBytesMax: number;
  applyLagMs: number;
  isApplyStuck: boolean;
  /** False where there is no replica. */
  isReplicaAway: boolean;
  isBackupFailing: boolean;
  backupOverdueMs: number;
  /** Undefined while the database is away. */
  database:
    | {
        cubeAgeMs: number;
        silentNodes: number;
        setAside: number;
        pausedLanes: number;
        accountErrors: number;
        /** Accounts whose refresh token has ended, and those where it ends within days. */
        endedAuthorisations: number;
        endingAuthorisations: number;
        failingCosts: number;
        ordersWithoutRate: number;
        /** Undefined where there is no lake, or no bucket. */
        lake: LakeHealth | undefined;
        bucket: LakeHealth | undefined;
      }
    | undefined;
};

/** Far above normal: the tables are usually one second behind, the cube ten. */
const APPLY_LAG_MS_MAX = 60_000;
const CUBE_AGE_MS_MAX = 15 * 60_000;
/** Long enough for a large backup to be taken. */
const BACKUP_OVERDUE_MS_MAX = 6 * 3_600_000;
/** A single attempt may fail; an erased user must be gone from all files within the hour. */
const LAKE_FAILING_MS_MAX = 2 * 60_000;
const LAKE_LAG_MS_MAX = 40 * 60_000;
/** The multiple of the minimum free space at which a warning is early enough. */
const DISK_WARNING = 3;

export function healthProblems(facts: HealthFacts): HealthProblem[] {
  const { database } = facts;
  const isThere: Record<HealthProblem, boolean> = {
    disk_short: facts.diskFreeBytes < facts.diskFreeBytesMin,
    journal_full: facts.backlogBytes > facts.backlogBytesMax,
    database_away: database === undefined,
    // Without the database nothing is applied either, which is one problem and not two.
    apply_stuck: facts.isApplyStuck && database !== undefined,
    apply_behind: facts.applyLagMs > APPLY_LAG_MS_MAX,
    disk_filling:
      facts.diskFreeBytes >= facts.diskFreeBytesMin && facts.diskFreeBytes < facts.diskFreeBytesMin * DISK_WARNING,
    cube_behind: (database?.cubeAgeMs ?? 0) > CUBE_AGE_MS_MAX,
    replica_away: facts.isReplicaAway,
    node_silent: (database?.silentNodes ?? 0) > 0,
    set_aside: (database?.setAside ?? 0) > 0,
    lane_paused: (database?.pausedLanes ?? 0) > 0,
    account_error: (database?.accountErrors ?? 0) > 0,
    authorisation_ended: (database?.endedAuthorisations ?? 0) > 0,
    authorisation_ends: (database?.endingAuthorisations ?? 0) > 0,
    cost_failing: (database?.failingCosts ?? 0) > 0,
    order_without_rate: (database?.ordersWithoutRate ?? 0) > 0,
    lake_failing: isFailing(database?.lake),
    lake_behind: isBehind(database?.lake),
    bucket_failing: isFailing(database?.bucket),
    bucket_behind: isBehind(database?.bucket),
    backup_failing: facts.isBackupFailing,
    backup_late: facts.backupOverdueMs > BACKUP_OVERDUE_MS_MAX && !facts.isBackupFailing,
  };
  return HEALTH_PROBLEMS.filter((problem) => isThere[problem]);
}

function isFailing(lake: LakeHealth | undefined): boolean {
  return (lake?.failingMs ?? 0) > LAKE_FAILING_MS_MAX;
}

function isBehind(lake: LakeHealth | undefined): boolean {
  return !isFailing(lake) && (lake?.lagMs ?? 0) > LAKE_LAG_MS_MAX;
}

export function healthState(problems: readonly HealthProblem[]): HealthState {
  if (problems.includes("disk_short") || problems.includes("journal_full")) return "refusing";
  return problems.length > 0 ? "troubled" : "good";
}
