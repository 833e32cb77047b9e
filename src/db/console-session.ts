import { type AdminUser, digestOf, newSecret, userColumns } from "./admin-user.ts";
import { type Executor, execute, query, type Sql, sql } from "./engine/sql.ts";

/** How long a session lives when unused, and at most. */
export type SessionLife = { idleMs: number; wholeMs: number };

/** Returns the token, which only the browser keeps. */
export async function createSession(executor: Executor, { userId }: AdminUser, nowMs: number): Promise<string> {
  const token = newSecret();
  await execute(
    executor,
    sql`insert into console_session (token_digest, user_id, created_at_ms, seen_at_ms)
      values (${digestOf(token)}, ${userId}, ${nowMs}, ${nowMs})`,
  );
  return token;
}

/** The user to whom a token belongs. Finding a session keeps it alive. */
export async function findSession(
  executor: Executor,
  { token, nowMs, life }: { token: string; nowMs: number; life: SessionLife },
): Promise<AdminUser | undefined> {
  const digest = digestOf(token);
  const [user] = await query<AdminUser & { seenAtMs: number }>(
    executor,
    sql`select ${userColumns}, s.seen_at_ms from console_session s join admin_user u on u.user_id = s.user_id
      where s.token_digest = ${digest} and ${isAlive(nowMs, life)}`,
  );
  if (!user) return undefined;
  // At most once a minute, which saves a write for every click.
  if (user.seenAtMs < nowMs - SEEN_MS)
    await execute(executor, sql`update console_session set seen_at_ms = ${nowMs} where token_digest = ${digest}`);
  return user;
}

const SEEN_MS = 60_000;

/** The same without keeping the session alive. */
export async function peekSession(
  executor: Executor,
  { token, nowMs, life }: { token: string; nowMs: number; life: SessionLife },
): Promise<AdminUser | undefined> {
  const [user] = await query<AdminUser>(
    executor,
    sql`select ${userColumns} from console_session s join admin_user u on u.user_id = s.user_id
      where s.token_digest = ${digestOf(token)} and ${isAlive(nowMs, life)}`,
  );
  return user;
}

function isAlive(nowMs: number, life: SessionLife): Sql {
  return sql`s.seen_at_ms > ${nowMs - life.idleMs} and s.created_at_ms > ${nowMs - life.wholeMs}`;
}

export async function endSession(executor: Executor, token: string): Promise<void> {
  await execute(executor, sql`delete from console_session where token_digest = ${digestOf(token)}`);
}

/** Ends the sessions of a person, except one that is kept. Returns their number. */
export async function endSessionsOf(executor: Executor, userId: number, keptToken = ""): Promise<number> {
  return execute(
    executor,
    sql`delete from console_session where user_id = ${userId} and token_digest <> ${digestOf(keptToken)}`,
  );
}

/** Deletes sessions that have expired. */
export async function dropOldSessions(executor: Executor, nowMs: number, life: SessionLife): Promise<void> {
  await execute(
    executor,
    sql`delete from console_session where seen_at_ms <= ${nowMs - life.idleMs} or created_at_ms <= ${nowMs - life.wholeMs}`,
  );
}
