import type pg from "pg";
import type { Launch, Return } from "../domain/attribution/launch.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Device } from "../domain/user/device.ts";
import type { Figures } from "../domain/user/user-figures.ts";
import type { UserKey } from "../domain/user/user-key.ts";
import { renameDecisions } from "./attribution-decision.ts";
import { renameEarlierPostbacks } from "./earlier-postback.ts";
import { columnOf } from "./engine/column-name.ts";
import { copyJson, copyNullable, copyRows, mergeRows, NULL, replacing, rowsFrom } from "./engine/copy.ts";
import { rowsOf } from "./engine/rows.ts";
import { type Executor, execute, identifier, listed, query, type Sql, sql } from "./engine/sql.ts";
import { PROPERTY_COLUMNS, storedProperties } from "./event-properties.ts";
import { type Rename, renamePostbacks } from "./postback.ts";
import { renameUserAdDays } from "./user-ad-day.ts";

export type UserAccount = UserKey & {
  name: string;
  channel: string;
  version: number;
  wxOpenid: string;
  wxUnionid: string;
  /** False for a client that only sent events, in an app that does not require a registration. */
  isRegistered: boolean;
  registeredAtMs: number;
  /** Later than the registration itself when that is reported after the fact. */
  registrationReceivedAtMs: number;
  registeredDay: string;
  isHistory: boolean;
  touchedAtMs: number | null;
  /** The local day of the touch, else of the registration. */
  cohortDay: string;
  adPlatform: string;
  campaignId: string;
  advertiserId: string;
  gid: string;
  aid: string;
  cid: string;
  csite: string;
  adData: JsonObject;
  /** The body of an attributed registration; null for every other user. */
  reported: JsonObject | null;
  osPlatform: string;
  ip: string;
  ua: string;
  country: string;
  province: string;
  city: string;
  device: Device | null;
  properties: JsonObject;
  /** Of any event, a refund too: later ones cannot be stored already. */
  latestEventAtMs: number | null;
  /** Null where an earlier version did not keep it: see lastSeenMs. */
  lastSeenAtMs: number | null;
  /** An origin of the user's latest day that is stored for sure, unless that day has become cold (see event-origin.ts). */
  originDay: string | null;
  originId: number | null;
  launch: Launch;
  /** How the platform was found; empty for an organic user. */
  method: string;
  /** The number of the decision that holds, or 0 before the first one. */
  decisionNumber: number;
  returned: Return | null;
} & Figures;

/** The columns in COPY order: the one list behind reading and writing. */
const COLUMNS: readonly (readonly [column: string, field: keyof UserAccount, form: "plain" | "json"])[] = [
  ["app_id", "appId", "plain"],
  ["client_id", "clientId", "plain"],
  ["name", "name", "plain"],
  ["channel", "channel", "plain"],
  ["version", "version", "plain"],
  ["wx_openid", "wxOpenid", "plain"],
  ["wx_unionid", "wxUnionid", "plain"],
  ["is_registered", "isRegistered", "plain"],
  ["registered_at_ms", "registeredAtMs", "plain"],
  ["registration_received_at_ms", "registrationReceivedAtMs", "plain"],
  ["registered_day", "registeredDay", "plain"],
  ["is_history", "isHistory", "plain"],
  ["touched_at_ms", "touchedAtMs", "plain"],
  ["cohort_day", "cohortDay", "plain"],
  ["ad_platform", "adPlatform", "plain"],
  ["turbo_promoted_object_id", "campaignId", "plain"],
  ["advertiser_id", "advertiserId", "plain"],
  ["gid", "gid", "plain"],
  ["aid", "aid", "plain"],
  ["cid", "cid", "plain"],
  ["csite", "csite", "plain"],
  ["ad_data", "adData", "json"],
  ["reported", "reported", "json"],
  ["os_platform", "osPlatform", "plain"],
  ["ip", "ip", "plain"],
  ["ua", "ua", "plain"],
  ["country", "country", "plain"],
  ["province", "province", "plain"],
  ["city", "city", "plain"],
  ["device", "device", "json"],
  ["properties", "properties", "json"],
  ["latest_event_at_ms", "latestEventAtMs", "plain"],
  ["last_seen_at_ms", "lastSeenAtMs", "plain"],
  ["origin_day", "originDay", "plain"],
  ["origin_id", "originId", "plain"],
  ["launch", "launch", "json"],
  ["method", "method", "plain"],
  ["decision_number", "decisionNumber", "plain"],
  ["returned", "returned", "json"],
  ["latest_login_day", "latestLoginDay", "plain"],
  ["pay_count", "payCount", "plain"],
  ["pay_cents", "payCents", "plain"],
  ["pay_max_cents", "payMaxCents", "plain"],
  ["first_pay_at_ms", "firstPayAtMs", "plain"],
  ["first_pay_method", "firstPayMethod", "plain"],
  ["first_pay_reason", "firstPayReason", "plain"],
  ["ad_count", "adCount", "plain"],
  ["ad_micros", "adMicros", "plain"],
  ["ad_max_ecpm_micros", "adMaxEcpmMicros", "plain"],
  ["ad_24h_count", "ad24hCount", "plain"],
  ["ad_24h_micros", "ad24hMicros", "plain"],
  ["reward_ad_count", "rewardAdCount", "plain"],
  ["reward_ad_micros", "rewardAdMicros", "plain"],
  ["reward_ad_max_ecpm_micros", "rewardAdMaxEcpmMicros", "plain"],
  ["reward_ad_24h_micros", "rewardAd24hMicros", "plain"],
  ["interstitial_ad_count", "interstitialAdCount", "plain"],
  ["interstitial_ad_micros", "interstitialAdMicros", "plain"],
  ["interstitial_ad_max_ecpm_micros", "interstitialAdMaxEcpmMicros", "plain"],
  ["interstitial_ad_24h_micros", "interstitialAd24hMicros", "plain"],
];

const columnNames = COLUMNS.map(([column]) => column);
const TARGET = { table: "user_account", columns: columnNames.join(", ") };
const REPLACE = sql`on conflict (app_id, client_id) do update set ${replacing(columnNames.slice(2))}`;

/** All columns but the profile, which is read in several ways. */
const PLAIN_COLUMNS = listed(
  COLUMNS.filter(([column]) => column !== "properties").map(
    ([column, field]) => sql`u.${identifier(column)} as ${identifier(columnOf(field))}`,
  ),
);

function fromWanted(keys: readonly UserKey[]): Sql {
  return sql`from ${rowsOf("wanted", keys, { appId: "int", clientId: "text" })}
    join user_account u on u.app_id = wanted.app_id and u.client_id = wanted.client_id collate "C"`;
}

/** Users by key, in no order; with `properties`, only those of each profile, which saves memory. */
export async function loadUsers(
  executor: Executor,
  keys: readonly UserKey[],
  properties?: readonly string[],
): Promise<UserAccount[]> {
  if (keys.length === 0) return [];
  // Reads the profile once, however many properties are wanted.
  const some = sql`coalesce((select jsonb_object_agg(one.key, one.value) from jsonb_each(u.properties) one
    where one.key = any(${properties}::text[])), '{}') as properties`;
  return query<UserAccount>(
    executor,
    sql`select ${PLAIN_COLUMNS}, ${properties ? some : sql`u.properties`} ${fromWanted(keys)}`,
  );
}

/** The size of a profile. An uncompressed value, as nearly all are, has its size known without being read. */
const profileBytes = sql`case when pg_column_compression(u.properties) is null then pg_column_size(u.properties)
  else octet_length(u.properties::text) end`;

/** Users with their whole profiles, or undefined when the profiles of these users are larger together than `profileBytesMax`. */
export async function loadUsersWithin(
  executor: Executor,
  keys: readonly UserKey[],
  profileBytesMax: number,
): Promise<UserAccount[] | undefined> {
  if (keys.length === 0) return [];
  const bytesBefore = sql`coalesce(sum(${profileBytes}) over (rows between unbounded preceding and 1 preceding), 0)`;
  const users = await query<UserAccount>(
    executor,
    sql`select ${PLAIN_COLUMNS}, case when ${bytesBefore} <= ${profileBytesMax} then u.properties end as properties
      ${fromWanted(keys)}`,
  );
  return users.every((user) => user.properties !== null) ? users : undefined;
}

/** A page of an app's users in order of their ids. */
export async function pageUsers(
  executor: Executor,
  page: { appId: number; afterClientId: string; limit: number },
): Promise<UserAccount[]> {
  return query<UserAccount>(
    executor,
    sql`select ${PLAIN_COLUMNS}, u.properties from user_account u
      where u.app_id = ${page.appId} and u.client_id > ${page.afterClientId} order by u.client_id limit ${page.limit}`,
  );
}

export async function countUsers(executor: Executor, appId: number): Promise<number> {
  const [row] = await query<{ users: number }>(
    executor,
    sql`select count(*) as users from user_account where app_id = ${appId}`,
  );
  return row!.users;
}

/**
 * Inserts new users directly, which is a third quicker than through a stage table. If another process has inserted one
 * of them meanwhile, the whole transaction fails and is retried.
 */
export async function insertUsers(tx: pg.PoolClient, users: readonly UserAccount[]): Promise<void> {
  await copyRows(tx, TARGET, rowsFrom(users, toCopyRow));
}

/** Writes whole users, new and known alike. */
export async function storeUsers(tx: pg.PoolClient, users: readonly UserAccount[]): Promise<void> {
  if (users.length === 0) return;
  await mergeRows(tx, TARGET, { rows: rowsFrom(users, toCopyRow), conflict: REPLACE });
}

/**
 * A user in COPY's text form. Compiled, as the makers of rows are: one loop over all columns would look each of them up
 * anew in every user. Only the fields of the list above go into the code.
 */
const toCopyRow = new Function(
  "plain",
  "json",
  `return (user) => [${COLUMNS.map(([, field, form]) => `${form}(user.${field})`).join(", ")}].join("\\t");`,
)(copyPlain, copyDocument) as (user: UserAccount) => string;

function copyPlain(value: string | number | boolean | null): string {
  return typeof value === "boolean" ? String(value) : copyNullable(value);
}

function copyDocument(value: object | null): string {
  return value === null ? NULL : copyJson(JSON.stringify(value));
}

/**
 * The registered ones among these users. Each is looked up in the index: asked for thousands by a join, the planner
 * would read the whole table.
 */
export async function findRegistered(executor: Executor, keys: readonly UserKey[]): Promise<UserKey[]> {
  return query<UserKey>(
    executor,
    sql`select app_id, client_id from ${rowsOf("wanted", keys, { appId: "int", clientId: "text" })}
      where (select is_registered from user_account u
        where u.app_id = wanted.app_id and u.client_id = wanted.client_id collate "C")`,
  );
}

/** Gives a user another client id in every table. */
export async function renameUser(tx: Executor, user: Rename & { keys: readonly string[] }): Promise<void> {
  const { appId, clientId, newClientId } = user;
  await execute(
    tx,
    sql`with moved as (delete from event where app_id = ${appId} and client_id = ${clientId} returning *)
      insert into event (app_id, client_id, day, at_ms, fingerprint, type, event, received_at_ms, ${PROPERTY_COLUMNS})
      select app_id, ${newClientId}, day, at_ms, fingerprint, type, event, received_at_ms, ${storedProperties} from moved e`,
  );
  await execute(
    tx,
    sql`update event_origin set client_id = ${newClientId} where app_id = ${appId} and client_id = ${clientId}`,
  );
  await execute(
    tx,
    sql`with moved as (delete from user_day where app_id = ${appId} and client_id = ${clientId} returning *)
      insert into user_day (app_id, client_id, day, span_t, span_r, track_events, register_events, pay_count, pay_cents, ad_count, ad_micros)
      select app_id, ${newClientId}, day, span_t, span_r, track_events, register_events, pay_count, pay_cents, ad_count, ad_micros from moved`,
  );
  await renameUserAdDays(tx, user);
  const orders = await query<{ traceId: string }>(
    tx,
    sql`with moved as (delete from orders where app_id = ${appId} and client_id = ${clientId} returning *)
      insert into orders (app_id, client_id, trace_id, day, at_ms, received_at_ms, modified_at_ms, cents, currency, sent_amount, has_rate,
        pay_count, is_virtual, properties, postback_status, back_cents, pass_status, postback_count, registered_day, ad_platform)
      select app_id, ${newClientId}, trace_id, day, at_ms, received_at_ms, modified_at_ms, cents, currency, sent_amount, has_rate,
        pay_count, is_virtual, properties, postback_status, back_cents, pass_status, postback_count, registered_day, ad_platform
      from moved returning trace_id`,
  );
  await execute(
    tx,
    sql`update order_key set client_id = ${newClientId}
      where app_id = ${appId} and trace_id = any(${orders.map((order) => order.traceId)}::text[])`,
  );
  await execute(
    tx,
    sql`update refund set client_id = ${newClientId} where app_id = ${appId} and client_id = ${clientId}`,
  );
  await renamePostbacks(tx, user);
  await renameEarlierPostbacks(tx, user);
  await renameDecisions(tx, user);
  // Found by its keys: an index by client would cost every registration more than it saves a rename.
  await execute(
    tx,
    sql`update user_key set client_id = ${newClientId}
      where app_id = ${appId} and key_value = any(${user.keys}::uuid[]) and client_id = ${clientId}`,
  );
  await execute(
    tx,
    sql`update asa_token set client_id = ${newClientId} where app_id = ${appId} and client_id = ${clientId}`,
  );
  await execute(
    tx,
    sql`update lake_late set client_id = ${newClientId} where app_id = ${appId} and client_id = ${clientId}`,
  );
  await execute(tx, sql`delete from user_account where app_id = ${appId} and client_id = ${clientId}`);
}
