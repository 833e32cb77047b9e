import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { startTokenResolver } from "./asa/resolver-loop.ts";
import { type Clock, systemClock } from "./clock.ts";
import type { Config } from "./config.ts";
import { startCosts } from "./cost/cost-loop.ts";
import { lockDataDir } from "./data-lock.ts";
import { ApplyLock } from "./db/apply-lock.ts";
import { type Database, openDatabase } from "./db/engine/database.ts";
import { openKeys } from "./installation.ts";
import { AppDirectory } from "./intake/app-directory.ts";
import { Flow } from "./intake/flow.ts";
import { readOrMakeId } from "./journal/journal.ts";
import type { Log } from "./log.ts";
import { startPostbacks } from "./postback/postback-loop.ts";
import { startRefresh } from "./refresh/refresh-loop.ts";
import { serveHttp } from "./serve-http.ts";
import type { Vault } from "./vault.ts";

export type Running = { address: string; database: Database; vault: Vault; stop(): Promise<void> };

/** Creates and starts everything. What starts last stops first, which is the order in which data flows. */
export async function serve(config: Config, log: Log, clock: Clock = systemClock): Promise<Running> {
  const startedAtMs = clock();
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const end of stops.splice(0).reverse()) await end();
  };
  try {
    // Other users (such as the embedded database's) may pass through the folder; only we may read it.
    mkdirSync(config.dataDir, { recursive: true, mode: 0o711 });
    const folder = lockDataDir(config.dataDir);
    stops.push(async () => folder.release());
    const lock = await applyLockFor(config, { log, clock });
    stops.push(async () => lock?.release());
    const database = await openDatabase(config, { log, clock, beforeMigrate: (connection) => lock?.take(connection) });
    stops.push(() => database.stop());
    const { pool } = database;
    const { vault, userTokenKey, erasureKey } = await openKeys(pool, config, "first");
    const apps = new AppDirectory({ pool, vault, log });
    await apps.start();
    stops.push(() => apps.stop());
    const flow = await Flow.open({ config, log, clock, database, lock, erasureKey });
    // Registered before the start, because a start that fails halfway has begun some of it.
    stops.push(() => flow.stop());
    await flow.start();

    for (const loop of startLoops({ config, log, clock, database, vault, flow })) stops.push(() => loop.stop());
    const costs = startCosts({ config, log, clock, database, vault });
    stops.push(() => costs.stop());

    const http = await serveHttp({
      config,
      log,
      clock,
      database,
      vault,
      userTokenKey,
      apps,
      flow,
      costs: costs.puller,
      startedAtMs,
    });
    stops.push(() => http.stop());
    folder.publish(http.address);
    return { address: http.address, database, vault, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The apply lock, for a process that fills or empties a journal. Other processes may share the database. */
async function applyLockFor({ roles, dataDir }: Config, { log, clock }: { log: Log; clock: Clock }) {
  if (!roles.has("http") && !roles.has("apply")) return undefined;
  return new ApplyLock({ journalId: await readOrMakeId(join(dataDir, "journal")), log, clock });
}

type Parts = { config: Config; log: Log; clock: Clock; database: Database; vault: Vault; flow: Flow };

/** Starts the background loops of this process's roles. */
function startLoops({ config, log, clock, database, vault, flow }: Parts) {
  const { roles, appleAttributionUrl: url } = config;
  const { pool } = database;
  const { intake, journal } = flow;
  return [
    ...(roles.has("http") ? [startTokenResolver({ pool, log, clock, url, intake })] : []),
    ...(roles.has("refresh") ? [startRefresh({ pool, log, durable: () => journal.durable })] : []),
    ...(roles.has("postback") ? [startPostbacks({ config, log, clock, database, vault })] : []),
  ];
}
