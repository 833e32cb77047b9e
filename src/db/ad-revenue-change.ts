import type { Slice } from "../domain/cube.ts";
import type { Period } from "../domain/period.ts";
import { newRows, rowsOf } from "./engine/rows.ts";
import { type Executor, execute, query, type Sql, sql } from "./engine/sql.ts";

/**
 * What has changed: the estimate, what the platform says of units or of players, or the ads that it is spread over. All
 * but the estimate are about single days. Players have no unit.
 */
export type AdRevenueChange = Period & {
  appId: number;
  adUnit: string;
  kind: "ecpm" | "revenue" | "players" | "views";
};

/** Notes changes, in the transaction that makes them. */
export async function noteAdRevenueChanges(
  tx: Executor,
  changes: readonly AdRevenueChange[],
  atMs: number,
): Promise<void> {
  if (changes.length === 0) return;
  const changed = newRows(tx, "changed", changes, {
    appId: "int",
    adUnit: "text",
    fromDay: "date",
    untilDay: "date",
    kind: "text",
  });
  await execute(
    tx,
    sql`insert into ad_revenue_change (app_id, ad_unit, from_day, until_day, kind, noted_at_ms)
      select app_id, ad_unit, from_day, until_day, kind, ${atMs}::bigint from ${changed}`,
  );
}

/** Which changes are wanted: all of them, or those that do not come with every batch. */
export type ChangesWanted = "all" | "rare";

const wantedKinds = (wanted: ChangesWanted): Sql => (wanted === "all" ? sql`true` : sql`kind <> 'views'`);

/** The apps with changes. */
export async function findAppsWithAdRevenueChanges(executor: Executor, wanted: ChangesWanted): Promise<number[]> {
  const rows = await query<{ appId: number }>(
    executor,
    sql`select distinct app_id from ad_revenue_change where ${wantedKinds(wanted)} order by app_id`,
  );
  return rows.map(({ appId }) => appId);
}

/** Takes an app's changes that were noted since the last call, each once, with the time of the first of the same kind. */
export async function takeAdRevenueChanges(
  tx: Executor,
  appId: number,
  wanted: ChangesWanted,
): Promise<(AdRevenueChange & { notedAtMs: number })[]> {
  return query(
    tx,
    sql`with taken as (delete from ad_revenue_change where app_id = ${appId} and ${wantedKinds(wanted)} returning *)
      select app_id, ad_unit, from_day, until_day, kind, min(noted_at_ms) as noted_at_ms from taken
      group by app_id, ad_unit, from_day, until_day, kind`,
  );
}

/** The slices that count estimates of these units and periods of an app. */
export async function loadEstimatedSlices(
  tx: Executor,
  appId: number,
  changes: readonly AdRevenueChange[],
): Promise<Slice[]> {
  if (changes.length === 0) return [];
  const changed = rowsOf("changed", changes, { adUnit: "text", fromDay: "date", untilDay: "date" });
  return query<Slice>(
    tx,
    slicesOf(
      appId,
      sql`select distinct a.client_id, a.day from ${changed}
      join user_ad_day a on a.app_id = ${appId} and a.day >= changed.from_day
        and (changed.until_day is null or a.day < changed.until_day) and a.ad_unit = changed.ad_unit collate "C"
      where a.unpriced_count > 0 and a.pulled_micros is null`,
    ),
  );
}

/** The slices that count these users' days. */
export function slicesOf(appId: number, usersAndDays: Sql): Sql {
  return sql`select distinct slice.* from (${usersAndDays}) seen
    join user_account u on u.app_id = ${appId} and u.client_id = seen.client_id
    cross join lateral (values (u.app_id, 'occurred', seen.day), (u.app_id, 'touch', u.cohort_day),
      (u.app_id, 'registered', u.registered_day)) slice (app_id, cohort, day)`;
}
