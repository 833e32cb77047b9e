import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { adminToken } from "../../src/admin/session/admin-token.ts";
import { settle } from "../../src/cli/operation/settle-command.ts";
import { ReportClient } from "../../src/client/report-client.ts";
import { systemClock } from "../../src/clock.ts";
import { insertApp } from "../../src/db/app.ts";
import { embeddedConnection } from "../../src/db/engine/embedded-role.ts";
import { storeAccount } from "../../src/db/platform-account.ts";
import { calendarOf } from "../../src/domain/calendar.ts";
import { lakeFolderOf } from "../../src/lake/lake-folder.ts";
import { openVault } from "../../src/vault.ts";
import { makeCatalogue } from "../market/ads.ts";
import { type Counterparts, startCounterparts } from "../market/counterparts.ts";
import { type DataFolder, temporaryFolder } from "../market/data-folder.ts";
import { LiveMarket } from "../market/live.ts";
import { Operator } from "../market/operator.ts";
import { COMPLETE_RATES } from "../market/options.ts";
import { Random } from "../market/random.ts";
import type { Truth } from "../market/truth.ts";
import { DatabaseLine } from "./database-line.ts";
import { ExternalDatabase } from "./external-database.ts";
import { JournalBook } from "./journal-book.ts";
import { zoneAtNoon } from "./noon.ts";
import { stopPostmaster } from "./postmaster.ts";
import { quietPort } from "./quiet-port.ts";
import { ServerChild } from "./server-child.ts";
import { canMount, SmallDisk } from "./small-disk.ts";
import { allowDatabases } from "./superuser.ts";
import { until, WAIT_MS_MAX } from "./until.ts";

/**
 * embedded: with the server's own PostgreSQL. external: with one behind a proxy that can be cut, and the journal on a small
 * disk. given: with an empty database of somebody else's, such as one of a cluster, which is left as it is.
 */
export type SiteKind = "embedded" | "external" | "given";

export type SiteOptions = {
  kind: SiteKind;
  seed: number;
  peoplePerS: number;
  /** Of the database that is given. */
  databaseUrl?: string | undefined;
  /** Called with host and port, it kills PostgreSQL on that machine of the given cluster, and starts it again. */
  crashCommand?: string | undefined;
};

const [WORKER, OTHER_WORKER] = ["worker", "other-worker"];
const PATIENCE_MS = 300_000;
const CONNECTIONS = 96;
const DISK_MEBIBYTES = 96;
/** The free space on the small disk below which new data is refused. */
export const DISK_FREE_BYTES_MIN = 16 * 1024 * 1024;
export const REQUEST_TIMEOUT_S = 3;
/** Enough for the crowd of faults/clients.ts and the market's own connections. */
export const CONNECTIONS_MAX = 10_300;
export const POSTBACK_DEADLINE_S = 2;
/** The lease of asa/resolver.ts; a call without an answer by then will never get one. */
const APPLE_LEASE_MS = 60_000;
const APPLE_ANSWERS_MS = 4_000;
/** The time for which a dead sender's postbacks are not taken over: the lease of postback/worker.ts. */
export const LEASE_MS = 6 * POSTBACK_DEADLINE_S * 1000;

/**
 * A server under the simulator's load, in two processes as on two machines: one takes in and applies, the other refreshes
 * the reports, sends postbacks and writes the lake. Platforms, database and disk are under our control.
 */
export class Site {
  readonly kind: SiteKind;
  readonly dataDir: string;
  readonly url: string;
  readonly timeZone: string;
  readonly journal: JournalBook;
  readonly #folder: DataFolder;
  readonly #port: number;
  /** How far the server's clock is ahead of the true time. */
  readonly #clock: { aheadMs: number };
  readonly database: ExternalDatabase | undefined;
  readonly line: DatabaseLine | undefined;
  readonly #givenUrl: string | undefined;
  readonly crashCommand: string | undefined;
  readonly disk: SmallDisk | undefined;
  readonly counterparts: Counterparts;
  /** Spans during which registrations were judged by a wrong clock. */
  readonly offClock: { fromMs: number; untilMs: number; aheadMs: number }[] = [];
  /** People whose attribution has been checked. */
  readonly seen = new Set<string>();
  /** Problems reported before, so that each is reported once. */
  readonly told = new Set<string>();
  /** The counts up to the last round. */
  sums = { destroyed: 0, givenUp: 0, lost: 0, doubled: 0 };
  server!: ServerChild;
  worker!: ServerChild;
  #other: ServerChild | undefined;
  operator!: Operator;
  reports!: ReportClient;
  live!: LiveMarket;
  pool!: pg.Pool;

  private constructor(parts: {
    kind: SiteKind;
    folder: DataFolder;
    port: number;
    database: ExternalDatabase | undefined;
    line: DatabaseLine | undefined;
    givenUrl: string | undefined;
    crashCommand: string | undefined;
    disk: SmallDisk | undefined;
    counterparts: Counterparts;
    clock: { aheadMs: number };
  }) {
    this.kind = parts.kind;
    this.#folder = parts.folder;
    this.#port = parts.port;
    this.database = parts.database;
    this.line = parts.line;
    this.#givenUrl = parts.givenUrl;
    this.crashCommand = parts.crashCommand;
    this.disk = parts.disk;
    this.counterparts = parts.counterparts;
    this.#clock = parts.clock;
    this.dataDir = parts.folder.dataDir;
    this.url = `http://127.0.0.1:${parts.port}`;
    this.timeZone = zoneAtNoon(systemClock());
    this.journal = new JournalBook(join(this.dataDir, "journal"));
  }

  static async open(options: SiteOptions): Promise<Site> {
    const { kind, seed, databaseUrl: givenUrl, crashCommand } = options;
    const folder = temporaryFolder();
    mkdirSync(folder.dataDir, { mode: 0o711 });
    const database = kind === "external" ? await ExternalDatabase.create() : undefined;
    const line = database && (await DatabaseLine.open(database.port));
    const isOnSmallDisk = kind === "external" && canMount();
    const disk = isOnSmallDisk ? SmallDisk.mount(join(folder.dataDir, "journal"), DISK_MEBIBYTES) : undefined;
    // Platforms use the server's clock, so that they do not refuse its times.
    const clock = { aheadMs: 0 };
    const counterparts = await startCounterparts(() => systemClock() + clock.aheadMs);
    const port = await quietPort(new Random(seed, "port", kind, process.pid));
    const site = new Site({ kind, folder, port, database, line, givenUrl, crashCommand, disk, counterparts, clock });
    try {
      await site.#settle(options);
      return site;
    } catch (error) {
      await site.remove();
      throw error;
    }
  }

  get truth(): Truth {
    return this.live.truth;
  }

  /** The time by the server's clock. */
  nowMs(): number {
    return systemClock() + this.#clock.aheadMs;
  }

  async setClock(aheadMs: number): Promise<void> {
    await this.live.pause();
    await this.server.setClock(aheadMs);
    await this.worker.setClock(aheadMs);
    const fromMs = systemClock();
    const last = this.offClock.at(-1);
    if (last) last.untilMs = Math.min(last.untilMs, fromMs);
    if (aheadMs !== 0) this.offClock.push({ fromMs, untilMs: Number.POSITIVE_INFINITY, aheadMs });
    this.#clock.aheadMs = aheadMs;
    this.live.resume();
  }

  /** Restarts the server on the port that the clients use. */
  async startServer(how: { env?: Record<string, string>; before?: string } = {}): Promise<void> {
    const { env = {}, before = "true" } = how;
    this.server = await ServerChild.start({
      env: { ...this.serverEnv(), ...env },
      aheadMs: this.#clock.aheadMs,
      before,
    });
  }

  serverEnv(): Record<string, string> {
    return {
      PORT: String(this.#port),
      HOST: "127.0.0.1",
      DATA_DIR: this.dataDir,
      LOG_LEVEL: "warn",
      ROLES: "http,apply",
      DATABASE_URL: this.#databaseUrl() ?? "",
      // All people of the market call from this machine, each through a proxy that names their address.
      TRUSTED_PROXIES: "127.0.0.1",
      APPLE_ATTRIBUTION_URL: this.counterparts.appleUrl,
      // The whole journal is kept, so that all of it can be replayed.
      JOURNAL_KEEP_DAYS: "36500",
      REQUEST_TIMEOUT_S: String(REQUEST_TIMEOUT_S),
      CONNECTIONS_MAX: String(CONNECTIONS_MAX),
      INTAKE_THREADS: "2",
      DISK_FREE_BYTES_MIN: String(this.disk ? DISK_FREE_BYTES_MIN : 0),
    };
  }

  async startWorker(): Promise<void> {
    this.worker = await this.#workerNamed(WORKER);
  }

  /** Starts a second worker with the same roles. */
  async startOther(): Promise<void> {
    this.#other = await this.#workerNamed(OTHER_WORKER);
  }

  async stopOther(): Promise<void> {
    await this.#other?.stop();
    this.#other = undefined;
  }

  /** Where the workers keep the files of the lake. One of them writes at a time. */
  get lakeFolders(): string[] {
    return [WORKER, OTHER_WORKER].map((name) => lakeFolderOf({ dataDir: this.#folderOf(name) }));
  }

  #folderOf(worker: string): string {
    return join(this.dataDir, "..", worker);
  }

  /** Starts a worker that sends postbacks, refreshes reports and writes the lake, with its own folder. */
  #workerNamed(name: string): Promise<ServerChild> {
    const dataDir = this.#folderOf(name);
    mkdirSync(dataDir, { recursive: true, mode: 0o711 });
    copyFileSync(join(this.dataDir, "secret.key"), join(dataDir, "secret.key"));
    const env = {
      PORT: "0",
      HOST: "127.0.0.1",
      DATA_DIR: dataDir,
      LOG_LEVEL: "warn",
      ROLES: "refresh,postback,cost,lake",
      DATABASE_URL: this.#databaseUrl() ?? socketUrl(this.dataDir),
      DISK_FREE_BYTES_MIN: "0",
      POSTBACK_DEADLINE_S: String(POSTBACK_DEADLINE_S),
      POSTBACK_RETRY_S: "1,1,2,2,3,3,5,5",
      // The stand-ins for the ad platforms are on this machine.
      PLATFORM_PRIVATE_NETWORKS: "allow",
    };
    return ServerChild.start({ env, aheadMs: this.#clock.aheadMs });
  }

  /** How the processes reach a database that is not the server's own. */
  #databaseUrl(): string | undefined {
    return this.database?.urlBy(this.line!.port) ?? this.#givenUrl;
  }

  /** Opens a direct connection to the database, apart from the server's. */
  openPool(name?: string): pg.Pool {
    const url = new URL(this.database?.url ?? this.#givenUrl ?? socketUrl(this.dataDir));
    if (name !== undefined) url.pathname = name;
    const pool = new pg.Pool({ connectionString: url.href, max: 4, application_name: "chaos" });
    // The database also dies under this pool.
    pool.on("error", () => {});
    return pool;
  }

  /** How far the journal is durable and applied, according to the server. */
  async progress(): Promise<{ durable: number; applied: number }> {
    const answer = (await (await fetch(`${this.url}/progress`)).json()) as {
      data: { durable: number; applied: number };
    };
    return answer.data;
  }

  /** The server's figures from /metrics. */
  figures(): Promise<Map<string, number>> {
    return figuresOf(this.url);
  }

  /** Waits until this many more events have been acknowledged. */
  async flows(events: number): Promise<void> {
    const wanted = this.truth.counts.events + events;
    await until(`${events} more events are acknowledged`, () => this.truth.counts.events >= wanted);
  }

  /** Waits, after the last call, until everything has arrived in tables, reports and at platforms. */
  async drain(): Promise<void> {
    await this.live.pause();
    await settle(this.url, WAIT_MS_MAX);
    // A token whose resolver has died is tried again only when its lease ends.
    await until("Apple has answered about every token", () => {
      const askedLatelyMs = this.nowMs() + APPLE_LEASE_MS - APPLE_ANSWERS_MS;
      return this.isEmpty(`asa_token where outcome = '' and (attempts = 0 or due_at_ms > ${askedLatelyMs})`);
    });
    await until("every platform has been told", () => this.isEmpty("outbox where true"));
    await settle(this.url, WAIT_MS_MAX);
  }

  /** Whether the market's own app has no rows in this set. */
  async isEmpty(rows: string): Promise<boolean> {
    const { appId } = this.operator.app;
    return (await this.pool.query(`select 1 from ${rows} and app_id = ${appId} limit 1`)).rows.length === 0;
  }

  async remove(): Promise<void> {
    await this.live?.abandon();
    await this.journal.close();
    await this.stopOther();
    await this.worker?.stop();
    await this.server?.stop();
    await this.pool?.end();
    await stopPostmaster(this.dataDir);
    await this.counterparts.close();
    await this.line?.close();
    await this.database?.remove();
    this.disk?.unmount();
    this.#folder.remove();
  }

  async #settle({ seed, peoplePerS }: SiteOptions): Promise<void> {
    await this.startServer();
    // The replay creates a database beside the server's own.
    if (this.kind === "embedded") await allowDatabases(this.dataDir);
    this.pool = this.openPool();
    const { timeZone, pool, url, dataDir } = this;
    const vault = openVault({ dataDir, secretKey: "" });
    const made = { name: "Market", timeZone, metadataMode: "open", createdAtMs: systemClock() } as const;
    const app = await insertApp(pool, vault, made);
    this.operator = new Operator({ url, dataDir }, { app, adminToken: adminToken(vault) });
    const catalogue = makeCatalogue(seed);
    await this.operator.settle(catalogue, { flagged_may_win: "on" });
    for (const account of this.counterparts.accounts(app.appId))
      await storeAccount(pool, vault, account, systemClock());
    const day = calendarOf(timeZone).dayOf(systemClock());
    await this.operator.importCosts(
      catalogue.ads.map((ad, index) => ({
        day,
        ad_platform: ad.platform,
        advertiser_id: ad.advertiserId,
        gid: ad.gid,
        aid: ad.aid,
        creative: "",
        csite: "",
        channel: ad.channel,
        os_platform: "",
        turbo_promoted_object_id: ad.campaignId,
        impressions: 1_000 + index,
        clicks: 50 + index,
        costE4: 1_000_000 + index,
      })),
    );
    this.reports = new ReportClient({ baseUrl: url, appKey: await this.operator.developerKey() });
    await this.startWorker();
    const { callbackUrl } = this.counterparts;
    this.live = new LiveMarket({
      url: this.url,
      app: this.operator.app,
      seed,
      peoplePerS,
      callbackUrl,
      timeZone,
      connections: CONNECTIONS,
      patienceMs: PATIENCE_MS,
      serverClock: () => this.nowMs(),
      // Nothing is lost, hidden or forged on the way, so that every error is the server's fault. A click of long ago would
      // take days to become one.
      rates: { ...COMPLETE_RATES, clickedLongAgo: 0 },
    });
  }
}

export async function figuresOf(url: string): Promise<Map<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return new Map([...text.matchAll(/^(\w+) (\S+)$/gm)].map(([, name, value]) => [name!, Number(value)]));
}

/** The address of the embedded database, for a process with another folder. */
function socketUrl(dataDir: string): string {
  const connection = embeddedConnection(dataDir);
  if (connection?.kind !== "local") throw new Error(`${dataDir} has no database of its own.`);
  const { user, password, host, port, database } = connection;
  return `postgres://${user}:${password}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
}
