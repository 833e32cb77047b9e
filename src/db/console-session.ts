import { type AdminUser, digestOf, newSecret, userColumns } from "./admin-user.ts";
import { type Executor, execute, query, type Sql, sql } from "./engine/sql.ts";

/** How long a session lives when unused, and at most. */
export type SessionLife = { idleMs: number; wholeMs: number };

/** How a session began. */
export type SessionMethod = "password" | "link" | "oidc";

/** Where a session comes from. */
export type SessionDevice = { address: string; agent: string; method: SessionMethod };

const UNKNOWN: SessionDevice = { address: "", agent: "", method: "password" };

/** Returns the token, which only the browser keeps. */
export async function createSession(
  executor: Executor,
  { userId }: Pick<AdminUser, "userId">,
  nowMs: number,
  { address, agent, method }: SessionDevice = UNKNOWN,
): Promise<string> {
  const token = newSecret();
  await execute(
    executor,
    sql`insert into console_session (token_digest, user_id, created_at_ms, seen_at_ms, address, agent, method)
      values (${digestOf(token)}, ${userId}, ${nowMs}, ${nowMs}, ${address}, ${agent}, ${method})`,
  );
  return token;
}

/** A person with the session that they use. */
export type SignedInUser = AdminUser & { method: SessionMethod };

/** The user to whom a token belongs. Finding a session keeps it alive. */
export async function findSession(
  executor: Executor,
  { token, nowMs, life }: { token: string; nowMs: number; life: SessionLife },
): Promise<SignedInUser | undefined> {
  const digest = digestOf(token);
  const [user] = await query<SignedInUser & { seenAtMs: number }>(
    executor,
    sql`select ${userColumns}, s.method, s.seen_at_ms from console_session s join admin_user u on u.user_id = s.user_id
      where s.token_digest = ${digest} and ${isAlive(nowMs, life)}`,
  );
  if (!user) return undefined;
  // At most once a minute, which saves a write for every click.
  if (user.seenAtMs < nowMs - SEEN_MS)
    await execute(executor, sql`update console_session set seen_at_ms = ${nowMs} where token_digest = ${digest}`);
  return user;
}

/** A session as its owner sees it. */
export type ListedSession = SessionDevice & {
  sessionId: number;
  createdAtMs: number;
  seenAtMs: number;
  isCurrent: boolean;
};

/** The living sessions of a person, the latest first. */
export async function listSessions(
  executor: Executor,
  { userId, token, nowMs, life }: { userId: number; token: string; nowMs: number; life: SessionLife },
): Promise<ListedSession[]> {
  return query(
    executor,
    sql`select s.session_id, s.address, s.agent, s.method, s.created_at_ms, s.seen_at_ms,
        s.token_digest = ${digestOf(token)} as is_current
      from console_session s where s.user_id = ${userId} and ${isAlive(nowMs, life)} order by s.seen_at_ms desc, 1 desc`,
  );
}

/** Ends one session of a person. Returns false when there is none with this id. */
export async function endSessionOf(
  executor: Executor,
  { userId, sessionId }: { userId: number; sessionId: number },
): Promise<boolean> {
  const ended = await execute(
    executor,
    sql`delete from console_session where user_id = ${userId} and session_id = ${sessionId}`,
  );
  return ended > 0;
}

const SEEN_MS = 60_000;

/** The same without keeping the session alive. */
export async function peekSession(
  executor: Executor,
  { token, nowMs, life }: { token: string; nowMs: number; life: SessionLife },
): Promise<SignedInUser | undefined> {
  const [user] = await query<SignedInUser>(
    executor,
    sql`select ${userColumns}, s.method from console_session s join admin_user u on u.user_id = s.user_id
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
