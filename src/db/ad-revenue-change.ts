import type { Slice } from "../domain/cube.ts";
import type { Period } from "../domain/period.ts";
import { rowsOf } from "./engine/rows.ts";
import { type Executor, execute, query, type Sql, sql } from "./engine/sql.ts";

/**
 * What has changed: the estimate, what the platform says, or the ads that it is spread over. The last two are about
 * single days.
 */
export type AdRevenueChange = Period & { appId: number; adUnit: string; kind: "ecpm" | "revenue" | "views" };

/** Notes changes, in the transaction that makes them. */
export async function noteAdRevenueChanges(
  tx: Executor,
  changes: readonly AdRevenueChange[],
  atMs: number,
): Promise<void> {
  if (changes.length === 0) return;
  const changed = rowsOf("changed", changes, {
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

export async function hasAdRevenueChanges(executor: Executor, wanted: ChangesWanted): Promise<boolean> {
  const [row] = await query<{ isThere: boolean }>(
    executor,
    sql`select exists (select 1 from ad_revenue_change where ${wantedKinds(wanted)}) as is_there`,
  );
  return row!.isThere;
}

/** Takes the changes that were noted since the last call, each once, with the time of the first of the same kind. */
export async function takeAdRevenueChanges(
  tx: Executor,
  wanted: ChangesWanted,
): Promise<(AdRevenueChange & { notedAtMs: number })[]> {
  return query(
    tx,
    sql`with taken as (delete from ad_revenue_change where ${wantedKinds(wanted)} returning *)
      select app_id, ad_unit, from_day, until_day, kind, min(noted_at_ms) as noted_at_ms from taken
      group by app_id, ad_unit, from_day, until_day, kind`,
  );
}

/** The slices that count estimates of these units and periods. */
export async function loadEstimatedSlices(tx: Executor, changes: readonly AdRevenueChange[]): Promise<Slice[]> {
  if (changes.length === 0) return [];
  const changed = rowsOf("changed", changes, { appId: "int", adUnit: "text", fromDay: "date", untilDay: "date" });
  return query<Slice>(
    tx,
    slicesOf(sql`select distinct a.app_id, a.client_id, a.day from ${changed}
      join user_ad_day a on a.app_id = changed.app_id and a.day >= changed.from_day
        and (changed.until_day is null or a.day < changed.until_day) and a.ad_unit = changed.ad_unit collate "C"
      where a.unpriced_count > 0 and a.pulled_micros is null`),
  );
}

/**
 * Spreads what platforms have told over the ads of these units and days, and returns the slices that change. What the
 * clients themselves reported is taken off first, and each of the other ads gets the same share; what does not divide
 * goes in millionths to the first ads, in the order of users and time, so that all shares add up to the whole.
 */
export async function spreadRevenue(tx: Executor, changes: readonly AdRevenueChange[]): Promise<Slice[]> {
  if (changes.length === 0) return [];
  const wanted = rowsOf("wanted", changes, { appId: "int", adUnit: "text", fromDay: "date", kind: "text" });
  // Most ads are of units and days of which no platform has told anything; their rows are not read.
  const changed = sql`(select distinct app_id, ad_unit collate "C" as ad_unit, from_day as day from ${wanted}
    where kind = 'revenue' or exists (select 1 from ad_revenue r where r.app_id = wanted.app_id and r.day = wanted.from_day
      and r.ad_unit = wanted.ad_unit collate "C")) changed`;
  const ofChanged = sql`from ${changed} join user_ad_day a on a.app_id = changed.app_id and a.day = changed.day
    and a.ad_unit = changed.ad_unit`;
  // In the order in which apply changes rows, so that neither waits for the other forever.
  await execute(
    tx,
    sql`select count(*) from (select 1 ${ofChanged}
      order by a.app_id, a.client_id, a.day, a.span_t, a.span_r, a.ad_unit for update of a) locked`,
  );
  return query<Slice>(
    tx,
    sql`with told as (select r.app_id, r.ad_unit, r.day, sum(r.micros) as micros from ${changed}
        join ad_revenue r on r.app_id = changed.app_id and r.day = changed.day and r.ad_unit = changed.ad_unit
        group by r.app_id, r.ad_unit, r.day),
      counted as (select a.*, told.micros as told, sum(a.unpriced_count) over unit as all_count,
          greatest(told.micros - sum(a.reported_micros) over unit, 0) as rest,
          sum(a.unpriced_count) over (unit order by a.client_id, a.span_r, a.span_t rows unbounded preceding) - a.unpriced_count as before
        ${ofChanged} left join told on told.app_id = a.app_id and told.ad_unit = a.ad_unit and told.day = a.day
        where told.micros is not null or a.pulled_micros is not null
        window unit as (partition by a.app_id, a.ad_unit, a.day)),
      share as (select app_id, client_id, day, span_t, span_r, ad_unit,
          case when told is not null and unpriced_count > 0 then unpriced_count * div(rest, all_count)
            + greatest(least(before + unpriced_count, mod(rest, all_count)) - before, 0) end::bigint as micros
        from counted),
      moved as (update user_ad_day a set pulled_micros = share.micros from share
        where a.app_id = share.app_id and a.client_id = share.client_id and a.day = share.day
          and a.span_t = share.span_t and a.span_r = share.span_r and a.ad_unit = share.ad_unit
          and a.pulled_micros is distinct from share.micros
        returning a.app_id, a.client_id, a.day)
      ${slicesOf(sql`select distinct app_id, client_id, day from moved`)}`,
  );
}

/** The slices that count these users' days. */
function slicesOf(usersAndDays: Sql): Sql {
  return sql`select distinct slice.* from (${usersAndDays}) seen
    join user_account u on u.app_id = seen.app_id and u.client_id = seen.client_id
    cross join lateral (values (u.app_id, 'occurred', seen.day), (u.app_id, 'touch', u.cohort_day),
      (u.app_id, 'registered', u.registered_day)) slice (app_id, cohort, day)`;
}
