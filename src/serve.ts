import { mkdirSync } from "node:fs";
import { startTokenResolver } from "./asa/resolver-loop.ts";
import { startBackups } from "./backup/backup-metrics.ts";
import { type Clock, systemClock } from "./clock.ts";
import { startPresence } from "./cluster/presence.ts";
import type { Config } from "./config.ts";
import { startCosts } from "./cost/cost-loop.ts";
import { lockDataDir } from "./data-lock.ts";
import { type Database, prepareDatabase } from "./db/engine/database.ts";
import { type ApplyHold, ApplyLock } from "./db/lock/apply-lock.ts";
import { SharedApplyLock, type SharedApplyLockOptions } from "./db/lock/shared-apply-lock.ts";
import { collectOften } from "./garbage.ts";
import { AppDirectory } from "./intake/app-directory.ts";
import { Flow } from "./intake/flow.ts";
import { findJournal } from "./intake/open-journal.ts";
import { SettingsCopy } from "./intake/settings-copy.ts";
import { type RunningPush, startPush } from "./lake/bucket/push-loop.ts";
import { bucketOwnerOf } from "./lake/bucket/pusher.ts";
import { type RunningLake, startLake } from "./lake/lake-loop.ts";
import type { Log } from "./log.ts";
import { Opening } from "./opening.ts";
import { startPostbacks } from "./postback/postback-loop.ts";
import { startRefresh } from "./refresh/refresh-loop.ts";
import { serveHttp } from "./serve-http.ts";
import { Stages } from "./stages.ts";
import type { Vault } from "./vault.ts";

export type Running = {
  address: string;
  database: Database;
  vault: Vault;
  /** Why the database is not open yet, or undefined once it is. */
  missing: () => string | undefined;
  stop(): Promise<void>;
};

/** The time of each stage of a stop, seven seconds in all: container systems kill after ten. */
const STOP_MS = { requests: 3_800, small: 150, flow: 1_500, database: 1_200 } as const;

/** Creates and starts everything. What starts last stops first, which is the order in which data flows. */
export async function serve(config: Config, log: Log, clock: Clock = systemClock): Promise<Running> {
  const startedAtMs = clock();
  const stages = new Stages(log);
  try {
    // Other users (such as the embedded database's) may pass through the folder; only we may read it.
    mkdirSync(config.dataDir, { recursive: true, mode: 0o711 });
    const folder = await lockDataDir(config.dataDir, { log });
    stages.add(STOP_MS.small, { name: "folder", stop: () => folder.release() });
    const { id: journalId, partitions, nodeId } = await findJournal(config);
    let isCutOff = () => false;
    const lock = applyLockFor(config, { journalId, partitions, nodeId, log, clock, isCutOff: () => isCutOff() });
    const database = prepareDatabase(config, { log });
    stages.add(STOP_MS.database, { name: "database", stop: (ms) => database.stop(ms) });
    stages.add(STOP_MS.small, { name: "apply lock", stop: () => lock?.release() });
    const opening = new Opening({ config, database, lock, journalId, log, clock });
    stages.add(STOP_MS.small, { name: "opening", stop: () => opening.stop() });
    const { vault, userTokenKey, erasureKey, applied, apps: known } = await opening.begin();

    const { pool, sessionPool } = database;
    const flow = await Flow.open({ config, log, clock, database, lock, nodeId, applied, isConfirmed: !known });
    isCutOff = () => flow.journal.trouble !== undefined;
    // Registered before the start, because a start that fails halfway has begun some of it.
    stages.add(STOP_MS.flow, { name: "flow", stop: (ms) => flow.stop(ms) });
    await flow.start();
    const copied = { dataDir: config.dataDir, vault, keys: { userTokenKey, erasureKey }, journalId, clock, log };
    const copy = new SettingsCopy({ ...copied, applied: () => flow.progress.applied });
    const apps = new AppDirectory({ pool, sessionPool, vault, log, onLoaded: (all) => void copy.store(all) });
    await apps.start(known);
    stages.add(STOP_MS.small, { name: "settings", stop: () => apps.stop().then(() => copy.stop()) });
    await opening.complete(async () => {
      await flow.attach(erasureKey);
      // If this fails, the directory tries again by itself.
      await apps.reload().catch(() => {});
    });

    const common = { config, log, clock, database, vault };
    const lake = lakeFor({ ...common, flow, nodeId }, bucketOwnerOf(erasureKey));
    const loops = startLoops({ ...common, flow, nodeId });
    const costs = startCosts(common);
    const backups = startBackups(flow.metrics, { config, database, log, clock, opening });
    const http = await serveHttp({
      ...common,
      userTokenKey,
      apps,
      flow,
      costs: costs.puller,
      backups,
      lake,
      startedAtMs,
      missing: () => opening.missing(),
    });
    stages.add(
      STOP_MS.requests,
      { name: "requests", stop: () => http.stop() },
      { name: "costs", stop: () => costs.stop() },
      { name: "backups", stop: () => backups.stop() },
      { name: "lake", stop: () => lake?.stop() },
      ...loops.map(({ name, loop }) => ({ name, stop: () => loop.stop() })),
    );
    const trouble = () => flow.applyTrouble ?? "";
    const presence = startPresence(pool, { log, nodeId, address: http.address, roles: [...config.roles], trouble });
    stages.add(STOP_MS.small, { name: "presence", stop: () => presence.stop() });
    folder.publish(http.address);
    collectOften();
    return { address: http.address, database, vault, missing: () => opening.missing(), stop: () => stages.stop() };
  } catch (error) {
    await stages.stop();
    throw error;
  }
}

type LockOptions = Omit<SharedApplyLockOptions, "applies">;

/** The right to apply, for a process that fills or empties a journal. Other processes may share the database. */
function applyLockFor({ roles, jetstream }: Config, options: LockOptions): ApplyHold | undefined {
  if (!roles.has("http") && !roles.has("apply")) return undefined;
  return jetstream ? new SharedApplyLock({ ...options, applies: roles.has("apply") }) : new ApplyLock(options);
}

/** Undefined for a process without the role. */
function lakeFor(
  { config, log, clock, database, flow: { journal }, nodeId }: Parts,
  owner: string,
): Pick<RunningLake, "asker" | "obstacle" | "stop"> | undefined {
  if (!config.roles.has("lake")) return undefined;
  const common = { config, log, clock, database, writtenBytes: () => journal.writtenBytes };
  const lake: RunningLake = startLake({ ...common, journal, nodeId });
  const push: RunningPush = startPush({ ...common, owner, isWriting: lake.isWriting });
  return {
    asker: lake.asker,
    obstacle: () => lake.obstacle() ?? push.obstacle(),
    stop: async () => void (await Promise.all([push.stop(), lake.stop()])),
  };
}

type Parts = { config: Config; log: Log; clock: Clock; database: Database; vault: Vault; flow: Flow; nodeId: string };

/** Starts the background loops of this process's roles. While the database is not open, their turns fail. */
function startLoops({ config, log, clock, database, vault, flow, nodeId }: Parts) {
  const { roles, appleAttributionUrl: url } = config;
  const { pool } = database;
  const { intake, journal } = flow;
  const progress = { writtenBytes: () => journal.writtenBytes, backlogBytes: () => intake.backlogBytes };
  return [
    ...(roles.has("http") ? [{ name: "asa", loop: startTokenResolver({ pool, log, clock, url, intake }) }] : []),
    ...(roles.has("refresh") ? [{ name: "refresh", loop: startRefresh({ pool, log, ...progress }) }] : []),
    ...(roles.has("postback")
      ? [{ name: "postbacks", loop: startPostbacks({ config, log, clock, database, vault, nodeId }) }]
      : []),
  ];
}
