import type pg from "pg";
import { addDays } from "../domain/calendar.ts";
import type { UserKey } from "../domain/user/user-key.ts";
import { type AdRevenueChange, noteAdRevenueChanges } from "./ad-revenue-change.ts";
import { copyRows, copyText } from "./engine/copy.ts";
import { newRows, rowsOf } from "./engine/rows.ts";
import { type Executor, execute, query, sql } from "./engine/sql.ts";
import type { Rename } from "./postback.ts";

/** Ads of one unit that a user was shown. Reported ones came with what they earned, unpriced ones did not. */
export type AdUnitCounters = { reportedCount: number; reportedMicros: number; unpricedCount: number };

/** The ads of a user's day, by unit; the unit of those that name none is empty. */
export type UserAdDay = UserKey & {
  day: string;
  sinceTouch: number;
  sinceRegistration: number;
  adUnits?: ReadonlyMap<string, AdUnitCounters>;
};

const COLUMNS = "app_id, client_id, day, span_t, span_r, ad_unit, reported_count, reported_micros, unpriced_count";

function toCopyRows(days: readonly UserAdDay[]): string[] {
  const rows: string[] = [];
  for (const { adUnits, ...d } of days) {
    if (!adUnits) continue;
    const key = `${d.appId}\t${copyText(d.clientId)}\t${d.day}\t${d.sinceTouch}\t${d.sinceRegistration}`;
    for (const [unit, { reportedCount, reportedMicros, unpricedCount }] of adUnits)
      rows.push(`${key}\t${copyText(unit)}\t${reportedCount}\t${reportedMicros}\t${unpricedCount}`);
  }
  return rows;
}

/** Inserts the ads of users who have none yet, one row per key and unit. */
export async function insertUserAdDays(tx: pg.PoolClient, days: readonly UserAdDay[]): Promise<void> {
  await copyRows(tx, { table: "user_ad_day", columns: COLUMNS }, toCopyRows(days));
}

/** Adds to the stored counters, in the order of the key: another process may be changing the same rows. */
export async function addUserAdDays(tx: pg.PoolClient, days: readonly UserAdDay[]): Promise<void> {
  // Not as copies of both: these were a sixth of what V8 had to move and mark.
  const units = days.flatMap((of) => Array.from(of.adUnits ?? [], ([adUnit, ads]) => ({ of, adUnit, ads })));
  if (units.length === 0) return;
  const added = newRows(tx, "added", units, {
    appId: ["int", ({ of }) => of.appId],
    clientId: ["text", ({ of }) => of.clientId],
    day: ["date", ({ of }) => of.day],
    spanT: ["int", ({ of }) => of.sinceTouch],
    spanR: ["int", ({ of }) => of.sinceRegistration],
    adUnit: "text",
    reportedCount: ["int", ({ ads }) => ads.reportedCount],
    reportedMicros: ["bigint", ({ ads }) => ads.reportedMicros],
    unpricedCount: ["int", ({ ads }) => ads.unpricedCount],
  });
  await execute(
    tx,
    sql`insert into user_ad_day (app_id, client_id, day, span_t, span_r, ad_unit, reported_count, reported_micros, unpriced_count)
      select * from ${added}
      order by app_id, client_id collate "C", day, span_t, span_r, ad_unit collate "C"
      on conflict (app_id, client_id, day, span_t, span_r, ad_unit) do update set
        reported_count = user_ad_day.reported_count + excluded.reported_count,
        reported_micros = user_ad_day.reported_micros + excluded.reported_micros,
        unpriced_count = user_ad_day.unpriced_count + excluded.unpriced_count`,
  );
}

/** Deletes the counters of users whose spans are to be recounted. Days whose events were dropped stay. */
export async function deleteUserAdDays(tx: pg.PoolClient, users: readonly UserKey[]): Promise<void> {
  const gone = rowsOf("gone", users, { appId: "int", clientId: "text" });
  await execute(
    tx,
    sql`delete from user_ad_day using ${gone}
      where user_ad_day.app_id = gone.app_id and user_ad_day.client_id = gone.client_id collate "C"
        and not exists (select 1 from event_day e
          where e.state = 'dropped' and user_ad_day.day >= e.day and user_ad_day.day < e.until_day)`,
  );
}

/** Shares of pulled revenue go by the order of ids, so that all ads of the same units and days are affected. */
export async function renameUserAdDays(tx: Executor, rename: Rename): Promise<void> {
  const { appId, clientId, newClientId, renamedAtMs } = rename;
  await noteAdsOf(tx, [rename], renamedAtMs);
  await execute(
    tx,
    sql`with moved as (delete from user_ad_day where app_id = ${appId} and client_id = ${clientId} returning *)
      insert into user_ad_day (app_id, client_id, day, span_t, span_r, ad_unit, reported_count, reported_micros, unpriced_count, pulled_micros, is_told_by_user)
      select app_id, ${newClientId}, day, span_t, span_r, ad_unit, reported_count, reported_micros, unpriced_count, pulled_micros, is_told_by_user
      from moved`,
  );
}

export async function eraseUserAdDays(tx: Executor, user: UserKey, erasedAtMs: number): Promise<void> {
  await noteAdsOf(tx, [user], erasedAtMs);
  await execute(tx, sql`delete from user_ad_day where app_id = ${user.appId} and client_id = ${user.clientId}`);
}

/** Notes that the users' ads go elsewhere, or are another player's. */
export async function noteAdsOf(tx: Executor, users: readonly UserKey[], atMs: number): Promise<void> {
  if (users.length === 0) return;
  const moved = rowsOf("moved", users, { appId: "int", clientId: "text" });
  const units = await query<{ appId: number; adUnit: string; day: string }>(
    tx,
    sql`select distinct a.app_id, a.ad_unit, a.day from ${moved}
      join user_ad_day a on a.app_id = moved.app_id and a.client_id = moved.client_id collate "C"`,
  );
  await noteAdRevenueChanges(
    tx,
    units.map(({ appId, ...unit }) => viewsChange(appId, unit)),
    atMs,
  );
}

/** The changes that new ads make. */
export function changesOfAds(days: readonly UserAdDay[]): AdRevenueChange[] {
  const changes = new Map<string, AdRevenueChange>();
  for (const { appId, day, adUnits } of days) {
    for (const adUnit of adUnits?.keys() ?? []) {
      const key = `${appId} ${day} ${adUnit}`;
      if (!changes.has(key)) changes.set(key, viewsChange(appId, { adUnit, day }));
    }
  }
  return [...changes.values()];
}

function viewsChange(appId: number, { adUnit, day }: { adUnit: string; day: string }): AdRevenueChange {
  return { appId, adUnit, fromDay: day, untilDay: addDays(day, 1), kind: "views" };
}
