import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import type pg from "pg";
import { type ResolverDeps, resolveTokens } from "./asa/resolver.ts";
import { type Clock, elapsedMs, systemClock } from "./clock.ts";
import type { Config } from "./config.ts";
import { CostPuller } from "./cost/puller.ts";
import { lockDataDir } from "./data-lock.ts";
import { ApplyLock } from "./db/apply-lock.ts";
import { type Database, openDatabase } from "./db/engine/database.ts";
import { openPool } from "./db/engine/pool.ts";
import { AdminTokens } from "./http/admin/admin-token.ts";
import { FailedSignIns } from "./http/admin/session/failed-sign-ins.ts";
import { SeenSessions } from "./http/admin/session/seen-sessions.ts";
import { CallerAddress } from "./http/caller-address.ts";
import { Live } from "./http/live/live.ts";
import { createServer } from "./http/server.ts";
import { openKeys } from "./installation.ts";
import { AppDirectory } from "./intake/app-directory.ts";
import { Flow } from "./intake/flow.ts";
import { IntakePace } from "./intake/pace.ts";
import { readOrMakeId } from "./journal/journal.ts";
import { LIMITS } from "./limits.ts";
import type { Log } from "./log.ts";
import { type Loop, startLoop } from "./loop.ts";
import { PostbackWorker } from "./postback/worker.ts";
import { refreshOnce } from "./refresh/refresh.ts";
import type { Vault } from "./vault.ts";

export type Running = { address: string; database: Database; vault: Vault; stop(): Promise<void> };

const LAST_REQUESTS_MS = 10_000;

/** Makes everything that lives. What is made last is stopped first, which is the order in which data flows. */
export async function serve(config: Config, log: Log, clock: Clock = systemClock): Promise<Running> {
  const startedAtMs = clock();
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const end of stops.splice(0).reverse()) await end();
  };
  try {
    // Others may pass through (the embedded database's own user), only we may read.
    mkdirSync(config.dataDir, { recursive: true, mode: 0o711 });
    const folder = lockDataDir(config.dataDir);
    stops.push(async () => folder.release());
    const lock = await applyLockFor(config, { log, clock });
    stops.push(async () => lock?.release());
    const database = await openDatabase(config, { log, clock, beforeMigrate: (connection) => lock?.take(connection) });
    stops.push(() => database.stop());
    const { vault, userTokenKey, erasureKey } = await openKeys(database.pool, config, "first");
    const apps = new AppDirectory({ pool: database.pool, vault, log });
    await apps.start();
    stops.push(() => apps.stop());
    const flow = await Flow.open({ config, log, clock, database, lock, erasureKey });
    // First: a start that fails halfway has begun some of it.
    stops.push(() => flow.stop());
    await flow.start();

    for (const loop of startLoops({ config, log, clock, database, vault, flow })) stops.push(() => loop.stop());
    const costs = startCosts({ config, log, clock, database, vault });
    stops.push(() => costs.stop());

    let isStopping = false;
    const { journal, known, intake, progress, metrics, depth } = flow;
    const { bodies, largeBodies, budgets, refusals } = flow;
    const pace = new IntakePace(() => journal.durable);
    const live = new Live(startedAtMs);
    const failedSignIns = new FailedSignIns({ pool: database.pool, clock, log });
    const server = await createServer({
      ...{ config, clock, log, vault, userTokenKey, apps, live, costs: costs.puller },
      ...{ known, intake, progress, metrics, bodies, largeBodies, budgets, refusals },
      pool: database.pool,
      reportPool: () => database.reportPools[pace.isBusy() ? "busy" : "quiet"],
      caller: new CallerAddress(config.trustedProxies),
      applies: config.roles.has("apply"),
      applyLagMs: () => flow.applyLagMs(),
      applyObstacle: () => flow.applyObstacle(),
      isStopping: () => isStopping,
      durable: () => journal.durable,
      seenSessions: new SeenSessions(),
      failedSignIns,
      adminTokens: new AdminTokens({ pool: database.pool, vault }),
      vitals: { startedAtMs, waitingEntries: () => depth.entries },
    });
    const address = await listen(server, config);
    stops.push(async () => {
      isStopping = true;
      costs.puller.abort();
      live.close();
      await close(server);
      await failedSignIns.written();
    });
    folder.publish(address);
    return { address, database, vault, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Only who fills a journal, or empties one, has to be alone with the database. */
async function applyLockFor({ roles, dataDir }: Config, deps: { log: Log; clock: Clock }) {
  if (!roles.has("http") && !roles.has("apply")) return undefined;
  return new ApplyLock({ journalId: await readOrMakeId(join(dataDir, "journal")), ...deps });
}

type LoopOptions = { config: Config; log: Log; clock: Clock; database: Database; vault: Vault; flow: Flow };

/** What goes on beside the requests, as far as it is this process's role. */
function startLoops({ flow, ...options }: LoopOptions): Loop[] {
  const { config, log, clock, database } = options;
  const { roles } = config;
  return [
    ...(roles.has("http") ? [resolveAsaTokens(flow, { config, log, clock, pool: database.pool })] : []),
    ...(roles.has("refresh") ? [refreshCube(log, database.pool, () => flow.journal.durable)] : []),
    ...(roles.has("postback") ? [startPostbacks(options)] : []),
  ];
}

const REFRESH_IDLE_MS = 500;
/** So long it counts at a stretch; then what is new comes first again. */
const REFRESH_TURN_MS = 1_000;
/** While little comes in, so many slices are counted at the same time. */
const REFRESH_AT_ONCE = 2;
/** After counting, so many times as long nothing is counted; while much comes in, the cores belong to collection. */
const REFRESH_RESTS = { quiet: 0.5, busy: 4 };

/** Brings the cube up to date with what apply has marked. */
function refreshCube(log: Log, pool: pg.Pool, durable: () => number): Loop {
  let restUntilMs = 0;
  const pace = new IntakePace(durable);
  const turn = async (signal: AbortSignal) => {
    const startedMs = elapsedMs();
    if (startedMs < restUntilMs) return "idle" as const;
    const isBusy = pace.isBusy();
    const counted = await refreshOnce(pool, { signal, forMs: REFRESH_TURN_MS, atOnce: isBusy ? 1 : REFRESH_AT_ONCE });
    if (counted === 0) return "idle" as const;
    const nowMs = elapsedMs();
    restUntilMs = nowMs + (nowMs - startedMs) * (isBusy ? REFRESH_RESTS.busy : REFRESH_RESTS.quiet);
    return "idle" as const;
  };
  return startLoop({ name: "refresh", log, idleMs: REFRESH_IDLE_MS, turn });
}

const ASA_IDLE_MS = 1_000;

/** Tokens of Apple's AdServices are resolved beside the flow; what comes of them goes through the journal. */
function resolveAsaTokens(flow: Flow, options: { config: Config; log: Log; clock: Clock; pool: pg.Pool }): Loop {
  const { config, log, clock, pool } = options;
  const accept: ResolverDeps["accept"] = async ({ appId, clientId, ...result }) => {
    await flow.intake.accept(
      { kind: "apple_attribution", app: appId, client: clientId, at: clock(), ip: "", ua: "", registered: "yes" },
      Buffer.from(JSON.stringify(result)),
    );
  };
  const deps = { pool, clock, url: config.appleAttributionUrl, accept };
  const turn = async () => ((await resolveTokens(deps)) > 0 ? ("busy" as const) : ("idle" as const));
  return startLoop({ name: "asa", log, idleMs: ASA_IDLE_MS, turn });
}

/** Of their own: what waits for a platform never takes a connection from an answer. */
const POSTBACK_CONNECTIONS = 4;

function startPostbacks(options: { config: Config; log: Log; clock: Clock; database: Database; vault: Vault }): Loop {
  const { config, log, clock, database, vault } = options;
  const pool = openPool(database.connection, { log, connectionsMax: POSTBACK_CONNECTIONS, name: "postback" });
  const worker = new PostbackWorker({
    ...{ pool, vault, log, clock, connectionsMax: LIMITS.postbacksInFlight },
    ...{ backOffMs: config.postbackRetryMs, deadlineMs: config.postbackDeadlineMs },
    mayCallPrivate: { platforms: config.platformPrivateNetworks, callbacks: config.callbackPrivateNetworks },
  });
  const posting = worker.start();
  return {
    async stop() {
      await posting.stop();
      await pool.end();
    },
  };
}

/** By schedule in the role for it; because somebody asks, wherever there is an address to ask at. */
function startCosts(options: { config: Config; log: Log; clock: Clock; database: Database; vault: Vault }) {
  const { config, log, clock, database, vault } = options;
  const pool = openPool(database.connection, { log, connectionsMax: 2 * LIMITS.costPullsAtOnce + 1, name: "cost" });
  const puller = new CostPuller({ pool, vault, log, clock, mayCallPrivate: config.platformPrivateNetworks });
  const loop = config.roles.has("cost") ? puller.start() : undefined;
  const stop = async () => {
    puller.abort();
    await loop?.stop();
    await puller.stop();
    await pool.end();
  };
  return { puller, stop };
}

/** Without the http role only this machine needs to ask how far things are. */
async function listen(server: FastifyInstance, config: Config): Promise<string> {
  const isOpen = config.roles.has("http");
  const address = await server.listen({ port: isOpen ? config.port : 0, host: isOpen ? config.host : "127.0.0.1" });
  return address.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}

/** What is being answered is answered; what takes longer than that is cut off. */
async function close(server: FastifyInstance): Promise<void> {
  const timer = setTimeout(() => server.server.closeAllConnections(), LAST_REQUESTS_MS);
  await server.close();
  clearTimeout(timer);
}
