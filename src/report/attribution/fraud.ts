import type { FraudReport } from "../../contract/admin/fraud.ts";
import { type Executor, query, sql } from "../../db/engine/sql.ts";
import type { UserAccount } from "../../db/user-account.ts";
import type { PatternFlag } from "../../domain/attribution/fraud.ts";
import { deviceKeys } from "../../domain/attribution/touch-key.ts";
import { addDays, calendarOf } from "../../domain/calendar.ts";

const DEVICES_SHOWN_MAX = 50;

/** A sign of fraud that shows only across many users. Computed on request, so it is never out of date. */
export type Pattern = { flag: PatternFlag; reason: string };

const CLIENTS_PER_DEVICE = 5;
const USERS_MIN = 30;
/**
 * Standard deviation over mean of the gaps between touch and registration: people's vary widely, a machine's do not.
 */
const SCATTER_MIN = 0.1;

export async function findPatterns(executor: Executor, user: UserAccount): Promise<Pattern[]> {
  const patterns: Pattern[] = [];
  const [device] = await manyClients(executor, { appId: user.appId, keys: keysOf(user) });
  if (device) {
    patterns.push({
      flag: "many_clients",
      reason: `The user's device is shared by ${device.clients} clients [many_clients].`,
    });
  }
  if (user.adPlatform !== "" && user.touchedAtMs !== null) {
    const { appId, adPlatform, aid, registeredDay } = user;
    const [ad] = await evenGaps(executor, {
      appId,
      fromDay: registeredDay,
      toDay: registeredDay,
      ad: { adPlatform, aid },
    });
    if (ad) {
      patterns.push({
        flag: "even_gaps",
        reason: `${ad.users} users of the same ad registered about ${Math.round(ad.meanMs / 1000)} s after their touch, too evenly to be people [even_gaps].`,
      });
    }
  }
  return patterns;
}

function keysOf(user: UserAccount): string[] {
  return user.device ? deviceKeys(user.device).map((key) => key.value) : [];
}

/** The most shared of the keys, if more than CLIENTS_PER_DEVICE clients have it. */
async function manyClients(
  executor: Executor,
  of: { appId: number; keys: readonly string[] },
): Promise<{ clients: number }[]> {
  if (of.keys.length === 0) return [];
  return query(
    executor,
    sql`select count(distinct client_id)::int as clients from user_key
      where app_id = ${of.appId} and key_value = any(${of.keys}::uuid[])
      group by key_value having count(distinct client_id) > ${CLIENTS_PER_DEVICE}
      order by 1 desc limit 1`,
  );
}

type EvenGaps = { adPlatform: string; aid: string; users: number; meanMs: number; scatter: number };

/** Ads whose users all registered after nearly the same time since their touch. */
async function evenGaps(
  executor: Executor,
  range: { appId: number; fromDay: string; toDay: string; ad?: { adPlatform: string; aid: string } },
): Promise<EvenGaps[]> {
  const ad = range.ad ? sql`and ad_platform = ${range.ad.adPlatform} and aid = ${range.ad.aid}` : sql``;
  return query<EvenGaps>(
    executor,
    sql`select * from (
        select ad_platform, aid, count(*)::int as users,
          avg(registered_at_ms - touched_at_ms)::float8 as mean_ms,
          (stddev_pop(registered_at_ms - touched_at_ms) / nullif(avg(registered_at_ms - touched_at_ms), 0))::float8 as scatter
        from user_account
        where app_id = ${range.appId} and registered_day between ${range.fromDay}::date and ${range.toDay}::date
          and touched_at_ms is not null and touched_at_ms <= registered_at_ms and method <> 'reported' ${ad}
        group by ad_platform, aid
      ) by_ad
      where users >= ${USERS_MIN} and scatter < ${SCATTER_MIN}
      order by users desc, ad_platform, aid`,
  );
}

/** The number of decisions with each flag, by platform. */
async function countFlags(
  executor: Executor,
  range: { appId: number; fromMs: number; untilMs: number },
): Promise<{ flag: string; adPlatform: string; users: number }[]> {
  return query(
    executor,
    sql`select flag, ad_platform, count(*)::int as users
      from attribution_decision cross join lateral unnest(flags) as flag
      where app_id = ${range.appId} and at_ms >= ${range.fromMs} and at_ms < ${range.untilMs}
      group by flag, ad_platform order by users desc, flag, ad_platform`,
  );
}

/** Devices with the most clients. */
async function sharedDevices(
  executor: Executor,
  range: { appId: number; fromMs: number; untilMs: number; limit: number },
): Promise<{ clients: number; clientIds: string[] }[]> {
  return query(
    executor,
    sql`select count(distinct client_id)::int as clients, (array_agg(distinct client_id order by client_id))[1:10] as client_ids
      from user_key where app_id = ${range.appId} and method = 'device_id' and at_ms >= ${range.fromMs} and at_ms < ${range.untilMs}
      group by key_value having count(distinct client_id) > ${CLIENTS_PER_DEVICE}
      order by 1 desc, 2 limit ${range.limit}`,
  );
}

/** Everything that looks like fraud among the users of some local days. */
export async function fraudReport(
  executor: Executor,
  app: { appId: number; timeZone: string },
  range: { fromDay: string; toDay: string },
): Promise<FraudReport> {
  const calendar = calendarOf(app.timeZone);
  const times = {
    appId: app.appId,
    fromMs: calendar.startOf(range.fromDay),
    untilMs: calendar.startOf(addDays(range.toDay, 1)),
  };
  const flags = await countFlags(executor, times);
  const gaps = await evenGaps(executor, { appId: app.appId, ...range });
  const devices = await sharedDevices(executor, { ...times, limit: DEVICES_SHOWN_MAX });
  return {
    flags: flags.map(({ flag, adPlatform, users }) => ({ flag, ad_platform: adPlatform, users })),
    even_gaps: gaps.map(({ adPlatform, aid, users, meanMs }) => ({
      ad_platform: adPlatform,
      aid,
      users,
      mean_s: Math.round(meanMs / 1000),
    })),
    many_clients: devices.map(({ clients, clientIds }) => ({ clients, client_ids: clientIds })),
  };
}
