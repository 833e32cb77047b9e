import type { Rebate } from "../domain/rebate.ts";
import { rowsOf } from "./engine/rows.ts";
import { type Executor, execute, query, sql } from "./engine/sql.ts";

export type AppRebate = Rebate & { appId: number };
export type RebateKey = Pick<AppRebate, "appId" | "adPlatform" | "advertiserId" | "fromDay">;

/** Stores rebates, replacing those of the same account and first day. */
export async function storeRebates(
  executor: Executor,
  rebates: readonly AppRebate[],
  changedAtMs: number,
): Promise<void> {
  if (rebates.length === 0) return;
  const fresh = rowsOf("new", rebates, {
    appId: "int",
    adPlatform: "text",
    advertiserId: "text",
    fromDay: "date",
    untilDay: "date",
    cashBp: "int",
    creditBp: "int",
  });
  await execute(
    executor,
    sql`insert into rebate (app_id, ad_platform, advertiser_id, from_day, until_day, cash_bp, credit_bp, changed_at_ms)
      select *, ${changedAtMs}::bigint from ${fresh}
      on conflict (app_id, ad_platform, advertiser_id, from_day) do update set until_day = excluded.until_day,
        cash_bp = excluded.cash_bp, credit_bp = excluded.credit_bp, changed_at_ms = excluded.changed_at_ms`,
  );
}

/** An app's rebates, by account, the newest period first. */
export async function loadRebates(executor: Executor, appId: number): Promise<AppRebate[]> {
  return query<AppRebate>(
    executor,
    sql`select app_id, ad_platform, advertiser_id, from_day, until_day, cash_bp, credit_bp from rebate
      where app_id = ${appId} order by ad_platform, advertiser_id, from_day desc`,
  );
}

/** Makes other changes to the app's rebates wait until the transaction ends. */
export async function lockRebates(tx: Executor, appId: number): Promise<void> {
  await execute(tx, sql`select 1 from app where app_id = ${appId} for no key update`);
}

/** Returns false when there is none. */
export async function removeRebate(executor: Executor, key: RebateKey): Promise<boolean> {
  const removed = await execute(
    executor,
    sql`delete from rebate where app_id = ${key.appId} and ad_platform = ${key.adPlatform}
      and advertiser_id = ${key.advertiserId} and from_day = ${key.fromDay}::date`,
  );
  return removed > 0;
}
