import type { Backups } from "./backup/backup-loop.ts";
import type { Clock } from "./clock.ts";
import type { Config } from "./config.ts";
import type { CostPuller } from "./cost/puller.ts";
import type { Database } from "./db/engine/database.ts";
import { Replica } from "./db/replica/replica.ts";
import { showReplica } from "./db/replica/replica-metrics.ts";
import { ReportReads } from "./db/replica/report-reads.ts";
import { AdminTokens } from "./http/admin/admin-token.ts";
import { FailedSignIns } from "./http/admin/failed-sign-ins.ts";
import { SeenSessions } from "./http/admin/seen-sessions.ts";
import { CallerAddress } from "./http/caller-address.ts";
import { close, listen } from "./http/listening.ts";
import { Live } from "./http/live/live.ts";
import { LiveRelay } from "./http/live/live-relay.ts";
import { createServer } from "./http/server.ts";
import type { AppDirectory } from "./intake/app-directory.ts";
import type { Flow } from "./intake/flow.ts";
import { IntakePace } from "./intake/pace.ts";
import { openColdReader } from "./lake/cold-reader.ts";
import type { RunningLake } from "./lake/lake-loop.ts";
import type { Log } from "./log.ts";
import { IdentityProvider } from "./outbound/identity-provider.ts";
import type { Vault } from "./vault.ts";

export type HttpParts = {
  config: Config;
  log: Log;
  clock: Clock;
  database: Database;
  vault: Vault;
  /** Signs the tokens of users. */
  userTokenKey: Buffer;
  apps: AppDirectory;
  flow: Flow;
  costs: CostPuller;
  backups: Backups;
  /** Undefined where this process neither writes the lake nor keeps its bucket in step. */
  lake: Pick<RunningLake, "asker" | "obstacle"> | undefined;
  startedAtMs: number;
  /** What does not work since a start without the database. */
  missing: () => string | undefined;
};

/** Creates what only the HTTP side needs, and listens. */
export async function serveHttp(parts: HttpParts): Promise<{ address: string; stop(): Promise<void> }> {
  const { config, log, clock, database, vault, userTokenKey, apps, flow, costs, backups, lake, startedAtMs, missing } =
    parts;
  const { pool, reportPools } = database;
  const { journal, known, intake, progress, metrics, bodies, largeBodies, judgeThreads, budgets, refusals } = flow;
  const pace = new IntakePace(() => journal.writtenBytes);
  const live = new Live(startedAtMs);
  const relay = flow.bus && new LiveRelay(live, flow.bus, clock);
  flow.whenGone(({ appId, clientId }) => live.forget(appId, clientId));
  const failedSignIns = new FailedSignIns({ pool, clock, log });
  const identityProvider = config.oidc && new IdentityProvider(config.oidc);
  const { reportDatabaseUrl: replicaUrl } = config;
  const replica = replicaUrl === "" ? undefined : new Replica({ url: replicaUrl, primary: pool, log });
  showReplica(metrics, replica);
  replica?.start();
  const cold = openColdReader(config);
  const reading = { pools: reportPools, replica, cold, isBusy: () => pace.isBusy() };
  let isStopping = false;
  const server = await createServer({
    config,
    log,
    clock,
    vault,
    userTokenKey,
    apps,
    pool,
    reads: new ReportReads({ ...reading, freezesDays: config.eventHotDays > 0 }),
    replica,
    known,
    intake,
    progress,
    metrics,
    bodies,
    largeBodies,
    judgeThreads,
    budgets,
    refusals,
    live,
    recentCalls: async (appId, bytesMax) => relay?.recent(appId, bytesMax) ?? live.recent(appId, bytesMax),
    costs,
    lake: lake?.asker,
    backups: { state: () => backups.state, overdueMs: () => backups.overdueMs },
    caller: new CallerAddress(config.trustedProxies),
    applies: config.roles.has("apply") || flow.isShared,
    applyLagMs: () => flow.applyLagMs(),
    applyObstacle: () => flow.applyObstacle(),
    lakeObstacle: () => lake?.obstacle(),
    missing,
    journalPromise: () => flow.journalPromise,
    isStopping: () => isStopping,
    vitals: { startedAtMs, waitingEntries: () => flow.waitingEntries() },
    seenSessions: new SeenSessions(),
    failedSignIns,
    adminTokens: new AdminTokens({ pool, vault }),
    identityProvider,
  });
  const address = await listen(server, config);
  const stop = async () => {
    isStopping = true;
    costs.abort();
    relay?.close();
    live.close();
    await close(server);
    await replica?.stop();
    await failedSignIns.written();
    identityProvider?.close();
    cold.close();
  };
  return { address, stop };
}
