import { type Executor, query, sql } from "./engine/sql.ts";

/**
 * Those of the open ids that users of an app have, other than one of them. A user who has told none has the client id as
 * open id.
 */
export async function findOpenIds(
  executor: Executor,
  { appId, openIds, except = "" }: { appId: number; openIds: readonly string[]; except?: string },
): Promise<Set<string>> {
  if (openIds.length === 0) return new Set();
  const rows = await query<{ openId: string }>(
    executor,
    sql`select distinct coalesce(nullif(wx_openid, ''), client_id) as open_id from user_account
      where app_id = ${appId} and client_id <> ${except}
        and (wx_openid = any(${openIds}::text[]) or (wx_openid = '' and client_id = any(${openIds}::text[])))`,
  );
  return new Set(rows.map(({ openId }) => openId));
}
