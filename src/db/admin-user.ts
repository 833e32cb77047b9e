import { createHash, randomBytes } from "node:crypto";
import { type Executor, execute, query, sql } from "./engine/sql.ts";

export const CONSOLE_ROLES = ["admin", "analyst"] as const;
export type ConsoleRole = (typeof CONSOLE_ROLES)[number];

/** A person who signs in to the console. */
export type AdminUser = { userId: number; name: string; role: ConsoleRole; createdAtMs: number };

const columns = sql`user_id, name, role, created_at_ms`;

export async function loadAdminUsers(executor: Executor): Promise<AdminUser[]> {
  return query<AdminUser>(executor, sql`select ${columns} from admin_user order by name`);
}

export async function findAdminUser(
  executor: Executor,
  name: string,
): Promise<(AdminUser & { passwordHash: string }) | undefined> {
  const [user] = await query<AdminUser & { passwordHash: string }>(
    executor,
    sql`select ${columns}, password_hash from admin_user where name = ${nameOf(name)}`,
  );
  return user;
}

/** Returns undefined when the name is taken. */
export async function createAdminUser(
  executor: Executor,
  user: { name: string; role: ConsoleRole; passwordHash: string; nowMs: number },
): Promise<AdminUser | undefined> {
  const [made] = await query<AdminUser>(
    executor,
    sql`insert into admin_user (name, role, password_hash, created_at_ms, password_changed_at_ms)
      values (${nameOf(user.name)}, ${user.role}, ${user.passwordHash}, ${user.nowMs}, ${user.nowMs})
      on conflict (name) do nothing returning ${columns}`,
  );
  return made;
}

/** Changes the password and ends all sessions of the user. */
export async function changePassword(
  tx: Executor,
  { userId, passwordHash, nowMs }: { userId: number; passwordHash: string; nowMs: number },
): Promise<void> {
  await execute(
    tx,
    sql`update admin_user set password_hash = ${passwordHash}, password_changed_at_ms = ${nowMs} where user_id = ${userId}`,
  );
  await execute(tx, sql`delete from console_session where user_id = ${userId}`);
}

/** Returns false when there is no such user. */
export async function changeRole(tx: Executor, { name, role }: { name: string; role: ConsoleRole }): Promise<boolean> {
  return (await execute(tx, sql`update admin_user set role = ${role} where name = ${nameOf(name)}`)) > 0;
}

/** Returns false when there is no such user. */
export async function removeAdminUser(tx: Executor, name: string): Promise<boolean> {
  const gone = await query<{ userId: number }>(
    tx,
    sql`delete from admin_user where name = ${nameOf(name)} returning user_id`,
  );
  const ids = gone.map(({ userId }) => userId);
  // Shared views stay, because others use them.
  await execute(tx, sql`delete from report_view where owner = ${nameOf(name)} and not is_shared`);
  await execute(tx, sql`delete from console_session where user_id = any(${ids}::int[])`);
  await execute(tx, sql`delete from setup_link where user_id = any(${ids}::int[])`);
  return gone.length > 0;
}

/** Holds on to all admins until the transaction ends: two who demoted each other at once would leave none. */
export async function lockAdmins(tx: Executor): Promise<void> {
  await execute(tx, sql`select 1 from admin_user where role = 'admin' order by user_id for update`);
}

export async function countAdmins(executor: Executor): Promise<number> {
  const [row] = await query<{ admins: number }>(
    executor,
    sql`select count(*) as admins from admin_user where role = 'admin'`,
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
