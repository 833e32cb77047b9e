import { createHash } from "node:crypto";
import type pg from "pg";
import type { PulledState } from "../domain/cost-schedule.ts";
import { type PlayerRevenue, storeAdRevenue, storePlayerRevenue } from "./ad-revenue.ts";
import { type Cost, markCosts, storeCosts } from "./cost.ts";
import { type HourCost, storeCostHours } from "./cost-hour.ts";
import { onConnection } from "./engine/pool.ts";
import { type Executor, execute, query, type Sql, sql } from "./engine/sql.ts";
import type { AccountKey } from "./platform-account.ts";

const PULL_LOCK = 7226391;

/**
 * Runs `work` unless another process is pulling this account's costs. The lock belongs to the connection that `work`
 * gets: once that is lost, another process may pull, and this one can no longer store what it has gathered.
 */
export async function withPullLock<T>(
  pool: pg.Pool,
  key: AccountKey,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<{ kind: "done"; value: T } | { kind: "taken" }> {
  const name = `${key.appId} ${key.adPlatform} ${key.advertiserId}`;
  return onConnection(pool, async (client) => {
    const [row] = await query<{ locked: boolean }>(
      client,
      sql`select pg_try_advisory_lock(${PULL_LOCK}::int, hashtext(${name})) as locked`,
    );
    if (!row!.locked) return { kind: "taken" };
    try {
      return { kind: "done", value: await work(client) };
    } finally {
      await execute(client, sql`select pg_advisory_unlock(${PULL_LOCK}::int, hashtext(${name}))`);
    }
  });
}

/** A day of an account, and when it was pulled. */
type PulledAt = {
  day: string;
  pulledAtMs: number;
  /** When the day stopped growing. Only pulls after that can agree with each other. */
  grownAtMs: number;
};

/** A day as pulled. `totalE4` is the account's own total, or null when the platform has not told it. */
export type FreshDay = PulledAt & {
  costs: readonly Cost[];
  totalE4: number | null;
  /** The costs by the hour; without any, those stored before stay. */
  hours: readonly HourCost[];
};

/** Replaces all costs of an account's day, whatever their source. Must run in a transaction. */
export async function storePulledDay(tx: Executor, key: AccountKey, fresh: FreshDay): Promise<void> {
  await execute(tx, sql`delete from cost where ${isOf(key)} and day = ${fresh.day}::date`);
  await storeCosts(tx, fresh.costs, fresh.pulledAtMs);
  await markCosts(tx, [{ appId: key.appId, day: fresh.day }], fresh.pulledAtMs);
  if (fresh.hours.length > 0) await storeCostHours(tx, { ...key, day: fresh.day }, fresh.hours);
  await notePulledDay(tx, key, fresh, figuresOf(fresh));
}

/** The same for what ads inside the app earned, whose unit is `aid`. */
export async function storeEarnedDay(tx: Executor, key: AccountKey, fresh: FreshDay): Promise<void> {
  const { day, costs, pulledAtMs } = fresh;
  const units = costs.map(({ aid, impressions, costE4 }) => ({
    adUnit: aid,
    views: impressions,
    micros: costE4 * 100,
  }));
  await storeAdRevenue(tx, key, { day, units, pulledAtMs });
  await notePulledDay(tx, key, fresh, figuresOf(fresh));
}

/** The same for what ads inside the app earned by player. */
export async function storePlayersDay(
  tx: Executor,
  key: AccountKey,
  fresh: PulledAt & { players: readonly PlayerRevenue[] },
): Promise<void> {
  const { players } = fresh;
  await storePlayerRevenue(tx, key, fresh);
  const micros = players.reduce((sum, player) => sum + player.micros, 0);
  const texts = players.map(({ openId, views, micros: earned }) => JSON.stringify([openId, views, earned]));
  const sums = { rows: players.length, costE4: Math.round(micros / 100), totalE4: null, notByAdE4: 0 };
  await notePulledDay(tx, key, fresh, { ...sums, digest: digestOf(texts) });
}

/** What is kept about a pull. */
type Figures = { rows: number; costE4: number; totalE4: number | null; notByAdE4: number; digest: string };

function figuresOf({ costs, totalE4 }: FreshDay): Figures {
  // Without a creative as it always was: another digest would look like a correction by the platform.
  const texts = costs.map(({ gid, aid, cid, impressions, clicks, costE4 }) =>
    JSON.stringify([gid, aid, impressions, clicks, costE4, ...(cid === "" ? [] : [cid])]),
  );
  const notByAdE4 = sumOf(costs.filter(({ aid }) => aid === ""));
  return { rows: costs.length, costE4: sumOf(costs), totalE4, notByAdE4, digest: digestOf(texts) };
}

async function notePulledDay(
  tx: Executor,
  key: AccountKey,
  { day, pulledAtMs, grownAtMs }: PulledAt,
  { rows, costE4, totalE4, notByAdE4, digest }: Figures,
): Promise<void> {
  await execute(
    tx,
    sql`insert into cost_pull (app_id, ad_platform, advertiser_id, day, pulled_at_ms, rows, cost_e4, total_e4,
        not_by_ad_e4, digest, same_since_ms)
      values (${key.appId}, ${key.adPlatform}, ${key.advertiserId}, ${day}::date, ${pulledAtMs}, ${rows}, ${costE4},
        ${totalE4}, ${notByAdE4}, ${digest}, ${pulledAtMs})
      on conflict (app_id, ad_platform, advertiser_id, day) do update set pulled_at_ms = excluded.pulled_at_ms,
        rows = excluded.rows, cost_e4 = excluded.cost_e4, total_e4 = excluded.total_e4,
        not_by_ad_e4 = excluded.not_by_ad_e4, digest = excluded.digest,
        same_since_ms = case when cost_pull.digest = excluded.digest and cost_pull.same_since_ms >= ${grownAtMs}
          then cost_pull.same_since_ms else excluded.same_since_ms end`,
  );
}

function sumOf(costs: readonly Cost[]): number {
  return costs.reduce((sum, cost) => sum + cost.costE4, 0);
}

/** The same for the same rows, in whatever order the platform sends them. */
function digestOf(rows: readonly string[]): string {
  return createHash("sha256").update(rows.toSorted().join("\n")).digest("hex");
}

/** Notes an attempt; an empty error means success. */
export async function notePullAttempt(
  executor: Executor,
  key: AccountKey,
  attempt: { atMs: number; failures: number; error: string },
): Promise<void> {
  await execute(
    executor,
    sql`insert into cost_attempt (app_id, ad_platform, advertiser_id, attempted_at_ms, failures, error)
      values (${key.appId}, ${key.adPlatform}, ${key.advertiserId}, ${attempt.atMs}, ${attempt.failures}, ${attempt.error})
      on conflict (app_id, ad_platform, advertiser_id) do update set attempted_at_ms = excluded.attempted_at_ms,
        failures = excluded.failures, error = excluded.error`,
  );
}

/** An account whose costs are to be pulled, and the state of its pulls. */
export type CostAccount = AccountKey & {
  timeZone: string;
  error: string;
  state: PulledState;
  /** Days whose rows add up to more than the account's total, oldest first. */
  exceeding: { day: string; costE4: number; totalE4: number }[];
};

type CostAccountRow = Omit<CostAccount, "state"> &
  Omit<PulledState, "pulls"> & { days: [day: string, atMs: number, sameSinceMs: number][] };

/** The accounts of enabled apps, with the days pulled since `fromDay`. */
export async function loadCostAccounts(
  executor: Executor,
  options: { fromDay: string; of?: AccountKey | { appId: number } },
): Promise<CostAccount[]> {
  const { fromDay, of } = options;
  const pulled = sql`from cost_pull p where p.app_id = a.app_id and p.ad_platform = a.ad_platform
    and p.advertiser_id = a.advertiser_id and p.day >= ${fromDay}::date`;
  const rows = await query<CostAccountRow>(
    executor,
    sql`select a.app_id, a.ad_platform, a.advertiser_id, a.changed_at_ms, app.time_zone, t.attempted_at_ms,
        coalesce(t.failures, 0) as failures, coalesce(t.error, '') as error,
        array(select json_build_array(p.day, p.pulled_at_ms, p.same_since_ms) ${pulled}) as days,
        array(select json_build_object('day', p.day, 'costE4', p.cost_e4, 'totalE4', p.total_e4) ${pulled}
          and p.cost_e4 > p.total_e4 order by p.day) as exceeding
      from platform_account a
      join app on app.app_id = a.app_id
      left join cost_attempt t on t.app_id = a.app_id and t.ad_platform = a.ad_platform and t.advertiser_id = a.advertiser_id
      where a.costs and app.enabled and ${of ? among(of) : sql`true`}
      order by t.attempted_at_ms nulls first, a.app_id, a.ad_platform, a.advertiser_id`,
  );
  return rows.map(({ days, changedAtMs, attemptedAtMs, failures, ...account }) => {
    const pulls = new Map(days.map(([day, atMs, sameSinceMs]) => [day, { atMs, sameSinceMs }]));
    return { ...account, state: { changedAtMs, attemptedAtMs, failures, pulls } };
  });
}

/** When the account that has waited longest was last pulled, or else created; null when no costs are to be pulled. */
export async function oldestPullMs(executor: Executor, { fromDay }: { fromDay: string }): Promise<number | null> {
  const [row] = await query<{ atMs: number | null }>(
    executor,
    sql`select min(coalesce((select max(p.pulled_at_ms) from cost_pull p where p.app_id = a.app_id
          and p.ad_platform = a.ad_platform and p.advertiser_id = a.advertiser_id and p.day >= ${fromDay}::date),
        a.changed_at_ms)) as at_ms
      from platform_account a join app on app.app_id = a.app_id where a.costs and app.enabled`,
  );
  return row!.atMs;
}

/** What was pulled for one day of an account. */
export type PulledDay = AccountKey & {
  day: string;
  pulledAtMs: number;
  sameSinceMs: number;
  rows: number;
  costE4: number;
  totalE4: number | null;
  /** The part of the cost that belongs to no ad. */
  notByAdE4: number;
};

/** Days from `fromDay` to `toDay`, both included. */
export async function loadPulledDays(
  executor: Executor,
  { appId, fromDay, toDay }: { appId: number; fromDay: string; toDay: string },
): Promise<PulledDay[]> {
  return query<PulledDay>(
    executor,
    sql`select app_id, ad_platform, advertiser_id, day, pulled_at_ms, same_since_ms, rows, cost_e4, total_e4, not_by_ad_e4
      from cost_pull where app_id = ${appId} and day >= ${fromDay}::date and day <= ${toDay}::date
      order by ad_platform, advertiser_id, day`,
  );
}

function among(of: AccountKey | { appId: number }): Sql {
  return "adPlatform" in of
    ? sql`a.app_id = ${of.appId} and a.ad_platform = ${of.adPlatform} and a.advertiser_id = ${of.advertiserId}`
    : sql`a.app_id = ${of.appId}`;
}

function isOf(key: AccountKey): Sql {
  return sql`app_id = ${key.appId} and ad_platform = ${key.adPlatform} and advertiser_id = ${key.advertiserId}`;
}
