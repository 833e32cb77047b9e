import { createHash, randomBytes } from "node:crypto";
import type { Grants } from "../domain/access/role.ts";
import { rowsOf } from "./engine/rows.ts";
import { type Executor, execute, query, sql } from "./engine/sql.ts";

/** A person who signs in to the console. */
export type AdminUser = {
  userId: number;
  name: string;
  grants: Grants;
  createdAtMs: number;
  /** Whether the second factor is in force. */
  hasSecondFactor: boolean;
};

/** The columns of a person, of a table named u. */
export const userColumns = sql`u.user_id, u.name, u.created_at_ms,
  exists (select 1 from totp f where f.user_id = u.user_id and f.confirmed_at_ms is not null) as has_second_factor,
  (select coalesce(json_agg(json_build_object('appId', g.app_id, 'role', g.role) order by g.app_id nulls first), '[]')
    from admin_grant g where g.user_id = u.user_id) as grants`;

export async function loadAdminUsers(executor: Executor): Promise<AdminUser[]> {
  return query<AdminUser>(executor, sql`select ${userColumns} from admin_user u order by name`);
}

export async function loadAdminUser(executor: Executor, userId: number): Promise<AdminUser | undefined> {
  const [user] = await query<AdminUser>(
    executor,
    sql`select ${userColumns} from admin_user u where u.user_id = ${userId}`,
  );
  return user;
}

export async function findAdminUser(
  executor: Executor,
  name: string,
): Promise<(AdminUser & { passwordHash: string }) | undefined> {
  const [user] = await query<AdminUser & { passwordHash: string }>(
    executor,
    sql`select ${userColumns}, u.password_hash from admin_user u where u.name = ${nameOf(name)}`,
  );
  return user;
}

/** The hash of people who have no password: no password has it. */
export const NO_PASSWORD = "none";

export function hasPassword({ passwordHash }: { passwordHash: string }): boolean {
  return passwordHash !== NO_PASSWORD;
}

/** Returns undefined when the name is taken. */
export async function createAdminUser(
  tx: Executor,
  { name, grants, passwordHash, nowMs }: { name: string; grants: Grants; passwordHash: string; nowMs: number },
): Promise<AdminUser | undefined> {
  const [made] = await query<{ userId: number }>(
    tx,
    sql`insert into admin_user (name, password_hash, created_at_ms, password_changed_at_ms)
      values (${nameOf(name)}, ${passwordHash}, ${nowMs}, ${nowMs})
      on conflict (name) do nothing returning user_id`,
  );
  if (!made) return undefined;
  await storeGrants(tx, made.userId, grants);
  return { userId: made.userId, name: nameOf(name), grants, createdAtMs: nowMs, hasSecondFactor: false };
}

export async function changePassword(
  tx: Executor,
  { userId, passwordHash, nowMs }: { userId: number; passwordHash: string; nowMs: number },
): Promise<void> {
  await execute(
    tx,
    sql`update admin_user set password_hash = ${passwordHash}, password_changed_at_ms = ${nowMs} where user_id = ${userId}`,
  );
}

/** Gives a person these roles instead of the earlier ones. */
export async function replaceGrants(tx: Executor, userId: number, grants: Grants): Promise<void> {
  await execute(tx, sql`delete from admin_grant where user_id = ${userId}`);
  await storeGrants(tx, userId, grants);
}

async function storeGrants(tx: Executor, userId: number, grants: Grants): Promise<void> {
  const rows = rowsOf("given", grants, {
    app_id: ["int", ({ appId }) => appId],
    role: ["text", ({ role }) => role],
  });
  await execute(
    tx,
    sql`insert into admin_grant (user_id, app_id, role) select ${userId}, given.app_id, given.role from ${rows}`,
  );
}

/** Returns false when there is no such user. */
export async function removeAdminUser(tx: Executor, name: string): Promise<boolean> {
  const gone = await query<{ userId: number }>(
    tx,
    sql`delete from admin_user where name = ${nameOf(name)} returning user_id`,
  );
  const ids = gone.map(({ userId }) => userId);
  await execute(tx, sql`delete from admin_grant where user_id = any(${ids}::int[])`);
  await execute(tx, sql`delete from totp where user_id = any(${ids}::int[])`);
  await execute(tx, sql`delete from recovery_code where user_id = any(${ids}::int[])`);
  await execute(tx, sql`delete from admin_identity where user_id = any(${ids}::int[])`);
  await execute(tx, sql`delete from api_token where user_id = any(${ids}::int[])`);
  // Shared views stay, because others use them.
  await execute(tx, sql`delete from report_view where owner = ${nameOf(name)} and not is_shared`);
  await execute(tx, sql`delete from console_session where user_id = any(${ids}::int[])`);
  await execute(tx, sql`delete from setup_link where user_id = any(${ids}::int[])`);
  return gone.length > 0;
}

/**
 * Holds on to all admins until the transaction ends: two who demoted each other at once would leave none. Returns their
 * number.
 */
export async function lockAdmins(tx: Executor): Promise<number> {
  const held = sql`select 1 from admin_grant where role = 'admin' and app_id is null order by user_id for update`;
  return (await query(tx, held)).length;
}

/** Admins of the installation: those who are admin of all apps. */
export async function countAdmins(executor: Executor): Promise<number> {
  const [row] = await query<{ admins: number }>(
    executor,
    sql`select count(*) as admins from admin_grant where role = 'admin' and app_id is null`,
  );
  return row!.admins;
}

/** The stored form of a name: case and Unicode variants are the same name. */
export function nameOf(text: string): string {
  return text.normalize("NFKC").trim().toLowerCase();
}

/** A secret that is shown once; only its digest is stored. */
export function newSecret(): string {
  return randomBytes(32).toString("base64url");
}

export function digestOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** Creates a link that sets a password; a null `userId` is the first admin's. Voids earlier links of the same user. */
export async function createSetupLink(
  tx: Executor,
  { userId, nowMs }: { userId: number | null; nowMs: number },
): Promise<string> {
  const token = newSecret();
  await execute(tx, sql`delete from setup_link where user_id is not distinct from ${userId}::int`);
  await execute(
    tx,
    sql`insert into setup_link (token_digest, user_id, created_at_ms) values (${digestOf(token)}, ${userId}::int, ${nowMs})`,
  );
  return token;
}

type GivenLink = { token: string; nowMs: number; validMs: number };

/** Whether a link is unused and not older than `validMs`. */
export async function hasSetupLink(executor: Executor, { token, nowMs, validMs }: GivenLink): Promise<boolean> {
  const found = await query(
    executor,
    sql`select 1 from setup_link where token_digest = ${digestOf(token)} and created_at_ms > ${nowMs - validMs}`,
  );
  return found.length > 0;
}

/** Uses up a link. Undefined when it was used already, is older than `validMs` or never existed. */
export async function takeSetupLink(
  tx: Executor,
  { token, nowMs, validMs }: GivenLink,
): Promise<{ userId: number | null } | undefined> {
  const [link] = await query<{ userId: number | null }>(
    tx,
    sql`delete from setup_link where token_digest = ${digestOf(token)} and created_at_ms > ${nowMs - validMs}
      returning user_id`,
  );
  return link;
}
