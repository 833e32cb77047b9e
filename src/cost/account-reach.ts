import type { CostAccount } from "../db/cost-pull.ts";
import { addDays, calendarOf } from "../domain/calendar.ts";
import { reachOf, type ScheduleAt } from "../domain/cost-schedule.ts";
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
  const days = reachOf(connector?.spans ?? []);
  if (!connector || !Number.isFinite(days)) return undefined;
  const today = calendarOf(timeZone).dayOf(nowMs);
  return { platform: connector.platform, days, firstDay: addDays(today, 1 - days) } satisfies Reach;
}

export function scheduleOf(account: CostAccount, nowMs: number): ScheduleAt {
  const spans = costConnectorOf(account.adPlatform)?.spans ?? [];
  return { nowMs, calendar: calendarOf(account.timeZone), reachDays: reachOf(spans) };
}
