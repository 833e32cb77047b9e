import type { PulledCost } from "../platform/connector/cost-connector.ts";

/** What the platform says about plans and the account as a whole. */
export type Totals = { plans: readonly PulledCost[]; account: readonly PulledCost[] | undefined };

/** A day's costs together with those that belong to no ad. */
export type CompleteDay = {
  costs: PulledCost[];
  /**
   * By how much the rows exceed the account's total, by currency. Empty when they equal it, and undefined when the
   * platform has not told the total.
   */
  surplus: { costE4: number; currency: string }[] | undefined;
};

/**
 * Completes the costs of one day. What a plan or the account cost beyond its rows becomes one row without an ad, so that
 * the rows add up to the account's total: platforms leave the ads of campaigns that they manage themselves out of their
 * reports by ad. Rows that add up to more stay as they are, because each of them is the platform's own figure too.
 */
export function completeDay(costs: readonly PulledCost[], totals: Totals): CompleteDay {
  const all = [...costs, ...totals.plans, ...(totals.account ?? [])];
  // One row of each currency, from which rows without an ad take their day and their currency.
  const samples = new Map(all.map((cost) => [cost.currency, cost]));
  const complete: PulledCost[] = [];
  const surplus: { costE4: number; currency: string }[] = [];
  for (const [currency, sample] of samples) {
    const isOwn = (cost: PulledCost) => cost.currency === currency;
    const rows = merged(costs.filter(isOwn));
    const ofPlans = byPlan(rows.values());
    for (const plan of merged(totals.plans.filter(isOwn)).values()) {
      addRest(rows, difference(plan, ofPlans.get(plan.gid) ?? []));
    }
    if (totals.account) {
      const nothing = { ...sample, gid: "", aid: "", impressions: 0, clicks: 0, costE4: 0 };
      const [total = nothing] = merged(totals.account.filter(isOwn)).values();
      const rest = difference(total, [...rows.values()]);
      addRest(rows, rest);
      if (rest.costE4 < 0) surplus.push({ costE4: -rest.costE4, currency });
    }
    complete.push(...rows.values());
  }
  return { costs: complete, surplus: totals.account && surplus };
}

type Rows = Map<string, PulledCost>;

/** One row per plan and ad. */
function merged(costs: readonly PulledCost[]): Rows {
  const rows: Rows = new Map();
  for (const cost of costs) add(rows, cost);
  return rows;
}

function add(rows: Rows, cost: PulledCost): void {
  const key = JSON.stringify([cost.gid, cost.aid]);
  const row = rows.get(key);
  if (!row) {
    rows.set(key, { ...cost });
    return;
  }
  row.impressions += cost.impressions;
  row.clicks += cost.clicks;
  row.costE4 += cost.costE4;
}

/** Grouped once: an account may have thousands of plans with tens of thousands of ads. */
function byPlan(rows: Iterable<PulledCost>): Map<string, PulledCost[]> {
  const plans = new Map<string, PulledCost[]>();
  for (const row of rows) {
    const own = plans.get(row.gid);
    if (own) own.push(row);
    else plans.set(row.gid, [row]);
  }
  return plans;
}

/** Adds what is missing; a figure of which there is too much adds nothing. */
function addRest(rows: Rows, rest: PulledCost): void {
  const { impressions, clicks, costE4 } = rest;
  if (Math.max(impressions, clicks, costE4) <= 0) return;
  const missing = { impressions: Math.max(impressions, 0), clicks: Math.max(clicks, 0), costE4: Math.max(costE4, 0) };
  add(rows, { ...rest, ...missing, aid: "" });
}

function difference(total: PulledCost, rows: readonly PulledCost[]): PulledCost {
  const left = { ...total };
  for (const row of rows) {
    left.impressions -= row.impressions;
    left.clicks -= row.clicks;
    left.costE4 -= row.costE4;
  }
  return left;
}
