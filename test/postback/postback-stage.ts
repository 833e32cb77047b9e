import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { type PlatformAccount, storeAccount } from "../../src/db/platform-account.ts";
import { LIMITS } from "../../src/limits.ts";
import { PostbackWorker, type WorkerOptions } from "../../src/postback/worker.ts";
import { ApplyStage, NOW_MS } from "../db/apply-stage.ts";
import { log, vault } from "../db/temp-database.ts";
import { PATIENCE_MS } from "../support/patience.ts";

export const BACK_OFF_MS = [60_000, 300_000, 900_000];

/** How long a worker of the stage keeps its claims, by the stage's clock: see the lease in postback/worker.ts. */
export const LEASE_MS = 6 * PATIENCE_MS;

/** Longer than every pause of a breaker, and than the interval at which settings are read again. */
const LONG_MS = 3_600_000;

/** Tables filled by apply, and workers that send by the test's own clock. */
export class PostbackStage {
  readonly stage: ApplyStage;
  nowMs = NOW_MS;
  /** The simulated time that has passed. */
  elapsedMs = 0;
  #workers: PostbackWorker[] = [];
  #pools: pg.Pool[] = [];

  private constructor(stage: ApplyStage) {
    this.stage = stage;
  }

  static async open(): Promise<PostbackStage> {
    return new PostbackStage(await ApplyStage.open());
  }

  readonly clock = (): number => this.nowMs;

  get pool(): pg.Pool {
    return this.stage.pool;
  }

  /** Clears everything from the test before. */
  async begin(): Promise<void> {
    await this.#finish();
    await this.stage.begin();
    await this.pool.query("truncate platform_account, callback, lane_pause");
    this.nowMs = NOW_MS;
  }

  async account(account: Partial<PlatformAccount> & Pick<PlatformAccount, "adPlatform">): Promise<void> {
    const { appId } = this.stage.app;
    const nothing = {
      settings: {},
      secrets: {},
      tokenExpiresAtMs: null,
      refreshExpiresAtMs: null,
      authorisationId: null,
      lastError: "",
      lastErrorAtMs: null,
    };
    const plain = { appId, advertiserId: "", postbacks: true, costs: false, ratePerS: 0, ...nothing };
    await storeAccount(this.pool, vault, { ...plain, ...account }, this.nowMs);
    this.elapsedMs += LONG_MS;
  }

  /** A user brought by an ad of the platform; the key ties conversions to that ad. */
  async bring(adPlatform: string, client: string, key = `cb-${client}`): Promise<void> {
    const at = NOW_MS - 60_000;
    const link = new URLSearchParams({ company: adPlatform, ts: String(at), oaid: `o-${client}`, callback: key });
    await this.stage.append("click", "", link.toString(), { at });
    await this.stage.register(client, { device_info: { os_name: "Android 14", oaid: `o-${client}` } });
  }

  /** An account at Ocean Engine, which recognises repeats. */
  async oceanEngine(url: string, change: Partial<PlatformAccount> = {}): Promise<void> {
    await this.account({ adPlatform: "bytedance", settings: { url: `${url}/api/v2/conversion` }, ...change });
  }

  /** An account at Kuaishou, which does not recognise repeats. */
  async kuaishou(url: string, change: Partial<PlatformAccount> = {}): Promise<void> {
    await this.account({ adPlatform: "kuaishou", settings: { url: `${url}/track/activate` }, ...change });
  }

  worker(change: Partial<WorkerOptions> = {}): PostbackWorker {
    const { pool, clock } = this;
    const worker = new PostbackWorker({
      pool,
      vault,
      log,
      clock,
      elapsed: () => this.elapsedMs,
      backOffMs: BACK_OFF_MS,
      mayCallPrivate: { platforms: true, callbacks: false },
      deadlineMs: PATIENCE_MS,
      connectionsMax: LIMITS.postbacksInFlight,
      ...change,
    });
    this.#workers.push(worker);
    return worker;
  }

  /** Stops waiting for a worker that has died. */
  forget(worker: PostbackWorker): void {
    this.#workers = this.#workers.filter((one) => one !== worker);
  }

  /** Another pool on the same database, as another process would have. */
  ownPool(pool: pg.Pool): pg.Pool {
    this.#pools.push(pool);
    return pool;
  }

  /** Sends what is due now, and waits for the outcomes. */
  async send(worker: PostbackWorker, signal = new AbortController().signal): Promise<void> {
    this.elapsedMs += LONG_MS;
    await worker.turn(signal);
    await worker.rest();
  }

  /** Sends until nothing is left: the clock is moved to whatever is due next. */
  async sendAll(worker: PostbackWorker): Promise<void> {
    for (let turns = 0; ; turns += 1) {
      if (turns > 200) throw new Error("The outbox does not get empty.");
      const { rows } = await this.pool.query("select min(due_at_ms) as due from outbox");
      if (rows[0].due === null) return;
      this.nowMs = Math.max(this.nowMs, rows[0].due);
      await this.send(worker);
    }
  }

  /** All postbacks in order: their subjects and outcomes. */
  async postbacks(columns = "event_type, subject, status, reason"): Promise<Record<string, unknown>[]> {
    const { rows } = await this.pool.query(
      `select ${columns} from postback order by client_id, event_type, subject, ad_platform`,
    );
    return rows;
  }

  async outbox(columns = "event_type, attempts, in_flight, due_at_ms"): Promise<Record<string, unknown>[]> {
    const { rows } = await this.pool.query(`select ${columns} from outbox order by client_id, event_type, subject`);
    return rows;
  }

  async orders(columns = "trace_id, postback_status, back_cents"): Promise<Record<string, unknown>[]> {
    return (await this.pool.query(`select ${columns} from orders order by trace_id`)).rows;
  }

  async close(): Promise<void> {
    await this.#finish();
    await this.stage.close();
  }

  async #finish(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.finish()));
    await Promise.all(this.#pools.map((pool) => pool.end()));
    [this.#workers, this.#pools] = [[], []];
  }
}

export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const untilMs = Date.now() + PATIENCE_MS; !(await isSo()); await sleep(5)) {
    if (Date.now() > untilMs) throw new Error("It never came to that.");
  }
}
