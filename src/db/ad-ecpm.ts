import type { Ecpm } from "../domain/ad-revenue.ts";
import { type Executor, execute, query, sql } from "./engine/sql.ts";

export type AppEcpm = Ecpm & { appId: number };
export type EcpmKey = Pick<AppEcpm, "appId" | "adUnit" | "fromDay">;

/** Stores an eCPM, replacing that of the same unit and first day. */
export async function storeEcpm(executor: Executor, ecpm: AppEcpm, changedAtMs: number): Promise<void> {
  const { appId, adUnit, fromDay, untilDay, viewMicros } = ecpm;
  await execute(
    executor,
    sql`insert into ad_ecpm (app_id, ad_unit, from_day, until_day, view_micros, changed_at_ms)
      values (${appId}, ${adUnit}, ${fromDay}::date, ${untilDay}::date, ${viewMicros}, ${changedAtMs})
      on conflict (app_id, ad_unit, from_day) do update set until_day = excluded.until_day,
        view_micros = excluded.view_micros, changed_at_ms = excluded.changed_at_ms`,
  );
}

/** An app's eCPMs, by unit, the newest period first. */
export async function loadEcpms(executor: Executor, appId: number): Promise<AppEcpm[]> {
  return query<AppEcpm>(
    executor,
    sql`select app_id, ad_unit, from_day, until_day, view_micros from ad_ecpm
      where app_id = ${appId} order by ad_unit, from_day desc`,
  );
}

/** Makes other changes to the app's eCPMs wait until the transaction ends. */
export async function lockEcpms(tx: Executor, appId: number): Promise<void> {
  await execute(tx, sql`select 1 from app where app_id = ${appId} for no key update`);
}

/** Returns false when there is none. */
export async function removeEcpm(executor: Executor, { appId, adUnit, fromDay }: EcpmKey): Promise<boolean> {
  const removed = await execute(
    executor,
    sql`delete from ad_ecpm where app_id = ${appId} and ad_unit = ${adUnit} and from_day = ${fromDay}::date`,
  );
  return removed > 0;
}
