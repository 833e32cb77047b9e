import type { JsonObject } from "../domain/json.ts";
import { REFUND_EVENT } from "../domain/refund.ts";
import type { UserKey } from "../domain/user/user-key.ts";
import { rowsOf } from "./engine/rows.ts";
import { type Executor, query, sql } from "./engine/sql.ts";
import { type EventRow, eventsWith } from "./event.ts";
import { eventProperties, withOrigin } from "./event-properties.ts";

/* What the tables still hold about past moments. Each function serves many users at once. `cold`: events that are only in the lake. */

function wanted(users: readonly UserKey[]) {
  return rowsOf("wanted", users, { appId: "int", clientId: "text" });
}

/** Local days, both ends included. */
export type DayRange = { fromDay: string; toDay: string };

export const ALL_DAYS: DayRange = { fromDay: "-infinity", toDay: "infinity" };

function isWithin({ fromDay, toDay }: DayRange) {
  return sql`e.day between ${fromDay}::date and ${toDay}::date`;
}

export type PastOrder = UserKey & {
  traceId: string;
  day: string;
  atMs: number;
  receivedAtMs: number;
  cents: number;
  payCount: number;
  properties: JsonObject;
};

export async function loadPastOrders(executor: Executor, users: readonly UserKey[]): Promise<PastOrder[]> {
  return query<PastOrder>(
    executor,
    sql`select o.app_id, o.client_id, o.trace_id, o.day, o.at_ms, o.received_at_ms, o.cents, o.pay_count, o.properties
      from ${wanted(users)} join orders o on o.app_id = wanted.app_id and o.client_id = wanted.client_id collate "C"
      order by o.client_id, o.pay_count, o.trace_id`,
  );
}

export type FirstActivity = UserKey & { day: string; atMs: number; receivedAtMs: number };

/** The first event received on each of the given days after a user's registration. */
export async function loadFirstActivities(
  executor: Executor,
  users: readonly UserKey[],
  { daysAfter, days, cold }: { daysAfter: readonly number[]; days: DayRange; cold: readonly EventRow[] },
): Promise<FirstActivity[]> {
  return query<FirstActivity>(
    executor,
    sql`select distinct on (e.client_id, e.day) e.app_id, e.client_id, e.day, e.at_ms, e.received_at_ms
      from ${wanted(users)}
      join user_account u on u.app_id = wanted.app_id and u.client_id = wanted.client_id collate "C"
      join ${eventsWith(cold)} on e.app_id = u.app_id and e.client_id = u.client_id and e.type = 'track'
        and e.event <> ${REFUND_EVENT} and e.day - u.registered_day = any(${daysAfter}::int[]) and ${isWithin(days)}
      order by e.client_id, e.day, e.received_at_ms, e.at_ms`,
  );
}

export type PastEvent = UserKey & {
  day: string;
  atMs: number;
  receivedAtMs: number;
  /** As apply writes it: hexadecimal digits without hyphens. */
  fingerprint: string;
  event: string;
  properties: JsonObject;
};

/** Past events in order of receipt. A refund is none of the user's. */
export async function loadPastEvents(
  executor: Executor,
  users: readonly UserKey[],
  { names, days, cold }: { names: readonly string[]; days: DayRange; cold: readonly EventRow[] },
): Promise<PastEvent[]> {
  return query<PastEvent>(
    executor,
    sql`select e.app_id, e.client_id, e.day, e.at_ms, e.received_at_ms, replace(e.fingerprint::text, '-', '') as fingerprint, e.event,
        ${eventProperties} as properties
      from ${wanted(users)} join ${eventsWith(cold)} on e.app_id = wanted.app_id and e.client_id = wanted.client_id collate "C" ${withOrigin}
      where e.type = 'track' and e.event = any(${names}::text[]) and e.event <> ${REFUND_EVENT} and ${isWithin(days)}
      order by e.client_id, e.received_at_ms, e.at_ms, e.fingerprint`,
  );
}
