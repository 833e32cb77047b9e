import type pg from "pg";
import { type AdLevel, type AdObject, learnAdObjects, learnAdvertisers } from "../db/ad-names.ts";
import type { AppRules } from "../db/app.ts";
import type { Cost } from "../db/cost.ts";
import { storePulledDay } from "../db/cost-pull.ts";
import { transactionOn } from "../db/engine/pool.ts";
import type { AccountKey } from "../db/platform-account.ts";
import { calendarOf } from "../domain/calendar.ts";
import { type DayRange, daysOf, grownAtMs } from "../domain/cost-schedule.ts";
import { convertE4 } from "../domain/money.ts";
import type { PulledCost, PulledName, Subject } from "../platform/connector/cost-connector.ts";
import { type CompleteDay, completeDay } from "./account-total.ts";
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
  const days = daysIn(range, gathered);
  if (typeof days === "string") return { kind: "refused", reason: days };
  await transactionOn(client, (tx) => storeNames(tx, key, gathered.names));
  const sum = { days: 0, rows: 0, costE4: 0 };
  const withoutRate = new Map<string, string[]>();
  const calendar = calendarOf(app.timeZone);
  for (const [day, told] of days) {
    const figures = figuresOf(completeDay(told.costs, told), { day, key, app });
    if (figures.kind === "no_rate") {
      withoutRate.set(figures.currency, [...(withoutRate.get(figures.currency) ?? []), day]);
      continue;
    }
    const { costs, totalE4 } = figures;
    const counted = { pulledAtMs, grownAtMs: grownAtMs(day, calendar) };
    await transactionOn(client, (tx) => storePulledDay(tx, key, { day, costs, totalE4, ...counted }));
    sum.days += 1;
    sum.rows += costs.length;
    sum.costE4 += costs.reduce((total, cost) => total + cost.costE4, 0);
  }
  const isWhole = withoutRate.size === 0 && gathered.cut.length === 0;
  return { kind: "stored", ...sum, trouble: troubleOf(gathered, withoutRate, app), isWhole };
}

type Told = { costs: PulledCost[] } & { plans: PulledCost[]; account: PulledCost[] | undefined };

/** What was gathered, by day, without the days that the platform does not list whole. A text says what is wrong. */
function daysIn(range: DayRange, gathered: Extract<Gathered, { kind: "gathered" }>): Map<string, Told> | string {
  const days = new Map<string, Told>(
    daysOf(range).map((day) => [day, { costs: [], plans: [], account: gathered.totals && [] }]),
  );
  const lists = { costs: gathered.costs, plans: gathered.planTotals, account: gathered.totals ?? [] };
  for (const [name, costs] of Object.entries(lists) as [keyof Told, PulledCost[]][]) {
    for (const cost of costs) {
      const told = days.get(cost.day);
      if (!told) return `The platform sent costs of ${cost.day}, which was not requested.`;
      told[name]!.push(cost);
    }
  }
  for (const { day } of gathered.cut) days.delete(day);
  return days;
}

const WITHOUT_TOTALS: Readonly<Partial<Record<Subject, string>>> = {
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
 * A day's costs in the app's currency, one row per ad, and the account's total. The rows are compared with the total
 * before the conversion, which rounds each of them; the total is what they add up to, less what they exceed it by.
 */
function figuresOf(
  { costs: pulled, surplus }: CompleteDay,
  { day, key, app }: { day: string; key: AccountKey; app: AppRules },
): Figures {
  const { appId, adPlatform, advertiserId } = key;
  const unknown = { csite: "", channel: "", osPlatform: "", campaignId: "" };
  const costs = new Map<string, Cost>();
  let totalE4 = 0;
  for (const { gid, aid, impressions, clicks, costE4, currency } of pulled) {
    const conversion = convertE4(costE4, currency.toUpperCase(), app);
    if (conversion.kind === "no_rate") return { kind: "no_rate", currency: currency.toUpperCase() };
    totalE4 += conversion.e4;
    const row = costs.get(JSON.stringify([gid, aid]));
    const ids = { appId, day, adPlatform, advertiserId, gid, aid, ...unknown };
    costs.set(JSON.stringify([gid, aid]), {
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
