import type { AdminUser } from "../../db/admin-user.ts";
import { revokeApiTokensOf } from "../../db/api-token.ts";
import { addAudit } from "../../db/audit-log.ts";
import { endSessionsOf } from "../../db/console-session.ts";
import type { Executor } from "../../db/engine/sql.ts";
import type { Desk } from "../desk.ts";

/**
 * Ends every way in that a person has without signing in: all sessions, and all tokens for programs. Whoever has stolen a
 * session may have made a token with it, which would outlive the session. Returns the number of sessions.
 */
export async function endAccessOf(
  tx: Executor,
  { clock, by }: Pick<Desk, "clock" | "by">,
  { userId, name: owner }: Pick<AdminUser, "userId" | "name">,
): Promise<number> {
  const atMs = clock();
  const revoked = await revokeApiTokensOf(tx, userId, atMs);
  if (revoked.length > 0) {
    const details = { owner, tokens: revoked.map(({ tokenId: id, name, prefix }) => ({ id, name, prefix })) };
    const entry = { atMs, actor: by.name, address: by.address, action: "api-tokens/revoke", appId: null, details };
    await addAudit(tx, entry);
  }
  return endSessionsOf(tx, userId);
}
