import { addDays, calendarOf } from "../../src/domain/calendar.ts";
import type { PulledRevenue } from "../../test/report/oracle-market.ts";
import type { CostRow } from "../platforms/costs.ts";
import type { MarketOptions } from "./options.ts";
import type { Truth } from "./truth.ts";

/** As many as one question covers. Earlier days stay estimated. */
const TOLD_DAYS = 90;

/**
 * What WeChat says that the ads of each unit earned, in whole cents, for all days but the last: that one is still
 * estimated. WeChat counts an ad more than the clients have told.
 */
export function earnedIn(
  truth: Truth,
  { timeZone, endMs }: Pick<MarketOptions, "timeZone" | "endMs">,
): PulledRevenue[] {
  const calendar = calendarOf(timeZone);
  const { from, to } = toldDays({ timeZone, endMs });
  const views = new Map<string, { unit: string; day: string; views: number }>();
  for (const { happening } of truth.people.flatMap(({ events }) => events)) {
    if (happening.kind !== "ad" || happening.unit === undefined) continue;
    const [unit, day] = [happening.unit, calendar.dayOf(happening.atMs)];
    if (day < from || day > to) continue;
    const known = views.get(`${day} ${unit}`) ?? { unit, day, views: 0 };
    known.views += 1;
    views.set(`${day} ${unit}`, known);
  }
  return [...views.values()].map((one) => ({ unit: one.unit, day: one.day, micros: (4 * one.views + 1) * 10_000 }));
}

/** The days that WeChat tells, both ends included. */
export function toldDays({ timeZone, endMs }: Pick<MarketOptions, "timeZone" | "endMs">): { from: string; to: string } {
  const lastDay = calendarOf(timeZone).dayOf(endMs);
  return { from: addDays(lastDay, -TOLD_DAYS), to: addDays(lastDay, -1) };
}

/** The same as WeChat's rows. */
export function wechatRows(account: string, earned: readonly PulledRevenue[]): CostRow[] {
  return earned.map(({ unit, day, micros }) => {
    const cents = micros / 10_000;
    const names = { planId: "", planName: "", adId: unit, adName: unit };
    return { day, account, ...names, impressions: (cents - 1) / 4 + 1, clicks: 0, cents };
  });
}
