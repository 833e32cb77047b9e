import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startApple } from "../../sim/platforms/apple.ts";
import { startBaidu } from "../../sim/platforms/baidu.ts";
import type { CostOptions } from "../../sim/platforms/costs.ts";
import { startKuaishou } from "../../sim/platforms/kuaishou.ts";
import { startOceanEngine } from "../../sim/platforms/ocean-engine.ts";
import type { Failure, StandIn, StandInOptions } from "../../sim/platforms/stand-in.ts";
import { startTencent } from "../../sim/platforms/tencent.ts";
import type { Tokens } from "../../sim/platforms/tokens.ts";
import { type App, changeApp } from "../../src/db/app.ts";
import { ACCESS, ACCOUNT, CostStage, NOON_MS, spent, TODAY, YESTERDAY } from "./stage.ts";

const stage = new CostStage();

type Sim = StandIn & { tokens: Tokens };
type Platform = {
  name: keyof typeof ACCESS;
  start: (options: StandInOptions & CostOptions) => Promise<Sim>;
  /** Whether reports include plans. */
  plans: boolean;
  /** Cents of the platform's currency in ten-thousandths of the app's. */
  e4: number;
  statuses: { plan: string; ad: string; account: string };
  accountName: string;
};

const enabled = "ENABLED";
const PLATFORMS: Platform[] = [
  {
    name: "tencent",
    start: startTencent,
    plans: false,
    e4: 100,
    accountName: `Account ${ACCOUNT}`,
    statuses: { plan: "", ad: "ADGROUP_STATUS_ACTIVE", account: "CUSTOMER_STATUS_NORMAL" },
  },
  {
    name: "kuaishou",
    start: startKuaishou,
    plans: true,
    e4: 100,
    accountName: `Account ${ACCOUNT}`,
    statuses: { plan: "valid", ad: "valid", account: "" },
  },
  {
    name: "bytedance",
    start: startOceanEngine,
    plans: true,
    e4: 100,
    accountName: `Account ${ACCOUNT}`,
    statuses: { plan: "PROJECT_STATUS_ENABLE", ad: "OK", account: "STATUS_ENABLE" },
  },
  {
    name: "baidu",
    start: startBaidu,
    plans: true,
    e4: 100,
    accountName: "stand-in",
    statuses: { plan: "0", ad: "", account: "" },
  },
  {
    // In dollars, of which one is 7.25 of the app's currency.
    name: "asa",
    start: startApple,
    plans: true,
    e4: 725,
    accountName: `Account ${ACCOUNT}`,
    statuses: { plan: enabled, ad: enabled, account: "ACTIVE" },
  },
];

const ROWS = [
  ...[spent(TODAY, 1, 1234), spent(TODAY, 2, 50), spent(TODAY, 3, 7), spent(TODAY, 4, 1)],
  ...[spent(YESTERDAY, 1, 99), spent(YESTERDAY, 3, 100_000_001)],
];
const BOTH = { kind: "range", fromDay: YESTERDAY, toDay: TODAY } as const;

describe.each(PLATFORMS)("$name", ({ name, start, plans, e4, statuses, accountName }) => {
  let sim: Sim;
  let app: App;
  let rows: typeof ROWS;

  beforeEach(async () => {
    rows = structuredClone(ROWS);
    stage.nowMs = NOON_MS;
    sim = await start({ clock: stage.clock, costs: rows, pageRows: 1 });
    app = await stage.app();
    await changeApp(stage.pool, app.appId, { rates: { USD: "7.25" } });
  });
  afterEach(() => sim.close());

  const account = (change = {}) => stage.account(app, ACCESS[name](sim as never), change);

  /** The stand-in's data as it must be stored. */
  function expected(): string[] {
    const ads = rows.map(({ day, planId, adId, impressions, clicks, cents }) =>
      [day, name, plans ? planId : "", adId, impressions, clicks, cents * e4].join(" "),
    );
    return ads.sort();
  }

  test("days are pulled page by page, in the app's currency, with all digits of ids, names and statuses", async () => {
    const pulled = await stage.pull(await account(), BOTH);
    const sum = rows.reduce((total, { cents }) => total + cents * e4, 0);
    expect(pulled).toMatchObject({ days: 2, rows: expected().length, costE4: sum, error: "" });
    expect(await stage.costs(app)).toEqual(expected());
    expect(sim.refused.filter(({ reason }) => !/access_token is missing/.test(reason))).toEqual([]);
    const ads = [...new Set(rows.map(({ adName }) => adName))];
    const named = (texts: string[], status: string) => texts.map((text) => [name, text, status].join(" | "));
    expect((await stage.names("ad")).filter((row) => row.startsWith(name))).toEqual(named(ads, statuses.ad).sort());
    if (plans) {
      const known = [...new Set(rows.map(({ planName }) => planName))];
      expect((await stage.names("plan")).filter((row) => row.startsWith(name))).toEqual(
        named(known, statuses.plan).sort(),
      );
    }
    const { rows: advertisers } = await stage.pool.query(
      "select name, status from advertiser where app_id = $1 and ad_platform = $2 and advertiser_id = $3",
      [app.appId, name, ACCOUNT],
    );
    expect(advertisers).toEqual([{ name: accountName, status: statuses.account }]);
    expect(await stage.pulls(app)).toMatchObject([
      { day: TODAY, at: NOON_MS },
      { day: YESTERDAY, at: NOON_MS },
    ]);
    expect((await stage.stored(await account())).lastError).toBe("");
  });

  test("corrections replace rows, and rows that the platform no longer lists go", async () => {
    const own = await account();
    await stage.pull(own, BOTH);
    rows[0]!.cents = 4321;
    rows.splice(1, 1);
    rows.push(spent(YESTERDAY, 2, 5));
    await stage.pull(own, BOTH);
    expect(await stage.costs(app)).toEqual(expected());
    rows.splice(0);
    rows.push(spent("2026-11-01", 1, 1));
    await stage.pull(own, { kind: "range", fromDay: TODAY, toDay: TODAY });
    const left = await stage.costs(app);
    expect(left.every((row) => row.startsWith(YESTERDAY))).toBe(true);
    expect(left).toHaveLength(3);
  });

  test("a token that expires in the middle of a pull is renewed once, and stored encrypted", async () => {
    const access = { ...ACCESS[name](sim as never).secrets, access_token: sim.tokens.accessToken };
    // A key of the postbacks, which a new token leaves alone.
    const own = await account({ secrets: { ...access, postback_key: "key-1" } });
    const before = sim.tokens.accessToken;
    sim.fail = (call) => {
      if (call === 3) sim.tokens.expire();
      return undefined;
    };
    expect(await stage.pull(own, BOTH)).toMatchObject({ days: 2, error: "" });
    expect(await stage.costs(app)).toEqual(expected());
    const stored = await stage.stored(own);
    expect(sim.tokens.accessToken).not.toBe(before);
    expect(stored.secrets).toMatchObject({ access_token: sim.tokens.accessToken, postback_key: "key-1" });
    if (name !== "asa") expect(stored.secrets.refresh_token).toBe(sim.tokens.refreshToken);
    expect(stored.tokenExpiresAtMs).toBe(sim.tokens.accessExpiresAtMs);
    const { rows: sealed } = await stage.pool.query("select platform_account::text as text from platform_account");
    expect(JSON.stringify(sealed)).not.toContain(sim.tokens.accessToken);
    expect(sim.refused.filter(({ reason }) => /expired/.test(reason))).toHaveLength(1);
  });

  test("a token that is about to expire is renewed before any request", async () => {
    const access = { ...ACCESS[name](sim as never).secrets, access_token: sim.tokens.accessToken };
    const own = await account({ secrets: access, tokenExpiresAtMs: NOON_MS + 60_000 });
    expect(await stage.pull(own, BOTH)).toMatchObject({ days: 2, error: "" });
    expect(sim.refused).toEqual([]);
    expect((await stage.stored(own)).secrets.access_token).not.toBe(access.access_token);
  });

  test.each<[string, Failure]>([
    ["is busy", "busy"],
    ["has a fault", "server_error"],
    ["sends a page for people", "not_json"],
  ])("a platform that %s in between is called again", async (_, failure) => {
    const own = await account({
      secrets: { ...ACCESS[name](sim as never).secrets, access_token: sim.tokens.accessToken },
    });
    sim.fail = (call) => ([3, 4].includes(call) ? failure : undefined);
    expect(await stage.pull(own, BOTH)).toMatchObject({ days: 2, error: "" });
    expect(await stage.costs(app)).toEqual(expected());
  });

  test.each<[string, Failure]>([
    ["is busy", "busy"],
    ["has a fault", "server_error"],
    ["closes the connection", "reset"],
    ["says nothing", "hang"],
  ])("a platform that %s from some page on leaves stored costs alone, and the account says so", async (_, failure) => {
    const own = await account({
      secrets: { ...ACCESS[name](sim as never).secrets, access_token: sim.tokens.accessToken },
    });
    await stage.pull(own, BOTH);
    const before = await stage.costs(app);
    rows[0]!.cents = 9;
    const from = sim.calls + 3;
    sim.fail = (call) => (call >= from ? failure : undefined);
    const pulled = await stage.pull(own, BOTH, failure === "hang" ? { deadlineMs: 500 } : {});
    expect(pulled).toMatchObject({ days: 0, rows: 0 });
    expect(pulled.error).not.toBe("");
    expect(await stage.costs(app)).toEqual(before);
    expect(await stage.stored(own)).toMatchObject({ lastError: pulled.error, lastErrorAtMs: NOON_MS });
    sim.fail = () => undefined;
    expect(await stage.pull(own, BOTH)).toMatchObject({ days: 2, error: "" });
    expect(await stage.costs(app)).toEqual(expected());
    expect(await stage.stored(own)).toMatchObject({ lastError: "", lastErrorAtMs: null });
  });
});
