import type pg from "pg";
import type { Touch } from "../domain/attribution/touch.ts";
import { weekOf } from "../domain/calendar.ts";
import { KIB } from "../limits.ts";
import { copyJson, copyRows, copyText, rowsFrom } from "./engine/copy.ts";
import { rowsOf } from "./engine/rows.ts";
import { type Executor, query, sql } from "./engine/sql.ts";

export type TouchRow = {
  appId: number;
  /** The Monday of the week whose partition holds the touch. */
  week: string;
  touch: Touch;
  /** Hashes under which the touch can be found. */
  keys: readonly string[];
};

const COLUMNS =
  "app_id, touch_id, week, kind, ad_platform, touched_at_ms, received_at_ms, turbo_promoted_object_id, channel, advertiser_id, gid, aid, cid, csite, ip, details";

/** Inserts touches, none of which may be stored already. */
export async function insertTouches(tx: pg.PoolClient, rows: readonly TouchRow[]): Promise<void> {
  await copyRows(tx, { table: "touch", columns: COLUMNS }, rowsFrom(rows, toCopyRow));
  const keyRows = rows.flatMap(({ appId, week, touch, keys }) =>
    keys.map((value) => `${appId}\t${value}\t${touch.touchedAtMs}\t${touch.touchId}\t${week}`),
  );
  await copyRows(tx, { table: "touch_key", columns: "app_id, key_value, touched_at_ms, touch_id, week" }, keyRows);
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

/** The touches that are already stored, in any week. */
export async function findTouchIds(
  executor: Executor,
  keys: readonly { appId: number; touchId: string }[],
): Promise<Set<string>> {
  if (keys.length === 0) return new Set();
  const wanted = rowsOf("wanted", keys, { appId: "int", touchId: "uuid" });
  const rows = await query<{ appId: number; touchId: string }>(
    executor,
    sql`select t.app_id, replace(t.touch_id::text, '-', '') as touch_id from ${wanted}
      join touch t on t.app_id = wanted.app_id and t.touch_id = wanted.touch_id`,
  );
  return new Set(rows.map((row) => touchKeyText(row.appId, row.touchId)));
}

/** A look-up of the touches under a key in [from, until]. */
export type KeyLookup = { appId: number; key: string; fromMs: number; untilMs: number };

/** `seenUntil`: the last journal position whose touches count. */
export type RangeLookup = KeyLookup & { seenUntil: number };

/** One touch under one key. */
export type KeyRow = { appId: number; key: string; touchedAtMs: number; touchId: string; week: string };

const KEY_COLUMNS = sql`k.app_id, replace(k.key_value::text, '-', '') as key, k.touched_at_ms,
  replace(k.touch_id::text, '-', '') as touch_id, k.week`;

/** What a touch has besides its app, id and instant. */
const TOUCH_COLUMNS = sql`t.kind, t.ad_platform as platform, t.received_at_ms, t.turbo_promoted_object_id as campaign_id,
  t.channel, t.advertiser_id, t.gid, t.aid, t.cid, t.csite, t.ip, t.details`;

type FoundKey = Pick<KeyRow, "key" | "week" | "touchId" | "touchedAtMs">;

/** One touch under one key, with the touch itself unless its details are long. */
export type FoundRow = FoundKey & (Touch | { kind: null });

/** The details of ordinary clicks are shorter. Of long ones, a flood would fill the memory with what nobody looks at. */
const DETAILS_BYTES_AT_ONCE = 2 * KIB;

/**
 * All touches under many keys at once, by one scan of each week's index in key order: a quarter of the time that a
 * look-up per key takes. Undefined when there are more than `limit`, which only a flood can cause.
 */
export async function findByKeys(
  executor: Executor,
  wanted: { appId: number; keys: readonly string[]; fromMs: number; untilMs: number },
  limit: number,
): Promise<FoundRow[] | undefined> {
  const rows = await query<FoundRow>(
    executor,
    sql`select replace(k.key_value::text, '-', '') as key, k.week, replace(k.touch_id::text, '-', '') as touch_id, k.touched_at_ms,
        ${TOUCH_COLUMNS}
      from touch_key k
      left join touch t on t.app_id = k.app_id and t.touch_id = k.touch_id and t.week = k.week
        and octet_length(t.details::text) <= ${DETAILS_BYTES_AT_ONCE}
      where k.app_id = ${wanted.appId} and k.key_value = any(${[...wanted.keys].sort()}::uuid[])
        and k.touched_at_ms >= ${wanted.fromMs} and k.touched_at_ms <= ${wanted.untilMs} and k.week >= ${weekOf(wanted.fromMs)}::date
      limit ${limit + 1}`,
  );
  return rows.length > limit ? undefined : rows;
}

/** The newest `limit` touches under each key, by one look-up per key. */
export async function findNewest(
  executor: Executor,
  lookups: readonly KeyLookup[],
  limit: number,
): Promise<(KeyRow & { lookup: number })[]> {
  if (lookups.length === 0) return [];
  const rows = await query<KeyRow & { lookup: number }>(
    executor,
    sql`select wanted.lookup, ${KEY_COLUMNS}
      from ${wantedKeys(lookups)}
      cross join lateral (
        select * from touch_key t
        where t.app_id = wanted.app_id and t.key_value = wanted.key_value
          and t.touched_at_ms >= wanted.from_ms and t.touched_at_ms <= wanted.until_ms and t.week >= wanted.from_week
        order by t.touched_at_ms desc, t.touch_id desc limit ${limit}
      ) k`,
  );
  return rows;
}

function wantedKeys(lookups: readonly KeyLookup[]) {
  return rowsOf("wanted", lookups, {
    appId: "int",
    keyValue: ["uuid", (one) => one.key],
    fromMs: "bigint",
    untilMs: "bigint",
    fromWeek: ["date", (one) => weekOf(one.fromMs)],
    lookup: ["int", (_, index) => index],
  });
}

/** The number of touches under each key in [from, until) that are stored in one week, counted up to `max`. */
export async function countInWeek(
  executor: Executor,
  week: string,
  lookups: readonly KeyLookup[],
  max: number,
): Promise<number[]> {
  const rows = await query<{ touches: number }>(
    executor,
    sql`select counted.touches::int as touches
      from ${wantedKeys(lookups)}
      cross join lateral (
        select count(*) as touches from (
          select 1 from touch_key k
          where k.week = ${week}::date and k.app_id = wanted.app_id and k.key_value = wanted.key_value
            and k.touched_at_ms >= wanted.from_ms and k.touched_at_ms < wanted.until_ms
          limit ${max}
        ) few
      ) counted
      order by wanted.lookup`,
  );
  return rows.map((row) => row.touches);
}

/** Touches by id and week. */
export async function loadTouches(
  executor: Executor,
  ids: readonly { appId: number; touchId: string; week: string }[],
): Promise<Map<string, Touch>> {
  if (ids.length === 0) return new Map();
  const wanted = rowsOf("wanted", ids, { appId: "int", touchId: "uuid", week: "date" });
  const rows = await query<Touch & { appId: number }>(
    executor,
    sql`select t.app_id, replace(t.touch_id::text, '-', '') as touch_id, t.touched_at_ms, ${TOUCH_COLUMNS}
      from ${wanted}
      join touch t on t.app_id = wanted.app_id and t.touch_id = wanted.touch_id and t.week = wanted.week`,
  );
  return new Map(rows.map(({ appId, ...touch }) => [touchKeyText(appId, touch.touchId), touch]));
}
