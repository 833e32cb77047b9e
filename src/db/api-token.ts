import type { AppChoice, Grants, Role } from "../domain/access/role.ts";
import { LIMITS } from "../limits.ts";
import { digestOf, newSecret, userColumns } from "./admin-user.ts";
import { type Executor, execute, query, type Sql, sql } from "./engine/sql.ts";

/** How a token begins, so that people and programs that look for leaked secrets recognise it. */
export const API_TOKEN_MARK = "tpa_";
const PREFIX_LENGTH = API_TOKEN_MARK.length + 6;

/** A token for programs. */
export type ApiToken = {
  tokenId: number;
  prefix: string;
  name: string;
  /** The owner, or null for a token of the command line. */
  userId: number | null;
  role: Role;
  /** Null: all apps. */
  appIds: number[] | null;
  createdAtMs: number;
  endsAtMs: number;
  usedAtMs: number | null;
  revokedAtMs: number | null;
};

/** A token with the name and the present roles of its owner; both are null without one. */
export type OwnedToken = ApiToken & { owner: string | null; ownerGrants: Grants | null };

const columns = sql`t.token_id, t.prefix, t.name, t.user_id, t.role, t.app_ids, t.created_at_ms, t.ends_at_ms, t.used_at_ms,
  t.revoked_at_ms`;

const owned = sql`select ${columns}, o.name as owner, o.grants as owner_grants
  from api_token t left join lateral (select ${userColumns} from admin_user u where u.user_id = t.user_id) o on true`;

/** Returns the token itself, of which only the digest is kept. */
export async function createApiToken(
  tx: Executor,
  made: { name: string; userId: number | null; role: Role; apps: AppChoice; nowMs: number; endsAtMs: number },
): Promise<{ tokenId: number; token: string }> {
  const token = `${API_TOKEN_MARK}${newSecret()}`;
  const appIds = made.apps === "all" ? null : made.apps;
  const [row] = await query<{ tokenId: number }>(
    tx,
    sql`insert into api_token (token_digest, prefix, name, user_id, role, app_ids, created_at_ms, ends_at_ms)
      values (${digestOf(token)}, ${token.slice(0, PREFIX_LENGTH)}, ${made.name}, ${made.userId}::int, ${made.role},
        ${appIds}::int[], ${made.nowMs}, ${made.endsAtMs})
      returning token_id`,
  );
  await dropPastTokens(tx, made);
  return { tokenId: row!.tokenId, token };
}

/** Keeps the newest of an owner's tokens that can no longer be used; the audit log knows the others. */
async function dropPastTokens(
  tx: Executor,
  { userId, nowMs }: { userId: number | null; nowMs: number },
): Promise<void> {
  const past = sql`user_id is not distinct from ${userId}::int and not (${isUsable(nowMs)})`;
  await execute(
    tx,
    sql`delete from api_token where token_id in
      (select token_id from api_token where ${past} order by token_id desc offset ${LIMITS.apiTokensPast})`,
  );
}

/** The tokens of one owner, or of all: those that can be used first, so that no number of others hides one. */
export async function loadApiTokens(
  executor: Executor,
  wish: { userId: number } | "all",
  { nowMs, limit }: { nowMs: number; limit: number },
): Promise<OwnedToken[]> {
  const isAsked = wish === "all" ? sql`true` : sql`t.user_id = ${wish.userId}`;
  return query(
    executor,
    sql`${owned} where ${isAsked} order by (${isUsable(nowMs)}) desc, t.token_id desc limit ${limit}`,
  );
}

export async function loadApiToken(executor: Executor, tokenId: number): Promise<OwnedToken | undefined> {
  return (await query<OwnedToken>(executor, sql`${owned} where t.token_id = ${tokenId}`))[0];
}

const SEEN_MS = 60_000;

/** The token that a caller gives, whether or not it can still be used. A token that can be is noted as used. */
export async function findApiToken(
  executor: Executor,
  { token, nowMs }: { token: string; nowMs: number },
): Promise<OwnedToken | undefined> {
  const [found] = await query<OwnedToken>(executor, sql`${owned} where t.token_digest = ${digestOf(token)}`);
  // At most once a minute, which saves a write for every call.
  if (found && (found.usedAtMs ?? 0) < nowMs - SEEN_MS)
    await execute(
      executor,
      sql`update api_token set used_at_ms = ${nowMs} where token_id = ${found.tokenId} and ${isUsable(nowMs)}`,
    );
  return found;
}

function isUsable(nowMs: number): Sql {
  return sql`revoked_at_ms is null and ends_at_ms > ${nowMs}`;
}

/** Returns false when it was revoked before. */
export async function revokeApiToken(tx: Executor, tokenId: number, nowMs: number): Promise<boolean> {
  const changed = await execute(
    tx,
    sql`update api_token set revoked_at_ms = ${nowMs} where token_id = ${tokenId} and revoked_at_ms is null`,
  );
  return changed > 0;
}

/** Revokes all tokens of a person that can still be used, and returns them. */
export async function revokeApiTokensOf(
  tx: Executor,
  userId: number,
  nowMs: number,
): Promise<Pick<ApiToken, "tokenId" | "name" | "prefix">[]> {
  return query(
    tx,
    sql`update api_token set revoked_at_ms = ${nowMs} where user_id = ${userId} and ${isUsable(nowMs)}
      returning token_id, name, prefix`,
  );
}

export async function countUsableTokens(executor: Executor, userId: number | null, nowMs: number): Promise<number> {
  const [row] = await query<{ count: number }>(
    executor,
    sql`select count(*) as count from api_token
      where user_id is not distinct from ${userId}::int and ${isUsable(nowMs)}`,
  );
  return row!.count;
}
