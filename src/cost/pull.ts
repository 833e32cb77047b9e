import type pg from "pg";
import { type AdLevel, type AdObject, learnAdObjects, learnAdvertisers } from "../db/ad-names.ts";
import type { AppRules } from "../db/app.ts";
import type { Cost } from "../db/cost.ts";
import { storePulledDay } from "../db/cost-pull.ts";
import { transactionOn } from "../db/engine/pool.ts";
import type { AccountKey } from "../db/platform-account.ts";
import { type DayRange, daysOf } from "../domain/cost-schedule.ts";
import { convertE4 } from "../domain/money.ts";
import type { PulledCost, PulledName } from "../platform/connector/cost-connector.ts";
import type { CostCrawl, Gathered } from "./cost-crawl.ts";

/** The result of pulling a range of days. `trouble` says why it is incomplete, and is empty when it is complete. */
export type RangePull =
  | { kind: "stored"; days: number; rows: number; costE4: number; trouble: string; isWhole: boolean }
  | { kind: "refused" | "failed"; reason: string };

/**
 * Pulls a range of days, and stores each day whole in its own transaction. All pages are loaded before the first day is
 * touched, so that a day always holds either its old costs or the platform's current ones.
 */
export async function pullRange(
  crawl: CostCrawl,
  range: DayRange,
  target: { client: pg.PoolClient; key: AccountKey; app: AppRules; clock: () => number },
): Promise<RangePull> {
  const { client, key, app, clock } = target;
  // Taken before the first question, because an answer may miss corrections made after it was requested.
  const pulledAtMs = clock();
  const gathered = await crawl.gather(range);
  if (gathered.kind !== "gathered") return gathered;
  const days = new Map(daysOf(range).map((day) => [day, [] as PulledCost[]]));
  for (const cost of gathered.costs) {
    const day = days.get(cost.day);
    if (!day) return { kind: "refused", reason: `The platform sent costs of ${cost.day}, which was not requested.` };
    day.push(cost);
  }
  await transactionOn(client, (tx) => storeNames(tx, key, gathered.names));
  const sum = { days: 0, rows: 0, costE4: 0 };
  const withoutRate = new Map<string, string[]>();
  for (const [day, pulled] of days) {
    const converted = costsOf(pulled, { key, app });
    if (converted.kind === "no_rate") {
      withoutRate.set(converted.currency, [...(withoutRate.get(converted.currency) ?? []), day]);
      continue;
    }
    const { costs } = converted;
    await transactionOn(client, (tx) => storePulledDay(tx, key, { day, costs, pulledAtMs }));
    sum.days += 1;
    sum.rows += costs.length;
    sum.costE4 += costs.reduce((total, cost) => total + cost.costE4, 0);
  }
  return { kind: "stored", ...sum, trouble: troubleOf(gathered, withoutRate, app), isWhole: withoutRate.size === 0 };
}

function troubleOf(
  { withoutNames }: Extract<Gathered, { kind: "gathered" }>,
  withoutRate: ReadonlyMap<string, readonly string[]>,
  app: AppRules,
): string {
  const rates = [...withoutRate].map(
    ([currency, days]) =>
      `There is no rate from ${currency} to ${app.currency}: nothing was stored for ${days.toSorted().join(", ")}.`,
  );
  return [...rates, ...(withoutNames === "" ? [] : [`Some names are missing: ${withoutNames}`])].join(" ");
}

/** A day's costs in the app's currency, one row per ad. */
function costsOf(
  pulled: readonly PulledCost[],
  { key, app }: { key: AccountKey; app: AppRules },
): { kind: "costs"; costs: Cost[] } | { kind: "no_rate"; currency: string } {
  // Added up before the conversion, so that rounding happens once.
  const byCurrency = merged(pulled, ({ gid, aid, currency }) => JSON.stringify([gid, aid, currency]));
  const converted: PulledCost[] = [];
  for (const cost of byCurrency) {
    const currency = cost.currency.toUpperCase();
    const conversion = convertE4(cost.costE4, currency, app);
    if (conversion.kind === "no_rate") return { kind: "no_rate", currency };
    converted.push({ ...cost, costE4: conversion.e4 });
  }
  const { appId, adPlatform, advertiserId } = key;
  const unknown = { csite: "", channel: "", osPlatform: "", campaignId: "" };
  const costs = merged(converted, ({ gid, aid }) => JSON.stringify([gid, aid])).map(
    ({ day, gid, aid, impressions, clicks, costE4 }) => ({
      appId,
      day,
      adPlatform,
      advertiserId,
      gid,
      aid,
      ...unknown,
      impressions,
      clicks,
      costE4,
    }),
  );
  return { kind: "costs", costs };
}

function merged(costs: readonly PulledCost[], keyOf: (cost: PulledCost) => string): PulledCost[] {
  const sums = new Map<string, PulledCost>();
  for (const cost of costs) {
    const sum = sums.get(keyOf(cost));
    if (!sum) {
      sums.set(keyOf(cost), { ...cost });
      continue;
    }
    sum.impressions += cost.impressions;
    sum.clicks += cost.clicks;
    sum.costE4 += cost.costE4;
  }
  return [...sums.values()];
}

async function storeNames(tx: pg.PoolClient, key: AccountKey, names: readonly PulledName[]): Promise<void> {
  const { adPlatform, advertiserId } = key;
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
    accounts.map(({ name, status }) => ({ adPlatform, advertiserId, name, status })),
  );
  const objects = [...known.values()].flatMap(({ level, id, name, status }): AdObject[] =>
    level === "account" ? [] : [{ adPlatform, level: level satisfies AdLevel, objectId: id, name, status }],
  );
  await learnAdObjects(tx, objects);
}
