import { afterAll, beforeAll } from "vitest";
import type { AppleStandIn } from "../../sim/platforms/apple.ts";
import type { BaiduStandIn } from "../../sim/platforms/baidu.ts";
import type { CostRow } from "../../sim/platforms/costs.ts";
import type { DouyinStandIn } from "../../sim/platforms/douyin.ts";
import type { KuaishouStandIn } from "../../sim/platforms/kuaishou.ts";
import type { OceanEngineStandIn } from "../../sim/platforms/ocean-engine.ts";
import type { TencentStandIn } from "../../sim/platforms/tencent.ts";
import type { WechatStandIn } from "../../sim/platforms/wechat.ts";
import type { AccountPull, PullPlan } from "../../src/cost/account-pull.ts";
import { CostPuller, type PullerOptions } from "../../src/cost/puller.ts";
import type { App } from "../../src/db/app.ts";
import { loadAccount, type PlatformAccount, storeAccount } from "../../src/db/platform-account.ts";
import { log, makeApp, migratedDatabase, type TempDatabase, vault } from "../db/temp-database.ts";
import { PATIENCE_MS } from "../support/patience.ts";

/** Noon on 15 November 2026 in Shanghai. */
export const NOON_MS = Date.UTC(2026, 10, 15, 4);
export const TODAY = "2026-11-15";
export const YESTERDAY = "2026-11-14";

/** An account number beyond a double's precision. */
export const ACCOUNT = "9007199254740993001";

/** The cost of an ad on a day, with ids beyond 2^53 that differ only in digits that a double lacks. */
export function spent(day: string, ad: number, cents: number, change: Partial<CostRow> = {}): CostRow {
  const planId = `710000000000000000${1 + (ad % 2)}`;
  const adId = `720000000000000000${ad}`;
  return {
    day,
    account: ACCOUNT,
    planId,
    planName: `Plan ${planId}`,
    adId,
    adName: `Ad ${adId}`,
    impressions: cents * 10,
    clicks: cents,
    cents,
    ...change,
  };
}

type Access = { adPlatform: string; settings: Record<string, string>; secrets: Record<string, string> };

const tokensOf = ({ tokens }: { tokens: { accessToken: string; refreshToken: string } }) => ({
  access_token: tokens.accessToken,
  refresh_token: tokens.refreshToken,
});

/** The settings with which an account reaches each stand-in. */
export const ACCESS = {
  tencent: (sim: TencentStandIn): Access => ({
    adPlatform: "tencent",
    settings: { base_url: sim.url, client_id: sim.clientId },
    secrets: { ...tokensOf(sim), client_secret: sim.clientSecret },
  }),
  kuaishou: (sim: KuaishouStandIn): Access => ({
    adPlatform: "kuaishou",
    settings: { base_url: `${sim.url}/rest/openapi`, app_id: sim.appId },
    secrets: { ...tokensOf(sim), app_secret: sim.secret },
  }),
  bytedance: (sim: OceanEngineStandIn): Access => ({
    adPlatform: "bytedance",
    settings: { base_url: `${sim.url}/open_api`, oauth_url: `${sim.url}/open_api/oauth2`, app_id: sim.appId },
    secrets: { ...tokensOf(sim), app_secret: sim.secret },
  }),
  baidu: (sim: BaiduStandIn): Access => ({
    adPlatform: "baidu",
    settings: { base_url: sim.url, oauth_url: `${sim.url}/oauth`, app_id: sim.appId, user_name: sim.userName },
    secrets: { ...tokensOf(sim), app_secret: sim.secretKey },
  }),
  asa: (sim: AppleStandIn): Access => ({
    adPlatform: "asa",
    settings: {
      base_url: `${sim.url}/v1`,
      token_url: `${sim.url}/auth/oauth2/token`,
      client_id: sim.clientId,
      team_id: sim.teamId,
      key_id: sim.keyId,
    },
    // There is no token at first: it is requested with the key.
    secrets: { private_key: sim.privateKeyPem },
  }),
  wechat: (sim: WechatStandIn): Access => ({
    adPlatform: "wechat",
    settings: { base_url: sim.url },
    // There is no token at first: it is requested with the secret.
    secrets: { app_secret: sim.secret },
  }),
  douyin: (sim: DouyinStandIn): Access => ({
    adPlatform: "douyin",
    settings: { base_url: sim.url },
    secrets: { app_secret: sim.secret },
  }),
};

/** A database of its own, an app, and time that the test controls. */
export class CostStage {
  nowMs = NOON_MS;
  #database: TempDatabase | undefined;

  constructor() {
    beforeAll(async () => {
      this.#database = await migratedDatabase();
    });
    afterAll(() => this.#database!.drop());
  }

  get pool() {
    return this.#database!.pool;
  }

  get databaseName(): string {
    return this.#database!.name;
  }

  readonly clock = () => this.nowMs;

  app(): Promise<App> {
    return makeApp(this.pool);
  }

  async account(app: App, access: Access, change: Partial<PlatformAccount> = {}): Promise<PlatformAccount> {
    const account: PlatformAccount = {
      appId: app.appId,
      advertiserId: ACCOUNT,
      postbacks: false,
      costs: true,
      ratePerS: 10,
      tokenExpiresAtMs: null,
      refreshExpiresAtMs: null,
      authorisationId: null,
      lastError: "",
      lastErrorAtMs: null,
      ...access,
      ...change,
    };
    await storeAccount(this.pool, vault, account, this.nowMs);
    return account;
  }

  stored({ appId, adPlatform, advertiserId }: PlatformAccount): Promise<PlatformAccount> {
    return loadAccount(this.pool, vault, { appId, adPlatform, advertiserId }) as Promise<PlatformAccount>;
  }

  /** A puller of two accounts at once: a test's pool has four connections. */
  puller(change: Partial<PullerOptions> = {}): CostPuller {
    const { pool, clock } = this;
    return new CostPuller({
      pool,
      vault,
      log,
      clock,
      mayCallPrivate: true,
      accountsAtOnce: 2,
      deadlineMs: PATIENCE_MS,
      waitsMs: [5, 5, 5],
      reportWaitsMs: [1, 1, 1, 1],
      ...change,
    });
  }

  async pull(
    account: PlatformAccount,
    plan: Exclude<PullPlan, { kind: "due" }>,
    change: Partial<PullerOptions> = {},
  ): Promise<AccountPull> {
    const puller = this.puller(change);
    const [pulled] = await puller.pull([account], plan);
    await puller.stop();
    return pulled!;
  }

  /** Pulls exactly what is due by the schedule. */
  async turn(): Promise<void> {
    const puller = this.puller();
    await puller.turn();
    await puller.settled();
    await puller.stop();
  }

  async costs({ appId }: { appId: number }): Promise<string[]> {
    const { rows } = await this.pool.query(
      `select concat_ws(' ', day, ad_platform, gid, aid, impressions, clicks, cost_e4) as row from cost
        where app_id = $1 order by 1`,
      [appId],
    );
    return rows.map(({ row }) => row);
  }

  async names(level: "plan" | "ad"): Promise<string[]> {
    const { rows } = await this.pool.query(
      `select distinct concat_ws(' | ', ad_platform, name, status) as row from ad_object where level = $1 order by 1`,
      [level],
    );
    return rows.map(({ row }) => row);
  }

  async pulls({ appId }: { appId: number }): Promise<object[]> {
    const { rows } = await this.pool.query(
      "select day, rows, cost_e4 as cost, pulled_at_ms as at from cost_pull where app_id = $1 order by day desc",
      [appId],
    );
    return rows;
  }
}
