import type pg from "pg";
import type { TouchMethod } from "../domain/attribution/method.ts";
import type { UserKey } from "../domain/user/user-key.ts";
import { copyRows, copyText, mergeRows, rowsFrom } from "./engine/copy.ts";
import { rowsOf } from "./engine/rows.ts";
import { type Executor, query, sql } from "./engine/sql.ts";

/** A key of a user, and the instant of the registration or return that it belongs to. */
export type KeyOfUser = UserKey & { key: string; method: TouchMethod; atMs: number };

const TARGET = { table: "user_key", columns: "app_id, key_value, at_ms, client_id, method" };

function toCopyRow(one: KeyOfUser): string {
  return `${one.appId}\t${one.key}\t${one.atMs}\t${copyText(one.clientId)}\t${one.method}`;
}

/** Inserts the keys of users who have none yet. */
export async function insertUserKeys(tx: pg.PoolClient, keys: readonly KeyOfUser[]): Promise<void> {
  await copyRows(tx, TARGET, rowsFrom(keys, toCopyRow));
}

export async function addUserKeys(tx: pg.PoolClient, keys: readonly KeyOfUser[]): Promise<void> {
  if (keys.length === 0) return;
  await mergeRows(tx, TARGET, { rows: rowsFrom(keys, toCopyRow), conflict: sql`on conflict do nothing` });
}

/** A user who registered or returned at an instant under the key of a look-up. */
export type FoundHolder = { lookup: number; clientId: string; atMs: number };

/** The first `limit` users under each key who registered or returned in [from, until). */
export async function findUsersByKeys(
  executor: Executor,
  keys: readonly { appId: number; key: string; fromMs: number; untilMs: number }[],
  limit: number,
): Promise<FoundHolder[]> {
  if (keys.length === 0) return [];
  const wanted = rowsOf("wanted", keys, {
    appId: "int",
    keyValue: ["uuid", (one) => one.key],
    fromMs: "bigint",
    untilMs: "bigint",
    lookup: ["int", (_, index) => index],
  });
  return query<FoundHolder>(
    executor,
    sql`select wanted.lookup, found.client_id, found.at_ms from ${wanted}
      cross join lateral (
        select u.client_id, u.at_ms from user_key u
        where u.app_id = wanted.app_id and u.key_value = wanted.key_value
          and u.at_ms >= wanted.from_ms and u.at_ms < wanted.until_ms
        order by u.at_ms, u.client_id limit ${limit}
      ) found`,
  );
}

/** The users who have one of these keys, each with its key. */
export async function findKeyHolders(
  executor: Executor,
  wanted: { appId: number; keys: readonly string[]; limit: number },
): Promise<{ key: string; clientId: string }[]> {
  return query(
    executor,
    sql`select distinct replace(key_value::text, '-', '') as key, client_id from user_key
      where app_id = ${wanted.appId} and key_value = any(${wanted.keys}::uuid[])
      order by client_id, key limit ${wanted.limit}`,
  );
}
