import { expect, test } from "vitest";
import { HEALTH_PROBLEMS, type HealthFacts, healthProblems, healthState } from "../../src/domain/health.ts";

const GIB = 1024 ** 3;
const calm = {
  cubeAgeMs: 9_000,
  silentNodes: 0,
  setAside: 0,
  pausedLanes: 0,
  accountErrors: 0,
  endedAuthorisations: 0,
  endingAuthorisations: 0,
  failingCosts: 0,
  ordersWithoutRate: 0,
  lake: { failingMs: 119_000, lagMs: 600_000 },
  bucket: undefined,
};
const failing = { failingMs: 120_001, lagMs: 1e9 };
const behind = { failingMs: 0, lagMs: 40 * 60_000 + 1 };
const WELL: HealthFacts = {
  diskFreeBytes: 50 * GIB,
  diskFreeBytesMin: GIB,
  backlogBytes: 0,
  backlogBytesMax: 20 * GIB,
  applyLagMs: 900,
  isApplyStuck: false,
  isReplicaAway: false,
  isBackupFailing: false,
  backupOverdueMs: 0,
  database: calm,
};

test("without problems there is nothing to report", () => {
  expect(healthProblems(WELL)).toEqual([]);
  expect(healthState([])).toBe("good");
});

test.each<[string, Partial<HealthFacts>, string, string]>([
  ["the disk is below its minimum free space", { diskFreeBytes: GIB - 1 }, "disk_short", "refusing"],
  ["the journal's backlog is full", { backlogBytes: 20 * GIB + 1 }, "journal_full", "refusing"],
  ["the database is away", { database: undefined }, "database_away", "troubled"],
  ["apply is stuck", { isApplyStuck: true }, "apply_stuck", "troubled"],
  ["apply waits for a database that is away", { isApplyStuck: true, database: undefined }, "database_away", "troubled"],
  ["the tables are more than a minute behind", { applyLagMs: 60_001 }, "apply_behind", "troubled"],
  ["the disk is close to its minimum free space", { diskFreeBytes: 2 * GIB }, "disk_filling", "troubled"],
  ["reports are older than 15 minutes", { database: { ...calm, cubeAgeMs: 900_001 } }, "cube_behind", "troubled"],
  ["the read replica is away", { isReplicaAway: true }, "replica_away", "troubled"],
  ["another process is silent", { database: { ...calm, silentNodes: 1 } }, "node_silent", "troubled"],
  ["an entry is set aside", { database: { ...calm, setAside: 1 } }, "set_aside", "troubled"],
  ["a platform is down", { database: { ...calm, pausedLanes: 1 } }, "lane_paused", "troubled"],
  ["an account has an error", { database: { ...calm, accountErrors: 1 } }, "account_error", "troubled"],
  ["a refresh token has ended", { database: { ...calm, endedAuthorisations: 1 } }, "authorisation_ended", "troubled"],
  ["a refresh token ends soon", { database: { ...calm, endingAuthorisations: 1 } }, "authorisation_ends", "troubled"],
  ["costs cannot be pulled", { database: { ...calm, failingCosts: 1 } }, "cost_failing", "troubled"],
  ["a currency has no rate", { database: { ...calm, ordersWithoutRate: 1 } }, "order_without_rate", "troubled"],
  ["the lake cannot be written", { database: { ...calm, lake: failing } }, "lake_failing", "troubled"],
  ["the lake is behind", { database: { ...calm, lake: behind } }, "lake_behind", "troubled"],
  ["the bucket refuses", { database: { ...calm, bucket: failing } }, "bucket_failing", "troubled"],
  ["the bucket is behind", { database: { ...calm, bucket: behind } }, "bucket_behind", "troubled"],
  ["a scheduled backup failed", { isBackupFailing: true, backupOverdueMs: 1e9 }, "backup_failing", "troubled"],
  ["a scheduled backup is late", { backupOverdueMs: 6 * 3_600_000 + 1 }, "backup_late", "troubled"],
])("%s: %o gives %s, and the server is %s", (_, facts, problem, state) => {
  const problems = healthProblems({ ...WELL, ...facts });
  expect(problems).toEqual([problem]);
  expect(healthState(problems)).toBe(state);
});

test("all problems at once are reported worst first", () => {
  const everything: HealthFacts = {
    diskFreeBytes: 0,
    diskFreeBytesMin: GIB,
    backlogBytes: 1,
    backlogBytesMax: 0,
    applyLagMs: 1e6,
    isApplyStuck: true,
    isReplicaAway: true,
    isBackupFailing: true,
    backupOverdueMs: 1e9,
    database: {
      cubeAgeMs: 1e7,
      silentNodes: 1,
      setAside: 1,
      pausedLanes: 1,
      accountErrors: 1,
      endedAuthorisations: 1,
      endingAuthorisations: 1,
      failingCosts: 1,
      ordersWithoutRate: 1,
      lake: failing,
      bucket: failing,
    },
  };
  const others = ["database_away", "disk_filling", "backup_late", "lake_behind", "bucket_behind"];
  const expected = HEALTH_PROBLEMS.filter((problem) => !others.includes(problem));
  expect(healthProblems(everything)).toEqual(expected);
});
