import { createHmac } from "node:crypto";
import { md5 } from "../domain/user/identity.ts";
import type { UserKey } from "../domain/user/user-key.ts";
import { forgetPlayer, type PlayerRevenue } from "./ad-revenue.ts";
import { rowsOf } from "./engine/rows.ts";
import { type Executor, execute, oneOf, query, type Sql, sql } from "./engine/sql.ts";
import { findOpenIds } from "./open-id.ts";
import type { OrderFigures } from "./orders.ts";
import { NO_APP } from "./set-aside.ts";
import { eraseUserAdDays } from "./user-ad-day.ts";

/** The record that a user was erased: when, and by which entry of which journal. */
export type Erasure = { appId: number; digest: string; journalId: string; position: number; erasedAtMs: number };

/** The digest that is kept of an erased user's id. Without the key it cannot be matched even to a list of ids. */
export class ErasureDigest {
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  of({ appId, clientId }: UserKey): string {
    return this.ofPlain(md5(`${appId}\n${clientId}`));
  }

  /** That of the open id that an erased user had told, by which platforms still tell about them. */
  ofOpenId({ appId, openId }: { appId: number; openId: string }): string {
    return this.ofPlain(md5(`${appId}\nopen id\n${openId}`));
  }

  /** The digest for a plain digest of earlier versions, which can thus be replaced without knowing the ids. */
  ofPlain(plain: string): string {
    return `${KEYED}${createHmac("sha256", this.#key).update(plain).digest("base64url")}`;
  }
}

const KEYED = "k1.";

/** Replaces the digests of earlier versions, which anyone with a list of ids could match. */
export async function replacePlainDigests(tx: Executor, digest: ErasureDigest): Promise<void> {
  await execute(
    tx,
    sql`declare plain_digest no scroll cursor for
      select distinct client_digest as plain from erased_user where not starts_with(client_digest, ${KEYED})`,
  );
  for (;;) {
    const plain = (await query<{ plain: string }>(tx, sql`fetch 1000 from plain_digest`)).map((row) => row.plain);
    if (plain.length === 0) break;
    const known = rowsOf("known", plain, {
      plain: ["text", (one) => one],
      keyed: ["text", (one) => digest.ofPlain(one)],
    });
    await execute(
      tx,
      sql`update erased_user set client_digest = known.keyed from ${known} where client_digest = known.plain collate "C"`,
    );
  }
  await execute(tx, sql`close plain_digest`);
}

/** The erasures of these users, and all erasures of the apps after an instant. */
export async function loadErasures(
  tx: Executor,
  wanted: { appIds: readonly number[]; users: readonly UserKey[]; afterMs: number },
  digest: ErasureDigest,
): Promise<Erasure[]> {
  const ofApps = oneOf(sql`app_id`, wanted.appIds);
  // Most apps have erased nobody, and the digest of a user costs as much as looking the user up.
  const [any] = await query(tx, sql`select 1 from erased_user where ${ofApps} limit 1`);
  if (!any) return [];
  const columns = sql`app_id, client_digest as digest, journal_id, position, erased_at_ms`;
  const later = await query<Erasure>(
    tx,
    sql`select ${columns} from erased_user where ${ofApps} and erased_at_ms > ${wanted.afterMs}`,
  );
  if (wanted.users.length === 0) return later;
  const users = rowsOf("wanted", wanted.users, { appId: "int", digest: ["text", (user) => digest.of(user)] });
  const own = await query<Erasure>(
    tx,
    sql`select e.app_id, e.client_digest as digest, e.journal_id, e.position, e.erased_at_ms from ${users}
      join erased_user e on e.app_id = wanted.app_id and e.client_digest = wanted.digest collate "C"
      where e.erased_at_ms <= ${wanted.afterMs}`,
  );
  return [...later, ...own];
}

/** Held by erasures of an app, and alone by whoever stores what a platform tells about its players. */
const ERASURE_LOCK = 7226394;

export async function noteErasure(tx: Executor, erasure: Erasure): Promise<void> {
  const { appId, digest, journalId, position, erasedAtMs } = erasure;
  await execute(tx, sql`select pg_advisory_xact_lock_shared(${ERASURE_LOCK}::int, ${appId}::int)`);
  await execute(
    tx,
    sql`insert into erased_user (app_id, client_digest, journal_id, position, erased_at_ms)
      values (${appId}, ${digest}, ${journalId}, ${position}, ${erasedAtMs}) on conflict do nothing`,
  );
}

/**
 * What a platform tells by player, with erased users as players whom nobody is to know. Who has come back is a user again.
 * The lock keeps erasures waiting until the transaction has stored the result, which they then find and change.
 */
export async function withoutErased(
  tx: Executor,
  { appId, players }: { appId: number; players: readonly PlayerRevenue[] },
  loadDigest: () => Promise<ErasureDigest>,
): Promise<PlayerRevenue[]> {
  await execute(tx, sql`select pg_advisory_xact_lock(${ERASURE_LOCK}::int, ${appId}::int)`);
  const [any] = await query(tx, sql`select 1 from erased_user where app_id = ${appId} limit 1`);
  if (!any) return [...players];
  const digest = await loadDigest();
  const asked = rowsOf("asked", players, {
    openId: "text",
    clientDigest: ["text", ({ openId }) => digest.of({ appId, clientId: openId })],
    openIdDigest: ["text", ({ openId }) => digest.ofOpenId({ appId, openId })],
  });
  const found = await query<{ openId: string }>(
    tx,
    sql`select distinct asked.open_id from ${asked} join erased_user e on e.app_id = ${appId}
      and e.client_digest in (asked.client_digest collate "C", asked.open_id_digest collate "C")`,
  );
  const openIds = found.map(({ openId }) => openId);
  const back = await findOpenIds(tx, { appId, openIds });
  const erased = new Set(openIds.filter((openId) => !back.has(openId)));
  const known = new Map<string, PlayerRevenue>();
  for (const player of players) {
    const openId = erased.has(player.openId) ? "" : player.openId;
    const sum = known.get(openId) ?? { openId, views: 0, micros: 0 };
    known.set(openId, { openId, views: sum.views + player.views, micros: sum.micros + player.micros });
  }
  return [...known.values()];
}

/** Tables whose rows belong to one client. Erasure must cover every such table; a test compares the list. */
export const TABLES_OF_CLIENTS = [
  ...["user_account", "user_day", "user_ad_day", "user_key", "event", "event_origin", "orders", "order_key", "refund"],
  ...["attribution_decision", "asa_token"],
  ...["postback", "outbox", "earlier_postback", "lake_late"],
] as const;

/** The days on which postbacks of the user were accepted, where the cube counts them. */
export async function loadAcceptedDays(tx: Executor, { appId, clientId }: UserKey): Promise<string[]> {
  const rows = await query<{ day: string }>(
    tx,
    sql`select distinct accepted_day as day from postback
      where app_id = ${appId} and client_id = ${clientId} and accepted_day is not null`,
  );
  return rows.map(({ day }) => day);
}

/**
 * Deletes a user from every table, and returns the user's orders. Two of the statements read more than the user's own
 * rows: user_key and touch_key have no index by client or touch, because it would cost every registration more than it
 * saves an erasure.
 */
export async function eraseUser(tx: Executor, user: UserKey, erasedAtMs: number): Promise<OrderFigures[]> {
  const { appId, clientId } = user;
  const own = sql`app_id = ${appId} and client_id = ${clientId}`;
  await eraseTouches(tx, user);
  await execute(
    tx,
    sql`delete from order_key where app_id = ${appId} and client_id = ${clientId}
      and trace_id in (select trace_id from orders where ${own})`,
  );
  const orders = await query<OrderFigures>(
    tx,
    sql`delete from orders where ${own} returning received_at_ms, back_cents`,
  );
  await execute(tx, sql`delete from refund where ${own}`);
  await execute(tx, sql`delete from event where ${own}`);
  await execute(tx, sql`delete from event_origin where ${own}`);
  await execute(tx, sql`delete from lake_late where ${own}`);
  await execute(tx, sql`delete from user_day where ${own}`);
  await eraseUserAdDays(tx, user, erasedAtMs);
  await forgetPlayer(tx, user, erasedAtMs);
  await execute(tx, sql`delete from user_key where ${own}`);
  await execute(tx, sql`delete from attribution_decision where ${own}`);
  await execute(tx, sql`delete from asa_token where ${own}`);
  await execute(tx, sql`delete from outbox where ${own}`);
  await execute(tx, sql`delete from postback where ${own}`);
  // Those made later belong to a client that got the id afterwards.
  await execute(tx, sql`delete from earlier_postback where ${own} and created_at_ms <= ${erasedAtMs}`);
  await execute(tx, sql`delete from user_account where ${own}`);
  await execute(tx, sql`delete from set_aside where app_id = ${appId} and ${names(clientId)}`);
  return orders;
}

/** Whether an entry that was set aside names the client: its head does so in this form. */
function names(clientId: string): Sql {
  return sql`position(${Buffer.from(`"client":${JSON.stringify(clientId)}`)}::bytea in payload) > 0`;
}

/** Takes users out of what belongs to no app: the audit log, which keeps the action, and entries that cannot be read. */
export async function eraseMentions(executor: Executor, users: readonly UserKey[]): Promise<void> {
  for (const { appId, clientId } of users) {
    await execute(
      executor,
      sql`update audit_log set details = details - 'client_id' - 'trace_id'
        where app_id = ${appId} and details ->> 'client_id' = ${clientId}`,
    );
    await execute(executor, sql`delete from set_aside where app_id = ${NO_APP} and ${names(clientId)}`);
  }
}

/**
 * Deletes clicks and impressions that only this user can have made: they share a click id, a device or an open id with
 * the user and with nobody else. An address with a phone model is shared by too many people to identify one.
 */
async function eraseTouches(tx: Executor, { appId, clientId }: UserKey): Promise<void> {
  const touches = await query<{ touchId: string; week: string }>(
    tx,
    sql`select distinct t.touch_id, t.week from touch_key t
      where t.app_id = ${appId} and t.key_value in (
        select k.key_value from user_key k
        where k.app_id = ${appId} and k.client_id = ${clientId} and k.method <> 'ip_ua' and not exists (
          select 1 from user_key other
          where other.app_id = k.app_id and other.key_value = k.key_value and other.client_id <> k.client_id))`,
  );
  if (touches.length === 0) return;
  const ids = touches.map(({ touchId }) => touchId);
  const weeks = [...new Set(touches.map(({ week }) => week))];
  for (const table of [sql`touch`, sql`touch_key`]) {
    await execute(
      tx,
      sql`delete from ${table} where app_id = ${appId} and week = any(${weeks}::date[]) and touch_id = any(${ids}::uuid[])`,
    );
  }
}
