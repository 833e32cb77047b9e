import type pg from "pg";
import { openEventDays } from "../src/db/event-day.ts";
import { addDays } from "../src/domain/calendar.ts";

/** The number of days of the market; the last one is `lastDay`. */
export const DAYS = 60;
const MILLION = 1_000_000;

/** The users numbered from `from` up to `until`. */
export type MarketSize = { appId: number; lastDay: string; from: number; until: number };

/**
 * Users, their days, orders, costs and events, made by the database itself: per million users three million user_days and
 * 300,000 orders. Registrations are spread evenly over the days, nine of ten through one of 800 ads; 100,000 users are
 * active on the last day. Rows are stored in the order of time, as they would have arrived.
 */
export async function storeMarket(pool: pg.Pool, size: MarketSize, eventsPerUser: number): Promise<void> {
  if (size.from === 0) await storeCosts(pool, size);
  for (let from = size.from; from < size.until; from += MILLION) {
    process.stderr.write(`storing users: ${from} of ${size.until}\n`);
    const some = { ...size, from, until: Math.min(size.until, from + MILLION) };
    await storeUsers(pool, some);
    await storeDays(pool, some);
    await storeOrders(pool, some);
    if (eventsPerUser > 0) await storeEvents(pool, some, eventsPerUser);
  }
  await storeTotals(pool, size.appId);
  // Includes the events: otherwise autovacuum would run beside the measurements.
  await pool.query(
    "vacuum analyze user_account, user_total, login_total, user_day, orders, order_total, order_key, cost, event",
  );
  await markAll(pool, size.appId);
}

/** Number, registration day, instant, ad and platform of user n. */
const users = `select n, $2::date - (n % ${DAYS})::int as day, n / 60 % 800 as ad, n % 10 = 9 as is_organic,
    case when n % 10 = 9 then '' else (array['tencent', 'bytedance', 'kuaishou', 'baidu'])[1 + n / 60 % 800 % 4] end as platform,
    (extract(epoch from $2::date - (n % ${DAYS})::int)::bigint * 1000 + (n::bigint * 7919 % 57600) * 1000) as at_ms
  from generate_series($3::int, $4::int - 1) n`;

async function storeUsers(pool: pg.Pool, { appId, lastDay, from, until }: MarketSize): Promise<void> {
  await pool.query(
    `insert into user_account (app_id, client_id, name, channel, version, wx_openid, wx_unionid, is_registered, registered_at_ms,
        registered_day, cohort_day, is_history, touched_at_ms, ad_platform, turbo_promoted_object_id, advertiser_id, gid, aid, cid,
        csite, ad_data, os_platform, ip, ua, country, province, city, properties, latest_event_at_ms, latest_login_day,
        pay_count, pay_cents, pay_max_cents, first_pay_method, first_pay_reason, ad_count, ad_micros, ad_max_ecpm_micros,
        ad_24h_count, ad_24h_micros, reward_ad_count, reward_ad_micros, reward_ad_max_ecpm_micros, reward_ad_24h_micros,
        interstitial_ad_count, interstitial_ad_micros, interstitial_ad_max_ecpm_micros, interstitial_ad_24h_micros, launch, method,
        decision_number)
      select $1::int, 'user-' || n, 'Player ' || n, 'channel' || ad % 3, n % 4, 'open-' || n, '', true, at_ms, day, day, false,
        case when is_organic then null else at_ms - 60000 end,
        platform,
        case when is_organic then '' else 'campaign' || lpad((ad % 40)::text, 8, '0') end,
        case when is_organic then '' else 'account' || ad % 20 end, case when is_organic then '' else 'plan' || ad % 80 end,
        case when is_organic then '' else 'ad' || ad end, '', case when is_organic then '' else 'site' || ad % 4 end,
        '{"gdt_vid":"wx0abcdefgh"}', case when n / 7 % 3 = 0 then 'ios' else 'android' end, '10.1.2.3',
        'Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36', 'China', 'Guangdong', 'Shenzhen',
        '{"$brand":"Xiaomi","$model":"M2012K11AC","$os":"android","$channel":"base_channel","$manufacturer":"Xiaomi"}',
        at_ms, day, case when n % 10 < 3 then 1 else 0 end, case when n % 10 < 3 then 600 + n % 5000 else 0 end,
        case when n % 10 < 3 then 600 + n % 5000 else 0 end, '', '', 3, 240000, 80000, 3, 240000, 3, 240000, 80000, 240000,
        0, 0, 0, 0, '{}', case when is_organic then '' else 'click_key' end, 1
      from (${users}) made order by at_ms`,
    [appId, lastDay, from, until],
  );
}

/** The registration day, the next day and a later one: the last day for every tenth user. */
async function storeDays(pool: pg.Pool, { appId, lastDay, from, until }: MarketSize): Promise<void> {
  await pool.query(
    `insert into user_day (app_id, client_id, day, span_t, span_r, track_events, register_events, pay_count, pay_cents, ad_count, ad_micros)
      select $1::int, 'user-' || n, day + after, after, after, 7, 0,
        case when after = 0 and n % 10 < 3 then 1 else 0 end, case when after = 0 and n % 10 < 3 then 600 + n % 5000 else 0 end, 1, 80000
      from (${users}) made cross join lateral (values (0), (1), (greatest(2, case when n % 12 = 0 then $2::date - day else 2 + n % 20 end))) as later (after)
      order by day + after, n`,
    [appId, lastDay, from, until],
  );
}

async function storeOrders(pool: pg.Pool, { appId, lastDay, from, until }: MarketSize): Promise<void> {
  await pool.query(
    `insert into orders (app_id, client_id, trace_id, day, at_ms, received_at_ms, cents, currency, sent_amount, has_rate, pay_count,
        is_virtual, properties, registered_day, ad_platform)
      select $1::int, 'user-' || n, 'order-' || n, day, at_ms + 5000, at_ms + 6000, 600 + n % 5000, 'CNY', 600 + n % 5000, true, 1, 0,
        jsonb_build_object('$pay_amount', 600 + n % 5000, '$order_id', 'order-' || n, '$pay_method', 'wechat', '$pay_type', 'CNY'), day, platform
      from (${users}) made where n % 10 < 3 order by at_ms`,
    [appId, lastDay, from, until],
  );
}

/** What apply would have counted of the users and orders. */
async function storeTotals(pool: pg.Pool, appId: number): Promise<void> {
  await pool.query("delete from user_total where app_id = $1", [appId]);
  await pool.query(
    `insert into user_total (app_id, registered_day, ad_platform, users, pay_count, pay_cents, pay_max_cents, back_cents)
      select app_id, registered_day, ad_platform, count(*), sum(pay_count), sum(pay_cents), max(pay_max_cents), 0
      from user_account where app_id = $1 group by app_id, registered_day, ad_platform`,
    [appId],
  );
  await pool.query("delete from login_total where app_id = $1", [appId]);
  await pool.query(
    `insert into login_total select app_id, latest_login_day, ad_platform, count(*) from user_account where app_id = $1 group by 1, 2, 3`,
    [appId],
  );
  await pool.query("delete from order_total where app_id = $1", [appId]);
  await pool.query(
    `insert into order_total select app_id, received_at_ms / 86400000, ad_platform, count(*) from orders where app_id = $1 group by 1, 2, 3`,
    [appId],
  );
}

/** Events per user, all on the first days: reports never read them, but they fill the memory that reports share. */
async function storeEvents(pool: pg.Pool, size: MarketSize, perUser: number): Promise<void> {
  const { appId, lastDay, from, until } = size;
  const days = Array.from({ length: DAYS }, (_, back) => addDays(lastDay, -back));
  await openEventDays(
    pool,
    days.map((day) => ({ day, receivedAtMs: Date.parse(day) })),
  );
  await pool.query(
    `insert into event (app_id, client_id, day, at_ms, fingerprint, type, event, properties_text, received_at_ms)
      select $1::int, 'user-' || n, day, at_ms + number * 1000, md5(n || ' ' || number)::uuid, 'track', 'level_up',
        jsonb_build_object('$os', 'android', '$brand', 'Xiaomi', 'level', number)::text, at_ms
      from (${users}) made cross join generate_series(1, $5::int) number order by at_ms`,
    [appId, lastDay, from, until, perUser],
  );
}

async function storeCosts(pool: pg.Pool, { appId, lastDay }: MarketSize): Promise<void> {
  await pool.query(
    `insert into cost (app_id, day, ad_platform, advertiser_id, gid, aid, csite, channel, os_platform, turbo_promoted_object_id,
        impressions, clicks, cost_e4, changed_at_ms)
      select $1::int, $2::date - back, (array['tencent', 'bytedance', 'kuaishou', 'baidu'])[1 + ad % 4], 'account' || ad % 20,
        'plan' || ad % 80, 'ad' || ad, 'site' || ad % 4, '', '', '', 10000, 300, 5000000 + ad, 0
      from generate_series(0, ${DAYS - 1}) back cross join generate_series(0, 799) ad`,
    [appId, lastDay],
  );
}

async function markAll(pool: pg.Pool, appId: number): Promise<void> {
  await pool.query(
    `insert into dirty_day (app_id, cohort, day, marked, since, marked_at_ms)
      select app_id, cohort, day, 1, 1, 0 from (
        select distinct app_id, 'touch' as cohort, cohort_day as day from user_account where app_id = $1
        union select distinct app_id, 'registered', registered_day from user_account where app_id = $1
        union select distinct app_id, 'occurred', day from user_day where app_id = $1) slice
      on conflict (app_id, cohort, day) do update set since = 1`,
    [appId],
  );
}
