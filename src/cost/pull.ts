import type pg from "pg";
import { type AdLevel, type AdObject, learnAdObjects, learnAdvertisers } from "../db/ad-names.ts";
import type { AppRules } from "../db/app.ts";
import type { Cost } from "../db/cost.ts";
import type { HourCost } from "../db/cost-hour.ts";
import { storeEarnedDay, storePlayersDay, storePulledDay } from "../db/cost-pull.ts";
import { transactionOn } from "../db/engine/pool.ts";
import { ErasureDigest, withoutErased } from "../db/erased-user.ts";
import { loadInstallationSecrets } from "../db/installation.ts";
import type { AccountKey } from "../db/platform-account.ts";
import { calendarOf } from "../domain/calendar.ts";
import { type DayRange, daysOf, grownAtMs } from "../domain/cost-schedule.ts";
import { convertE4 } from "../domain/money.ts";
import type {
  CostConnector,
  CreativeCost,
  HourlyCost,
  PlayerEarning,
  PulledCost,
  PulledName,
  Subject,
} from "../platform/connector/cost-connector.ts";
import type { Vault } from "../vault.ts";
import { type CompleteDay, completeDay } from "./account-total.ts";
import type { CostCrawl, Gathered } from "./cost-crawl.ts";
import { splitByCreative } from "./creative-split.ts";
import { playersOf } from "./player-earnings.ts";

/** The result of pulling a range of days. `trouble` says why it is incomplete, and is empty when it is complete. */
export type RangePull =
  | { kind: "stored"; days: number; rows: number; costE4: number; trouble: string; isWhole: boolean }
  | { kind: "refused" | "failed"; reason: string };

type Target = {
  client: pg.PoolClient;
  key: AccountKey;
  app: AppRules;
  vault: Vault;
  clock: () => number;
  brings: NonNullable<CostConnector["brings"]> | "costs";
};

/**
 * Pulls a range of days, and stores each day whole in its own transaction. All pages are loaded before the first day is
 * touched, so that a day always holds either its old costs or the platform's current ones.
 */
export async function pullRange(crawl: CostCrawl, range: DayRange, target: Target): Promise<RangePull> {
  const { client, key, app, clock } = target;
  // Taken before the first question, because an answer may miss corrections made after it was requested.
  const pulledAtMs = clock();
  const gathered = await crawl.gather(range);
  if (gathered.kind !== "gathered") return gathered;
  const days = daysIn(range, gathered);
  if (typeof days === "string") return { kind: "refused", reason: days };
  await transactionOn(client, (tx) => storeNames(tx, key, gathered.names));
  const sum = { days: 0, rows: 0, costE4: 0 };
  const withoutRate = new Map<string, string[]>();
  const calendar = calendarOf(app.timeZone);
  const storeDay = target.brings === "player_revenue" ? storePlayers : storeCosts;
  for (const [day, told] of days) {
    const stored = await storeDay(target, told, { day, pulledAtMs, grownAtMs: grownAtMs(day, calendar) });
    if (stored.kind === "no_rate") {
      withoutRate.set(stored.currency, [...(withoutRate.get(stored.currency) ?? []), day]);
      continue;
    }
    sum.days += 1;
    sum.rows += stored.rows;
    sum.costE4 += stored.costE4;
  }
  const isWhole = withoutRate.size === 0 && gathered.cut.length === 0;
  return { kind: "stored", ...sum, trouble: troubleOf(gathered, withoutRate, app), isWhole };
}

type StoredDay = { kind: "stored"; rows: number; costE4: number } | { kind: "no_rate"; currency: string };
type PulledAt = { day: string; pulledAtMs: number; grownAtMs: number };

async function storeCosts({ client, key, app, brings }: Target, told: Told, at: PulledAt): Promise<StoredDay> {
  const { costs: ads, surplus } = completeDay(told.costs, told);
  const figures = figuresOf({ costs: splitByCreative(ads, told.creatives), surplus }, { day: at.day, key, app });
  if (figures.kind === "no_rate") return figures;
  const { costs, totalE4 } = figures;
  const store = brings === "unit_revenue" ? storeEarnedDay : storePulledDay;
  const hours = hoursOf(told.hours, app);
  await transactionOn(client, (tx) => store(tx, key, { ...at, costs, totalE4, hours }));
  return { kind: "stored", rows: costs.length, costE4: costs.reduce((total, cost) => total + cost.costE4, 0) };
}

async function storePlayers({ client, key, app, vault }: Target, day: Told, at: PulledAt): Promise<StoredDay> {
  const read = playersOf(day.earnings, app);
  if (read.kind === "no_rate") return read;
  const { players } = read;
  await transactionOn(client, async (tx) => {
    const loadDigest = async () => new ErasureDigest((await loadInstallationSecrets(tx, vault)).erasure);
    const told = await withoutErased(tx, { appId: key.appId, players }, loadDigest);
    await storePlayersDay(tx, key, { ...at, players: told });
  });
  const micros = players.reduce((sum, player) => sum + player.micros, 0);
  return { kind: "stored", rows: players.length, costE4: Math.round(micros / 100) };
}

type Told = { costs: PulledCost[]; creatives: CreativeCost[]; hours: HourlyCost[]; earnings: PlayerEarning[] } & {
  plans: PulledCost[];
  account: PulledCost[] | undefined;
};

/** What was gathered, by day, without the days that the platform does not list whole. A text says what is wrong. */
function daysIn(range: DayRange, gathered: Extract<Gathered, { kind: "gathered" }>): Map<string, Told> | string {
  const days = new Map<string, Told>(
    daysOf(range).map((day) => [
      day,
      { costs: [], creatives: [], hours: [], earnings: [], plans: [], account: gathered.totals && [] },
    ]),
  );
  const put = <Row extends { day: string }>(rows: Iterable<Row>, listOf: (told: Told) => Row[]): string | undefined => {
    for (const row of rows) {
      const told = days.get(row.day);
      if (!told) return `The platform sent costs of ${row.day}, which was not requested.`;
      listOf(told).push(row);
    }
    return undefined;
  };
  const wrong =
    put(gathered.costs, ({ costs }) => costs) ??
    put(gathered.creatives, ({ creatives }) => creatives) ??
    put(gathered.hours, ({ hours }) => hours) ??
    put(gathered.earnings.values(), ({ earnings }) => earnings) ??
    put(gathered.planTotals, ({ plans }) => plans) ??
    put(gathered.totals ?? [], ({ account }) => account!);
  if (wrong !== undefined) return wrong;
  for (const { day } of gathered.cut) days.delete(day);
  return days;
}

const WITHOUT_TOTALS: Readonly<Partial<Record<Subject, string>>> = {
  creatives: "The costs by creative are missing, so that costs stand with their ads",
  hours: "The costs by the hour are missing",
  plan_totals: "The totals of plans are missing, so that costs without an ad have no plan",
  totals: "The account's total is missing, so that the costs are not checked",
};

function troubleOf(
  { cut, withoutTotals, withoutNames }: Extract<Gathered, { kind: "gathered" }>,
  withoutRate: ReadonlyMap<string, readonly string[]>,
  app: AppRules,
): string {
  const rates = [...withoutRate].map(
    ([currency, days]) =>
      `There is no rate from ${currency} to ${app.currency}: nothing was stored for ${days.toSorted().join(", ")}.`,
  );
  return [
    ...cut.map(({ reason }) => reason),
    ...rates,
    ...[...withoutTotals].map(([subject, reason]) => `${WITHOUT_TOTALS[subject]}: ${reason}`),
    ...(withoutNames === "" ? [] : [`Some names are missing: ${withoutNames}`]),
  ].join(" ");
}

type Figures = { kind: "figures"; costs: Cost[]; totalE4: number | null } | { kind: "no_rate"; currency: string };

/**
 * A day's costs in the app's currency, one row per ad and creative, and the account's total. The rows are compared with the total
 * before the conversion, which rounds each ad; the total is what they add up to, less what they exceed it by.
 */
function figuresOf(
  { costs: pulled, surplus }: { costs: readonly CreativeCost[]; surplus: CompleteDay["surplus"] },
  { day, key, app }: { day: string; key: AccountKey; app: AppRules },
): Figures {
  const { appId, adPlatform, advertiserId } = key;
  const unknown = { csite: "", channel: "", osPlatform: "", campaignId: "" };
  const costs = new Map<string, Cost>();
  const convert = partsConverter(app);
  let totalE4 = 0;
  for (const { gid, aid, cid, impressions, clicks, costE4, currency } of inOrder(pulled, ({ cid }) => cid)) {
    const conversion = convert({ gid, aid, costE4, currency });
    if (conversion.kind === "no_rate") return { kind: "no_rate", currency: currency.toUpperCase() };
    totalE4 += conversion.e4;
    const row = costs.get(JSON.stringify([gid, aid, cid]));
    const ids = { appId, day, adPlatform, advertiserId, gid, aid, cid, ...unknown };
    costs.set(JSON.stringify([gid, aid, cid]), {
      ...ids,
      impressions: impressions + (row?.impressions ?? 0),
      clicks: clicks + (row?.clicks ?? 0),
      costE4: conversion.e4 + (row?.costE4 ?? 0),
    });
  }
  for (const { costE4, currency } of surplus ?? []) {
    const conversion = convertE4(costE4, currency.toUpperCase(), app);
    if (conversion.kind === "no_rate") return { kind: "no_rate", currency: currency.toUpperCase() };
    totalE4 -= conversion.e4;
  }
  return { kind: "figures", costs: [...costs.values()], totalE4: surplus ? totalE4 : null };
}

/** The hours in the app's currency, whose rate the day's costs were converted by. */
function hoursOf(pulled: readonly HourlyCost[], app: AppRules): HourCost[] {
  const hours = new Map<string, HourCost>();
  const convert = partsConverter(app);
  for (const { gid, aid, hour, impressions, clicks, costE4, currency } of inOrder(pulled, ({ hour }) => hour)) {
    const conversion = convert({ gid, aid, costE4, currency });
    if (conversion.kind === "no_rate") return [];
    const key = JSON.stringify([gid, aid, hour]);
    const row = hours.get(key);
    hours.set(key, {
      gid,
      aid,
      hour,
      impressions: impressions + (row?.impressions ?? 0),
      clicks: clicks + (row?.clicks ?? 0),
      costE4: conversion.e4 + (row?.costE4 ?? 0),
    });
  }
  return [...hours.values()];
}

/**
 * Converts the parts of ads so that they add up to the converted whole: each part is what it adds to the converted sum of
 * those before it. Rounded one by one, the hours of an ad could add up to more than its day.
 */
function partsConverter(app: AppRules) {
  const sums = new Map<string, { told: number; converted: number }>();
  return ({ gid, aid, costE4, currency }: Pick<PulledCost, "gid" | "aid" | "costE4" | "currency">) => {
    const key = JSON.stringify([gid, aid, currency]);
    const before = sums.get(key) ?? { told: 0, converted: 0 };
    const told = before.told + costE4;
    const conversion = convertE4(told, currency.toUpperCase(), app);
    if (conversion.kind === "no_rate") return conversion;
    sums.set(key, { told, converted: conversion.e4 });
    return { ...conversion, e4: conversion.e4 - before.converted };
  };
}

/** The same order whatever order the platform sends the parts in, so that each is converted to the same amount. */
function inOrder<Part>(parts: readonly Part[], by: (part: Part) => string): Part[] {
  return parts.toSorted((one, other) => (by(one) < by(other) ? -1 : by(one) > by(other) ? 1 : 0));
}

async function storeNames(tx: pg.PoolClient, key: AccountKey, names: readonly PulledName[]): Promise<void> {
  const { appId, adPlatform, advertiserId } = key;
  const known = new Map<string, PulledName>();
  for (const name of names) {
    const before = known.get(`${name.level} ${name.id}`);
    // Later names come from the lists of plans and ads, and are newer than those in a report.
    const told = { name: name.name || before?.name || "", status: name.status || before?.status || "" };
    known.set(`${name.level} ${name.id}`, { ...name, ...told });
  }
  const accounts = [...known.values()].filter(({ level }) => level === "account");
  await learnAdvertisers(
    tx,
    appId,
    accounts.map(({ name, status }) => ({ adPlatform, advertiserId, name, status })),
  );
  const objects = [...known.values()].flatMap(({ level, id, name, status }): AdObject[] =>
    level === "account" ? [] : [{ adPlatform, level: level satisfies AdLevel, objectId: id, name, status }],
  );
  await learnAdObjects(tx, appId, objects);
}
