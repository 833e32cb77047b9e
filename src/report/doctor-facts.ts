import { type Executor, query, type Sql, sql } from "../db/engine/sql.ts";
import { eventProperties, withOrigin } from "../db/event-properties.ts";
import { sumOrdersWithoutRate } from "../db/orders.ts";
import { addDays, calendarOf, weekOf } from "../domain/calendar.ts";
import type { SharedValue, StoredFacts } from "../domain/doctor/doctor-stored.ts";
import type { SeenPayment } from "../domain/doctor/seen-call.ts";
import { sumLedger } from "./ledger.ts";

/** Users, touches and payments that the doctor looks at, each. */
const ROWS_MAX = 5_000;
const PAYERS_MAX = 500;

const MINUTE_MS = 60_000;
const LATE_DAYS = 2;

type AppOfDoctor = { appId: number; timeZone: string; rates: Readonly<Record<string, string>> };

/** The time span to examine: users, touches and payments since `sinceMs`, and the ledger of at most the last day. */
type Span = { nowMs: number; sinceMs: number };

/** Facts from bounded samples of the newest rows, read by index, however large the app is. */
export async function loadStoredFacts(executor: Executor, app: AppOfDoctor, span: Span): Promise<StoredFacts> {
  const { appId } = app;
  const { nowMs, sinceMs } = span;
  const minutes = Math.max(1, Math.ceil((nowMs - sinceMs) / MINUTE_MS));
  const recent = { appId, fromDay: calendarOf(app.timeZone).dayOf(sinceMs), sinceMs };
  const [{ total: ledger }, openid, address, touches, withoutRate] = await Promise.all([
    sumLedger(executor, app, { of: "events", step: "minute", minutes, nowMs }),
    mostShared(executor, { ...recent, column: sql`wx_openid` }),
    mostShared(executor, { ...recent, column: sql`ip` }),
    countKeylessTouches(executor, appId, span),
    sumOrdersWithoutRate(executor, appId),
  ]);
  const unset = withoutRate.filter(({ currency }) => !Object.hasOwn(app.rates, currency));
  return { nowMs, ledger, openid, address, touches, withoutRate: unset };
}

/** The value that most of the newest users have in common. */
async function mostShared(
  executor: Executor,
  { appId, fromDay, sinceMs, column }: { appId: number; fromDay: string; sinceMs: number; column: Sql },
): Promise<SharedValue | undefined> {
  const [row] = await query<SharedValue>(
    executor,
    sql`with newest as materialized (
        select ${column} as value, registered_at_ms from user_account
        where app_id = ${appId} and registered_day >= ${fromDay}::date and registered_at_ms >= ${sinceMs}
        order by registered_day desc, registered_at_ms desc, client_id desc limit ${ROWS_MAX})
      select value, count(*) as users, (select count(*) from newest where value <> '') as of,
        min(registered_at_ms) as first_at_ms, max(registered_at_ms) as last_at_ms
      from newest where value <> '' group by value order by users desc, value limit 1`,
  );
  return row;
}

/** The keys by which a touch can be matched, apart from the address. */
const KEYS = [
  ...["click_id", "impression_id", "callback", "req_id", "clue_token", "bd_vid", "wx_openid", "caid", "muid"],
  ...["imei", "oaid", "idfa", "idfv", "android_id", "mac"].flatMap((name) => [name, `${name}_md5`]),
];

async function countKeylessTouches(
  executor: Executor,
  appId: number,
  { nowMs, sinceMs }: Span,
): Promise<StoredFacts["touches"]> {
  const weeks = [weekOf(nowMs), weekOf(sinceMs)];
  return query(
    executor,
    sql`with sample as materialized (
        select ad_platform, details, ip, received_at_ms from touch
        where app_id = ${appId} and week = any(${weeks}::date[]) and received_at_ms >= ${sinceMs} limit ${ROWS_MAX})
      select ad_platform as platform, count(*) as touches,
        count(*) filter (where ip = '' and not details ?| ${KEYS}::text[]) as without_key,
        min(received_at_ms) as first_at_ms, max(received_at_ms) as last_at_ms
      from sample group by ad_platform order by ad_platform`,
  );
}

/** All payment events of users who paid recently, including those that made no new order. */
export async function loadRecentPayments(
  executor: Executor,
  { appId, timeZone }: AppOfDoctor,
  { sinceMs }: Span,
): Promise<SeenPayment[]> {
  // An event may arrive days after it happened.
  const fromDay = addDays(calendarOf(timeZone).dayOf(sinceMs), -LATE_DAYS);
  const rows = await query<Omit<SeenPayment, "amount"> & { amount: unknown }>(
    executor,
    sql`with payer as materialized (
        select distinct client_id from (
          select client_id from orders where app_id = ${appId} and received_at_ms >= ${sinceMs}
          order by received_at_ms desc, trace_id desc limit ${PAYERS_MAX}) newest)
      select e.received_at_ms as at_ms, e.client_id, e.at_ms as time_ms, ${eventProperties} -> '$pay_amount' as amount,
        coalesce(nullif(${eventProperties} ->> '$order_id', ''), ${eventProperties} ->> '$trace_id', '') as order_id
      from payer join event e on e.app_id = ${appId} and e.client_id = payer.client_id ${withOrigin}
      where e.day >= ${fromDay}::date and e.received_at_ms >= ${sinceMs} and e.type = 'track' and e.event = '$PayEvent'
      order by e.received_at_ms, e.client_id limit ${ROWS_MAX}`,
  );
  return rows.flatMap(({ amount, ...row }) => (typeof amount === "number" ? [{ ...row, amount }] : []));
}
