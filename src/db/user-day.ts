import type pg from "pg";
import { copyRows, copyText } from "./copy.ts";
import { execute, sql } from "./sql.ts";

export type UserDay = {
  appId: number;
  clientId: string;
  day: string;
  spanT: number;
  spanR: number;
  trackEvents: number;
  registerEvents: number;
  payCount: number;
  payCents: number;
  adCount: number;
  adMicros: number;
};

/** Adds to what the days already hold. Staged by COPY, as a batch may bring thousands of rows. */
export async function addUserDays(tx: pg.PoolClient, days: readonly UserDay[]): Promise<void> {
  if (days.length === 0) return;
  await tx.query("create temporary table if not exists stage_user_day (like user_day) on commit delete rows");
  const rows = days.map(
    (d) =>
      `${d.appId}\t${copyText(d.clientId)}\t${d.day}\t${d.spanT}\t${d.spanR}\t${d.trackEvents}\t${d.registerEvents}\t${d.payCount}\t${d.payCents}\t${d.adCount}\t${d.adMicros}`,
  );
  await copyRows(
    tx,
    "copy stage_user_day (app_id, client_id, day, span_t, span_r, track_events, register_events, pay_count, pay_cents, ad_count, ad_micros) from stdin",
    rows,
  );
  await execute(
    tx,
    sql`insert into user_day (app_id, client_id, day, span_t, span_r, track_events, register_events, pay_count, pay_cents, ad_count, ad_micros)
      select app_id, client_id, day, span_t, span_r, track_events, register_events, pay_count, pay_cents, ad_count, ad_micros
      from stage_user_day
      on conflict (app_id, client_id, day, span_t, span_r) do update set
        track_events = user_day.track_events + excluded.track_events,
        register_events = user_day.register_events + excluded.register_events,
        pay_count = user_day.pay_count + excluded.pay_count,
        pay_cents = user_day.pay_cents + excluded.pay_cents,
        ad_count = user_day.ad_count + excluded.ad_count,
        ad_micros = user_day.ad_micros + excluded.ad_micros`,
  );
}
