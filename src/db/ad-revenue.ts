import { addDays } from "../domain/calendar.ts";
import { noteAdRevenueChanges } from "./ad-revenue-change.ts";
import { rowsOf } from "./engine/rows.ts";
import { type Executor, execute, query, sql } from "./engine/sql.ts";
import type { AccountKey } from "./platform-account.ts";

/** What an ad unit earned on a day, as its platform says. */
export type UnitRevenue = { adUnit: string; views: number; micros: number };

/**
 * Replaces what the platform has told about an account's day, and notes the units that earned something else than
 * before. Must run in a transaction.
 */
export async function storeAdRevenue(
  tx: Executor,
  { appId, adPlatform, advertiserId }: AccountKey,
  { day, units, pulledAtMs }: { day: string; units: readonly UnitRevenue[]; pulledAtMs: number },
): Promise<void> {
  const before = await query<UnitRevenue>(
    tx,
    sql`delete from ad_revenue where app_id = ${appId} and day = ${day}::date and ad_platform = ${adPlatform}
      and advertiser_id = ${advertiserId} returning ad_unit, views, micros`,
  );
  const fresh = rowsOf("new", units, { adUnit: "text", views: "bigint", micros: "bigint" });
  await execute(
    tx,
    sql`insert into ad_revenue (app_id, day, ad_unit, ad_platform, advertiser_id, views, micros, changed_at_ms)
      select ${appId}::int, ${day}::date, ad_unit, ${adPlatform}::text, ${advertiserId}::text, views, micros, ${pulledAtMs}::bigint
      from ${fresh}`,
  );
  const old = new Map(before.map(({ adUnit, micros }) => [adUnit, micros]));
  const current = new Map(units.map(({ adUnit, micros }) => [adUnit, micros]));
  const changed = [...new Set([...old.keys(), ...current.keys()])].filter(
    (unit) => old.get(unit) !== current.get(unit),
  );
  const period = { fromDay: day, untilDay: addDays(day, 1) };
  const changes = changed.map((adUnit) => ({ appId, adUnit, ...period, kind: "revenue" as const }));
  await noteAdRevenueChanges(tx, changes, pulledAtMs);
}
