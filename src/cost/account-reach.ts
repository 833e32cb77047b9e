import type { CostAccount } from "../db/cost-pull.ts";
import { addDays, calendarOf } from "../domain/calendar.ts";
import { type Reports, reachOf, type ScheduleAt } from "../domain/cost-schedule.ts";
import { costConnectorOf } from "../platform/registry.ts";

/** How far back the reports of an account's platform reach. */
export type Reach = {
  /** The platform's name in sentences. */
  platform: string;
  days: number;
  /** The first day that can be pulled today. */
  firstDay: string;
};

/** Undefined when costs cannot be pulled from the platform, or when it publishes no limit. */
export function reachOfAccount({ adPlatform, timeZone }: Pick<CostAccount, "adPlatform" | "timeZone">, nowMs: number) {
  const connector = costConnectorOf(adPlatform);
  const calendar = calendarOf(timeZone);
  const days = reachOf(connector ?? NO_REPORTS, { nowMs, calendar });
  if (!connector || !Number.isFinite(days)) return undefined;
  const firstDay = addDays(calendar.dayOf(nowMs), 1 - days);
  return { platform: connector.platform, days, firstDay } satisfies Reach;
}

export function scheduleOf(account: CostAccount, nowMs: number): ScheduleAt {
  const at = { nowMs, calendar: calendarOf(account.timeZone) };
  return { ...at, reachDays: reachOf(costConnectorOf(account.adPlatform) ?? NO_REPORTS, at) };
}

const NO_REPORTS: Reports = { spans: [] };
