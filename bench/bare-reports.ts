import type pg from "pg";
import { addDays } from "../src/domain/calendar.ts";
import { DAYS } from "./report-market.ts";

/** The app and day that both a report and its bare statement are asked for. */
export type Question = { appId: number; lastDay: string };

export const PAGE_SIZE = 20;
export const PLATFORMS = ["tencent", "kuaishou"];
const DIMENSIONS = "ad_platform, advertiser_id, gid, os_platform";
/** As many sums as the report that this is compared with. */
const SUMS = [
  "users",
  "pay_cents",
  "payers",
  "pay_d1",
  "pay_d7",
  "ad_micros",
  "ad_d1",
  "ad_d7",
  "kept_1",
  "active_users",
]
  .map((name) => `sum(${name})`)
  .join(", ");

/** The least work that could answer each report: one statement, without totals, names and metrics. */
const STATEMENTS: Readonly<Record<string, string>> = {
  "ad report": `select day, ${DIMENSIONS}, ${SUMS} from cube
    where app_id = $1 and cohort = 'touch' and day between $2 and $3 group by day, ${DIMENSIONS}`,
  "ad report, distinct users": `select d.day, ${DIMENSIONS}, count(distinct d.client_id) from user_day d
    join user_account u on u.app_id = d.app_id and u.client_id = d.client_id
    where d.app_id = $1 and d.day between $2 and $3 group by d.day, ${DIMENSIONS}`,
  "order list, page 1": ordersFrom(1),
  "order list, page 1000": ordersFrom(1_000),
  "user list, page 1": usersFrom(1, "registered_at_ms"),
  "user list, page 1000": usersFrom(1_000, "registered_at_ms"),
  "user list by payments": usersFrom(1, "pay_cents"),
  "a day counted anew": `select ${DIMENSIONS}, count(*), sum(d.pay_cents), sum(d.ad_micros), sum(d.track_events) from user_day d
    join user_account u on u.app_id = d.app_id and u.client_id = d.client_id
    where d.app_id = $1 and d.day = $2 group by ${DIMENSIONS}`,
};

function ordersFrom(page: number): string {
  return `select o.*, u.name, u.ad_platform, u.channel from orders o
    join user_account u on u.app_id = o.app_id and u.client_id = o.client_id
    where o.app_id = $1 and o.day between $2 and $3 and u.ad_platform = any($4)
    order by o.at_ms desc limit ${PAGE_SIZE} offset ${(page - 1) * PAGE_SIZE}`;
}

function usersFrom(page: number, column: string): string {
  return `select * from user_account where app_id = $1 and registered_day between $2 and $3 and ad_platform = any($4)
    order by ${column} desc limit ${PAGE_SIZE} offset ${(page - 1) * PAGE_SIZE}`;
}

/** The bare counterpart of a report, by its name. */
export function bareReport(pool: pg.Pool, name: string, { appId, lastDay }: Question): () => Promise<unknown> {
  const text = STATEMENTS[name];
  if (text === undefined) throw new Error(`${name} has no bare counterpart.`);
  return () => pool.query(text, valuesOf(name, { appId, lastDay }));
}

function valuesOf(name: string, { appId, lastDay }: Question): unknown[] {
  if (name === "a day counted anew") return [appId, lastDay];
  if (name.startsWith("ad report")) return [appId, addDays(lastDay, -29), lastDay];
  return [appId, addDays(lastDay, 1 - DAYS), lastDay, PLATFORMS];
}
