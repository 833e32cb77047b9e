import { addDays } from "../domain/calendar.ts";
import type { UserKey } from "../domain/user/user-key.ts";
import { type AdRevenueChange, noteAdRevenueChanges } from "./ad-revenue-change.ts";
import { rowsOf } from "./engine/rows.ts";
import { type Executor, execute, query, sql } from "./engine/sql.ts";
import { findOpenIds } from "./open-id.ts";
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
  const earned = (rows: readonly UnitRevenue[]) => new Map(rows.map(({ adUnit, micros }) => [adUnit, micros]));
  const period = { fromDay: day, untilDay: addDays(day, 1) };
  const changes = changedIn(earned(before), earned(units)).map((adUnit) => ({
    appId,
    adUnit,
    ...period,
    kind: "revenue" as const,
  }));
  await noteAdRevenueChanges(tx, changes, pulledAtMs);
}

/** What the ads that a player was shown earned on a day, as the platform says. Without an open id: players unknown to all. */
export type PlayerRevenue = { openId: string; views: number; micros: number };

/** The same for what the platform tells by player. */
export async function storePlayerRevenue(
  tx: Executor,
  { appId, adPlatform, advertiserId }: AccountKey,
  { day, players, pulledAtMs }: { day: string; players: readonly PlayerRevenue[]; pulledAtMs: number },
): Promise<void> {
  const before = await query<PlayerRevenue>(
    tx,
    sql`delete from ad_revenue_user where app_id = ${appId} and day = ${day}::date and ad_platform = ${adPlatform}
      and advertiser_id = ${advertiserId} returning open_id, views, micros`,
  );
  const fresh = rowsOf("new", players, { openId: "text", views: "bigint", micros: "bigint" });
  await execute(
    tx,
    sql`insert into ad_revenue_user (app_id, day, open_id, ad_platform, advertiser_id, views, micros, changed_at_ms)
      select ${appId}::int, ${day}::date, open_id, ${adPlatform}::text, ${advertiserId}::text, views, micros, ${pulledAtMs}::bigint
      from ${fresh}`,
  );
  const earned = (rows: readonly PlayerRevenue[]) => new Map(rows.map(({ openId, micros }) => [openId, micros]));
  if (changedIn(earned(before), earned(players)).length === 0) return;
  await noteAdRevenueChanges(tx, [playersChange(appId, day)], pulledAtMs);
}

/** The keys whose amounts differ. */
function changedIn(before: ReadonlyMap<string, number>, now: ReadonlyMap<string, number>): string[] {
  return [...new Set([...before.keys(), ...now.keys()])].filter((key) => before.get(key) !== now.get(key));
}

/**
 * Keeps what was told about a player without saying about whom: the platform's total stays what it is. An open id that
 * another user has too stays that user's.
 */
export async function forgetPlayer(tx: Executor, { appId, clientId }: UserKey, erasedAtMs: number): Promise<void> {
  const named = await query<{ openId: string }>(
    tx,
    sql`select distinct r.open_id from user_account u join ad_revenue_user r on r.app_id = u.app_id
        and r.open_id in (u.client_id, nullif(u.wx_openid, ''))
      where u.app_id = ${appId} and u.client_id = ${clientId}`,
  );
  const own = named.map(({ openId }) => openId);
  const others = await findOpenIds(tx, { appId, openIds: own, except: clientId });
  const openIds = own.filter((openId) => !others.has(openId));
  if (openIds.length === 0) return;
  const days = await query<{ day: string }>(
    tx,
    sql`with gone as (delete from ad_revenue_user where app_id = ${appId} and open_id = any(${openIds}::text[]) returning *)
      insert into ad_revenue_user (app_id, day, open_id, ad_platform, advertiser_id, views, micros, changed_at_ms)
      select app_id, day, '', ad_platform, advertiser_id, sum(views), sum(micros), max(changed_at_ms) from gone
      group by app_id, day, ad_platform, advertiser_id
      on conflict (app_id, day, open_id, ad_platform, advertiser_id) do update set
        views = ad_revenue_user.views + excluded.views, micros = ad_revenue_user.micros + excluded.micros
      returning day`,
  );
  const changes = [...new Set(days.map(({ day }) => day))].map((day) => playersChange(appId, day));
  await noteAdRevenueChanges(tx, changes, erasedAtMs);
}

function playersChange(appId: number, day: string): AdRevenueChange {
  return { appId, adUnit: "", fromDay: day, untilDay: addDays(day, 1), kind: "players" };
}
