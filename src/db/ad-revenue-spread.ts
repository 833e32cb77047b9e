import type { Slice } from "../domain/cube.ts";
import { type AdRevenueChange, slicesOf } from "./ad-revenue-change.ts";
import { rowsOf } from "./engine/rows.ts";
import { type Executor, execute, query, type Sql, sql } from "./engine/sql.ts";

/**
 * Spreads what platforms have told over the ads of an app's changed units and days, and returns the slices that change. The
 * result depends on the tables alone, not on the order in which ads and revenue came.
 *
 * First what was told by player, over the player's ads; then what was told by unit, over the other ads of the unit.
 */
export async function spreadRevenue(
  tx: Executor,
  appId: number,
  changes: readonly AdRevenueChange[],
): Promise<Slice[]> {
  if (changes.length === 0) return [];
  const changed = changedOf(appId, changes);
  // In the order in which apply changes rows, so that neither waits for the other forever.
  await execute(
    tx,
    sql`select count(*) from (select 1 from (select ad_unit, day from ${changed.units}
          union select a.ad_unit, a.day from ${changed.days} join user_ad_day a on a.app_id = ${appId} and a.day = days.day) own
        join user_ad_day a on a.app_id = ${appId} and a.day = own.day and a.ad_unit = own.ad_unit
      order by a.client_id, a.day, a.span_t, a.span_r, a.ad_unit for update of a) locked`,
  );
  const byPlayer = await spreadByPlayer(tx, appId, changed.days);
  return [...byPlayer, ...(await spreadByUnit(tx, appId, changed.units))];
}

/** `days`: those of which something is told by player. `units`: with their days. Both read the tables when used. */
type Changed = { days: Sql; units: Sql };

/** Most ads are of units and days of which no platform has told anything; their rows are not read. */
function changedOf(appId: number, changes: readonly AdRevenueChange[]): Changed {
  const wanted = rowsOf("wanted", changes, { adUnit: "text", fromDay: "date", kind: "text" });
  const days = sql`(select distinct from_day as day from ${wanted}
    where kind = 'players' or exists (select 1 from ad_revenue_user r where r.app_id = ${appId} and r.day = wanted.from_day)) days`;
  // Ads that become those of a player, or no longer are, change the shares of all others of their units.
  const units = sql`(select ad_unit collate "C" as ad_unit, from_day as day from ${wanted}
      where ad_unit <> '' and (kind = 'revenue' or exists (select 1 from ad_revenue r where r.app_id = ${appId}
        and r.day = wanted.from_day and r.ad_unit = wanted.ad_unit collate "C"))
    union select r.ad_unit, r.day from ${days} join ad_revenue r on r.app_id = ${appId} and r.day = days.day
      where r.ad_unit <> '') units`;
  return { days, units };
}

/**
 * Each player's revenue goes to the ads of the users with that open id, which is their client id if they have told no
 * other. What is told of players without ads goes to the ads of users without an open id: they must be among them. Not to
 * ads of units that their own platform tells.
 */
async function spreadByPlayer(tx: Executor, appId: number, days: Sql): Promise<Slice[]> {
  return query<Slice>(
    tx,
    sql`with told as (select r.day, r.open_id, sum(r.micros) as micros from ${days}
        join ad_revenue_user r on r.app_id = ${appId} and r.day = days.day group by r.day, r.open_id),
      ad as (select a.*, case when t.open_id is not null then t.open_id
            when u.wx_openid = '' and not exists (select 1 from ad_revenue r
              where r.app_id = ${appId} and r.day = a.day and r.ad_unit = a.ad_unit and a.ad_unit <> '') then '' end as player
        from ${days} join user_ad_day a on a.app_id = ${appId} and a.day = days.day
        join user_account u on u.app_id = ${appId} and u.client_id = a.client_id
        left join told t on t.day = a.day
          and t.open_id = coalesce(nullif(u.wx_openid, ''), u.client_id) collate "C"),
      sums as (select told.day, coalesce(known.player, '') as player, sum(told.micros) as told
        from told left join (select distinct day, player from ad where player <> '') known
          on known.day = told.day and known.player = told.open_id group by 1, 2),
      counted as (select ad.*, sums.told, ${countsOver(sql`ad`, sql`sums.told`)}
        from ad left join sums on sums.day = ad.day and sums.player = ad.player
        window pot as (partition by ad.day, ad.player)),
      ${moved(appId, sql`true`)}`,
  );
}

/** What a unit earned goes to its ads, except to those of which something is told by player. */
async function spreadByUnit(tx: Executor, appId: number, units: Sql): Promise<Slice[]> {
  return query<Slice>(
    tx,
    sql`with told as (select r.ad_unit, r.day, sum(r.micros) as micros from ${units}
        join ad_revenue r on r.app_id = ${appId} and r.day = units.day and r.ad_unit = units.ad_unit
        group by r.ad_unit, r.day),
      counted as (select a.*, told.micros as told, ${countsOver(sql`a`, sql`told.micros`)}
        from ${units} join user_ad_day a on a.app_id = ${appId} and a.day = units.day and a.ad_unit = units.ad_unit
        left join told on told.ad_unit = a.ad_unit and told.day = a.day
        where not a.is_told_by_user and (told.micros is not null or a.pulled_micros is not null)
        window pot as (partition by a.ad_unit, a.day)),
      ${moved(appId, sql`false`)}`,
  );
}

/** What there is to spread, over how many ads, and how many of them come before each row, in the order of users and time. */
function countsOver(ad: Sql, told: Sql): Sql {
  return sql`greatest(${told} - sum(${ad}.reported_micros) over pot, 0) as rest,
    sum(${ad}.unpriced_count) over pot as all_count,
    sum(${ad}.unpriced_count) over (pot order by ${ad}.client_id, ${ad}.ad_unit, ${ad}.span_r, ${ad}.span_t
      rows unbounded preceding) - ${ad}.unpriced_count as before`;
}

/**
 * Stores the shares of the rows `counted`, and returns the slices of those that change. What clients reported is taken off
 * already; each of the other ads gets the same share, and what does not divide goes in millionths to the first ads, so that
 * all shares add up to the whole.
 */
function moved(appId: number, isByPlayer: Sql): Sql {
  return sql`share as (select client_id, day, span_t, span_r, ad_unit, ${isByPlayer} and told is not null as is_told_by_user,
        case when told is not null and unpriced_count > 0 then unpriced_count * div(rest, all_count)
          + greatest(least(before + unpriced_count, mod(rest, all_count)) - before, 0) end::bigint as micros
      from counted where not ${isByPlayer} or told is not null or is_told_by_user),
    moved as (update user_ad_day a set pulled_micros = share.micros, is_told_by_user = share.is_told_by_user from share
      where a.app_id = ${appId} and a.client_id = share.client_id and a.day = share.day
        and a.span_t = share.span_t and a.span_r = share.span_r and a.ad_unit = share.ad_unit
        and (a.pulled_micros is distinct from share.micros or a.is_told_by_user <> share.is_told_by_user)
      returning a.client_id, a.day)
    ${slicesOf(appId, sql`select distinct client_id, day from moved`)}`;
}
