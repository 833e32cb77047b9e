import type pg from "pg";
import { type AppRules, loadAppRules } from "../db/app.ts";
import { loadCostAccounts, notePullAttempt, withPullLock } from "../db/cost-pull.ts";
import { isDatabaseAway } from "../db/engine/failure.ts";
import { transactionOn } from "../db/engine/pool.ts";
import { type AccountKey, loadAccount, noteAccountError, type PlatformAccount } from "../db/platform-account.ts";
import { addDays, calendarOf } from "../domain/calendar.ts";
import {
  type DayRange,
  daysOf,
  dueDays,
  firstScheduledDay,
  openDays,
  type PulledState,
  rangesOf,
  reachOf,
  type ScheduleAt,
} from "../domain/cost-schedule.ts";
import { messageOf } from "../errors.ts";
import type { CostConnector } from "../platform/connector/cost-connector.ts";
import { costConnectorOf } from "../platform/registry.ts";
import { CostCrawl, type CrawlDeps } from "./cost-crawl.ts";
import { pullRange } from "./pull.ts";

/** Which days to pull: those due by schedule, all that are not settled, or a requested range. */
export type PullPlan = { kind: "due" } | { kind: "open" } | ({ kind: "range" } & DayRange);

/** The result of pulling an account. The error is empty when all went well. */
export type AccountPull = AccountKey & { days: number; rows: number; costE4: number; error: string };

export type PullOptions = {
  signal: AbortSignal;
  /** Whether the signal came from the person who requested the pull: then a partial result is not a failure. */
  isStopped?: () => boolean;
  /** Called after each finished range, with numbers of days. */
  onDays?: (done: number, total: number) => void;
};

/** Not an error of the account: another process is pulling it. */
export const TAKEN = "The account is already being pulled.";
/** Not an error of the account either. */
const STOPPED = "The pull was stopped.";

const NOTHING = { days: 0, rows: 0, costE4: 0, error: "" };

/** Pulls the costs of one account under a lock. Does nothing when another process is pulling it. */
export async function pullAccount(
  deps: CrawlDeps,
  { appId, adPlatform, advertiserId }: AccountKey,
  plan: PullPlan,
  options: PullOptions,
): Promise<AccountPull> {
  const key = { appId, adPlatform, advertiserId };
  if (options.isStopped?.()) return { ...key, ...NOTHING, error: STOPPED };
  const locked = await withPullLock(deps.pool, key, (client) => pullLocked(deps, { client, key, plan }, options));
  return locked.kind === "done" ? locked.value : { ...key, ...NOTHING, error: TAKEN };
}

type Job = { client: pg.PoolClient; key: AccountKey; plan: PullPlan };

async function pullLocked(deps: CrawlDeps, { client, key, plan }: Job, options: PullOptions): Promise<AccountPull> {
  const nowMs = deps.clock();
  // Read again under the lock: another process may just have pulled the days that were due.
  const [found] = await loadCostAccounts(client, { fromDay: firstScheduledDay(nowMs), of: key });
  const account = await loadAccount(client, deps.vault, key);
  const [app] = await loadAppRules(client, [key.appId]);
  if (!found || !account || !app) return { ...key, ...NOTHING };
  const connector = connectorOf(account);
  const at = { nowMs, calendar: calendarOf(app.timeZone) };
  const reports = typeof connector === "string" ? { spans: [] } : connector;
  const days = daysIn(plan, found.state, { ...at, reachDays: reachOf(reports, at) });
  if (days.length === 0) return { ...key, ...NOTHING };
  const outcome = await pullDays(deps, { client, account, connector, app, days }, options);
  if (outcome.error === STOPPED) return { ...key, ...outcome.sum, error: STOPPED };
  const failures = outcome.isFailure ? found.state.failures + 1 : 0;
  const [atMs, { error }] = [deps.clock(), outcome];
  await transactionOn(client, async (tx) => {
    await notePullAttempt(tx, key, { atMs, failures, error });
    await noteAccountError(tx, key, { text: error, atMs });
  });
  return { ...key, ...outcome.sum, error };
}

function daysIn(plan: PullPlan, state: PulledState, at: ScheduleAt): string[] {
  switch (plan.kind) {
    case "due":
      return dueDays(state, at);
    case "open":
      return openDays(state, at);
    case "range":
      return daysOf(plan);
  }
}

type PulledDays = { sum: { days: number; rows: number; costE4: number }; error: string; isFailure: boolean };
type Days = {
  client: pg.PoolClient;
  account: PlatformAccount;
  connector: CostConnector | string;
  app: AppRules;
  days: readonly string[];
};

/** Pulls the newest days first, so that they are stored even if older ones are refused. */
async function pullDays(
  deps: CrawlDeps,
  { client, account, connector, app, days }: Days,
  options: PullOptions,
): Promise<PulledDays> {
  const sum = { days: 0, rows: 0, costE4: 0 };
  if (typeof connector === "string") return { sum, error: connector, isFailure: true };
  const crawl = new CostCrawl(deps, { account, connector, signal: options.signal });
  const brings = connector.brings ?? ("costs" as const);
  const errors = new Set<string>();
  const today = calendarOf(app.timeZone).dayOf(deps.clock());
  let [done, isFailure] = [0, false];
  const open = rangesOf(days, connector.spans, today);
  for (let range = open.shift(); range; range = open.shift()) {
    const { clock, vault } = deps;
    const target = { client, key: account, app, vault, clock, brings };
    const pulled = await pullRange(crawl, range, target).catch((error: unknown) => {
      if (options.isStopped?.()) return undefined;
      if (options.signal.aborted || isDatabaseAway(error)) throw error;
      return { kind: "refused" as const, reason: messageOf(error) };
    });
    if (!pulled) return { sum, error: STOPPED, isFailure: false };
    // Today may not have begun in the platform's zone; the other days must not be refused with it.
    const isTodayAlone = pulled.kind === "refused" && range.toDay === today && range.fromDay < today;
    if (isTodayAlone) open.unshift({ ...range, toDay: addDays(today, -1) });
    done += isTodayAlone ? 1 : daysOf(range).length;
    options.onDays?.(done, days.length);
    if (pulled.kind === "stored") {
      sum.days += pulled.days;
      sum.rows += pulled.rows;
      sum.costE4 += pulled.costE4;
      if (pulled.trouble !== "") errors.add(pulled.trouble);
      isFailure ||= !pulled.isWhole;
      continue;
    }
    errors.add(pulled.reason);
    isFailure = true;
    if (pulled.kind === "failed") break;
  }
  return { sum, error: [...errors].join(" ").slice(0, ERROR_CHARACTERS_MAX), isFailure };
}

const ERROR_CHARACTERS_MAX = 1_000;

/** The connector for costs, or why there is none. */
function connectorOf({ adPlatform, advertiserId }: PlatformAccount): CostConnector | string {
  if (advertiserId === "") return "The account has no advertiser_id, which is needed to pull costs.";
  return costConnectorOf(adPlatform) ?? `Costs cannot be pulled from ${adPlatform}.`;
}
