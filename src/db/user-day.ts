import type pg from "pg";
import type { UserKey } from "../domain/user/user-key.ts";
import { copyRows, copyText, rowsFrom } from "./engine/copy.ts";
import { newRows, rowsOf } from "./engine/rows.ts";
import { execute, sql } from "./engine/sql.ts";
import { type AdUnitCounters, addUserAdDays, deleteUserAdDays, insertUserAdDays } from "./user-ad-day.ts";

export type UserDay = {
  appId: number;
  clientId: string;
  day: string;
  /** Spans of 24 hours since the touch (else the registration) and since the registration; negative before it. */
  sinceTouch: number;
  sinceRegistration: number;
  trackEvents: number;
  registerEvents: number;
  payCount: number;
  payCents: number;
  adCount: number;
  adMicros: number;
  /** Those of the ads that name their unit, by unit. */
  adUnits?: Map<string, AdUnitCounters>;
};

const COLUMNS =
  "app_id, client_id, day, span_t, span_r, track_events, register_events, pay_count, pay_cents, ad_count, ad_micros";

function toCopyRow(d: UserDay): string {
  return `${d.appId}\t${copyText(d.clientId)}\t${d.day}\t${d.sinceTouch}\t${d.sinceRegistration}\t${d.trackEvents}\t${d.registerEvents}\t${d.payCount}\t${d.payCents}\t${d.adCount}\t${d.adMicros}`;
}

/** Inserts the days of users who have none yet, one row per key. */
export async function insertUserDays(tx: pg.PoolClient, days: readonly UserDay[]): Promise<void> {
  await copyRows(tx, { table: "user_day", columns: COLUMNS }, rowsFrom(days, toCopyRow));
  await insertUserAdDays(tx, days);
}

/** Adds to the stored counters. */
export async function addUserDays(tx: pg.PoolClient, days: readonly UserDay[]): Promise<void> {
  if (days.length === 0) return;
  const added = newRows(tx, "added", days, {
    appId: "int",
    clientId: "text",
    day: "date",
    spanT: ["int", ({ sinceTouch }) => sinceTouch],
    spanR: ["int", ({ sinceRegistration }) => sinceRegistration],
    trackEvents: "int",
    registerEvents: "int",
    payCount: "int",
    payCents: "bigint",
    adCount: "int",
    adMicros: "bigint",
  });
  await execute(
    tx,
    sql`insert into user_day (app_id, client_id, day, span_t, span_r, track_events, register_events, pay_count, pay_cents, ad_count, ad_micros)
      select * from ${added}
      on conflict (app_id, client_id, day, span_t, span_r) do update set
        track_events = user_day.track_events + excluded.track_events,
        register_events = user_day.register_events + excluded.register_events,
        pay_count = user_day.pay_count + excluded.pay_count,
        pay_cents = user_day.pay_cents + excluded.pay_cents,
        ad_count = user_day.ad_count + excluded.ad_count,
        ad_micros = user_day.ad_micros + excluded.ad_micros`,
  );
  await addUserAdDays(tx, days);
}

/**
 * Deletes the counters of users whose spans are to be recounted. Days whose events were dropped stay, because nothing
 * is left to count them from.
 */
export async function deleteUserDays(tx: pg.PoolClient, users: readonly UserKey[]): Promise<void> {
  const gone = rowsOf("gone", users, { appId: "int", clientId: "text" });
  await execute(
    tx,
    sql`delete from user_day using ${gone}
      where user_day.app_id = gone.app_id and user_day.client_id = gone.client_id collate "C"
        and not exists (select 1 from event_day e
          where e.state = 'dropped' and user_day.day >= e.day and user_day.day < e.until_day)`,
  );
  await deleteUserAdDays(tx, users);
}
