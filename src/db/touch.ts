import type pg from "pg";
import type { Touch, TouchKind } from "../domain/touch.ts";
import { copyJson, copyRows, copyText } from "./copy.ts";
import { type Executor, query, sql } from "./sql.ts";

export type TouchRow = {
  appId: number;
  /** The Monday of the week whose partition holds it. */
  week: string;
  touch: Touch;
  /** Hashes under which it can be found. */
  keys: readonly string[];
};

const COLUMNS =
  "app_id, touch_id, week, kind, ad_platform, touched_at_ms, received_at_ms, turbo_promoted_object_id, channel, advertiser_id, gid, aid, cid, csite, ip, details";

/** The caller makes sure that none of them is stored yet. */
export async function insertTouches(tx: pg.PoolClient, rows: readonly TouchRow[]): Promise<void> {
  await copyRows(tx, `copy touch (${COLUMNS}) from stdin`, rows.map(toCopyRow));
  const keyRows = rows.flatMap(({ appId, week, touch, keys }) =>
    keys.map((value) => `${appId}\t${value}\t${touch.touchedAtMs}\t${touch.touchId}\t${week}`),
  );
  await copyRows(tx, "copy touch_key (app_id, key_value, touched_at_ms, touch_id, week) from stdin", keyRows);
}

export function touchKeyText(appId: number, touchId: string): string {
  return `${appId}\t${touchId}`;
}

function toCopyRow({ appId, week, touch }: TouchRow): string {
  return [
    appId,
    touch.touchId,
    week,
    touch.kind,
    copyText(touch.platform),
    touch.touchedAtMs,
    touch.receivedAtMs,
    copyText(touch.campaignId),
    copyText(touch.channel),
    copyText(touch.advertiserId),
    copyText(touch.gid),
    copyText(touch.aid),
    copyText(touch.cid),
    copyText(touch.csite),
    copyText(touch.ip),
    copyJson(JSON.stringify(touch.details)),
  ].join("\t");
}

/** Those of the touches that are stored, whatever their week. */
export async function findTouchIds(
  executor: Executor,
  keys: readonly { appId: number; touchId: string }[],
): Promise<Set<string>> {
  if (keys.length === 0) return new Set();
  const rows = await query<{ appId: number; touchId: string }>(
    executor,
    sql`select t.app_id as "appId", replace(t.touch_id::text, '-', '') as "touchId"
      from unnest(${keys.map((key) => key.appId)}::int[], ${keys.map((key) => key.touchId)}::uuid[]) as wanted (app_id, touch_id)
      join touch t on t.app_id = wanted.app_id and t.touch_id = wanted.touch_id`,
  );
  return new Set(rows.map((row) => touchKeyText(row.appId, row.touchId)));
}

/** A wish to find touches: those under a key, newest first, touched in [from, until]. */
export type TouchLookup = { appId: number; key: string; fromMs: number; untilMs: number; fromWeek: string };

export type FoundRow = { lookup: number; touch: Touch };

/** At most `limit` of each look-up; `lookup` is its index. */
export async function findTouches(
  executor: Executor,
  lookups: readonly TouchLookup[],
  limit: number,
): Promise<FoundRow[]> {
  if (lookups.length === 0) return [];
  const rows = await query<TouchColumns & { lookup: number }>(
    executor,
    sql`select wanted.lookup::int as lookup, ${TOUCH_COLUMNS}
      from unnest(${lookups.map((one) => one.appId)}::int[], ${lookups.map((one) => one.key)}::uuid[],
          ${lookups.map((one) => one.fromMs)}::bigint[], ${lookups.map((one) => one.untilMs)}::bigint[],
          ${lookups.map((one) => one.fromWeek)}::date[])
        with ordinality as wanted (app_id, key_value, from_ms, until_ms, from_week, lookup)
      cross join lateral (
        select k.touch_id, k.week from touch_key k
        where k.app_id = wanted.app_id and k.key_value = wanted.key_value and k.week >= wanted.from_week
          and k.touched_at_ms >= wanted.from_ms and k.touched_at_ms <= wanted.until_ms
        order by k.touched_at_ms desc, k.touch_id desc limit ${limit}
      ) found
      join touch t on t.app_id = wanted.app_id and t.touch_id = found.touch_id and t.week = found.week`,
  );
  return rows.map(({ lookup, ...columns }) => ({ lookup: lookup - 1, touch: touchOf(columns) }));
}

type TouchColumns = Omit<Touch, "touchId" | "platform" | "campaignId"> & {
  touchId: string;
  platform: string;
  campaignId: string;
  kind: TouchKind;
};

const TOUCH_COLUMNS = sql`replace(t.touch_id::text, '-', '') as "touchId", t.kind, t.ad_platform as platform,
  t.touched_at_ms as "touchedAtMs", t.received_at_ms as "receivedAtMs", t.turbo_promoted_object_id as "campaignId",
  t.channel, t.advertiser_id as "advertiserId", t.gid, t.aid, t.cid, t.csite, t.ip, t.details`;

function touchOf(columns: TouchColumns): Touch {
  return columns;
}

/** How many touches a key has in an hour, counted no further than `max`. */
export async function countTouches(
  executor: Executor,
  keys: readonly { appId: number; key: string; fromMs: number; untilMs: number; fromWeek: string }[],
  max: number,
): Promise<number[]> {
  if (keys.length === 0) return [];
  const rows = await query<{ touches: number }>(
    executor,
    sql`select counted.touches::int as touches
      from unnest(${keys.map((one) => one.appId)}::int[], ${keys.map((one) => one.key)}::uuid[],
          ${keys.map((one) => one.fromMs)}::bigint[], ${keys.map((one) => one.untilMs)}::bigint[],
          ${keys.map((one) => one.fromWeek)}::date[])
        with ordinality as wanted (app_id, key_value, from_ms, until_ms, from_week, lookup)
      cross join lateral (
        select count(*) as touches from (
          select 1 from touch_key k
          where k.app_id = wanted.app_id and k.key_value = wanted.key_value and k.week >= wanted.from_week
            and k.touched_at_ms >= wanted.from_ms and k.touched_at_ms < wanted.until_ms
          limit ${max}
        ) few
      ) counted
      order by wanted.lookup`,
  );
  return rows.map((row) => row.touches);
}
