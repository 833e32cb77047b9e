import { type AdminUser, userColumns } from "./admin-user.ts";
import { type Executor, execute, query, sql } from "./engine/sql.ts";

/** Who a person is at an identity provider: the subject never changes, an e-mail address may. */
export type IdentityKey = { issuer: string; subject: string };

export async function findByIdentity(
  executor: Executor,
  { issuer, subject }: IdentityKey,
): Promise<AdminUser | undefined> {
  const [user] = await query<AdminUser>(
    executor,
    sql`select ${userColumns} from admin_identity i join admin_user u on u.user_id = i.user_id
      where i.issuer = ${issuer} and i.subject = ${subject}`,
  );
  return user;
}

/** Whether a person is linked with another subject of the same issuer. */
export async function hasIdentityAt(executor: Executor, userId: number, issuer: string): Promise<boolean> {
  const found = await query(
    executor,
    sql`select 1 from admin_identity where user_id = ${userId} and issuer = ${issuer}`,
  );
  return found.length > 0;
}

export async function linkIdentity(
  tx: Executor,
  { issuer, subject, userId, nowMs }: IdentityKey & { userId: number; nowMs: number },
): Promise<void> {
  await execute(
    tx,
    sql`insert into admin_identity (issuer, subject, user_id, linked_at_ms)
      values (${issuer}, ${subject}, ${userId}, ${nowMs})`,
  );
}
