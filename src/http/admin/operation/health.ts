import type pg from "pg";
import type { Clock } from "../../../clock.ts";
import type { Config } from "../../../config.ts";
import type { HealthAnswer } from "../../../contract/admin/health.ts";
import { statusRecord } from "../../../cost/pull-record.ts";
import { loadCostAccounts } from "../../../db/cost-pull.ts";
import { staleSlices } from "../../../db/dirty-day.ts";
import { describeDatabase } from "../../../db/engine/database.ts";
import { isDatabaseAway } from "../../../db/engine/failure.ts";
import { type LakeOutline, type LakeState, loadLakeOutline } from "../../../db/lake-state.ts";
import { loadNodes, type SeenNode } from "../../../db/node.ts";
import { sumOrdersWithoutRate } from "../../../db/orders.ts";
import type { Replica } from "../../../db/replica/replica.ts";
import { countSetAside } from "../../../db/set-aside.ts";
import { type AppChoice, isAmong } from "../../../domain/access/role.ts";
import type { BackupState } from "../../../domain/backup-schedule.ts";
import { firstScheduledDay } from "../../../domain/cost-schedule.ts";
import { healthProblems, healthState, type LakeHealth } from "../../../domain/health.ts";
import type { AppDirectory } from "../../../intake/app-directory.ts";
import type { Intake } from "../../../intake/intake.ts";
import type { Progress } from "../../../intake/progress.ts";
import type { Refusals } from "../../../intake/refusals.ts";
import { showState } from "../../../postback/outbox-view.ts";
import type { Vault } from "../../../vault.ts";
import { VERSION } from "../../../version.ts";
import type { Live } from "../../live/live.ts";

const REFUSALS_LISTED_MAX = 200;
/** A process gives a sign of life every two seconds. */
const NODE_SILENT_MS_MAX = 15_000;

/** What the process knows about itself, and what it needs to ask the tables for the rest. */
export type HealthContext = OwnContext & StoredContext;

type OwnContext = {
  config: Pick<Config, "roles" | "journalBacklogBytesMax" | "diskFreeBytesMin">;
  clock: Clock;
  intake: Intake;
  progress: Progress;
  refusals: Refusals;
  live: Live;
  applyLagMs: () => number;
  /** Why journaled entries do not reach the tables, or undefined when they do. */
  applyObstacle: () => string | undefined;
  replica: Pick<Replica, "reading" | "obstacle"> | undefined;
  /** The scheduled backups, and how long one has been due. */
  backups: { state(): BackupState | undefined; overdueMs(): number };
  vitals: Vitals;
};

/** Facts that only the process itself knows. */
export type Vitals = {
  startedAtMs: number;
  /** Journal entries not applied yet, or undefined while some of them were written by an earlier process. */
  waitingEntries: () => number | undefined;
};

type StoredContext = {
  config: Pick<Config, "databaseUrl">;
  clock: Clock;
  pool: pg.Pool;
  vault: Vault;
  apps: AppDirectory;
};

type Stored = Pick<
  HealthAnswer,
  "database" | "lake" | "nodes" | "lanes" | "accounts" | "cost_pulls" | "orders_without_rate"
>;

/** The health of the whole server, with what concerns these apps. While the database is away, only what the process itself knows. */
export async function healthOf(context: HealthContext, apps: AppChoice): Promise<HealthAnswer> {
  const stored = await storedFacts(context, apps).catch((error: unknown) => {
    if (isDatabaseAway(error)) return UNKNOWN;
    throw error;
  });
  const own = ownFacts(context, apps);
  const problems = problemsOf(own, stored, context.backups.overdueMs());
  return { state: healthState(problems), problems, ...own, ...stored };
}

function ownFacts({ config, clock, intake, live, vitals, ...context }: OwnContext, apps: AppChoice) {
  const { durable, applied } = intake.reach;
  return {
    now_ms: clock(),
    version: VERSION,
    started_at_ms: vitals.startedAtMs,
    roles: [...config.roles],
    memory_bytes: process.memoryUsage.rss(),
    live_watchers: live.watchers,
    intake: {
      obstacle: intake.obstacle() ?? "",
      backlog_bytes: intake.backlogBytes,
      backlog_bytes_max: config.journalBacklogBytesMax,
      backlog_entries: vitals.waitingEntries() ?? null,
      durable_bytes: durable,
      applied_bytes: applied,
      apply_lag_ms: Math.max(0, context.applyLagMs()),
      apply_obstacle: context.applyObstacle() ?? "",
    },
    refused: context.refusals
      .list()
      .filter(({ appId }) => isAmong(apps, appId))
      .map(({ appId, refusal, calls, lastAtMs }) => ({ app_id: appId, reason: refusal, calls, last_at_ms: lastAtMs }))
      .sort((one, other) => other.last_at_ms - one.last_at_ms)
      .slice(0, REFUSALS_LISTED_MAX),
    disk: { free_bytes: intake.diskFreeBytes, free_bytes_min: config.diskFreeBytesMin },
    replica: replicaRecord(context.replica),
    backup: backupRecord(context.backups.state()),
  };
}

function replicaRecord(replica: OwnContext["replica"]): HealthAnswer["replica"] {
  if (!replica) return null;
  return { obstacle: replica.obstacle ?? "", lag_ms: Math.round(replica.reading?.lagMs ?? 0) };
}

function backupRecord(state: BackupState | undefined): HealthAnswer["backup"] {
  if (!state) return null;
  const { lastAtMs = null, bytes, nextAtMs, failure } = state;
  return { last_at_ms: lastAtMs, bytes, next_at_ms: nextAtMs, failure };
}

const UNKNOWN: Stored = {
  database: null,
  lake: null,
  nodes: [],
  lanes: [],
  accounts: [],
  cost_pulls: [],
  orders_without_rate: [],
};

async function storedFacts(context: StoredContext, apps: AppChoice): Promise<Stored> {
  const { pool, vault, clock, config } = context;
  const nowMs = clock();
  const [database, nodes, cube, setAside, outbox, costs, orders, lake] = await Promise.all([
    describeDatabase(pool),
    loadNodes(pool),
    staleSlices(pool),
    countSetAside(pool, apps),
    showState(pool, vault, { appId: undefined, nowMs }),
    loadCostAccounts(pool, { fromDay: firstScheduledDay(nowMs) }),
    sumOrdersWithoutRate(pool),
    loadLakeOutline(pool),
  ]);
  return {
    database: {
      kind: config.databaseUrl === "" ? "embedded" : "external",
      ...database,
      cube_slices_waiting: cube.slices,
      cube_age_ms: cube.sinceMs === null ? 0 : Math.max(0, nowMs - cube.sinceMs),
      set_aside: setAside,
    },
    lake: lake ? lakeRecord(lake, nowMs) : null,
    nodes: nodes.map(nodeRecord),
    ...stateOf(outbox, apps),
    cost_pulls: costs
      .filter(({ appId }) => isAmong(apps, appId))
      .map((account) => ({ app_id: account.appId, ...statusRecord(account, nowMs) })),
    orders_without_rate: orders
      .filter(({ appId }) => isAmong(apps, appId))
      .map(({ appId, ...rest }) => {
        const rates = context.apps.byId(appId)?.rates ?? {};
        return { app_id: appId, ...rest, is_rate_set: Object.hasOwn(rates, rest.currency) };
      }),
  };
}

function lakeRecord(lake: LakeOutline, nowMs: number): NonNullable<HealthAnswer["lake"]> {
  const msSince = (atMs: number | null | undefined) => Math.max(0, nowMs - (atMs ?? nowMs));
  const failureOf = (state: LakeState | undefined) => ({
    failing_ms: state && state.failure !== "" ? msSince(state.behindSinceMs ?? state.workedAtMs) : 0,
    failure: state?.failure ?? "",
  });
  const { files, bytes, waitingDays, waitingSinceMs, writing, bucket } = lake;
  return {
    files,
    bytes,
    waiting_days: waitingDays,
    lag_ms: msSince(waitingSinceMs),
    ...failureOf(writing),
    bucket: bucket
      ? {
          files: bucket.files,
          bytes: bucket.bytes,
          waiting_files: bucket.waitingFiles,
          lag_ms: msSince(bucket.behindSinceMs),
          ...failureOf(bucket),
        }
      : null,
  };
}

function lakeHealth(part: { failing_ms: number; lag_ms: number } | null | undefined): LakeHealth | undefined {
  return part ? { failingMs: part.failing_ms, lagMs: part.lag_ms } : undefined;
}

function nodeRecord({ nodeId, host, processId, address, roles, version, trouble, startedAtMs, silentMs }: SeenNode) {
  return {
    node_id: nodeId,
    host,
    process_id: processId,
    address,
    roles: [...roles],
    version,
    trouble,
    started_at_ms: startedAtMs,
    silent_ms: silentMs,
    is_silent: silentMs > NODE_SILENT_MS_MAX,
  };
}

/** The part of the outbox's state that concerns these apps. */
export function stateOf<Part extends { app_id: number }, Other extends { app_id: number }>(
  { lanes, accounts }: { lanes: Part[]; accounts: Other[] },
  apps: AppChoice,
): { lanes: Part[]; accounts: Other[] } {
  const isSeen = ({ app_id }: { app_id: number }) => isAmong(apps, app_id);
  return { lanes: lanes.filter(isSeen), accounts: accounts.filter(isSeen) };
}

function problemsOf(own: ReturnType<typeof ownFacts>, stored: Stored, backupOverdueMs: number) {
  const { database, nodes, lanes, accounts, cost_pulls, orders_without_rate } = stored;
  return healthProblems({
    diskFreeBytes: own.disk.free_bytes,
    diskFreeBytesMin: own.disk.free_bytes_min,
    backlogBytes: own.intake.backlog_bytes,
    backlogBytesMax: own.intake.backlog_bytes_max,
    applyLagMs: own.intake.apply_lag_ms,
    isApplyStuck: own.intake.apply_obstacle !== "" || nodes.some(({ trouble }) => trouble !== ""),
    isReplicaAway: (own.replica?.obstacle ?? "") !== "",
    isBackupFailing: (own.backup?.failure ?? "") !== "",
    backupOverdueMs,
    database: database
      ? {
          cubeAgeMs: database.cube_age_ms,
          silentNodes: nodes.filter(({ is_silent }) => is_silent).length,
          setAside: database.set_aside,
          pausedLanes: lanes.filter(({ paused_until }) => paused_until !== "").length,
          accountErrors: accounts.filter(({ last_error }) => last_error !== "").length,
          endedAuthorisations: accounts.filter(({ refresh_state }) => refresh_state === "ended").length,
          endingAuthorisations: accounts.filter(({ refresh_state }) => refresh_state === "ends_soon").length,
          failingCosts: cost_pulls.filter(({ failures }) => failures > 0).length,
          ordersWithoutRate: orders_without_rate.filter(({ is_rate_set }) => !is_rate_set).length,
          lake: lakeHealth(stored.lake),
          bucket: lakeHealth(stored.lake?.bucket),
        }
      : undefined,
  });
}
