import type { UserKey } from "../domain/user/user-key.ts";
import { UNPRICED, unpricedOfUser } from "./ad-revenue-rows.ts";
import { rowsOf } from "./engine/rows.ts";
import { type Executor, query, sql } from "./engine/sql.ts";

/** What changes a user's revenue after the fact, and is therefore not among the user's own figures. */
export type LaterRevenue = {
  refundCents: number;
  /** What ads earned of which the client does not know it: pulled or estimated. */
  adMicros: number;
};

/** By client id; every user has one. */
export async function loadLaterRevenue(
  executor: Executor,
  users: readonly UserKey[],
): Promise<Map<string, LaterRevenue>> {
  if (users.length === 0) return new Map();
  const wanted = rowsOf("wanted", users, { appId: "int", clientId: "text" });
  const rows = await query<LaterRevenue & { clientId: string }>(
    executor,
    sql`select u.client_id,
        coalesce((select sum(r.cents) from refund r where r.app_id = u.app_id and r.client_id = u.client_id), 0)::bigint as refund_cents,
        coalesce((select ${UNPRICED.ad_micros} from ${unpricedOfUser(sql`u.app_id`)}), 0)::bigint as ad_micros
      from (select app_id, client_id collate "C" as client_id from ${wanted}) u`,
  );
  return new Map(rows.map(({ clientId, ...later }) => [clientId, later]));
}
