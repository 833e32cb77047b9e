import { type Executor, query, type Sql, sql } from "../db/engine/sql.ts";
import { STATUS } from "../db/postback-status.ts";

/** When an app first had each of these, in ms, or null when it never had. */
export type FirstTimes = {
  request: number | null;
  registration: number | null;
  event: number | null;
  order: number | null;
  touch: number | null;
  cost: number | null;
  postback: number | null;
};

/**
 * Each time is the first entry of an index, however large the app is, because the console asks every two seconds. First
 * event and first touch come from the ledgers, which outlive the tables: those are dropped by day and by week.
 */
export async function firstTimes(executor: Executor, appId: number): Promise<FirstTimes> {
  const first = async (statement: Sql) => {
    const [row] = await query<{ atMs: number | null }>(executor, statement);
    return row?.atMs ?? null;
  };
  const received = await first(sql`select min(minute_ms) as at_ms from ledger_minute where app_id = ${appId}`);
  const event = await first(
    sql`select min(minute_ms) as at_ms from ledger_minute where app_id = ${appId} and outcome = 'stored'`,
  );
  const called = await first(sql`select min(minute_ms) as at_ms from touch_minute where app_id = ${appId}`);
  const touch = await first(
    sql`select min(minute_ms) as at_ms from touch_minute where app_id = ${appId} and outcome = 'stored'`,
  );
  const registration = await first(
    sql`select min(registration_received_at_ms) as at_ms from user_account where app_id = ${appId} and is_registered`,
  );
  const order = await first(sql`select min(received_at_ms) as at_ms from orders where app_id = ${appId}`);
  const cost = await first(
    sql`select changed_at_ms as at_ms from cost where app_id = ${appId} order by day, ad_platform limit 1`,
  );
  const postback = await first(
    sql`select changed_at_ms as at_ms from postback where app_id = ${appId} and status = ${STATUS.accepted} and left(event_type, 1) <> '$'
      order by accepted_day, changed_at_ms limit 1`,
  );
  const requests = [received, called, registration].filter((atMs) => atMs !== null);
  const request = requests.length === 0 ? null : Math.min(...requests);
  return { request, registration, event, order, touch, cost, postback };
}
